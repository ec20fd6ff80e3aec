"""Glossary, catalogue and coverage reports with evidence, and the demo.

Names are imported when first used: a command line that only wants `--help` must not
pay for LlamaIndex.
"""

from typing import TYPE_CHECKING

from elt_llm_core.lazy import lazy_names

if TYPE_CHECKING:
    from elt_llm_consumer.catalog import CatalogJob
    from elt_llm_consumer.coverage import CoverageJob
    from elt_llm_consumer.definitions.extract import extract
    from elt_llm_consumer.definitions.records import Definition, DefinitionSource
    from elt_llm_consumer.domain_packs import Pack, find_pack, known_packs, read_pack
    from elt_llm_consumer.entity import Entity
    from elt_llm_consumer.glossary import GlossaryJob, GlossaryRecord
    from elt_llm_consumer.linking.entity_linker import Match, Matcher
    from elt_llm_consumer.linking.entity_model import Model, read_aliases, read_model

__all__ = [
    "CatalogJob",
    "CoverageJob",
    "Definition",
    "DefinitionSource",
    "Entity",
    "GlossaryJob",
    "GlossaryRecord",
    "Match",
    "Matcher",
    "Model",
    "Pack",
    "extract",
    "find_pack",
    "known_packs",
    "read_aliases",
    "read_model",
    "read_pack",
]

__getattr__ = lazy_names(
    __name__,
    {
        "catalog": ["CatalogJob"],
        "coverage": ["CoverageJob"],
        "definitions.extract": ["extract"],
        "definitions.records": ["Definition", "DefinitionSource"],
        "domain_packs": ["Pack", "find_pack", "known_packs", "read_pack"],
        "entity": ["Entity"],
        "glossary": ["GlossaryJob", "GlossaryRecord"],
        "linking.entity_linker": ["Match", "Matcher"],
        "linking.entity_model": ["Model", "read_aliases", "read_model"],
    },
)

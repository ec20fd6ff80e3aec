"""Glossary, catalogue and coverage reports with evidence, and the demo.

Names are imported when first used: a command line that only wants `--help` must not
pay for LlamaIndex.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "CatalogJob": "catalog",
    "CoverageJob": "coverage",
    "Definition": "definitions.records",
    "DefinitionSource": "definitions.records",
    "Entity": "entity",
    "GlossaryJob": "glossary",
    "GlossaryRecord": "glossary",
    "Match": "linking.entity_linker",
    "Matcher": "linking.entity_linker",
    "Model": "linking.entity_model",
    "Pack": "domain_packs",
    "extract": "definitions.extract",
    "find_pack": "domain_packs",
    "known_packs": "domain_packs",
    "read_aliases": "linking.entity_model",
    "read_model": "linking.entity_model",
    "read_pack": "domain_packs",
}


def __getattr__(name: str) -> Any:
    """The public name, from its module. Raises AttributeError for any other."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

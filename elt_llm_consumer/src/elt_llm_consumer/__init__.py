"""Glossary, catalogue and coverage reports with evidence, and the demo.

Names are imported on first use, so that `--help` does not import LlamaIndex.
"""

from typing import TYPE_CHECKING

from elt_llm_core.lazy import lazy_names

if TYPE_CHECKING:
    from elt_llm_consumer.catalog import CatalogJob
    from elt_llm_consumer.coverage import CoverageJob
    from elt_llm_consumer.definitions.definition_records import (
        Definition,
        DefinitionSource,
    )
    from elt_llm_consumer.definitions.extract import extract_definitions
    from elt_llm_consumer.glossary import GlossaryJob, GlossaryRecord
    from elt_llm_consumer.linking.entity_aliases import read_aliases
    from elt_llm_consumer.linking.mapping_features import MappedTerm
    from elt_llm_consumer.linking.model_entities import Entity, EntityModel
    from elt_llm_consumer.linking.model_reading import read_model
    from elt_llm_consumer.linking.term_mapper import Match, TermMapper
    from elt_llm_core.config.domain_packs import Pack, find_pack, known_packs, read_pack

__all__ = [
    "CatalogJob",
    "CoverageJob",
    "Definition",
    "DefinitionSource",
    "Entity",
    "EntityModel",
    "GlossaryJob",
    "GlossaryRecord",
    "MappedTerm",
    "Match",
    "Pack",
    "TermMapper",
    "extract_definitions",
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
        "definitions.extract": ["extract_definitions"],
        "definitions.definition_records": ["Definition", "DefinitionSource"],
        "elt_llm_core.config.domain_packs": [
            "Pack",
            "find_pack",
            "known_packs",
            "read_pack",
        ],
        "glossary": ["GlossaryJob", "GlossaryRecord"],
        "linking.entity_aliases": ["read_aliases"],
        "linking.model_entities": ["Entity", "EntityModel"],
        "linking.model_reading": ["read_model"],
        "linking.mapping_features": ["MappedTerm"],
        "linking.term_mapper": ["Match", "TermMapper"],
    },
)

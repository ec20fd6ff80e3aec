"""Glossary, catalogue and coverage reports with evidence, and the demo.

Names are imported when first used: a command line that only wants `--help` must not
pay for LlamaIndex.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elt_llm_consumer.catalog import CatalogJob
    from elt_llm_consumer.coverage import CoverageJob
    from elt_llm_consumer.definitions import extract
    from elt_llm_consumer.entity import Entity
    from elt_llm_consumer.glossary import GlossaryJob, GlossaryRecord
    from elt_llm_consumer.matching import Match, Matcher
    from elt_llm_consumer.model import Model, read_aliases, read_model
    from elt_llm_consumer.packs import Pack, find_pack, known_packs, read_pack
    from elt_llm_consumer.terms import Definition, DefinitionSource

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
    "Definition": "terms",
    "DefinitionSource": "terms",
    "Entity": "entity",
    "GlossaryJob": "glossary",
    "GlossaryRecord": "glossary",
    "Match": "matching",
    "Matcher": "matching",
    "Model": "model",
    "Pack": "packs",
    "extract": "definitions",
    "find_pack": "packs",
    "known_packs": "packs",
    "read_aliases": "model",
    "read_model": "model",
    "read_pack": "packs",
}


def __getattr__(name: str) -> Any:
    """The public name, from its module. Raises AttributeError for any other."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

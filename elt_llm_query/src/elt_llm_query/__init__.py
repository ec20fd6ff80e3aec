"""Hybrid retrieval, reranking, synthesis and verification.

Names are loaded when first used: a command line that only prints its help need not wait
for LlamaIndex.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elt_llm_query.caching.semantic import SemanticCache
    from elt_llm_query.caching.strategies import CACHES, build_cache
    from elt_llm_query.engine import build_engine
    from elt_llm_query.examples import example_questions
    from elt_llm_query.fusions import Fusion, HitList
    from elt_llm_query.labels import LabelSources, parse_labels
    from elt_llm_query.presence import check_installed
    from elt_llm_query.query import (
        query_collection,
        query_collections,
        search_collections,
    )
    from elt_llm_query.rerankers.embedding import StoredVectorRerank
    from elt_llm_query.retrievers import (
        DenseRetriever,
        HybridRetriever,
        KeywordRetriever,
    )
    from elt_llm_query.searches import Search, SearchTransform
    from elt_llm_query.stages import (
        FUSIONS,
        POSTPROCESSORS,
        RERANKERS,
        ROUTERS,
        SYNTHESIZERS,
        TRANSFORMS,
    )
    from elt_llm_query.synthesizers.extractive import ExtractiveSynthesizer
    from elt_llm_query.verify import QuoteMatch, check_quote

__all__ = [
    "CACHES",
    "FUSIONS",
    "POSTPROCESSORS",
    "RERANKERS",
    "ROUTERS",
    "SYNTHESIZERS",
    "TRANSFORMS",
    "DenseRetriever",
    "ExtractiveSynthesizer",
    "Fusion",
    "HitList",
    "HybridRetriever",
    "KeywordRetriever",
    "LabelSources",
    "QuoteMatch",
    "Search",
    "SearchTransform",
    "SemanticCache",
    "StoredVectorRerank",
    "build_cache",
    "build_engine",
    "check_installed",
    "check_quote",
    "example_questions",
    "parse_labels",
    "query_collection",
    "query_collections",
    "search_collections",
]

_HOMES = {
    "caching.semantic": ("SemanticCache",),
    "caching.strategies": ("CACHES", "build_cache"),
    "engine": ("build_engine",),
    "examples": ("example_questions",),
    "fusions": ("Fusion", "HitList"),
    "labels": ("LabelSources", "parse_labels"),
    "presence": ("check_installed",),
    "query": ("query_collection", "query_collections", "search_collections"),
    "rerankers.embedding": ("StoredVectorRerank",),
    "retrievers": ("DenseRetriever", "HybridRetriever", "KeywordRetriever"),
    "searches": ("Search", "SearchTransform"),
    "stages": (
        "FUSIONS",
        "POSTPROCESSORS",
        "RERANKERS",
        "ROUTERS",
        "SYNTHESIZERS",
        "TRANSFORMS",
    ),
    "synthesizers.extractive": ("ExtractiveSynthesizer",),
    "verify": ("QuoteMatch", "check_quote"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

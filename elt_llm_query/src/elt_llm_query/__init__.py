"""Hybrid retrieval, reranking, synthesis and verification.

Names are imported lazily, so that a command that only prints its help does not wait for
LlamaIndex.
"""

from typing import TYPE_CHECKING

from elt_llm_core.lazy import lazy_names

if TYPE_CHECKING:
    from elt_llm_query.caching.semantic_cache import CACHES, SemanticCache, build_cache
    from elt_llm_query.engine import build_engine
    from elt_llm_query.examples import example_questions
    from elt_llm_query.grounding.labels import LabelSources, parse_labels
    from elt_llm_query.grounding.quote_match import QuoteMatch, check_quote
    from elt_llm_query.library import Library
    from elt_llm_query.query import (
        query_collection,
        query_collections,
        search_collections,
    )
    from elt_llm_query.rerankers.stored_vectors import StoredVectorRerank
    from elt_llm_query.retrieval.fusion import Fusion, HitList
    from elt_llm_query.retrieval.hybrid import (
        DenseRetriever,
        HybridRetriever,
        KeywordRetriever,
    )
    from elt_llm_query.retrieval.query_transform import Search, SearchTransform
    from elt_llm_query.stages import (
        FUSIONS,
        POSTPROCESSORS,
        RERANKERS,
        ROUTERS,
        SYNTHESIZERS,
        TRANSFORMS,
        check_installed,
    )
    from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer

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
    "Library",
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

__getattr__ = lazy_names(
    __name__,
    {
        "caching.semantic_cache": ["CACHES", "SemanticCache", "build_cache"],
        "engine": ["build_engine"],
        "examples": ["example_questions"],
        "grounding.labels": ["LabelSources", "parse_labels"],
        "grounding.quote_match": ["QuoteMatch", "check_quote"],
        "library": ["Library"],
        "query": ["query_collection", "query_collections", "search_collections"],
        "rerankers.stored_vectors": ["StoredVectorRerank"],
        "retrieval.fusion": ["Fusion", "HitList"],
        "retrieval.hybrid": ["DenseRetriever", "HybridRetriever", "KeywordRetriever"],
        "retrieval.query_transform": ["Search", "SearchTransform"],
        "stages": [
            "FUSIONS",
            "POSTPROCESSORS",
            "RERANKERS",
            "ROUTERS",
            "SYNTHESIZERS",
            "TRANSFORMS",
            "check_installed",
        ],
        "synthesizers.extractive.synthesizer": ["ExtractiveSynthesizer"],
    },
)

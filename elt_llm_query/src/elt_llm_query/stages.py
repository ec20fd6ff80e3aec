"""The stages of a question that have strategies; see also `fusions` and `caching`."""

from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer

from elt_llm_core.strategy import Stage
from elt_llm_query.retrieval.fusion import FUSIONS
from elt_llm_query.retrieval.search import SearchTransform

TRANSFORMS: Stage[SearchTransform] = Stage("transforms")
ROUTERS: Stage[BaseSelector] = Stage("routers")
POSTPROCESSORS: Stage[BaseNodePostprocessor] = Stage("postprocessors")
RERANKERS: Stage[BaseNodePostprocessor] = Stage("rerankers")
SYNTHESIZERS: Stage[BaseSynthesizer] = Stage("synthesizers")

__all__ = [
    "FUSIONS",
    "POSTPROCESSORS",
    "RERANKERS",
    "ROUTERS",
    "SYNTHESIZERS",
    "TRANSFORMS",
]

"""The stages of a question that have strategies; see `fusions` for the fusing one."""

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer

from elt_llm_core.strategy import Stage
from elt_llm_query.fusions import FUSIONS

RERANKERS: Stage[BaseNodePostprocessor] = Stage("rerankers")
SYNTHESIZERS: Stage[BaseSynthesizer] = Stage("synthesizers")

__all__ = ["FUSIONS", "RERANKERS", "SYNTHESIZERS"]

"""The stages of a question that have strategies; see `fusions` for the fusing one."""

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer

from elt_llm_query.fusions import FUSIONS
from elt_llm_query.installed import InstalledStage

RERANKERS = InstalledStage[BaseNodePostprocessor]("rerankers")
SYNTHESIZERS = InstalledStage[BaseSynthesizer]("synthesizers")

__all__ = ["FUSIONS", "RERANKERS", "SYNTHESIZERS"]

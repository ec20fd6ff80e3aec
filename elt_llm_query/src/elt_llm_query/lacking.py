"""Stages whose model or package is not there: left out, and told."""

from collections.abc import Callable

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import ConfigError, MissingExtraError, MissingModelError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import T
from elt_llm_query.trace import TraceLog

LACKING = (MissingExtraError, MissingModelError)


def left_out(error: ConfigError) -> Degradation:
    """Return the degradation of a stage that lacks its model or package.

    Args:
        error: What the stage raised when it was built.
    """
    detail = f"left out: {error}"
    return Degradation(kind=DegradationKind.STAGE_LEFT_OUT, detail=detail)


def built_or_left_out(build: Callable[[], T], log: TraceLog) -> T | None:
    """Return what `build` makes, or None where its model or package is not there.

    Args:
        build: Builds the strategy of a stage.
        log: Notes the stage that is left out.

    Raises:
        ConfigError: If the strategy or its options are wrong in another way.
    """
    try:
        return build()
    except LACKING as error:
        log.degrade(left_out(error))
        return None


class FirstOnes(BaseNodePostprocessor):
    """The first `top_n` nodes in the order they came in; stands for a reranker."""

    top_n: int = Field(gt=0)

    @classmethod
    @override
    def class_name(cls) -> str:
        return "FirstOnes"

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes[: self.top_n]

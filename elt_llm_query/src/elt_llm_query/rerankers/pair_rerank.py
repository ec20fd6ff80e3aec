"""Base of cross-encoders, which read question and text together, with a time limit."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray
from pydantic import Field
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.strategy import Strategy
from elt_llm_query.components import Postprocessor
from elt_llm_query.resilience import Deadline


class PairRerankOptions(Strategy[BaseNodePostprocessor]):
    """Options of every cross-encoder."""

    top_n: int = Field(default=8, gt=0, description="sources kept")
    batch_size: int = Field(
        default=4, gt=0, description="pairs scored between two checks of the time limit"
    )
    max_tokens: int = Field(
        default=512,
        ge=16,
        description="maximum tokens of a pair; the longer text is truncated",
    )

    @property
    def reading(self) -> dict[str, int]:
        """Return the options for the component that `build` returns."""
        return {"top_n": self.top_n, "batch_size": self.batch_size}


class PairRerank(Postprocessor):
    """Keeps the best `top_n` by a model that reads question and text together.

    Scores are 0 to 1, so that they can be weighted and compared. Ties keep their order.
    The time is checked between batches of `batch_size` pairs, and ModelError is raised
    after `seconds`.
    """

    top_n: int = Field(default=8, gt=0)
    batch_size: int = Field(default=4, gt=0)
    seconds: float | None = Field(default=None, gt=0)

    @abstractmethod
    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return how well each text answers, 0 to 1. Raises ModelError."""

    def within(self, seconds: float) -> Self:
        """Return a copy that raises ModelError after `seconds`."""
        return self.model_copy(update={"seconds": seconds})

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes or query_bundle is None:
            return list(nodes)[: self.top_n]
        deadline = Deadline(self.seconds)
        texts = [provenance.reading(n.node) for n in nodes]
        scores: list[float] = []
        for start in range(0, len(texts), self.batch_size):
            deadline.check()
            part = texts[start : start + self.batch_size]
            scores += [float(s) for s in self.scores(query_bundle.query_str, part)]
        order = sorted(range(len(nodes)), key=lambda i: -scores[i])
        return [
            NodeWithScore(node=nodes[i].node, score=scores[i])
            for i in order[: self.top_n]
        ]

"""Times and records the stages of one question; each question has its own."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

from llama_index.core.schema import NodeWithScore

from elt_llm_core.patience import check_asker
from elt_llm_core.results import Degradation, StageRecord

logger = logging.getLogger(__name__)

TOP = 10


class StageNote:
    """What a stage says of itself while it runs."""

    def __init__(self, n_in: int, most: int = TOP) -> None:
        self.n_in = n_in
        self._most = most
        self.n_out = 0
        self.top: tuple[tuple[str, float], ...] = ()

    def hits(self, hits: Sequence[tuple[str, float]]) -> None:
        """Record ids and scores that came out, best first."""
        self.n_out = len(hits)
        self.top = tuple((i, round(float(score), 6)) for i, score in hits[: self._most])

    def nodes(self, nodes: Sequence[NodeWithScore]) -> None:
        """Record nodes that came out, before anyone replaces their scores."""
        self.hits([(n.node.node_id, n.score or 0.0) for n in nodes])


class TraceLog:
    """Collects the stages and degradations of one question, in order.

    `most` is how many hits of each stage are recorded.
    """

    def __init__(self, most: int = TOP) -> None:
        self.most = most
        self.stages: list[StageRecord] = []
        self.degradations: list[Degradation] = []

    @contextmanager
    def stage(self, name: str, n_in: int = 0) -> Iterator[StageNote]:
        """Time the block as one stage; a stage that raises is recorded too.

        Raises AbandonedError before it where nobody waits for the answer any more.
        """
        check_asker()
        note = StageNote(n_in, self.most)
        started = perf_counter()
        try:
            yield note
        finally:
            spent = (perf_counter() - started) * 1000
            logger.debug("%s: %d in, %d out, %.1f ms", name, n_in, note.n_out, spent)
            self.stages.append(
                StageRecord(
                    name=name,
                    milliseconds=round(spent, 3),
                    n_in=note.n_in,
                    n_out=note.n_out,
                    top=note.top,
                )
            )

    def degrade(self, degradation: Degradation) -> None:
        """Note a degradation once."""
        if degradation not in self.degradations:
            self.degradations.append(degradation)

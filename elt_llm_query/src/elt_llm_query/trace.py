"""Times and records the stages and steps of one question."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, ClassVar

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import EmbedError, ModelError
from elt_llm_core.patience import check_asker
from elt_llm_core.results import Degradation, DegradationKind, StageRecord
from elt_llm_query.components import Postprocessor
from elt_llm_query.context_limits import limit_sources
from elt_llm_query.step_events import report_step

logger = logging.getLogger(__name__)

TOP = 10  # hits of a stage that a trace shows; chosen by eye


class StageNote:
    """Records of a stage while it runs."""

    def __init__(self, n_in: int, most: int = TOP) -> None:
        self.n_in = n_in
        self._most = most
        self.n_out = 0
        self.top: tuple[tuple[str, float], ...] = ()

    def hits(self, hits: Sequence[tuple[str, float]]) -> None:
        """Record output ids and scores, best first."""
        self.n_out = len(hits)
        self.top = tuple((i, round(float(score), 6)) for i, score in hits[: self._most])

    def nodes(self, nodes: Sequence[NodeWithScore]) -> None:
        """Record output nodes before later stages replace their scores."""
        self.hits([(n.node.node_id, n.score or 0.0) for n in nodes])


class TraceLog:
    """Collects the stages and degradations of one question, in order.

    `most` is the number of hits recorded per stage.
    """

    def __init__(self, most: int = TOP) -> None:
        self.most = most
        self.stages: list[StageRecord] = []
        self.degradations: list[Degradation] = []

    @contextmanager
    def stage(self, name: str, n_in: int = 0) -> Iterator[StageNote]:
        """Time the block as one stage; a stage that raises is recorded too.

        Raises AbandonedError before it if the answer is no longer needed.
        """
        check_asker()
        note = StageNote(n_in, self.most)
        report_step(name, "begun", n_in=n_in)
        started = perf_counter()
        try:
            yield note
        finally:
            spent = (perf_counter() - started) * 1000
            logger.debug("%s: %d in, %d out, %.1f ms", name, n_in, note.n_out, spent)
            record = StageRecord(
                name=name,
                milliseconds=round(spent, 3),
                n_in=note.n_in,
                n_out=note.n_out,
                top=note.top,
            )
            self.stages.append(record)
            report_step(
                name,
                "ended",
                n_in=record.n_in,
                n_out=record.n_out,
                milliseconds=record.milliseconds,
            )

    def degrade(self, degradation: Degradation) -> None:
        """Record a degradation once."""
        if degradation not in self.degradations:
            self.degradations.append(degradation)


class GuardedStep(Postprocessor):
    """A timed postprocessor; if its model fails, the nodes are unchanged.

    `stage` is its name in the trace.
    """

    stage: str

    _inner: BaseNodePostprocessor = PrivateAttr()
    _log: TraceLog = PrivateAttr()

    failure: ClassVar[DegradationKind] = DegradationKind.POSTPROCESSOR_UNAVAILABLE

    def __init__(
        self, inner: BaseNodePostprocessor, log: TraceLog, stage: str, **limits: Any
    ) -> None:
        super().__init__(stage=stage, **limits)
        self._inner = inner
        self._log = log

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        with self._log.stage(self.stage, len(nodes)) as note:
            try:
                passed = self._inner.postprocess_nodes(nodes, query_bundle)
            except (ModelError, EmbedError) as error:
                detail = f"{self.stage}: {error}"
                self._log.degrade(Degradation(kind=self.failure, detail=detail))
                passed = list(nodes)
            passed = self._limit(passed)
            note.nodes(passed)
        return passed

    def _limit(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        """Return as many of the nodes as may be passed on."""
        return nodes


class BoundStep(GuardedStep):
    """A postprocessor of the sources that returns at most `most`.

    Nodes that accompany a source are not counted; see `limit_sources`.
    """

    most: int = Field(gt=0)

    def __init__(
        self, inner: BaseNodePostprocessor, log: TraceLog, stage: str, most: int
    ) -> None:
        super().__init__(inner, log, stage, most=most)

    @override
    def _limit(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        return limit_sources(nodes, self.most)

"""Asks a language model in batches: one call each, replies cached in the journal.

If the model fails, the batch has no reply, and the product reports it. If the server
becomes unavailable in between, the job waits for it; the same command resumes an
interrupted run.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from llama_index.core.llms import LLM
from pydantic import BaseModel

from elt_llm_consumer.batch import (
    BatchResult,
    WorkItem,
    model_identity,
    run_items,
)
from elt_llm_consumer.server_patience import AWAY
from elt_llm_core.errors import (
    AbandonedError,
    AnswerShapeError,
    BudgetSpentError,
    EltLlmError,
)
from elt_llm_core.jobs import JobContext

Reply = Mapping[str, Any] | None


class ModelCall(NamedTuple):
    """One batch: its name, the text that its reply depends on, and the call."""

    name: str
    parts: tuple[str, ...]
    ask: Callable[[LLM], BaseModel]


class ModelBatches:
    """The calls of one run to a language model.

    Args:
        llm: The model.
        context: The job; its journal caches the model's replies.
        run: The name of the run in the journal.
        fresh: Ignore the cache.
    """

    def __init__(
        self, llm: LLM, context: JobContext, run: str, *, fresh: bool = False
    ) -> None:
        self._llm = llm
        self._context = context
        self._run = run
        self._fresh = fresh
        self._down: EltLlmError | None = None
        self.failures: Counter[str] = Counter()
        self.calls = 0
        self.ended_early: BatchResult | None = None

    def ask_all(self, calls: Sequence[ModelCall]) -> Sequence[Reply]:
        """Return the reply to each call, from the journal or the model.

        None stands for a reply that could not be had; `failures` counts why.

        Args:
            calls: The batches, in order.
        """
        nothing: list[Reply] = [None] * len(calls)
        if self.ended_early is not None or not calls:
            return nothing
        who = self._identity()
        items = [WorkItem(name=c.name, parts=(who, *c.parts)) for c in calls]
        try:
            result = run_items(
                self._context,
                self._run,
                items,
                lambda number: self._ask(calls[number]),
                fresh=self._fresh,
                at_once=self._context.config.gateway.calls_at_once or 1,
            )
        except AWAY as error:
            # It never answered: the product is built without it, and reports that.
            self.failures[error.message] += len(calls)
            return nothing
        if result.stopped:
            self.ended_early = result
        return result.results

    def _identity(self) -> str:
        """Return the model and its weights, as far as its server reports them."""
        name = self._llm.metadata.model_name
        try:
            return model_identity(self._llm)
        except AWAY:
            return name  # the first call raises the error
        except EltLlmError as error:
            self._down = self._down or error
            return name

    def _ask(self, call: ModelCall) -> dict[str, Any]:
        """Return the model's reply; a model that refused is not called again."""
        try:
            if self._down is not None:
                raise self._down
            self.calls += 1
            return call.ask(self._llm).model_dump()
        except (*AWAY, AbandonedError, BudgetSpentError):
            raise  # the batch waits or ends
        except EltLlmError as error:
            self.failures[error.message] += 1
            if not isinstance(error, AnswerShapeError):
                self._down = error
            raise

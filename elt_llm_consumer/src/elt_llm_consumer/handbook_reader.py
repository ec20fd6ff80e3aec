"""A language model reads the handbook: one call per batch, cached in the journal.

If the model fails, the batch counts as unread: its candidates keep the scorer's
probabilities, and the product reports it. If the server becomes unavailable in between,
the job waits for it; the same command resumes an interrupted reading.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llama_index.core.llms import LLM

from elt_llm_consumer.batch import (
    AWAY,
    BatchResult,
    WorkItem,
    model_identity,
    run_items,
)
from elt_llm_consumer.definitions.definition_pipeline import Candidates
from elt_llm_consumer.definitions.definition_reader import (
    PROMPT,
    Batch,
    WrittenDefinitions,
    ask_model,
    read_batches,
    weigh,
)
from elt_llm_core.errors import (
    AbandonedError,
    AnswerShapeError,
    BudgetSpentError,
    EltLlmError,
)
from elt_llm_core.jobs import JobContext
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import DocumentRow

RUN = "reading"


class HandbookReader:
    """Reads documents with a language model.

    Args:
        llm: The model.
        context: The job; its journal caches the model's replies.
        fresh: Ignore the cache.
    """

    def __init__(self, llm: LLM, context: JobContext, *, fresh: bool = False) -> None:
        self._llm = llm
        self._context = context
        self._fresh = fresh
        self._down: EltLlmError | None = None
        self._failures: Counter[str] = Counter()
        self._batches = self._calls = 0
        self.ended_early: BatchResult | None = None

    @property
    def calls(self) -> int:
        """Number of calls to the model."""
        return self._calls

    def read(
        self, documents: Sequence[DocumentRow], candidates: Sequence[Candidates]
    ) -> list[Candidates]:
        """Return the candidates of documents with the model's verdicts.

        Args:
            documents: Their ids are part of the journal's keys.
            candidates: Those of each document.
        """
        written: dict[Batch, WrittenDefinitions] = {}
        for document, those in zip(documents, candidates, strict=True):
            batches = read_batches(those)
            self._batches += len(batches)
            for batch, answer in zip(
                batches, self._ask_all(document, batches), strict=True
            ):
                if answer is not None:
                    written[batch] = WrittenDefinitions.model_validate(answer)
        return weigh(candidates, written.get)

    def degradations(self) -> Iterator[Degradation]:
        """Return which batches the model did not read, and why."""
        unread = self._failures.total()
        if unread:
            reasons = "; ".join(sorted(self._failures))
            detail = (
                f"the language model did not read {unread} of {self._batches} "
                "batches of passages; their definitions were extracted without "
                f"it: {reasons}"
            )
            kind = DegradationKind.GENERATION_UNAVAILABLE
            yield Degradation(kind=kind, detail=detail)

    def _ask_all(
        self, document: DocumentRow, batches: Sequence[Batch]
    ) -> Sequence[Mapping[str, Any] | None]:
        """Return the model's reply to each batch, from the journal or a call."""
        nothing = [None] * len(batches)
        if self.ended_early is not None:
            return nothing
        who = self._identity()
        items = [
            WorkItem(
                name=f"{document.name} {number} of {len(batches)}",
                parts=(who, PROMPT, batch.material, *batch.hints),
            )
            for number, batch in enumerate(batches, 1)
        ]
        try:
            result = run_items(
                self._context,
                RUN,
                items,
                lambda number: self._ask(batches[number]),
                fresh=self._fresh,
                at_once=self._context.config.gateway.calls_at_once or 1,
            )
        except AWAY as error:
            # It never answered: the glossary is built without it, and reports that.
            self._failures[error.message] += len(batches)
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

    def _ask(self, batch: Batch) -> dict[str, Any]:
        """Return the model's reply; a model that refused is not called again."""
        try:
            if self._down is not None:
                raise self._down
            self._calls += 1
            return ask_model(self._llm, batch).model_dump()
        except (*AWAY, AbandonedError, BudgetSpentError):
            raise  # the batch waits or ends
        except EltLlmError as error:
            self._failures[error.message] += 1
            if not isinstance(error, AnswerShapeError):
                self._down = error
            raise

"""A language model reads the handbook: one call per batch of passages.

If the model fails, the batch counts as unread: its candidates keep the scorer's
probabilities, and the product reports it.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from llama_index.core.llms import LLM

from elt_llm_consumer.batch import BatchResult
from elt_llm_consumer.definitions.definition_pipeline import Candidates
from elt_llm_consumer.definitions.definition_reader import (
    PROMPT,
    Batch,
    WrittenDefinitions,
    ask_model,
    read_batches,
    weigh,
)
from elt_llm_consumer.model_batches import ModelBatches, ModelCall
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
        self._model = ModelBatches(llm, context, RUN, fresh=fresh)
        self._batches = 0

    @property
    def calls(self) -> int:
        """Number of calls to the model."""
        return self._model.calls

    @property
    def ended_early(self) -> BatchResult | None:
        """The batch that was stopped, or None."""
        return self._model.ended_early

    def read(
        self, documents: Sequence[DocumentRow], candidates: Sequence[Candidates]
    ) -> list[Candidates]:
        """Return the candidates of documents with the model's verdicts.

        Args:
            documents: Their names are shown while they are read.
            candidates: Those of each document.
        """
        written: dict[Batch, WrittenDefinitions] = {}
        for document, those in zip(documents, candidates, strict=True):
            batches = read_batches(those)
            self._batches += len(batches)
            replies = self._model.ask_all(_calls(document.name, batches))
            for batch, reply in zip(batches, replies, strict=True):
                if reply is not None:
                    written[batch] = WrittenDefinitions.model_validate(reply)
        return weigh(candidates, written.get)

    def degradations(self) -> Iterator[Degradation]:
        """Return which batches the model did not read, and why."""
        unread = self._model.failures.total()
        if unread:
            reasons = "; ".join(sorted(self._model.failures))
            detail = (
                f"the language model did not read {unread} of {self._batches} "
                "batches of passages; their definitions were extracted without "
                f"it: {reasons}"
            )
            kind = DegradationKind.GENERATION_UNAVAILABLE
            yield Degradation(kind=kind, detail=detail)


def _calls(document: str, batches: Sequence[Batch]) -> list[ModelCall]:
    return [
        ModelCall(
            name=f"{document} {number} of {len(batches)}",
            parts=(PROMPT, batch.material, *batch.hints),
            ask=partial(ask_model, batch=batch),
        )
        for number, batch in enumerate(batches, 1)
    ]

"""What happened in a run so far, and the report of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from elt_llm_core.errors import IngestError, NothingTakenError
from elt_llm_core.jobs import Expected, ItemOutcome, JobReport
from elt_llm_core.results import Degradation, DegradationKind

MAX_WARNINGS = 20
COUNTS = ("added", "updated", "unchanged", "failed", "chunks", "embedded")
SELDOM = ("renamed", "removed", "quarantined", "reindexed")  # told where there are any


@dataclass
class Tally:
    """Counts and degradations; `touched` names the collections that were changed."""

    counts: Counter[str] = field(default_factory=Counter)
    degradations: list[Degradation] = field(default_factory=list)
    first: IngestError | None = None
    touched: set[str] = field(default_factory=set)
    items: list[ItemOutcome] = field(default_factory=list)
    expected: Expected | None = None
    stopped: bool = False

    @property
    def taken(self) -> int:
        """Files that are in the store now, and documents that were to go."""
        names = ("added", "updated", "unchanged", "renamed", "removed")
        return sum(self.counts[name] for name in names)

    def fail(self, collection: str, error: IngestError) -> None:
        """Note a file that could not be taken in."""
        self.counts["failed"] += 1
        self.first = self.first or error
        self.note(DegradationKind.DOCUMENT_FAILED, collection, str(error))

    def raise_if_none(self) -> None:
        """Raises IngestError with every reason where files failed and none is in."""
        if self.taken or self.first is None:
            return
        if len(self.degradations) == 1:
            raise self.first
        reasons = [one.detail for one in self.degradations]
        raise NothingTakenError(self.counts["failed"], reasons)

    def warn(self, collection: str, name: str, warnings: Sequence[str]) -> None:
        """Note what is odd about a document, at most twenty sentences."""
        more = len(warnings) - MAX_WARNINGS
        shown = [*warnings[:MAX_WARNINGS], f"and {more} more warnings"]
        for warning in shown[: len(warnings)] if more <= 0 else shown:
            detail = f"{name}: {warning}" if name else warning
            self.note(DegradationKind.DOCUMENT_WARNING, collection, detail)

    def note(self, kind: DegradationKind, collection: str, detail: str) -> None:
        """Note anything that made the result poorer."""
        self.degradations.append(
            Degradation(kind=kind, collection=collection, detail=detail)
        )

    def report(self) -> JobReport:
        """The counts, every one of them, and the degradations in order."""
        seldom = {name: self.counts[name] for name in SELDOM if self.counts[name]}
        return JobReport(
            job="ingest",
            counts={name: self.counts[name] for name in COUNTS} | seldom,
            degradations=tuple(self.degradations),
            items=tuple(self.items),
            expected=self.expected,
            stopped=self.stopped,
        )

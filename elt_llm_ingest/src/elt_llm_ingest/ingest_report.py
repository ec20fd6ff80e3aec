"""The report of an ingest, built while it runs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from elt_llm_core.errors import IngestError, NothingTakenError
from elt_llm_core.jobs import Expected, ItemOutcome, JobReport
from elt_llm_core.results import Degradation, DegradationKind

# A damaged document can have a warning for every page; twenty fill one screen.
MAX_WARNINGS = 20
COUNTS = ("added", "updated", "unchanged", "failed", "chunks", "embedded")
# These are reported only if they are not zero; `documents` only if a file has several.
RARE_COUNTS = ("renamed", "replaced", "removed", "quarantined", "reindexed")
STORED = ("added", "updated", "renamed")


@dataclass
class ReportBuilder:
    """Counts, degradations and items of one run.

    Attributes:
        changed: Names of the collections that the run has changed.
        first_error: The first failure, raised if no file could be ingested.
    """

    counts: Counter[str] = field(default_factory=Counter)
    degradations: list[Degradation] = field(default_factory=list)
    first_error: IngestError | None = None
    changed: set[str] = field(default_factory=set)
    items: list[ItemOutcome] = field(default_factory=list)
    expected: Expected | None = None
    stopped: bool = False

    @property
    def success_count(self) -> int:
        """Count the files that are stored now and the documents that were removed."""
        names = ("added", "updated", "unchanged", "renamed", "removed")
        return sum(self.counts[name] for name in names)

    def add_stored(self, outcome: str, documents: int, chunks: int) -> None:
        """Count a file that was stored, with its documents and chunks."""
        self.counts[outcome] += 1
        self.counts["documents"] += documents
        self.counts["chunks"] += chunks

    def add_failure(self, collection: str, error: IngestError) -> None:
        """Record a file that could not be ingested."""
        self.counts["failed"] += 1
        self.first_error = self.first_error or error
        self.add_degradation(DegradationKind.DOCUMENT_FAILED, collection, str(error))

    def add_warnings(self, collection: str, name: str, warnings: Sequence[str]) -> None:
        """Record the warnings about a document, at most twenty of them."""
        more = len(warnings) - MAX_WARNINGS
        kept = list(warnings[:MAX_WARNINGS])
        if more > 0:
            kept.append(f"and {more} more warnings")
        for warning in kept:
            detail = f"{name}: {warning}" if name else warning
            self.add_degradation(DegradationKind.DOCUMENT_WARNING, collection, detail)

    def add_degradation(
        self, kind: DegradationKind, collection: str, detail: str
    ) -> None:
        """Record a degradation."""
        self.degradations.append(
            Degradation(kind=kind, collection=collection, detail=detail)
        )

    def raise_if_all_failed(self) -> None:
        """Raise IngestError with every reason if files failed and none succeeded."""
        if self.success_count or self.first_error is None:
            return
        if len(self.degradations) == 1:
            raise self.first_error
        reasons = [degradation.detail for degradation in self.degradations]
        raise NothingTakenError(self.counts["failed"], reasons)

    def build(self) -> JobReport:
        """Return the report: all counts, the degradations in order, the items."""
        rare = {name: self.counts[name] for name in RARE_COUNTS if self.counts[name]}
        if self.counts["documents"] > sum(self.counts[name] for name in STORED):
            rare["documents"] = self.counts["documents"]
        return JobReport(
            job="ingest",
            counts={name: self.counts[name] for name in COUNTS} | rare,
            degradations=tuple(self.degradations),
            items=tuple(self.items),
            expected=self.expected,
            stopped=self.stopped,
        )

"""A dry run: what an ingest would do with each file. Nothing is stored or embedded."""

import time
from typing import TYPE_CHECKING

from elt_llm_core.errors import IngestError
from elt_llm_core.jobs import Expected, ItemOutcome
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.strategy import Models
from elt_llm_ingest.change_detection import FileOutcome, ScannedFile
from elt_llm_ingest.discovery import FilePlan
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.state import IngestState, Todo, process_files
from elt_llm_ingest.timing import read_speed

if TYPE_CHECKING:  # imports LlamaIndex
    from elt_llm_ingest.reading import PreparedFile


class DryRun:
    """Reads and chunks what is new or changed, and lists what an ingest would do."""

    def __init__(self, state: IngestState, models: Models) -> None:
        self._state = state
        self._models = models
        self._report = state.report
        self._digest = ""  # of the embedding model
        self._done = 0  # files
        self._total = 0
        self._characters = 0  # that would be embedded
        self._requested: set[str] = set()  # texts that an earlier file would embed

    def process(self, todo: Todo, process: ReadingProcess) -> None:
        """Read the files, and estimate how long the ingest would take."""
        began = time.monotonic()
        from elt_llm_ingest.reading import FileReader  # noqa: PLC0415 - LlamaIndex

        state = self._state
        self._total = len(todo)
        reader = FileReader(state.context.config, self._models, process, state.options)
        process_files(state, todo, reader, self)
        if not self._report.stopped:
            state.context.progress("read", self._total, self._total)
        self._estimate_time(time.monotonic() - began)

    def begin(self, file: ScannedFile) -> None:
        """Report progress before the file is read."""
        self._state.context.progress("read", self._done, self._total, file.item.name)
        self._done += 1

    def check(self, prepared: "PreparedFile") -> None:
        """Accept every file that can be read."""

    def skip(self) -> None:
        """List no item for a copy; the report warns of it."""

    def fail(self, file: ScannedFile, error: IngestError) -> None:
        """List a file that could not be ingested."""
        self._state.fail(file, error)
        self._report.items.append(_item(file, "failed", str(error)))

    def add(self, prepared: "PreparedFile") -> None:
        """List a file with its chunks and the texts that would be embedded."""
        change = prepared.change
        texts = [t for t in dict.fromkeys(prepared.texts) if t not in self._requested]
        self._digest = as_counting(self._models.embedder).digest
        places = self._state.context.store.missing_vectors(self._digest, texts)
        missing = [texts[place] for place in places]
        self._requested.update(missing)
        self._characters += sum(map(len, missing))
        parts = len(prepared.parts)
        self._report.add_stored(change.stored_as, parts, prepared.chunks)
        name = prepared.scanned.item.name
        for part in prepared.parts:
            document = part.target.document
            self._report.add_warnings(part.target.collection, name, document.warnings)
        renamed = change.stored_as is FileOutcome.RENAMED
        item = _item(
            prepared.scanned,
            change.stored_as.value,
            f"was {change.other}" if renamed else "",
        )
        self._report.items.append(
            item.model_copy(
                update={"chunks": prepared.chunks, "to_embed": len(missing)}
            )
        )

    def _estimate_time(self, reading: float) -> None:
        """Estimate the ingest: the reading as measured, and the embedding."""
        embedding: float | None = 0.0
        if self._characters:
            speed = read_speed(self._state.context.store.data_dir, self._digest)
            embedding = speed.seconds_for(self._characters) if speed else None
        self._report.expected = Expected(reading=reading, embedding=embedding)


def list_other_files(
    state: IngestState, plan: FilePlan, todo: Todo, stale: list[str]
) -> None:
    """Add the items that need no reading: removed, unchanged and failed files."""
    report = state.report
    renamed = {
        change.other for _, change in todo if change.outcome is FileOutcome.RENAMED
    }
    for uri in stale:
        if uri not in renamed:
            name = state.ledger.rows[uri][0].name
            ending = "replaced" if uri in state.replaced else "removed"
            report.items.append(ItemOutcome(name=name, uri=uri, outcome=ending))
            report.counts[ending] += 1
    listed = {item.uri for item in report.items}
    for item in plan.items:
        if item.uri in state.digests.keys() - listed:
            outcome = ItemOutcome(name=item.name, uri=item.uri, outcome="unchanged")
            report.items.append(outcome)
    for error in plan.failed:
        report.items.append(
            ItemOutcome(name=error.path, uri="", outcome="failed", detail=str(error))
        )
    report.items.sort(key=lambda item: (item.uri, item.name))


def _item(file: ScannedFile, outcome: str, detail: str) -> ItemOutcome:
    item = file.item
    return ItemOutcome(name=item.name, uri=item.uri, outcome=outcome, detail=detail)

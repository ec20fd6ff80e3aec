"""The state of one ingest run, and the loop over its files.

The loop is the same for a run that stores and for a dry run; each passes a handler.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from elt_llm_core.errors import IngestError
from elt_llm_core.jobs import JobContext
from elt_llm_core.store.database.records import DocumentRow
from elt_llm_ingest.change_detection import (
    ConfigKeys,
    FileChange,
    FileOutcome,
    Ledger,
    ScannedFile,
)
from elt_llm_ingest.editions import SAME, overlap, replace_command
from elt_llm_ingest.ingest_report import ReportBuilder
from elt_llm_ingest.options import IngestOptions

if TYPE_CHECKING:  # imports LlamaIndex
    from elt_llm_core.store.writer import Writer
    from elt_llm_ingest.reading import FileReader, PreparedFile

Todo = Sequence[tuple[ScannedFile, FileChange]]


@dataclass
class IngestState:
    """The state of one run.

    Attributes:
        ledger: The documents that were stored when the run began.
        digests: The digest of each readable file, by its address.
        failed: Digests of files that could not be ingested.
        total: Number of files that the paths name.
        replaced: Addresses of documents to replace, each with that of its file.
    """

    options: IngestOptions
    context: JobContext
    keys: ConfigKeys
    report: ReportBuilder = field(default_factory=ReportBuilder)
    ledger: Ledger = field(default_factory=Ledger)
    digests: dict[str, str] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    total: int = 0
    replaced: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name under which degradations of the run are filed."""
        return self.options.collection or self.options.collection_prefix

    def fail(self, file: ScannedFile, error: IngestError) -> None:
        """Record that a file could not be ingested."""
        self.report.add_failure(self.label, error)
        self.failed.add(file.sha256)

    def skip_copy(self, file: ScannedFile, change: FileChange) -> bool:
        """Count and report the file if it is a copy of one that was ingested.

        Returns:
            Whether it was skipped. A copy of a failed file is read itself.
        """
        if change.outcome is not FileOutcome.COPY or file.sha256 in self.failed:
            return False
        if change.other in self.replaced:  # it takes the place of the other one
            return False
        rows = self.ledger.rows.get(change.other)
        first = rows[0].name if rows else change.other.rpartition("/")[2]
        note = f"the same file as {first}, which was ingested"
        self.report.counts["unchanged"] += 1
        self.report.add_warnings(self.label, file.item.name, [note])
        return True

    def warn_of_edition(self, prepared: "PreparedFile") -> None:
        """Warn if a document of the same name has most of the file's text."""
        item = prepared.scanned.item
        text = "\n".join(part.target.document.text for part in prepared.parts)
        for rows in self.ledger.namesakes(item):
            uri, same = rows[0].uri, rows[0].sha256 == prepared.scanned.sha256
            # A moved file is removed at its old address, a copy is reported already;
            # files that are taken in together are kept apart on purpose.
            if same or uri in self.replaced or uri in self.digests:
                continue
            store = self.context.store
            stored = "\n".join(store.document_text(row.document_id) for row in rows)
            if (share := overlap(text, stored)) >= SAME:
                command = replace_command(item, rows[0], self.options.collection)
                note = (
                    f"{share:.0%} of its text is also in the document of the same name "
                    f"from {uri}, and both are kept; if it is a new edition, replace "
                    f"the other one with: {command}"
                )
                self.report.add_warnings(self.label, item.name, [note])

    def remove(self, writer: "Writer", rows: Sequence[DocumentRow]) -> None:
        """Remove documents; searches stop finding them at once."""
        for row in rows:
            writer.remove_document(row.document_id)
            self.report.changed.add(row.collection)


class FileHandler(Protocol):
    """What a run does with each file."""

    def begin(self, file: ScannedFile) -> None:
        """Report progress before the file is read."""

    def check(self, prepared: "PreparedFile") -> None:
        """Raise IngestError if the file cannot be accepted."""

    def add(self, prepared: "PreparedFile") -> None:
        """Accept a file that was read and chunked."""

    def skip(self) -> None:
        """Count a copy, which is not read."""

    def fail(self, file: ScannedFile, error: IngestError) -> None:
        """Record a file that could not be ingested."""


def process_files(
    state: IngestState, todo: Todo, reader: "FileReader", handler: FileHandler
) -> None:
    """Read the files in order and pass each to the handler.

    A file that cannot be read fails alone. `state.report.stopped` is set if the run was
    stopped before the last file.
    """
    options = state.options
    for file, change in todo:
        if state.context.stopped():
            state.report.stopped = True
            return
        handler.begin(file)
        if file.error is not None:
            handler.fail(file, file.error)
            continue
        if state.skip_copy(file, change):
            handler.skip()
            continue
        try:
            prepared = reader.read(
                file, change, options.collection, options.collection_prefix
            )
            handler.check(prepared)
            state.warn_of_edition(prepared)
        except IngestError as error:
            handler.fail(file, error)
        else:
            handler.add(prepared)
            if not prepared.complete and state.context.stopped():
                state.report.stopped = True
                return

"""New and changed files: read, embedded together, stored one by one."""

import logging
from collections.abc import Mapping

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import (
    CollectionMismatchError,
    IngestError,
    ModelError,
    UsageError,
)
from elt_llm_core.jobs import Pace
from elt_llm_core.models.embedder import CountingEmbedder, as_counting
from elt_llm_core.results import DegradationKind
from elt_llm_core.store.database.records import DocumentRow, NewDocument
from elt_llm_core.store.writer import Writer
from elt_llm_core.strategy import Models
from elt_llm_ingest.change_detection import INCOMPLETE, FileOutcome, ScannedFile
from elt_llm_ingest.chunking import count_problems, list_suspicions
from elt_llm_ingest.discovery import guess_mime
from elt_llm_ingest.reading import DocumentPart, FileReader, PreparedFile, part_keys
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.state import IngestState, Todo, process_files
from elt_llm_ingest.timing import record_speed
from elt_llm_ingest.vectorizer import Vectorizer
from elt_llm_ingest.window import EmbeddingWindow

RESUME = "finished documents are stored: the same command resumes where it stopped"
MAX_LISTED = 3  # names or reasons that fit into one sentence

log = logging.getLogger(__name__)


class Indexer:
    """Reads, embeds and stores the files of a run, in order."""

    def __init__(self, state: IngestState, models: Models, writer: Writer) -> None:
        self._state = state
        self._models = models
        self._embedder = as_counting(models.embedder)
        self._vectorizer = Vectorizer(writer, self._embedder, self._report_embedding)
        self._window = EmbeddingWindow(self._vectorizer, self._store)
        self._storage = DocumentStorage(state, writer, self._embedder)
        self._chunker = ""
        self._done = 0  # files
        self._done_bytes = 0
        self._total = 0
        self._pace = Pace(0)

    def process(self, todo: Todo, process: ReadingProcess) -> None:
        """Ingest the files in order.

        Raises:
            ModelError: If the embedder fails for every text.
            UsageError: If a collection must be rebuilt and documents would be lost.
        """
        state = self._state
        self._total = len(todo)
        self._pace = Pace(sum(file.size for file, _ in todo))
        self._warn_of_unknown_prompt()
        try:
            reader = FileReader(
                state.context.config,
                self._models,
                process,
                state.options,
                state.context.store.journal,
                state.context.stopped,
            )
            self._chunker = reader.chunker_name
            process_files(state, todo, reader, self)
            if state.report.stopped:
                self._window.finish_first()
            else:
                self._window.drain()
        except ModelError as error:
            error.hint = "; ".join(filter(None, (error.hint, RESUME)))
            raise
        finally:
            state.report.counts["embedded"] = self._vectorizer.embedded
        self._warn_of_vectors()
        record_speed(
            state.context.store.data_dir,
            self._embedder.digest,
            self._vectorizer.characters,
            self._vectorizer.seconds,
        )

    def begin(self, file: ScannedFile) -> None:
        """Report progress before the file is read."""
        state = self._state
        done = state.total - self._total + self._done
        state.context.progress(
            "read", done, state.total, self._with_time_left(file.item.name)
        )

    def check(self, prepared: PreparedFile) -> None:
        """Create the collections of the file's parts."""
        for collection in sorted({part.target.collection for part in prepared.parts}):
            self._storage.ensure_collection(collection, self._chunker)

    def add(self, prepared: PreparedFile) -> None:
        """Queue the file until its texts are embedded."""
        self._window.add(prepared)

    def skip(self) -> None:
        """Count a copy as done."""
        self._done += 1

    def fail(self, file: ScannedFile, error: IngestError) -> None:
        """Record a file that could not be ingested."""
        self._state.fail(file, error)
        self._done += 1
        self._done_bytes += file.size

    def _store(self, prepared: PreparedFile) -> None:
        """Store a file whose texts are embedded."""
        progress, name = self._state.context.progress, prepared.scanned.item.name
        progress("store", self._done, self._total, name)
        try:
            self._storage.store(prepared, self._vectorizer.failed)
        except IngestError as error:
            self.fail(prepared.scanned, error)
            return
        self._done += 1
        self._done_bytes += prepared.scanned.size
        progress("store", self._done, self._total, name)

    def _report_embedding(self, _count: int) -> None:
        done, requested = self._vectorizer.done, self._vectorizer.requested
        left = self._with_time_left("") if done < requested else ""
        self._state.context.progress("embed", done, requested, left)

    def _with_time_left(self, name: str) -> str:
        left = self._pace.time_left(self._done_bytes + self._window.done_bytes)
        return ", ".join(filter(None, (name, left)))

    def _warn_of_unknown_prompt(self) -> None:
        if not self._embedder.prompt_known:
            detail = f"{self._embedder.model_name} may need a prompt that is unknown"
            kind = DegradationKind.UNKNOWN_EMBEDDER_PROMPT
            self._state.report.add_degradation(kind, self._state.label, detail)

    def _warn_of_vectors(self) -> None:
        warnings = []
        if self._vectorizer.is_one_by_one:
            warnings.append(
                f"{self._embedder.model_name} returns different vectors for texts "
                "in a batch: they were embedded one at a time, which is slow"
            )
        if count := len(self._vectorizer.damaged):
            warnings.append(
                f"{count} cached vectors were damaged and were computed again"
            )
        self._state.report.add_warnings(self._state.label, "", warnings)


class DocumentStorage:
    """Writes files to the store and removes what they replace."""

    def __init__(
        self, state: IngestState, writer: Writer, embedder: CountingEmbedder
    ) -> None:
        self._state = state
        self._writer = writer
        self._embedder = embedder

    def ensure_collection(self, name: str, chunker: str) -> None:
        """Create the collection, or replace one of another embedder in a rebuild.

        Raises:
            CollectionMismatchError: If the embedder differs and this is no rebuild.
            UsageError: If documents would be lost that this run does not ingest.
        """
        state, writer = self._state, self._writer
        if name in state.report.changed:
            return
        title = state.options.collection_title
        try:
            writer.ensure_collection(name, self._embedder, chunker, title)
        except CollectionMismatchError:
            if not state.options.rebuild:
                raise
            self._check_complete(name)
            writer.drop_collection(name)
            writer.ensure_collection(name, self._embedder, chunker, title)
        state.report.changed.add(name)

    def _check_complete(self, collection: str) -> None:
        lost = [
            rows[0].name
            for uri, rows in sorted(self._state.ledger.rows.items())
            if uri not in self._state.digests and rows[0].collection == collection
        ]
        if lost:
            more = " and more" * (len(lost) > MAX_LISTED)
            raise UsageError(
                f"{len(lost)} documents of {collection!r} are not among the given "
                f"files and would be lost: {', '.join(lost[:MAX_LISTED])}{more}",
                "pass their files too, or remove them with: elt-llm remove",
            )

    def store(self, prepared: PreparedFile, failed: Mapping[str, str]) -> None:
        """Store all parts of a file, then remove the documents that they replace.

        Args:
            prepared: The file.
            failed: Texts without a vector, with the reason.

        Raises:
            IngestError: If the file cannot be stored.
        """
        crash_point(CrashPoint.EMBEDDED)
        state, change = self._state, prepared.change
        item = prepared.scanned.item
        for part in prepared.parts:
            self._put(prepared, part, failed)
            warnings = (
                *part.target.document.warnings,
                *count_problems(part.nodes),
                *list_suspicions(part.nodes),
            )
            state.report.add_warnings(part.target.collection, item.name, warnings)
        kept = part_keys([part.target for part in prepared.parts])
        earlier = state.ledger.rows.get(item.uri, [])
        stale = [row for row in earlier if (row.collection, row.part) not in kept]
        replaced: list[DocumentRow] = []
        if change.outcome is FileOutcome.RENAMED:
            replaced = state.ledger.rows[change.other]
        state.remove(self._writer, [*stale, *replaced])
        parts = len(prepared.parts)
        state.report.add_stored(change.stored_as, parts, prepared.chunks)
        # Logged once every part is committed: the crash tests rely on it.
        log.info("stored %s", item.uri)

    def _put(
        self, prepared: PreparedFile, part: DocumentPart, failed: Mapping[str, str]
    ) -> None:
        file, state = prepared.scanned, self._state
        item = file.item
        unembedded = {text: failed[text] for text in part.texts if text in failed}
        self._writer.put_document(
            part.target.collection,
            NewDocument(
                uri=item.uri,
                name=item.name,
                sha256=file.sha256,
                mime=guess_mime(item.path),
                parsed=part.target.document,
                nodes=part.nodes,
                original=(
                    prepared.data
                    if state.context.config.ingest.keep_originals
                    else None
                ),
                config_key=state.keys.compute(
                    prepared.loader, item, len(prepared.parts)
                )
                + ("" if prepared.complete else INCOMPLETE),
                unembedded=unembedded,
            ),
        )
        if unembedded:
            self._warn_of_unembedded(item.name, part, unembedded)

    def _warn_of_unembedded(
        self, name: str, part: DocumentPart, failed: Mapping[str, str]
    ) -> None:
        count = sum(text in failed for text in part.texts)
        reasons = list(dict.fromkeys(failed.values()))
        more = "; and more" * (len(reasons) > MAX_LISTED)
        noun = "chunk" if len(part.nodes) == 1 else "chunks"
        verb = "has" if count == 1 else "have"
        detail = (
            f"{name}: partial: {count} of {len(part.nodes)} {noun} {verb} no "
            f"vector: {'; '.join(reasons[:MAX_LISTED])}{more}; found by keywords "
            "only; the next ingest of the file tries again"
        )
        kind = DegradationKind.CHUNK_QUARANTINED
        report = self._state.report
        report.add_degradation(kind, part.target.collection, detail)
        report.counts["quarantined"] += count

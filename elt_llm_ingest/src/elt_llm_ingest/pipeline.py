"""One run of the ingest job.

LlamaIndex, the embedder and the chunker take longer to import than ten thousand files
take to be scanned: `indexing` and `reading`, which need them, are imported when the
first file is new or changed.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.enterprise.joining import join_models, read_models
from elt_llm_core.enterprise.unread import find_unread, read_unread_sheets
from elt_llm_core.errors import (
    CollectionMismatchError,
    GenerationError,
    IngestError,
    ModelError,
    NameTakenError,
    StoreLockedError,
)
from elt_llm_core.identifiers import collection_id, collection_name
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.models.factory import EmbedderIdentity, LateModels
from elt_llm_core.results import DegradationKind
from elt_llm_core.store.database.disk_space import require_space
from elt_llm_core.store.database.records import CollectionCard
from elt_llm_core.strategy import Models
from elt_llm_ingest.change_detection import (
    ConfigKeys,
    FileChange,
    FileOutcome,
    Ledger,
    ScannedFile,
)
from elt_llm_ingest.discovery import (
    FilePlan,
    add_metadata,
    describe_missing,
    find_missing,
    hash_file,
    make_plan,
    remove_command,
)
from elt_llm_ingest.dry_run import DryRun, list_other_files
from elt_llm_ingest.editions import find_replaced
from elt_llm_ingest.limits import limits_of
from elt_llm_ingest.options import IngestOptions
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.sandbox.passwords import load_passwords
from elt_llm_ingest.state import IngestState, Todo
from elt_llm_ingest.warming import pause_garbage_collection, warm_up

if TYPE_CHECKING:
    from elt_llm_core.store.writer import Writer

# While another process writes, a stop is noticed within half a second.
LOCK_POLL_SECONDS = 0.5
# Ten thousand files are hashed in seconds: progress need not be reported for each.
FILES_PER_PROGRESS = 500


class IngestPipeline:
    """Discovers files, decides what changed, and stores or lists it."""

    def __init__(
        self, options: IngestOptions, models: Models, context: JobContext
    ) -> None:
        self._options = options
        self._models = models
        self._context = context
        self._state = IngestState(
            options, context, ConfigKeys(context.config, options.document_facts)
        )
        self._report = self._state.report

    def run(self) -> JobReport:
        """Run the ingest.

        Raises:
            IngestError: If there are files and none could be ingested.
            NameTakenError: If the title belongs to another collection.
        """
        options = self._options
        if options.collection_prefix:
            collection_name(f"{options.collection_prefix}_x")
        self._check_title()
        plan = make_plan(options.paths, options.uris, options.titles)
        plan.items = add_metadata(plan.items, options.file_metadata)
        self._state.total = len(plan.items)
        crash_point(CrashPoint.SCANNED)
        self._report.add_warnings(self._state.label, "", plan.notes)
        if options.dry_run:
            self._run_dry(plan)
        else:
            with self._open_writer() as writer:
                if writer is not None:
                    self._ingest(plan, writer)
        self._report.raise_if_all_failed()
        return self._report.build()

    def _check_title(self) -> None:
        """Raise NameTakenError if the name or its id belongs to another collection."""
        title, name = self._options.collection_title, self._options.collection
        for card in self._context.store.collections():
            other = title and card.title.casefold() not in ("", title.casefold())
            renamed = card.name != name and collection_id(card.label) == name
            if renamed or (card.name == name and other):
                raise NameTakenError(title or name, card.name, card.label)

    def _ingest(self, plan: FilePlan, writer: "Writer") -> None:
        state, context = self._state, self._context
        todo = self._select_files(plan)
        stale = [] if self._report.stopped else self._find_stale(plan)
        if any(file.error is None for file, _ in todo):
            require_space(context.store.data_dir, sum(file.size for file, _ in todo))
            with self._start_reader(todo) as process:
                with pause_garbage_collection():
                    from elt_llm_ingest.indexing import Indexer  # noqa: PLC0415
                Indexer(state, self._models, writer).process(todo, process)
        else:
            for file, _ in todo:
                if file.error is not None:
                    state.fail(file, file.error)
        if self._report.stopped:
            return
        self._remove_stale(stale, writer)
        stores = context.config.stores
        names = self._report.changed | state.ledger.collections
        self._warn_of_unread_sheets(sorted(names))
        self._publish(writer, names, stores.delta_fraction)
        skipped = writer.back_up_if_due(stores.backup_hours, stores.backups_kept)
        self._report.degradations += [skipped] if skipped else []
        context.progress("read", state.total, state.total)

    def _run_dry(self, plan: FilePlan) -> None:
        todo = self._select_files(plan)
        if todo:
            if not self._options.rebuild:
                self._check_embedder()
            with self._start_reader(todo) as process:
                DryRun(self._state, self._models).process(todo, process)
        list_other_files(self._state, plan, todo, self._find_stale(plan))

    @contextmanager
    def _start_reader(self, todo: Todo) -> Iterator[ReadingProcess]:
        """Start the reading process, which initialises while LlamaIndex is imported."""
        paths = [file.item.path for file, _ in todo if file.error is None]
        config = self._context.config
        given = [password.get_secret_value() for password in self._options.passwords]
        with ReadingProcess(
            limits_of(config), load_passwords(config, given)
        ) as process:
            if paths:
                process.start()
                warm_up(paths[0])
            yield process

    def _select_files(self, plan: FilePlan) -> Todo:
        """Return the files that are new or changed; count the unchanged ones."""
        state, options = self._state, self._options
        state.ledger = Ledger.read(
            self._context.store, options.collection, options.collection_prefix
        )
        plan.items = state.ledger.adopt(plan.items)
        if options.replace:
            state.replaced = find_replaced(plan.items, state.ledger)
        self._warn_of_spellings(plan)
        for index, error in enumerate(plan.failed):
            if not self._is_pruned(plan, index):
                self._report.add_failure(state.label, error)
        files = self._scan(plan)
        changes = state.ledger.classify(files, state.keys, rebuild=options.rebuild)
        pairs = list(zip(files, changes, strict=True))
        state.digests = {file.item.uri: file.sha256 for file in files if not file.error}
        unchanged = {
            file.item.uri
            for file, change in pairs
            if change.outcome is FileOutcome.UNCHANGED
        }
        self._report.counts["unchanged"] += len(unchanged)
        self._warn_of_duplicates(pairs)
        if unchanged:
            self._check_embedder()
        others = state.ledger.rows.keys() - {file.item.uri for file in files}
        stored = unchanged | others
        return [
            (file, change)
            for file, change in pairs
            if file.item.uri not in unchanged
            and not (change.other in stored and state.skip_copy(file, change))
        ]

    def _scan(self, plan: FilePlan) -> list[ScannedFile]:
        """Hash every file; a file that cannot be read carries its error."""
        files = []
        limits = limits_of(self._context.config)
        for index, item in enumerate(plan.items):
            if index % FILES_PER_PROGRESS == 0:
                self._context.progress("read", 0, self._state.total)
                if self._context.stopped():
                    self._report.stopped = True
                    return []
            try:
                files.append(ScannedFile(item, *hash_file(item.path, limits)))
            except IngestError as error:
                files.append(ScannedFile(item, error=error))
        return files

    def _is_pruned(self, plan: FilePlan, index: int) -> bool:
        """Return whether an error only says that a document to remove has no file."""
        missing = plan.scope.missing
        stored = self._state.ledger.find_spellings() if self._options.prune else {}
        return any(place == index and uri in stored for uri, place in missing.items())

    def _warn_of_duplicates(
        self, pairs: Sequence[tuple[ScannedFile, FileChange]]
    ) -> None:
        """Warn of new files whose content is stored at another address too."""
        for file, change in pairs:
            rows = self._state.ledger.rows.get(change.other)
            if change.other in self._state.replaced:
                continue
            if change.outcome is FileOutcome.ADDED and rows:
                note = (
                    f"the same content as {rows[0].name} ({change.other}); both are "
                    f"kept; remove the other one with: {remove_command(rows[0])}"
                )
                self._report.add_warnings(self._state.label, file.item.name, [note])

    def _warn_of_spellings(self, plan: FilePlan) -> None:
        """Warn of files that an earlier version stored under several addresses."""
        rows, present = self._state.ledger.rows, {item.uri for item in plan.items}
        for uris in self._state.ledger.find_spellings().values():
            kept = next((uri for uri in uris if uri in present), "")
            for uri in (other for other in uris if kept and other != kept):
                note = (
                    f"the same file is stored as {uri} too; remove that document with: "
                    f"{remove_command(rows[uri][0])}"
                )
                self._report.add_warnings(self._state.label, rows[kept][0].name, [note])

    def _warn_of_unread_sheets(self, names: Sequence[str]) -> None:
        """Warn of sheets that list elements of a model but are no inventory."""
        store = self._context.store
        if not self._report.changed:
            return
        if sheets := [s for name in names for s in read_unread_sheets(store, name)]:
            models = [model for name in names for model in read_models(store, name)]
            skips = find_unread(join_models(models), sheets) if models else []
            notes = [f"sheet {skip.name!r}: {skip.reason}" for skip in skips]
            self._report.add_warnings(self._state.label, "", notes)

    def _check_embedder(self) -> None:
        """Raise CollectionMismatchError if stored vectors are of another model."""
        ours = self._embedder_identity()
        for card in self._context.store.collections():
            if card.name in self._state.ledger.collections and _differs(card, ours):
                stored = (card.embedder, card.embedder_digest)
                configured = (ours.model_name or "another", ours.digest)
                raise CollectionMismatchError.of_embedder(card.name, stored, configured)

    def _embedder_identity(self) -> EmbedderIdentity:
        if isinstance(self._models, LateModels):
            return self._models.identity
        embedder = as_counting(self._models.embedder)
        try:
            return EmbedderIdentity(embedder.model_name, embedder.digest)
        except ModelError:  # nothing to embed, so no server is needed
            return EmbedderIdentity(embedder.model_name)

    def _find_stale(self, plan: FilePlan) -> list[str]:
        """Return the addresses of documents to remove, and warn of others."""
        ledger = self._state.ledger
        moved = ledger.find_moved(self._state.digests)
        present = [item.uri for item in plan.items]
        moved += [uri for uri in self._list_replaced() if uri not in moved]
        missing = find_missing(plan.scope, ledger.rows, [*present, *moved])
        if self._options.prune:
            return [*moved, *missing]
        warnings = describe_missing(missing, ledger.rows)
        self._report.add_warnings(self._state.label, "", warnings)
        return moved

    def _list_replaced(self) -> list[str]:
        """Return the addresses of documents whose new edition can be read so far."""
        state = self._state
        return [
            uri for uri, new in sorted(state.replaced.items()) if new in state.digests
        ]

    def _is_still_needed(self, uri: str) -> bool:
        """Return whether the file that takes a document's place could not be stored."""
        state = self._state
        if state.ledger.rows[uri][0].sha256 in state.failed:
            return True
        new = state.replaced.get(uri)
        if new is None:
            return False
        return new not in state.digests or state.digests[new] in state.failed

    def _remove_stale(self, stale: Sequence[str], writer: "Writer") -> None:
        for uri in stale:
            rows = self._state.ledger.rows[uri]
            if self._is_still_needed(uri):
                continue
            store = self._context.store
            present = [row for row in rows if store.document(row.document_id)]
            self._state.remove(writer, present)
            new = self._state.replaced.get(uri)
            self._report.counts["replaced" if new else "removed"] += bool(present)
            if new and present:
                note = f"it replaces {uri}, which is no longer in the collection"
                self._report.add_warnings(self._state.label, rows[0].name, [note])

    def _publish(self, writer: "Writer", names: Iterable[str], fraction: float) -> None:
        """Build new indexes if they are due, also after an interrupted run."""
        ordered = sorted(names)
        for index, name in enumerate(ordered, start=1):
            try:
                outdated = writer.is_outdated(name)
                if writer.publish([name], fraction) and outdated:
                    self._report.counts["reindexed"] += 1
            except GenerationError as error:
                # Without an index, searches use the database and are slower.
                kind = DegradationKind.EXACT_ENGINE
                self._report.add_degradation(kind, name, str(error))
            self._context.progress("index", index, len(ordered), name)

    @contextmanager
    def _open_writer(self) -> Iterator["Writer | None"]:
        """Yield the writer, or None if the run was stopped while waiting for it."""
        deadline = time.monotonic() + self._options.wait
        with ExitStack() as stack:
            while True:
                left = max(0.0, deadline - time.monotonic())
                try:
                    writer = stack.enter_context(
                        self._context.store.writer(min(left, LOCK_POLL_SECONDS))
                    )
                except StoreLockedError:
                    if self._context.stopped():
                        self._report.stopped = True
                        yield None
                        return
                    if left <= 0:
                        raise
                else:
                    yield writer
                    return


def _differs(card: CollectionCard, ours: EmbedderIdentity) -> bool:
    """Return whether a collection is known to be indexed with another model."""
    if ours.digest:
        return card.embedder_digest != ours.digest
    return bool(ours.model_name) and card.embedder != ours.model_name

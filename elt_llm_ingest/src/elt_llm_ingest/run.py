"""One run of the ingest job. What is not needed for unchanged files comes late.

Importing LlamaIndex, the embedder and the chunker takes longer than looking at ten
thousand files: `Changed` and what it needs are imported when the first file is new.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import (
    CollectionMismatchError,
    IngestError,
    ModelError,
    NameTakenError,
    StoreLockedError,
)
from elt_llm_core.identifiers import collection_id, collection_name
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.models.factory import EmbedderIdentity, LateModels
from elt_llm_core.store.database.disk_space import require_space
from elt_llm_core.store.database.records import CollectionCard
from elt_llm_core.strategy import Models
from elt_llm_ingest.change_detection import Keys, Ledger, Outcome, Seen, Verdict
from elt_llm_ingest.discovery import Plan, gone, make_plan, told_of_gone
from elt_llm_ingest.files import sha256_of
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.report import Tally
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.sandbox.passwords import known
from elt_llm_ingest.upkeep import publish, take_out
from elt_llm_ingest.warming import collector_at_rest, warm_up

if TYPE_CHECKING:
    from elt_llm_core.store.writer import Writer
    from elt_llm_ingest.ingest import IngestJob

PATIENCE = 0.5  # seconds between two looks at whether to stop waiting
STEP = 500  # files between two words of progress


class Run:
    """The job at work."""

    def __init__(
        self,
        job: "IngestJob",
        models: Models,
        context: JobContext,
        given: Sequence[str] = (),
    ) -> None:
        """`given`: passwords for protected files, beside those of the configuration."""
        self.job = job
        self.models = models
        self.context = context
        self.tally = Tally()
        self.keys = Keys(context.config, job.metadata)
        self.limits = limits(context)
        self.passwords = known(context.config, given)
        self.ledger = Ledger()
        self.total = 0  # files
        self.now: dict[str, str] = {}  # digests by address
        self.failed: set[str] = set()  # digests of files that were no good

    @property
    def label(self) -> str:
        """What degradations are filed under."""
        return self.job.collection or self.job.collection_prefix

    def run(self) -> JobReport:
        """Do it. Raises IngestError where not one file could be taken in."""
        job = self.job
        if job.collection_prefix:
            collection_name(f"{job.collection_prefix}_x")
        self._check_title()
        plan = make_plan(job.paths, job.uris, job.titles)
        self.total = len(plan.items)
        crash_point(CrashPoint.SCANNED)
        self.tally.warn(self.label, "", plan.notes)
        if job.dry_run:
            self._forecast(plan)
        else:
            with self._writer() as writer:
                if writer is not None:
                    self._ingest(plan, writer)
        self.tally.raise_if_none()
        return self.tally.report()

    def _check_title(self) -> None:
        """Raise NameTakenError if the name or its id belongs to another collection."""
        title, name = self.job.collection_title, self.job.collection
        for card in self.context.store.collections():
            other = title and card.title.casefold() not in ("", title.casefold())
            renamed = card.name != name and collection_id(card.label) == name
            if renamed or (card.name == name and other):
                raise NameTakenError(title or name, card.name, card.label)

    def todo(self, plan: Plan) -> list[tuple[Seen, Verdict]]:
        """The files that are new, changed or copies; unchanged ones are counted."""
        self.ledger = Ledger.read(
            self.context.store, self.job.collection, self.job.collection_prefix
        )
        for index, error in enumerate(plan.failed):
            if not self._is_pruned(plan, index):
                self.tally.fail(self.label, error)
        files = self._look(plan)
        verdicts = self.ledger.verdicts(files, self.keys, rebuild=self.job.rebuild)
        found = list(zip(files, verdicts, strict=True))
        self.now = {s.item.uri: s.sha256 for s in files if not s.error}
        same = {s.item.uri for s, v in found if v.outcome is Outcome.UNCHANGED}
        self.tally.counts["unchanged"] += len(same)
        self._warn_of_twins(found)
        if same:
            self.check_embedder()
        stored = same | (self.ledger.rows.keys() - {s.item.uri for s in files})
        return [
            (seen, verdict)
            for seen, verdict in found
            if seen.item.uri not in same
            and not (verdict.other in stored and self.is_copy(seen, verdict, set()))
        ]

    def stale(self, plan: Plan) -> list[str]:
        """Addresses of documents that are to go; of others that could, it is told."""
        moved = self.ledger.moved(self.now)
        there = [item.uri for item in plan.items]
        away = gone(plan.scope, self.ledger.rows, [*there, *moved])
        if not self.job.prune:
            self.tally.warn(self.label, "", told_of_gone(away, self.ledger.rows))
            return moved
        return [*moved, *away]

    def is_copy(self, seen: Seen, verdict: Verdict, failed: set[str]) -> bool:
        """Whether the file is a copy of one that was taken in; tells and counts it."""
        if verdict.outcome is not Outcome.COPY or seen.sha256 in failed:
            return False
        rows = self.ledger.rows.get(verdict.other)
        first = rows[0].name if rows else verdict.other.rpartition("/")[2]
        note = f"the same file as {first}, which was taken in"
        self.tally.counts["unchanged"] += 1
        self.tally.warn(self.label, seen.item.name, [note])
        return True

    def _warn_of_twins(self, found: Sequence[tuple[Seen, Verdict]]) -> None:
        """Tell of named files whose content is stored at another address too."""
        for seen, verdict in found:
            rows = self.ledger.rows.get(verdict.other)
            if verdict.outcome is Outcome.ADDED and rows:
                note = (
                    f"the same content as {rows[0].name} ({verdict.other}); both stay"
                )
                self.tally.warn(self.label, seen.item.name, [note])

    def refuse(self, seen: Seen) -> None:
        """Note that a file could not even be looked at."""
        if seen.error is not None:
            self.tally.fail(self.label, seen.error)

    def _is_pruned(self, plan: Plan, index: int) -> bool:
        """Whether an error only says that a document to be removed has no file."""
        missing = plan.scope.missing
        return self.job.prune and any(
            place == index and uri in self.ledger.rows for uri, place in missing.items()
        )

    def _look(self, plan: Plan) -> list[Seen]:
        """Every file's digest and size, or why there is none."""
        found = []
        for index, item in enumerate(plan.items):
            if index % STEP == 0:
                self.context.progress("read", 0, self.total)
                if self.context.stopped():
                    self.tally.stopped = True
                    return []
            try:
                found.append(Seen(item, *sha256_of(item.path, self.limits)))
            except IngestError as error:
                found.append(Seen(item, error=error))
        return found

    def check_embedder(self) -> None:
        """Raises CollectionMismatchError where stored vectors are of another model."""
        ours = self._identity()
        for card in self.context.store.collections():
            if card.name in self.ledger.collections and _differs(card, ours):
                was = (card.embedder, card.embedder_digest)
                now = (ours.model_name or "another", ours.digest)
                raise CollectionMismatchError.of_embedder(card.name, was, now)

    def _identity(self) -> EmbedderIdentity:
        if isinstance(self.models, LateModels):
            return self.models.identity
        embedder = as_counting(self.models.embedder)
        try:
            return EmbedderIdentity(embedder.model_name, embedder.digest)
        except ModelError:  # nothing has to be embedded, so nobody needs the server
            return EmbedderIdentity(embedder.model_name)

    def _forecast(self, plan: Plan) -> None:
        from elt_llm_ingest.forecast import Forecast  # noqa: PLC0415 - imports this

        Forecast(self).take(plan)

    def _ingest(self, plan: Plan, writer: "Writer") -> None:
        todo = self.todo(plan)
        stale = [] if self.tally.stopped else self.stale(plan)
        if any(seen.error is None for seen, _ in todo):
            require_space(
                self.context.store.data_dir, sum(seen.size for seen, _ in todo)
            )
            self._take_changed(todo, writer)
        else:
            for seen, _ in todo:
                self.refuse(seen)
        if self.tally.stopped:
            return
        for uri in stale:
            rows = self.ledger.rows[uri]
            if rows[0].sha256 in self.failed:
                continue  # it moved, and is not stored at its new address
            still = [r for r in rows if self.context.store.document(r.document_id)]
            take_out(writer, still, self.tally)
            self.tally.counts["removed"] += bool(still)
        names = self.tally.touched | self.ledger.collections
        stores = self.context.config.stores
        publish(writer, names, stores.delta_fraction, self.tally, self.context.progress)
        skipped = writer.back_up_if_due(stores.backup_hours, stores.backups_kept)
        self.tally.degradations += [skipped] if skipped else []
        self.context.progress("read", self.total, self.total)

    def _take_changed(
        self, todo: Sequence[tuple[Seen, Verdict]], writer: "Writer"
    ) -> None:
        with ReadingProcess(self.limits, self.passwords) as process:
            first = next(seen.item.path for seen, _ in todo if seen.error is None)
            process.start(first.name)  # it gets ready while LlamaIndex is imported here
            warm_up(first)
            with collector_at_rest():
                from elt_llm_ingest.changed import Changed  # noqa: PLC0415 - LlamaIndex

            Changed(self, writer, process).take(todo)

    @contextmanager
    def _writer(self) -> Iterator["Writer | None"]:
        """The writer; None where the run was stopped while it waited for another."""
        deadline = time.monotonic() + self.job.wait
        with ExitStack() as stack:
            while True:
                left = max(0.0, deadline - time.monotonic())
                try:
                    writer = stack.enter_context(
                        self.context.store.writer(min(left, PATIENCE))
                    )
                except StoreLockedError:
                    if self.context.stopped():
                        self.tally.stopped = True
                        yield None
                        return
                    if left <= 0:
                        raise
                else:
                    yield writer
                    return


def _differs(card: CollectionCard, ours: EmbedderIdentity) -> bool:
    """Whether a collection was indexed with another model, as far as it is known."""
    if ours.digest:
        return card.embedder_digest != ours.digest
    return bool(ours.model_name) and card.embedder != ours.model_name


def limits(context: JobContext) -> Limits:
    """What one file may cost, by the configuration."""
    wanted = context.config.ingest
    return Limits(
        timeout=wanted.parse_timeout,
        memory_mb=wanted.parse_memory_mb,
        max_file_mb=wanted.max_file_mb,
        max_pages=wanted.max_pages,
    )

"""A dry run: what would become of each file. Nothing is stored or embedded."""

import time
from typing import TYPE_CHECKING

from elt_llm_core.errors import IngestError
from elt_llm_core.jobs import Expected, ItemOutcome
from elt_llm_core.models.embedder import as_counting
from elt_llm_ingest.change_detection import Outcome, Seen, Verdict
from elt_llm_ingest.discovery import Plan
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.timing import known_speed

if TYPE_CHECKING:
    from elt_llm_ingest.reading import Reader
    from elt_llm_ingest.run import Run


class Forecast:
    """Reads and cuts what is new, and tells what an ingest would do."""

    def __init__(self, run: "Run") -> None:
        self._run = run
        self._tally = run.tally
        self._failed: set[str] = set()
        self._characters = 0  # to be embedded
        self._asked: set[str] = set()  # texts that an earlier file would have embedded

    def take(self, plan: Plan) -> None:
        """Tell of every file and of every document that would go."""
        todo = self._run.todo(plan)
        if todo:
            if not self._run.job.rebuild:
                self._run.check_embedder()
            began = time.monotonic()
            self._take(todo)
            self._tell_time(time.monotonic() - began)
        stale = self._run.stale(plan)
        renamed = {v.other for _, v in todo if v.outcome is Outcome.RENAMED}
        for uri in stale:
            if uri not in renamed:
                name = self._run.ledger.rows[uri][0].name
                self._tell(name, uri, "removed")
                self._tally.counts["removed"] += 1
        handled = {item.uri for item in self._tally.items}
        for item in plan.items:
            if item.uri in self._run.now.keys() - handled:
                self._tell(item.name, item.uri, "unchanged")
        for error in plan.failed:
            self._tell(error.path, "", "failed", str(error))
        self._tally.items.sort(key=lambda item: (item.uri, item.name))

    def _take(self, todo: list[tuple[Seen, Verdict]]) -> None:
        from elt_llm_ingest.reading import Reader  # noqa: PLC0415 - LlamaIndex

        run = self._run
        with ReadingProcess(run.limits, run.passwords) as process:
            process.start()
            config, metadata = run.context.config, run.job.metadata
            reader = Reader(config, run.models, process, metadata)
            for index, (seen, verdict) in enumerate(todo):
                if run.context.stopped():
                    self._tally.stopped = True
                    return
                name = seen.item.name
                run.context.progress("read", index, len(todo), name)
                if seen.error is not None:
                    self._tell(name, seen.item.uri, "failed", str(seen.error))
                    run.refuse(seen)
                    continue
                if run.is_copy(seen, verdict, self._failed):
                    continue
                try:
                    self._one(seen, verdict, reader)
                except IngestError as error:
                    self._tally.fail(run.label, error)
                    self._failed.add(seen.sha256)
                    self._tell(name, seen.item.uri, "failed", str(error))
            run.context.progress("read", len(todo), len(todo))

    def _tell_time(self, reading: float) -> None:
        """What the ingest would take: the reading as it went, and the embedding."""
        run, embedding = self._run, 0.0 if not self._characters else None
        if self._characters:
            model = as_counting(run.models.embedder).digest
            speed = known_speed(run.context.store.data_dir, model)
            embedding = speed.of(self._characters) if speed else None
        self._tally.expected = Expected(reading=reading, embedding=embedding)

    def _one(self, seen: Seen, verdict: Verdict, reader: "Reader") -> None:
        run = self._run
        work = reader.work(seen, verdict, run.job.collection, run.job.collection_prefix)
        texts = [t for t in dict.fromkeys(work.texts) if t not in self._asked]
        model = as_counting(run.models.embedder).digest
        missing = run.context.store.missing_vectors(model, texts)
        self._asked.update(texts[i] for i in missing)
        self._characters += sum(len(texts[i]) for i in missing)
        copied = verdict.outcome is Outcome.COPY  # of a file that was no good
        outcome = Outcome.ADDED if copied else verdict.outcome
        self._tally.counts[outcome] += 1
        self._tally.counts["chunks"] += work.chunks
        for part in work.parts:
            warnings = part.target.document.warnings
            self._tally.warn(part.target.collection, seen.item.name, warnings)
        self._tell(
            seen.item.name,
            seen.item.uri,
            outcome.value,
            f"was {verdict.other}" if outcome is Outcome.RENAMED else "",
            chunks=work.chunks,
            to_embed=len(missing),
        )

    def _tell(
        self,
        name: str,
        uri: str,
        outcome: str,
        detail: str = "",
        *,
        chunks: int = 0,
        to_embed: int = 0,
    ) -> None:
        self._tally.items.append(
            ItemOutcome(
                name=name,
                uri=uri,
                outcome=outcome,
                chunks=chunks,
                to_embed=to_embed,
                detail=detail,
            )
        )

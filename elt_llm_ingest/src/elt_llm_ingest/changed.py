"""Files that are new or changed: read, embedded together, stored one by one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from elt_llm_core.errors import IngestError, ModelError
from elt_llm_core.jobs import Pace
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.results import DegradationKind
from elt_llm_core.store.writer import Writer
from elt_llm_ingest.change_detection import Seen, Verdict
from elt_llm_ingest.embedding import Vectors
from elt_llm_ingest.reading import Reader, Work
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.storing import Storer
from elt_llm_ingest.timing import remember
from elt_llm_ingest.window import Window

if TYPE_CHECKING:
    from elt_llm_ingest.run import Run

KEPT = "what is done is kept: the same command goes on where it stopped"


class Changed:
    """The second half of a run, with the models and the reading process."""

    def __init__(self, run: "Run", writer: Writer, process: ReadingProcess) -> None:
        self._run = run
        self._process = process
        self._tally = run.tally
        self._embedder = as_counting(run.models.embedder)
        self._vectors = Vectors(writer, self._embedder, self._embedded)
        self._window = Window(self._vectors, self._store)
        self._storer = Storer(run, writer)
        self._stored = 0
        self._stored_bytes = 0
        self._todo = 0
        self._pace = Pace(0)

    def take(self, todo: Sequence[tuple[Seen, Verdict]]) -> None:
        """Take the files in, in order. Raises ModelError and what else stops a run."""
        self._todo = len(todo)
        self._pace = Pace(sum(seen.size for seen, _ in todo))
        run = self._run
        self._check_prompt()
        try:
            config, metadata = run.context.config, run.job.metadata
            answers = run.context.store.journal
            reader = Reader(config, run.models, self._process, metadata, answers)
            self._take(todo, reader)
        except ModelError as error:
            error.hint = "; ".join(filter(None, (error.hint, KEPT)))
            raise
        finally:
            self._tally.counts["embedded"] = self._vectors.made
        self._tell_of_vectors()
        model, made = self._embedder.digest, self._vectors
        remember(run.context.store.data_dir, model, made.characters, made.seconds)

    def _take(self, todo: Sequence[tuple[Seen, Verdict]], reader: Reader) -> None:
        for seen, verdict in todo:
            if self._run.context.stopped():
                self._tally.stopped = True
                self._window.finish_first()
                return
            self._tell_read(seen.item.name)
            if self._run.is_copy(seen, verdict, self._run.failed):
                self._stored += 1
                continue
            if seen.error is not None:
                self._fail(seen, seen.error)
                continue
            try:
                work = reader.work(
                    seen,
                    verdict,
                    self._run.job.collection,
                    self._run.job.collection_prefix,
                )
                self._prepare(work, reader.chunker_name)
            except IngestError as error:
                self._fail(seen, error)
            else:
                self._window.add(work)
        self._window.drain()

    def _prepare(self, work: Work, chunker: str) -> None:
        for collection in sorted({part.target.collection for part in work.parts}):
            rebuild = self._run.job.rebuild
            title = self._run.job.collection_title
            self._storer.prepare(
                collection, self._embedder, chunker, title, replace=rebuild
            )

    def _store(self, work: Work) -> None:
        """What the window passes on."""
        name = work.seen.item.name
        self._run.context.progress("store", self._stored, self._todo, name)
        try:
            self._storer.store(work, self._vectors.bad)
        except IngestError as error:
            self._fail(work.seen, error)
            return
        self._stored += 1
        self._stored_bytes += work.seen.size
        self._run.context.progress("store", self._stored, self._todo, name)

    def _fail(self, seen: Seen, error: IngestError) -> None:
        self._tally.fail(self._run.label, error)
        self._run.failed.add(seen.sha256)
        self._stored += 1
        self._stored_bytes += seen.size

    def _tell_read(self, name: str) -> None:
        done = self._run.total - self._todo + self._stored
        self._run.context.progress("read", done, self._run.total, self._told(name))

    def _embedded(self, _count: int) -> None:
        vectors = self._vectors
        self._run.context.progress("embed", vectors.done, vectors.given, self._told(""))

    def _told(self, name: str) -> str:
        """A file's name and how long it still takes."""
        left = self._pace.left(self._stored_bytes + self._window.done_bytes)
        return ", ".join(filter(None, (name, left)))

    def _check_prompt(self) -> None:
        if not self._embedder.prompt_known:
            detail = f"{self._embedder.model_name} may want a prompt that is not known"
            kind = DegradationKind.UNKNOWN_EMBEDDER_PROMPT
            self._tally.note(kind, self._run.label, detail)

    def _tell_of_vectors(self) -> None:
        if self._vectors.one_by_one:
            detail = (
                f"{self._embedder.model_name} gives texts other vectors in a batch "
                "than alone: they were embedded one by one, which is slow"
            )
            self._tally.warn(self._run.label, "", [detail])
        if count := len(self._vectors.damaged):
            detail = f"{count} cached vectors were damaged and were made again"
            self._tally.warn(self._run.label, "", [detail])

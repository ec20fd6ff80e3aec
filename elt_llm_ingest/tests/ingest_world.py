"""A data root, a folder of files, and models and readers that count."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from pydantic import PrivateAttr

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import JobContext, JobReport, never
from elt_llm_core.results import DegradationKind
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_ingest.ingest import IngestJob
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.vectorizer import PROBES

Change = Callable[[list[str], np.ndarray], np.ndarray]


class CountingEmbedding(HashEmbedding):
    """Remembers every call; `change` may spoil what comes out, or raise."""

    max_tokens: int = 60

    _calls: list[list[str]] = PrivateAttr(default_factory=list)
    _change: Change | None = PrivateAttr(default=None)

    def embed_array(self, texts):
        self._calls.append(list(texts))
        rows = super().embed_array(texts)
        return self._change(list(texts), rows) if self._change else rows

    @property
    def calls(self) -> list[list[str]]:
        """The calls that were not about the probes."""
        return [texts for texts in self._calls if not set(texts) <= set(PROBES)]

    @property
    def texts(self) -> list[str]:
        return [text for texts in self.calls for text in texts]

    def forget(self) -> None:
        self._calls.clear()

    def spoil(self, change: Change | None) -> None:
        self._change = change


class World:
    """Files, a store, a configuration; `parsed` names every file that was read."""

    def __init__(self, root: Path, embedder: HashEmbedding | None = None) -> None:
        self.files = root / "files"
        self.files.mkdir()
        self.store = Store(root / "data")
        self.embedder = embedder or CountingEmbedding()
        self.config = RagConfig()
        self.parsed: list[str] = []
        self.heard: list[tuple] = []
        self.stopped: Callable[[], bool] = never

    def write(self, name: str, text: str) -> Path:
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, *paths: Path | str, **options) -> JobReport:
        """One ingest, told of from nothing: calls and reads count from here."""
        self.embedder.forget()
        self.parsed.clear()
        options.setdefault("collection", "harbour")
        job = IngestJob(paths=[str(p) for p in paths or [self.files]], **options)
        context = JobContext(self.config, self.store, self._hear, self.stopped)
        return job.build(Models(embedder=self.embedder))(context)

    def names(self) -> list[str]:
        return [row.name for row in self.store.documents("harbour")]

    def ids(self) -> dict[str, str]:
        return {node.node_id: node.text for node in self.store.nodes("harbour")}

    def _hear(self, stage, done, total=None, detail=""):
        self.heard.append((stage, done, total, detail))


def count_reads(world: World, monkeypatch) -> None:
    """Note every file that the reading process is asked for."""
    plain = ReadingProcess.read

    def read(self, path, data, loader=""):
        world.parsed.append(path.name)
        return plain(self, path, data, loader)

    monkeypatch.setattr(ReadingProcess, "read", read)


def told(report: JobReport, kind: DegradationKind) -> list[str]:
    return [d.detail for d in report.degradations if d.kind is kind]

"""Data roots that commands are run on, killed on, and compared by."""

import json
import re
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from crash_warm import HERE, PATCH, Command, Warm

from elt_llm_ingest.vectorizer import PROBES

MODULES = (
    *("chromadb", "bm25s", "elt_llm_core.cli", "elt_llm_core.cli.progress"),
    *("elt_llm_core.cli.doctor", "elt_llm_core.models.factory", "elt_llm_core.jobs"),
    *("elt_llm_core.store.store", "elt_llm_core.store.writer", "elt_llm_ingest.cli"),
    *(
        "elt_llm_ingest.ingest",
        "elt_llm_core.store.editing",
        "elt_llm_query.retrieval.fusion",
    ),
    *(
        "elt_llm_ingest.sandbox.protocol",
        "elt_llm_ingest.readers.text_file",
        "crash_embedder",
    ),
    *("elt_llm_ingest.window",),
    *("elt_llm_ingest.readers.markdown", "elt_llm_ingest.readers.csv"),
    *("elt_llm_ingest.readers.web.html", "elt_llm_ingest.loaders", "crash_files"),
    *("elt_llm_ingest.readers.pdf.document", "elt_llm_ingest.readers.detection"),
    *("elt_llm_ingest.sandbox.sanitize", "elt_llm_ingest.indexing", "numpy.random"),
    *("elt_llm_ingest.chunkers.sentence", "elt_llm_ingest.state", "Stemmer"),
    *("elt_llm_core.store.index.dense", "elt_llm_core.store.index.bm25"),
    *("elt_llm_core.store.index.matrix", "chromadb_rust_bindings", "sentencex"),
    *("elt_llm_core.language.detect",),
)
TRIED = {sha256(text.encode()).hexdigest() for text in PROBES}
CLI = ("-m", "elt_llm_core.cli")
STORED = re.compile(r"^INFO elt_llm_ingest\.indexing: stored (\S+)$", re.MULTILINE)
CONFIG = """
models: {embedder_strategy: counted}
plugins: {allow: [crash-embedder]}
stores: {backups_kept: 1}
"""


def warm_server(folder: Path) -> Warm:
    """A warm server that knows the embedder of the tests as an installed package."""
    site = folder / "site"
    info = site / "crash_embedder-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: crash-embedder\n")
    points = "[elt_llm.embedders]\ncounted = crash_embedder:Counted\n"
    (info / "entry_points.txt").write_text(points)
    (folder / "config.yaml").write_text(CONFIG)
    return Warm(MODULES, [site])


@dataclass
class Ended:
    """How a command ended, and the addresses it said are stored."""

    code: int
    acknowledged: list[str]
    out: str
    err: str


@dataclass
class Root:
    """One data root with the folder of its files and the log of what was embedded."""

    warm: Warm
    place: Path
    config: Path

    @property
    def data(self) -> Path:
        return self.place / "data"

    @property
    def calls(self) -> Path:
        return self.place / "calls.log"

    def copy(self, place: Path) -> "Root":
        """Another root with the same content."""
        shutil.copytree(self.place, place)
        return Root(self.warm, place, self.config)

    def start(self, *arguments: str, crash: str = "", patch: str = "", **env: str):
        """Start a command of ours on this root."""
        extra = {"ELT_TEST_CALLS": str(self.calls), **env}
        if crash:
            extra["ELT_CRASH_AT"] = crash
        if patch:
            extra[PATCH] = patch
        shared = ("--data-dir", str(self.data), "--config", str(self.config))
        if arguments[0] == "ingest":
            shared += ("--log-level", "INFO")
        return self.warm.start([*CLI, *arguments, *shared], **extra)

    def run(self, *arguments: str, **options: str) -> Ended:
        """Run a command to its end, whatever that is."""
        self.place.mkdir(parents=True, exist_ok=True)
        return ended(self.start(*arguments, **options))

    def look(self) -> dict[str, Any]:
        """See `crash_checks.look`."""
        return self._ask("look")

    def probe(self) -> dict[str, Any]:
        """See `crash_checks.probe`."""
        return self._ask("probe")

    def _ask(self, what: str) -> dict[str, Any]:
        script = str(HERE / "crash_checks.py")
        code, out, err = self.warm.run([script, what, str(self.data)])
        if code:
            return {"documents": {}, "faults": [f"exit {code}: {err}"]}
        found: dict[str, Any] = json.loads(out)
        return found

    def left_over(self) -> list[str]:
        """Temporary files and folders below the root."""
        names = ("*.tmp", ".*")
        found = {p for name in names for p in self.data.rglob(name)}
        return sorted(str(p.relative_to(self.data)) for p in found)

    def indexes(self) -> set[str]:
        """The collections that have a folder for an index."""
        return {path.name for path in (self.data / "indexes").glob("*")}

    def texts_paid_twice(self) -> int:
        """How many texts were embedded that had been before.

        Those by which a run looks whether the model works are not counted.
        """
        lines = self.calls.read_text().split() if self.calls.exists() else []
        paid = [line for line in lines if line not in TRIED]
        return len(paid) - len(set(paid))


def ended(command: Command) -> Ended:
    """Wait for a command and read what it said."""
    code = command.wait()
    err = command.err.read_text(errors="replace")
    return Ended(
        code, STORED.findall(err), command.out.read_text(errors="replace"), err
    )

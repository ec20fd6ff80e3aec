"""Unchanged files again, in a cold process: ours against plain LlamaIndex.

    uv run python benchmarks/reingest.py --files 10000 --repeat 3 [--json]

Both sides take the same small files in once, untimed, with an embedder that costs
nothing. Then each repeat starts a fresh process that takes the unchanged folder in
again, one side after the other; the least wall and processor time count. Plain
LlamaIndex is an `IngestionPipeline` with `DocstoreStrategy.UPSERTS`, a persisted
`SimpleDocumentStore` and a persistent Chroma collection.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CALLS = "calls.txt"
OURS = """
import sys
from pathlib import Path
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.models import factory as build

class Late(build.LateModels):
    def __init__(self, config):
        pass

    @property
    def embedder(self):
        from elt_llm_core.testing import HashEmbedding

        class Counted(HashEmbedding):
            def embed_array(self, texts):
                with Path("calls.txt").open("a") as log:
                    log.write("1\\n" * len(texts))
                return super().embed_array(texts)

        return Counted()

    llm = None
    identity = build.EmbedderIdentity("hash", DIGEST)

build.LateModels = Late
sys.exit(run(elt_llm, ["ingest", "files", "--collection", "notes", "--data-dir",
                       "data", "--quiet"]))
"""
PLAIN = """
from pathlib import Path
import chromadb
from llama_index.core import SimpleDirectoryReader
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.vector_stores.chroma import ChromaVectorStore

class Counted(MockEmbedding):
    def _get_text_embeddings(self, texts):
        with Path("plain-calls.txt").open("a") as log:
            log.write("1\\n" * len(texts))
        return super()._get_text_embeddings(texts)

kept = Path("plain/docstore.json")
store = (SimpleDocumentStore.from_persist_path(str(kept)) if kept.exists()
         else SimpleDocumentStore())
collection = chromadb.PersistentClient("plain/chroma").get_or_create_collection("notes")
documents = SimpleDirectoryReader("files", filename_as_id=True).load_data()
pipeline = IngestionPipeline(
    transformations=[SentenceSplitter(chunk_size=200, chunk_overlap=0),
                     Counted(embed_dim=256)],
    docstore=store,
    docstore_strategy=DocstoreStrategy.UPSERTS,
    vector_store=ChromaVectorStore(chroma_collection=collection),
)
for start in range(0, len(documents), 5000):  # Chroma takes no more at once
    pipeline.run(documents=documents[start:start + 5000])
store.persist(str(kept))
"""


def write_files(folder: Path, count: int) -> None:
    """Small Markdown files of about 300 bytes, the same in every run."""
    folder.mkdir()
    chance = random.Random(0)  # noqa: S311 - the same files in every run
    words = [f"word{n}" for n in range(3000)]
    for n in range(count):
        said = " ".join(chance.choices(words, k=40))
        (folder / f"{n:05}.md").write_text(f"# Note {n}\n\n{said}. Note {n}.\n")


def timed(place: Path, code: str) -> dict[str, float]:
    """Wall and processor seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    wall = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_s": round(wall, 2), "cpu_s": round(used, 2)}


def best(runs: list[dict[str, float]]) -> dict[str, float]:
    """The least of each figure."""
    return {name: min(run[name] for run in runs) for name in runs[0]}


def calls(path: Path) -> int:
    """Texts that were embedded so far."""
    return len(path.read_text().splitlines()) if path.exists() else 0


def compare(place: Path, files: int, repeat: int) -> dict[str, Any]:
    """Fill both sides, then time the unchanged folder."""
    from elt_llm_core.testing import HashEmbedding  # noqa: PLC0415 - LlamaIndex

    write_files(place / "files", files)
    sides = {
        "ours": (OURS.replace("DIGEST", repr(HashEmbedding().digest)), CALLS),
        "plain LlamaIndex": (PLAIN, f"plain-{CALLS}"),
    }
    (place / "plain").mkdir()
    found: dict[str, Any] = {"files": files}
    for name, (code, log) in sides.items():
        first = timed(place, code)
        found[name] = {"first": first, "filled": calls(place / log), "runs": []}
    for _ in range(repeat):
        for name, (code, _) in sides.items():
            found[name]["runs"].append(timed(place, code))
    for name, (_, log) in sides.items():
        again = calls(place / log) - found[name]["filled"]
        found[name]["unchanged"] = {**best(found[name].pop("runs")), "embedded": again}
    return found


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = compare(Path(folder), wanted.files, wanted.repeat)
    if wanted.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{wanted.files} unchanged files, cold process, least of {wanted.repeat}")
    print(f"{'':<18}{'wall s':>9}{'cpu s':>9}{'embedded':>10}{'first cpu s':>13}")
    for name, side in found.items():
        if name != "files":
            same, first = side["unchanged"], side["first"]
            print(
                f"{name:<18}{same['wall_s']:>9}{same['cpu_s']:>9}"
                f"{same['embedded']:>10}{first['cpu_s']:>13}"
            )


if __name__ == "__main__":
    main()

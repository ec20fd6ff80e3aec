"""How long searches take while another process stores documents and rebuilds the index.

    uv run python benchmarks/store_readers.py --chunks 10000 --queries 200

This process searches by vector and by words, first with nobody beside it, then while a
second one changes a document and publishes a whole new generation, again and again. The
bars: no error, and a p95 at most twice that of the idle store.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "crash"))

from crash_files import NOUNS, VERBS
from crash_model import new_document

from elt_llm_core.errors import EltLlmError
from elt_llm_core.store import Store
from elt_llm_core.testing.fakes import HashEmbedding

NAME = "rules"
EMBEDDER = HashEmbedding(dimension=384)
DOCUMENT = 100  # chunks
DEPTH = 20
PAUSE = 0.02  # seconds between two searches: somebody asks, and reads
SECONDS = 600  # that the writer may take for its last generation


@dataclass
class Searches:
    """What a run of searches took, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    generations: set[int] = field(default_factory=set)

    def row(self, name: str) -> dict[str, float | str]:
        """A line of the table; times in milliseconds."""
        p50, p95 = np.percentile(self.seconds, (50, 95)) * 1000
        return {
            "store": name,
            "searches": len(self.seconds),
            "errors": len(self.errors),
            "generations seen": len(self.generations),
            "p50 ms": round(float(p50), 2),
            "p95 ms": round(float(p95), 2),
        }


def texts_of(number: int, edition: int) -> list[str]:
    """The chunks of a document; a tenth of them differ from edition to edition."""
    said = []
    for i in range(DOCUMENT):
        rng = random.Random(f"{number} {i} {edition if i % 10 == 0 else 0}")  # noqa: S311 - no secret
        words = [rng.choice(NOUNS) for _ in range(24)]
        said.append(f"Rule {i} of {number}: {rng.choice(VERBS)} {' '.join(words)}")
    return said


def put(root: Path, numbers: range, edition: int) -> None:
    """Store documents and publish a generation with them."""
    with Store(root).writer() as writer:
        writer.ensure_collection(NAME, EMBEDDER, "bench")
        for number in numbers:
            texts = texts_of(number, edition)
            vectors = EMBEDDER.embed_array(texts)
            writer.put_vectors(EMBEDDER.digest, texts, vectors)
            writer.put_document(NAME, new_document(f"{number}.txt", texts))
        writer.publish([NAME], force=True)


def write(root: Path, done: Path) -> None:
    """The writer beside the reader; prints a number for every generation."""
    edition = 1
    while not done.exists():
        put(root, range(1), edition)
        print(edition, flush=True)
        edition += 1


def search(
    store: Store, least: int, writer: subprocess.Popen[bytes] | None
) -> Searches:
    """At least so many searches, and with a writer two generations."""
    found = Searches()
    rng = random.Random(5)  # noqa: S311 - no secret
    while len(found.seconds) < least or (writer and len(found.generations) < 3):
        if writer and writer.poll() is not None:
            raise SystemExit("the writer ended too early")
        question = " ".join(rng.choice(NOUNS) for _ in range(4))
        vector = EMBEDDER.embed_array([question])[0]
        begun = time.perf_counter()
        try:
            collection = store.open(NAME)
            hits = collection.search_dense(vector, DEPTH)
            words = collection.search_keyword(question, DEPTH)
        except EltLlmError as error:
            found.errors.append(error.message)
            continue
        finally:
            found.seconds.append(time.perf_counter() - begun)
        found.errors += [d.detail for d in collection.degradations]
        if not len(hits) == len(words) == DEPTH:
            found.errors.append(f"{len(hits)} and {len(words)} hits")
        found.generations.add(collection.generation)
        time.sleep(PAUSE)
    return found


def measure(root: Path, options: argparse.Namespace) -> list[Searches]:
    """The searches of the idle store and of the busy one."""
    put(root, range(options.chunks // DOCUMENT), 0)
    store = Store(root)
    search(store, 20, None)  # warm
    idle = search(store, options.queries, None)
    done = root.parent / "done"
    command = [sys.executable, __file__, "--write", str(root), str(done)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as writer:
        try:
            busy = search(store, options.queries, writer)
        finally:
            done.touch()
            writer.wait(timeout=SECONDS)
    store.close()
    return [idle, busy]


def options_given() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", nargs=2, type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure and print the table."""
    options = options_given()
    if options.write:
        write(*options.write)
        return
    place = Path(tempfile.mkdtemp(prefix="elt-readers-"))
    try:
        idle, busy = measure(place / "data", options)
    finally:
        shutil.rmtree(place)
    rows = [idle.row("idle"), busy.row("while another process rebuilds")]
    for row in (list(rows[0]), *(row.values() for row in rows)):
        print("| " + " | ".join(map(str, row)) + " |")
    ratio = float(rows[1]["p95 ms"]) / float(rows[0]["p95 ms"])
    print(f"p95 beside a rebuild is {ratio:.2f} times that of the idle store")
    errors = [*idle.errors, *busy.errors]
    for error in sorted(set(errors)):
        print(error, file=sys.stderr)
    if options.json:
        found = {"chunks": options.chunks, "rows": rows, "p95 ratio": round(ratio, 2)}
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    raise SystemExit(bool(errors))


if __name__ == "__main__":
    main()

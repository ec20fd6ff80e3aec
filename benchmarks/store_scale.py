"""The store at a hundred thousand chunks, beside plain LlamaIndex in the same run.

    python benchmarks/store_scale.py --data DIR --chunks 100000 [--cache FILE]
        [--json OUT] [--root DIR]

Texts come from the sentences of the files below DIR (text, Markdown, JSON lines with a
`text`), are embedded once with the configured embedder and kept in FILE. Prints one
table: each bar, the store, plain LlamaIndex (see scale_plain.py), and how many times
better the store is. Searches of both sides are timed in turns; what a process needs is
measured in processes of their own. `--root` keeps the built stores and uses them again.
"""

import argparse
import json
import logging
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import scale_ours as ours
import scale_plain as plain
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.store import Store
from scale_corpus import Corpus, load_corpus

CHILD = Path(__file__).with_name("scale_child.py")
CHILD_SECONDS = 600
REPEATS = 3
SHARE = 20  # one document in so many is filtered for, or changed
RECALL_K = 10


@dataclass(frozen=True)
class Row:
    """One line of the table. Smaller is better unless `more` says otherwise."""

    what: str
    bar: str
    ours: float | None
    plain: float | None = None
    more: bool = False

    def markdown(self) -> str:
        """The line."""
        ratio = ""
        if self.ours and self.plain:
            times = self.ours / self.plain if self.more else self.plain / self.ours
            ratio = f"{times:.2f}x"
        told = (f"{x:.4g}" if x is not None else "" for x in (self.ours, self.plain))
        return f"| {self.what} | {self.bar} | {' | '.join(told)} | {ratio} |"


def main() -> None:
    """Build both, measure both, print the table."""
    options = _options()
    logging.disable(logging.INFO)
    with tempfile.TemporaryDirectory() as scratch:
        cache = options.cache or Path(scratch) / "corpus.npz"
        corpus = load_corpus(options.data, options.chunks, cache)
        root = options.root or Path(scratch)
        rows = measured(root, cache, corpus)
    print("| what | bar | store | plain LlamaIndex | times better |")
    print("|---|---|---|---|---|")
    for row in rows:
        print(row.markdown())
    if options.json:
        told = [asdict(row) for row in rows]
        write_atomic(options.json, json.dumps(told, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with texts")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--cache", type=Path, help="keep texts and vectors here")
    parser.add_argument("--root", type=Path, help="keep the stores here")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    return parser.parse_args()


def measured(root: Path, cache: Path, corpus: Corpus) -> list[Row]:
    """Every row, in the order of the work."""
    mine, theirs = root / "ours", root / "plain"
    rows = built(mine, theirs, corpus)
    rows += processes(mine, theirs, cache)
    reader = plain.Plain(theirs)
    collection = Store(mine).open(ours.NAME)
    rows += recalls(collection, reader, corpus)
    rows += warm(collection, reader, corpus)
    rows += filtered(mine, reader, corpus)
    with tempfile.TemporaryDirectory(dir=root) as scratch:
        copy = Path(scratch) / "changed"  # the kept store stays as it was built
        shutil.copytree(mine, copy)
        return rows + changed(copy, reader, corpus)


def built(mine: Path, theirs: Path, corpus: Corpus) -> list[Row]:
    """Both stores from the same chunks and vectors; nothing where they are there."""
    if mine.exists() and theirs.exists():
        return []
    a, b = ours.ingest(mine, corpus), plain.ingest(theirs, corpus)
    count = len(corpus.texts)
    speed = [count / side["database"] for side in (a, b)]
    return [
        Row("stored without embedding, chunks/s", ">= 5000", *speed, more=True),
        Row("index built (and verified), s", "<= 60", a["index"], b["index"]),
    ]


def processes(mine: Path, theirs: Path, cache: Path) -> list[Row]:
    """What a new process needs: the best of some for time, one for memory."""
    roots = {"ours": mine, "plain": theirs}
    cold: dict[str, list[float]] = {side: [] for side in roots}
    for _ in range(REPEATS):
        for side, root in roots.items():
            started = perf_counter()
            _child(side, "cold", root, cache)
            cold[side].append(perf_counter() - started)
    best = [min(values) for values in cold.values()]
    held = [_child(s, "memory", root, cache)["VmHWM"] for s, root in roots.items()]
    return [
        Row("first answer of a new process, s", "<= 1.5", *best),
        Row("peak memory of searching, MB", "<= 600", *held),
    ]


def _child(side: str, task: str, root: Path, cache: Path) -> Any:
    done = subprocess.run(
        [sys.executable, str(CHILD), side, task, str(root), str(cache)],
        capture_output=True,
        text=True,
        timeout=CHILD_SECONDS,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def recalls(collection: Any, reader: plain.Plain, corpus: Corpus) -> list[Row]:
    """Mean recall@10 of the vector indexes against comparing everything."""
    ids = [f"{row:032x}" for row in range(len(corpus.texts))]
    exact = np.argsort(-(corpus.asked @ corpus.vectors.T), axis=1)[:, :RECALL_K]
    theirs = [
        len({ids[i] for i in best} & set(reader.dense(vector, RECALL_K)))
        for vector, best in zip(corpus.asked, exact, strict=True)
    ]
    mine = []
    for vector, best in zip(corpus.asked, exact, strict=True):
        worst = float(corpus.vectors[best[-1]] @ vector) - 1e-4
        hits = collection.search_dense(vector, RECALL_K)
        mine.append(sum(score >= worst for _, score in hits))
    shares = [float(np.mean(found)) / RECALL_K for found in (mine, theirs)]
    return [Row("recall@10 of the vectors", ">= 0.98", *shares, more=True)]


def warm(collection: Any, reader: plain.Plain, corpus: Corpus) -> list[Row]:
    """Both indexes and the joining, in turns; then with the chunks fetched too."""
    engine = reader.engine()
    bare, fetched, theirs = timed(
        corpus,
        lambda q, v: ours.search(collection, q, v),
        lambda q, v: collection.nodes(i for i, _ in ours.search(collection, q, v)),
        lambda q, v: plain.search(engine, q, v),
    )
    asked = corpus.questions[:REPEATS]
    building = min(plain.search_and_build(reader, question) for question in asked)
    return [
        Row("search, warm, p50 ms", "<= 4, >= 2x", bare[0], theirs[0]),
        Row("search, warm, p95 ms", "<= 10", bare[1], theirs[1]),
        Row("the same with its chunks, p50 ms", "", fetched[0], theirs[0]),
        Row("beside building BM25 a query, ms", ">= 100x", bare[0], building * 1000),
    ]


def timed(
    corpus: Corpus, *searches: Callable[[str, np.ndarray], Any]
) -> list[tuple[float, float]]:
    """Milliseconds (p50, p95) of each search, one after the other a question.

    Of each question the fastest of some turns counts: the machine may be shared.
    """
    spent = np.zeros((REPEATS, len(searches), len(corpus.questions)))
    for turn in range(REPEATS):
        for i, (question, vector) in enumerate(
            zip(corpus.questions, corpus.asked, strict=True)
        ):
            for which, search in enumerate(searches):
                started = perf_counter()
                search(question, vector)
                spent[turn, which, i] = (perf_counter() - started) * 1000
    best = spent.min(axis=0)
    return [tuple(np.percentile(row, (50, 95)).tolist()) for row in best]


def filtered(mine: Path, reader: plain.Plain, corpus: Corpus) -> list[Row]:
    """Searches in one document of twenty."""
    names = [ours.document_name(number) for number in _some(corpus)]
    collection = Store(mine).open(ours.NAME)
    started = perf_counter()
    allowed = collection.ids({"document": names})
    resolved = (perf_counter() - started) * 1000
    engine = reader.engine(names)
    a, b = timed(
        corpus,
        lambda q, v: ours.search(collection, q, v, allowed),
        lambda q, v: plain.search(engine, q, v),
    )
    few = [
        min(len(ours.search(collection, q, v, allowed)) for q, v in _asked(corpus)),
        min(len(plain.search(engine, q, v)) for q, v in _asked(corpus)),
    ]
    return [
        Row("search in 5 %, p50 ms", "<= 15", a[0], b[0]),
        Row("search in 5 %, p95 ms", "", a[1], b[1]),
        Row("a new filter, ms once", "", resolved),
        Row("fewest hits of 10 in 5 %", "10", *few, more=True),
    ]


def _some(corpus: Corpus) -> range:
    return range(0, len(corpus.texts) // ours.DOCUMENT, SHARE)


def _asked(corpus: Corpus) -> list[tuple[str, np.ndarray]]:
    return list(zip(corpus.questions, corpus.asked, strict=True))


def changed(mine: Path, reader: plain.Plain, corpus: Corpus) -> list[Row]:
    """One document changed, then one of twenty; nothing is built again."""
    store = Store(mine)
    before = store.open(ours.NAME)
    one = min(seconds_of_a_change(store, corpus, f"zyxo{i}") for i in range(REPEATS))
    theirs = plain.change(reader, corpus, 1, "zyxoplain")
    new = ours.change(mine, corpus, list(_some(corpus)), "revised")
    ours.put(mine, new)
    after = store.open(ours.NAME)
    a, b = timed(
        corpus,
        lambda q, v: ours.search(before, q, v),
        lambda q, v: ours.search(after, q, v),
    )
    return [
        Row("one document changed to found, s", "<= 0.5", one, theirs),
        Row("search with 5 % newer / without, p50", "<= 1.5", b[0] / a[0]),
        Row("search with 5 % newer, p50 ms", "", b[0]),
    ]


def seconds_of_a_change(store: Store, corpus: Corpus, word: str) -> float:
    """From the end of the embedding to a search that finds it, in a warm reader."""
    new = ours.change(store.data_dir, corpus, [1], word)
    old = store.open(ours.NAME).ids({"document": new[0].name})
    started = perf_counter()
    ours.put(store.data_dir, new)
    collection = store.open(ours.NAME)
    found = collection.search_keyword(word, 5)
    near = dict(collection.search_dense(corpus.vectors[ours.DOCUMENT], 50))
    spent = perf_counter() - started
    if not found or old & near.keys():
        raise SystemExit("the changed document is not found, or the old one still is")
    return spent


if __name__ == "__main__":
    main()

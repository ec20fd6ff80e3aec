"""Builds and verifies a generation. Run as a child process that ends afterwards.

    python -m elt_llm_core.store.index.build build|verify DATA_DIR RECIPE NAME:FOLDER…

A damaged index can kill the process that opens it; the parent then reports the signal,
and the generation is never published. Prints one JSON object per collection.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elt_llm_core.config.bm25 import DEFAULT, Recipe
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.index.bm25 import KeywordIndex
from elt_llm_core.store.index.child import end_with_parent
from elt_llm_core.store.index.dense import DenseIndex
from elt_llm_core.store.index.matrix import (
    group_duplicates,
    nearest,
    open_matrix,
    write_matrix,
)

BEHIND = 10  # searches of other processes come first
PROBES = 20
PROBE_K = 10
MIN_RECALL = 0.95
# Maximum number and share of chunks that the graph may not reach: readers compare them
# one by one, which takes a millisecond.
STRAYS = 1_000


def build(
    data_dir: Path, name: str, target: Path, recipe: Recipe = DEFAULT
) -> dict[str, Any]:
    """Write the indexes of the present database; return seq and count."""
    database = Database(data_dir)
    with database.snapshot():
        seq = database.sequence(name)
        # By id: equal contents give equal indexes, whatever their history.
        rows = sorted(database.index_rows(name))
        languages = database.languages(name)
        card = database.card(name)
    crash_point(CrashPoint.BUILD_BEGUN)
    ids = [row[0] for row in rows]
    matrix = database.stack([row[2] for row in rows], card.dimension)
    write_matrix(matrix, target)
    alike = group_duplicates(matrix)
    # Graph search fails among equal vectors, so the graph has one of each.
    leaders = list(alike)
    DenseIndex.build(
        name, [ids[i] for i in leaders], matrix[leaders], target / "vectors"
    )
    same = {ids[i]: [ids[j] for j in rows] for i, rows in alike.items() if rows}
    (target / "twins.json").write_bytes(json.dumps(same).encode())
    crash_point(CrashPoint.BUILD_DENSE)
    (target / "keywords").mkdir()
    texts, codes = [row[1] for row in rows], [languages.get(row[0], "") for row in rows]
    KeywordIndex.build(texts, target / "keywords", recipe, codes)
    crash_point(CrashPoint.BUILD_KEYWORDS)
    (target / "ids.json").write_bytes(json.dumps(ids).encode())
    return {"name": name, "seq": seq, "nodes": len(ids)}


def verify(
    data_dir: Path, name: str, target: Path, recipe: Recipe = DEFAULT
) -> dict[str, Any]:
    """Open a built generation as a reader would and compare it with the database.

    It records the chunks that the graph does not reach: a sound graph may have some,
    and readers compare them one by one.
    """
    database = Database(data_dir)
    DenseIndex.compact(target / "vectors")
    card = database.card(name)
    rows = sorted(database.index_rows(name))
    languages = database.languages(name)
    matrix = database.stack([row[2] for row in rows], card.dimension)
    dense = DenseIndex(target / "vectors", name)
    alike = group_duplicates(matrix)
    leaders = {rows[i][0]: i for i in alike}
    out_of_reach = dense.unreachable(frozenset(leaders), card.dimension)
    lost = sorted(j for i in out_of_reach for j in (leaders[i], *alike[leaders[i]]))
    strays = [rows[i][0] for i in lost]
    (target / "strays.json").write_bytes(json.dumps(strays).encode())
    faults = list(_file_faults(target, rows, matrix, recipe, languages))
    recall = probe_recall(dense, matrix, np.array(lost, dtype=np.intp))
    if recall < MIN_RECALL:
        faults.append(f"recall@{PROBE_K} against exact search is {recall:.3f}")
    if dense.count() != len(leaders):
        faults.append(f"the graph has {dense.count()} chunks, not {len(leaders)}")
    if len(lost) > max(STRAYS, len(rows) // STRAYS):
        faults.append(f"{len(lost)} chunks cannot be reached")
    return {"name": name, "faults": faults}


def _file_faults(
    target: Path,
    rows: Sequence[tuple[str, str, bytes]],
    matrix: np.ndarray,
    recipe: Recipe,
    languages: Mapping[str, str],
) -> Iterator[str]:
    """Return differences of ids, vectors and keywords from the database."""
    if json.loads((target / "ids.json").read_bytes()) != [row[0] for row in rows]:
        yield "ids differ"
    if not np.array_equal(open_matrix(target, matrix.shape[1]), matrix):
        yield "vectors differ"
    keywords = KeywordIndex(target / "keywords", recipe)
    if keywords.count != len(rows):
        yield f"the keyword index has {keywords.count} chunks, not {len(rows)}"
    if not keywords.holds((row[1], languages.get(row[0], "")) for row in rows):
        yield "the keyword index returns no results"


def probe_recall(dense: DenseIndex, rows: np.ndarray, strays: np.ndarray) -> float:
    """Return the graph's mean recall for probes spread evenly over the collection.

    A probe is the mean of a vector and its neighbour: near the data, not on it. What a
    reader compares one by one, the rows `strays`, counts as found.
    """
    lost = rows[strays]
    matrix = rows[list(group_duplicates(rows))]
    if not len(matrix):
        return 1.0
    starts = np.arange(0, len(matrix), max(len(matrix) // PROBES, 1))
    alike = matrix[starts] @ matrix.T
    alike[np.arange(len(starts)), starts] = -1.0
    probes = matrix[starts] + matrix[alike.argmax(axis=1)]
    hits = total = 0
    for probe in probes[probes.any(axis=1)]:
        unit = probe / np.linalg.norm(probe)
        exact = nearest(matrix, unit, PROBE_K)
        worst = exact[-1][1] - 1e-4  # equal distances may be in any order
        scores = [score for _, score in dense.search(unit, len(exact))]
        scores += (lost @ unit).tolist()
        hits += min(sum(score >= worst for score in scores), len(exact))
        total += len(exact)
    return hits / total if total else 1.0


def main(arguments: list[str]) -> None:
    """Run the command line, printing one line of JSON per collection."""
    end_with_parent()
    os.nice(BEHIND)
    action, data_dir, recipe, *targets = arguments
    step = {"build": build, "verify": verify}[action]
    for target in targets:
        name, _, folder = target.partition(":")
        report = step(Path(data_dir), name, Path(folder), Recipe.from_name(recipe))
        sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

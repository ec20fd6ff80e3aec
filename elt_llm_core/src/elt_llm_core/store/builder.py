"""Builds and verifies a generation. Run as a child process that ends afterwards.

    python -m elt_llm_core.store.builder build|verify DATA_DIR NAME:FOLDER…

A damaged index can kill the process that opens it; the parent then sees the signal, and
the generation is never published. Prints one JSON object a collection.
"""

import json
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.store.dense import DenseIndex, exact_search
from elt_llm_core.store.keyword import KeywordIndex, tokenize
from elt_llm_core.store.truth import Truth

PROBES = 20
PROBE_K = 10
MIN_RECALL = 0.95


def build(data_dir: Path, name: str, target: Path) -> dict[str, Any]:
    """Write the indexes of everything the truth holds now; tells seq and count."""
    truth = Truth(data_dir)
    with truth.snapshot():
        seq = truth.sequence(name)
        rows = truth.index_rows(name)
        card = truth.card(name)
    crash_point(CrashPoint.BUILD_BEGUN)
    ids = [row[0] for row in rows]
    vectors = truth.stack([row[2] for row in rows], card.dimension)
    DenseIndex.build(name, ids, vectors, target / "vectors")
    crash_point(CrashPoint.BUILD_DENSE)
    (target / "keywords").mkdir()
    KeywordIndex.build([row[1] for row in rows], target / "keywords")
    crash_point(CrashPoint.BUILD_KEYWORDS)
    (target / "ids.json").write_bytes(json.dumps(ids).encode())
    return {"name": name, "seq": seq, "nodes": len(ids)}


def verify(data_dir: Path, name: str, target: Path) -> dict[str, Any]:
    """Open a built generation as a reader would and compare it with the truth."""
    truth = Truth(data_dir)
    DenseIndex.compact(target / "vectors")
    ids = json.loads((target / "ids.json").read_bytes())
    dense = DenseIndex(target / "vectors", name)
    keywords = KeywordIndex(target / "keywords")
    card = truth.card(name)
    rows = truth.index_rows(name, frozenset(ids))
    matrix = truth.stack([row[2] for row in rows], card.dimension)
    faults = []
    if not len(ids) == len(rows) == dense.count() == keywords.count:
        faults.append("counts differ")
    if lost := dense.unreachable(frozenset(ids), card.dimension):
        faults.append(f"{len(lost)} chunks cannot be reached")
    recall = _probe_recall(dense, [row[0] for row in rows], matrix)
    if recall < MIN_RECALL:
        faults.append(f"recall@{PROBE_K} against exact search is {recall:.3f}")
    words = tokenize([row[1] for row in rows[:1]])[0]
    if words and not keywords.search(words, 1):
        faults.append("the keyword index finds nothing")
    return {"name": name, "faults": faults}


def _probe_recall(dense: DenseIndex, ids: list[str], matrix: np.ndarray) -> float:
    """Mean recall of the graph for probes spread evenly over the collection.

    A probe is the mean of two neighbours in storage order: near the data, not on it.
    """
    step = max(len(ids) // PROBES, 1)
    hits = total = 0
    for start in range(0, len(ids), step):
        probe = matrix[start] + matrix[(start + 1) % len(ids)]
        probe = probe / max(float(np.linalg.norm(probe)), 1e-12)
        exact = exact_search(ids, matrix, probe, PROBE_K)
        worst = exact[-1][1] - 1e-4  # equal distances may come in any order
        found = dense.search(probe, len(exact))
        hits += sum(score >= worst for _, score in found)
        total += len(exact)
    return hits / max(total, 1)


def main(arguments: list[str]) -> None:
    """Do what the command line says, one line of JSON a collection."""
    action, data_dir, *targets = arguments
    step = {"build": build, "verify": verify}[action]
    for target in targets:
        name, _, folder = target.partition(":")
        click.echo(json.dumps(step(Path(data_dir), name, Path(folder))))


if __name__ == "__main__":
    main(sys.argv[1:])

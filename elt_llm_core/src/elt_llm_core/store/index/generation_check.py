"""Checks a published generation. Run as a child process that ends afterwards.

    python -m elt_llm_core.store.index.generation_check DATA_DIR COLLECTION

A damaged index can kill the process that opens it; the parent then reports the signal.
Prints the faults as one JSON list.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.index.build import MIN_RECALL, PROBE_K, probe_recall
from elt_llm_core.store.index.child import end_with_parent
from elt_llm_core.store.index.generation import Generation
from elt_llm_core.store.index.manifest import IndexFolder
from elt_llm_core.store.index.matrix import group_duplicates

ROUNDED = 1e-3  # the database stores half precision


def list_generation_faults(data_dir: Path, name: str) -> Iterator[str]:
    """Return the faults of the published generation; empty if there is none.

    Raises GenerationError if it does not match its checksums.
    """
    folder = IndexFolder(data_dir, name)
    manifest = folder.manifest()
    if manifest is None:
        return
    generation = Generation(folder, manifest)
    known = frozenset(
        generation.ids[row] for row in group_duplicates(generation.vectors)
    )
    counts = (len(generation.ids), generation.keywords.count, generation.dense.count())
    if counts != (manifest.nodes, manifest.nodes, len(known)):
        yield f"counts differ: {counts}, built with {manifest.nodes}"
    strays = {generation.ids[row] for row in generation.strays}
    if lost := generation.dense.unreachable(known, manifest.dimension) - strays:
        yield f"{len(lost)} chunks cannot be reached"
    recall = probe_recall(generation.dense, generation.vectors, generation.strays)
    if recall < MIN_RECALL:
        yield f"recall@{PROBE_K} against exact search is {recall:.3f}"
    yield from _strange_rows(Database(data_dir), generation)


def _strange_rows(database: Database, generation: Generation) -> Iterator[str]:
    """Return differences between index and database for their common chunks."""
    manifest = generation.manifest
    rows = [
        row
        for row in database.index_rows(manifest.collection)
        if row[0] in generation.positions
    ]
    places = [generation.positions[row[0]] for row in rows]
    stored = database.stack([row[2] for row in rows], manifest.dimension)
    far = np.abs(generation.vectors[places] - stored).max(axis=1, initial=0) > ROUNDED
    if far.any():
        yield f"{int(far.sum())} vectors differ from the database"
    languages = database.languages(manifest.collection)
    texts = ((row[1], languages.get(row[0], "")) for row in rows)
    if not generation.keywords.holds(texts):
        yield "the keyword index returns no results"


if __name__ == "__main__":
    end_with_parent()
    faults = list(list_generation_faults(Path(sys.argv[1]), sys.argv[2]))
    sys.stdout.write(json.dumps(faults) + "\n")

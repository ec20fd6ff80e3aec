"""Opens a published generation and compares it with the truth. Run as a child process.

    python -m elt_llm_core.doctor.inspect DATA_DIR NAME

A damaged index can kill the process that opens it. Prints the faults as one JSON list.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from elt_llm_core.store.builder import MIN_RECALL, PROBE_K, probe_recall
from elt_llm_core.store.child import end_with_parent
from elt_llm_core.store.generation import Generation
from elt_llm_core.store.manifest import IndexFolder
from elt_llm_core.store.matrix import twins
from elt_llm_core.store.truth import Truth

ROUNDED = 1e-3  # the truth keeps half precision


def generation_faults(data_dir: Path, name: str) -> Iterator[str]:
    """What is wrong with the published generation; nothing where none is published.

    Raises GenerationError for one that is not as it was sealed.
    """
    folder = IndexFolder(data_dir, name)
    manifest = folder.manifest()
    if manifest is None:
        return
    generation = Generation(folder, manifest)
    known = frozenset(generation.ids[row] for row in twins(generation.vectors))
    counts = (len(generation.ids), generation.keywords.count, generation.dense.count())
    if counts != (manifest.nodes, manifest.nodes, len(known)):
        yield f"counts differ: {counts}, built with {manifest.nodes}"
    strays = {generation.ids[row] for row in generation.strays}
    if lost := generation.dense.unreachable(known, manifest.dimension) - strays:
        yield f"{len(lost)} chunks cannot be reached"
    recall = probe_recall(generation.dense, generation.vectors, generation.strays)
    if recall < MIN_RECALL:
        yield f"recall@{PROBE_K} against exact search is {recall:.3f}"
    yield from _strange_rows(Truth(data_dir), generation)


def _strange_rows(truth: Truth, generation: Generation) -> Iterator[str]:
    """What the index and the truth tell differently of the chunks that both hold."""
    manifest = generation.manifest
    rows = [
        row
        for row in truth.index_rows(manifest.collection)
        if row[0] in generation.positions
    ]
    places = [generation.positions[row[0]] for row in rows]
    stored = truth.stack([row[2] for row in rows], manifest.dimension)
    far = np.abs(generation.vectors[places] - stored).max(axis=1, initial=0) > ROUNDED
    if far.any():
        yield f"{int(far.sum())} vectors are not those of the truth"
    languages = truth.languages(manifest.collection)
    texts = ((row[1], languages.get(row[0], "")) for row in rows)
    if not generation.keywords.holds(texts):
        yield "the keyword index finds nothing"


if __name__ == "__main__":
    end_with_parent()
    click.echo(json.dumps(list(generation_faults(Path(sys.argv[1]), sys.argv[2]))))

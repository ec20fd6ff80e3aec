"""Vectors for chunks: only those that no earlier run made."""

from collections.abc import Sequence

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import EmbedError
from elt_llm_core.jobs import Progress
from elt_llm_core.models.protocol import CountingEmbedder
from elt_llm_core.store.writer import Writer

BATCH = 32


def embed_missing(
    writer: Writer,
    embedder: CountingEmbedder,
    nodes: Sequence[TextNode],
    progress: Progress,
    name: str,
) -> int:
    """Put the vectors of the chunks that have none yet; tells how many were made.

    Thirty-two texts at a time, each batch kept at once, so that a run that breaks off
    has lost no more than one. Raises EmbedError for vectors that are none.
    """
    texts = list(dict.fromkeys(provenance.index_text(node) for node in nodes))
    missing = [texts[i] for i in writer.missing_vectors(embedder.digest, texts)]
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        progress("embed", start, len(missing), name)
        rows = embedder.embed_array(batch)
        if rows.shape != (len(batch), embedder.dimension):
            raise EmbedError(
                f"{len(batch)} texts gave vectors of shape {rows.shape}, not "
                f"({len(batch)}, {embedder.dimension})",
                "check the embedding model with: elt-llm doctor",
            )
        writer.put_vectors(embedder.digest, batch, rows)
        crash_point(CrashPoint.EMBED_BATCH)
    if missing:
        progress("embed", len(missing), len(missing), name)
    return len(missing)

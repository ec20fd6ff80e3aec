"""Unit vectors of questions and nodes, and maximal marginal relevance."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray

from elt_llm_core import provenance
from elt_llm_core.errors import EmbedError, ModelError
from elt_llm_core.store import Collection

Vector = NDArray[np.float32]
Lookup = Callable[[str, Iterable[str]], Mapping[str, Vector]]
Embed = Callable[[Sequence[str]], Vector]


def stored_vectors(collections: Sequence[Collection]) -> Lookup:
    """Return a lookup of stored vectors by collection name and ids."""
    by_name = {c.name: c for c in collections}

    def vectors(collection: str, ids: Iterable[str]) -> Mapping[str, Vector]:
        """Return vectors by id; unknown collections and ids are absent."""
        opened = by_name.get(collection)
        return opened.vectors(ids) if opened else {}

    return vectors


def known_vectors(
    nodes: Sequence[NodeWithScore], lookup: Lookup | None
) -> dict[str, Vector]:
    """Return stored unit vectors by node id; a node without one is absent."""
    known: dict[str, Vector] = {}
    homes = sorted({collection_of(n) for n in nodes}) if lookup else ()
    for name in homes:
        ids = [n.node.node_id for n in nodes if collection_of(n) == name]
        known.update(lookup(name, ids) if lookup else {})
    return known


def matrix_of(
    nodes: Sequence[NodeWithScore], lookup: Lookup | None, embed: Embed
) -> Vector:
    """Return one unit vector per node, in order; `embed` computes missing ones."""
    known = known_vectors(nodes, lookup)
    without = [n for n in nodes if n.node.node_id not in known]
    if without:
        rows = embed([provenance.index_text(n.node) for n in without])
        ids = [n.node.node_id for n in without]
        known.update(zip(ids, rows, strict=True))
    return np.stack([known[n.node.node_id] for n in nodes])


def embed_texts(embedder: BaseEmbedding, texts: Sequence[str]) -> Vector:
    """Return unit vectors of texts, one per row."""
    rows = np.asarray(embedder.get_text_embedding_batch(list(texts)), np.float32)
    unit: Vector = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return unit


def to_unit(vector: Vector) -> Vector:
    """Return the vector with length 1; a zero vector unchanged."""
    length = float(np.linalg.norm(vector))
    unit: Vector = vector / length if length else vector
    return unit


def mmr(worth: Sequence[float], matrix: Vector, threshold: float) -> list[int]:
    """Indexes in the order of maximal marginal relevance (Carbonell, Goldstein, 1998).

    Each next one has the highest `threshold` x `worth` - (1 - `threshold`) x its
    greatest cosine to those chosen; ties keep their order. LlamaIndex compares only
    with the one chosen last, so that the third may repeat the first.
    """
    likeness = matrix @ matrix.T
    left = list(range(len(worth)))
    taken: list[int] = []
    repeated = np.zeros(len(worth))
    while left:
        gains = [threshold * worth[i] - (1 - threshold) * repeated[i] for i in left]
        taken.append(left.pop(int(np.argmax(gains))))
        newest = likeness[taken[-1]]
        repeated = newest if len(taken) == 1 else np.maximum(repeated, newest)
    return taken


def collection_of(node: NodeWithScore) -> str:
    """Return the name of a node's collection, or an empty string."""
    return str(node.node.metadata.get("collection", ""))


def embed_beginning(
    embed: Callable[[str], list[float]], text: str
) -> tuple[list[float], str]:
    """Return a text's vector and the text; of a text over the limit, its beginning.

    Raises ModelError.
    """
    words = text.split()
    while True:
        shorter = " ".join(words)
        try:
            return embed(shorter), shorter
        except EmbedError as error:
            if len(words) <= 1:
                raise ModelError(error.message, error.hint) from error
            words = words[: len(words) * 3 // 4]


def query_vector(
    query_bundle: QueryBundle, embedder: BaseEmbedding
) -> NDArray[np.float32]:
    """Return the unit vector of a query: its own embedding, or a new one."""
    numbers = query_bundle.embedding or embedder.get_agg_embedding_from_queries(
        query_bundle.embedding_strs
    )
    return to_unit(np.asarray(numbers, dtype=np.float32))

"""Shorter sources: only the sentences near the question, verbatim."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import ClassVar

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.identifiers import digest
from elt_llm_query.analysis.stems import Piece, pieces
from elt_llm_query.components import EmbeddingStepOptions, Postprocessor
from elt_llm_query.context_limits import PART_KEY
from elt_llm_query.postprocessors.collection_step import with_metadata
from elt_llm_query.retrieval.unit_vectors import embed_texts, query_vector

CHARACTERS = 600  # characters of a sentence that are compared; longer ones are lists


class Compression(Postprocessor):
    """Keeps the sentences of each source that are near the question, verbatim.

    Of every prose source it keeps the `share` of sentences, at least one, with
    `context` more on either side. Adjacent sentences stay one source, others become
    separate sources with their own span; the first keeps the chunk's id. Rows, fact
    sheets and single sentences are unchanged. LlamaIndex's `SentenceEmbeddingOptimizer`
    changes its input nodes, joins sentences out of order and repeats overlaps.
    """

    share: float = Field(default=0.5, gt=0, le=1)
    context: int = Field(default=0, ge=0)

    _embedder: BaseEmbedding = PrivateAttr()

    def __init__(self, embedder: BaseEmbedding, **options: object) -> None:
        super().__init__(**options)
        self._embedder = embedder

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            return list(nodes)
        sentences = [_sentences(n) for n in nodes]
        texts = [text for parts in sentences for _, text in parts]
        if not texts:
            return list(nodes)
        asked = query_vector(query_bundle, self._embedder)
        near = iter(embed_texts(self._embedder, texts) @ asked)
        kept: list[NodeWithScore] = []
        for hit, parts in zip(nodes, sentences, strict=True):
            scores = [float(next(near)) for _ in parts]
            kept += self._shorter(hit, [piece for piece, _ in parts], scores)
        return kept

    def _shorter(
        self, hit: NodeWithScore, parts: Sequence[Piece], scores: Sequence[float]
    ) -> list[NodeWithScore]:
        if not parts:
            return [hit]
        count = max(round(self.share * len(parts)), 1)
        best = np.argsort(-np.asarray(scores), kind="stable")[:count]
        around = {
            near
            for place in best.tolist()
            for near in range(place - self.context, place + self.context + 1)
            if 0 <= near < len(parts)
        }
        if len(around) == len(parts):
            return [hit]
        runs = list(_runs(sorted(around), parts))
        return [_cut(hit, run, first=run == runs[0]) for run in runs]


def _sentences(hit: NodeWithScore) -> list[tuple[Piece, str]]:
    """Return the sentences of a source that may be dropped, with their vectors."""
    node = hit.node
    if not isinstance(node, TextNode) or provenance.reading(node) != node.text:
        return []
    parts = pieces(node.text)
    if len(parts) < 2:  # noqa: PLR2004
        return []
    return [(p, node.text[p.start : p.end][:CHARACTERS]) for p in parts]


def _runs(places: Sequence[int], parts: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """Return the spans of adjacent sentences."""
    for _, group in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        run = [place for _, place in group]
        yield parts[run[0]].start, parts[run[-1]].end


def _cut(hit: NodeWithScore, run: tuple[int, int], *, first: bool) -> NodeWithScore:
    node = hit.node
    start, end = run
    place = provenance.read(node)
    shorter = TextNode(
        id_=node.node_id if first else digest(node.node_id, *map(str, run))[:32],
        text=node.get_content()[start:end],
        metadata=dict(node.metadata),
        relationships=node.relationships,
    )
    span = {
        "span_start": place.span_start + start,
        "span_end": place.span_start + end,
        "parents": (),
        "window_start": None,
        "window_end": None,
    }
    cut = provenance.write(shorter, place.model_copy(update=span))
    part = cut if first else with_metadata(cut, {PART_KEY: node.node_id})
    return NodeWithScore(node=part, score=hit.score)


class CompressionOptions(EmbeddingStepOptions):
    """Keep the sentences near the question, verbatim."""

    share: float = Field(default=0.5, gt=0, le=1, description="of a source's sentences")
    context: int = Field(
        default=0, ge=0, le=10, description="neighbouring sentences kept with each"
    )

    component: ClassVar = Compression

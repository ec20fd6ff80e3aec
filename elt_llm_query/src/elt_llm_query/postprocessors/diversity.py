"""Fewer, more diverse or reordered sources; their texts are unchanged."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.postprocessor import LongContextReorder, SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.analysis.quantities import guards
from elt_llm_query.components import (
    EmbeddingStepOptions,
    NamedComponent,
    Postprocessor,
    PostprocessorOptions,
)
from elt_llm_query.grounding.labels import RANK_KEY
from elt_llm_query.postprocessors.collection_step import CollectionStep, with_metadata
from elt_llm_query.retrieval.unit_vectors import (
    Lookup,
    Vector,
    embed_texts,
    known_vectors,
    matrix_of,
    mmr,
    query_vector,
    stored_vectors,
)

DUPLICATES_KEY = "duplicates"
_MARK = re.compile(r"\b(?:\w|\w*\d\w*)\b")  # (a), C12, 3
_WORD = re.compile(r"\w+")


class Mmr(Postprocessor):
    """Prefers sources near the question and unlike each other; see `unit_vectors.mmr`.

    `threshold` 1 is relevance only, 0 diversity only. Relevance is the incoming score,
    scaled so that the best is 1; without `by_score` it is the cosine, as in LlamaIndex,
    which ignores keyword scores. The scores are unchanged.
    """

    threshold: float = Field(default=0.7, ge=0, le=1)
    top_n: int = Field(default=0, ge=0)
    by_score: bool = True
    vectors: Lookup | None = Field(default=None, exclude=True, repr=False)

    _embedder: BaseEmbedding = PrivateAttr()

    def __init__(self, embedder: BaseEmbedding, **options: object) -> None:
        super().__init__(**options)
        self._embedder = embedder

    def over(
        self,
        collections: Sequence[Collection],
        where: Mapping[str, Any] | None = None,  # noqa: ARG002 - it brings nothing
    ) -> "Mmr":
        """Return a copy with the vectors that these collections store."""
        return self.model_copy(update={"vectors": stored_vectors(collections)})

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes or query_bundle is None:
            return list(nodes)
        matrix = matrix_of(nodes, self.vectors, self._embed)
        worth = self._worth(nodes, matrix, query_bundle)
        order = mmr(worth, matrix, self.threshold)
        return [nodes[i] for i in order[: self.top_n or None]]

    def _worth(
        self, nodes: Sequence[NodeWithScore], matrix: Vector, asked: QueryBundle
    ) -> list[float]:
        if not self.by_score:
            return [float(c) for c in matrix @ query_vector(asked, self._embedder)]
        scores = [n.score or 0.0 for n in nodes]
        highest = max(scores)
        return [score / highest if highest > 0 else score for score in scores]

    def _embed(self, texts: Sequence[str]) -> Vector:
        return embed_texts(self._embedder, texts)


class DocumentCap(Postprocessor):
    """Keeps the best of every document and section in order; 0 is no limit."""

    per_document: int = Field(default=0, ge=0)
    per_section: int = Field(default=0, ge=0)

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        documents: Counter[str] = Counter()
        sections: Counter[tuple[str, str]] = Counter()
        kept = []
        for hit in nodes:
            metadata = hit.node.metadata
            document = str(metadata.get("document_id") or hit.node.ref_doc_id or "")
            section = (document, str(metadata.get("section", "")))
            full = 0 < self.per_document <= documents[document]
            if full or 0 < self.per_section <= sections[section]:
                continue
            documents[document] += 1
            sections[section] += 1
            kept.append(hit)
        return kept


class NearDuplicates(CollectionStep):
    """Keeps the first of equivalent texts, with the other ids as metadata.

    Two texts are equivalent if their numbers, units, negations, letters and identifiers
    are equal, and either their words overlap by `words` (Jaccard) or their stored
    vectors have a cosine of `cosine`.
    """

    cosine: float = Field(default=0.98, gt=0, le=1)
    words: float = Field(default=0.9, gt=0, le=1)

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        vectors = known_vectors(nodes, stored_vectors(list(self.collections.values())))
        texts = [_ComparedText(n.node, vectors.get(n.node.node_id)) for n in nodes]
        kept: dict[int, list[str]] = {}
        for index, one in enumerate(texts):
            same = next((i for i in kept if self._same(texts[i], one)), None)
            if same is None:
                kept[index] = []
            else:
                kept[same].append(nodes[index].node.node_id)
        return [_with_duplicates(nodes[i], others) for i, others in kept.items()]

    def _same(self, one: "_ComparedText", other: "_ComparedText") -> bool:
        if one.must_agree != other.must_agree:
            return False
        shared = len(one.words & other.words)
        if shared >= self.words * max(len(one.words | other.words), 1):
            return True
        if one.vector is None or other.vector is None:
            return False
        return float(one.vector @ other.vector) >= self.cosine


class _ComparedText:
    """The compared features of a text."""

    def __init__(self, node: BaseNode, vector: Vector | None) -> None:
        text = provenance.reading(node)
        lowered = text.lower()
        self.words = frozenset(_WORD.findall(lowered))
        self.must_agree = (guards(text), Counter(_MARK.findall(lowered)))
        self.vector = vector


def _with_duplicates(hit: NodeWithScore, others: Sequence[str]) -> NodeWithScore:
    if not others:
        return hit
    metadata = {DUPLICATES_KEY: " ".join(others)}
    return NodeWithScore(node=with_metadata(hit.node, metadata), score=hit.score)


class ReadingOrder(NamedComponent, LongContextReorder):
    """The best first and last, the weakest in the middle (Liu et al., 2023).

    Works on the given order and puts the best first; LlamaIndex's works on scores and
    puts the best of an even number last. Only the prompt has this order: each source
    keeps its rank, its label and its place in the result.
    """

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        ranked = [
            NodeWithScore(node=with_metadata(n.node, {RANK_KEY: rank}), score=n.score)
            for rank, n in enumerate(nodes)
        ]
        return [*ranked[::2], *ranked[1::2][::-1]]


class MmrOptions(EmbeddingStepOptions):
    """Prefer sources unlike those before them, by stored vectors."""

    threshold: float = Field(
        default=0.7, ge=0, le=1, description="1: relevance only, 0: diversity only"
    )
    top_n: int = Field(
        default=0, ge=0, le=1000, description="number of sources to keep; 0: all"
    )
    by_score: bool = Field(
        default=True,
        description="use the score as relevance; False: the cosine similarity",
    )

    component: ClassVar = Mmr


class DocumentCapOptions(PostprocessorOptions):
    """Limit the sources of one document and of one section."""

    per_document: int = Field(default=3, ge=0, le=1000, description="0: no limit")
    per_section: int = Field(default=0, ge=0, le=1000, description="0: no limit")

    component: ClassVar = DocumentCap


class NearDuplicatesOptions(PostprocessorOptions):
    """Keep the best of several equivalent sources."""

    cosine: float = Field(
        default=0.98,
        gt=0,
        le=1,
        description="minimum cosine similarity of stored vectors",
    )
    words: float = Field(
        default=0.9, gt=0, le=1, description="minimum fraction of shared words"
    )

    component: ClassVar = NearDuplicates


class ReadingOrderOptions(PostprocessorOptions):
    """Put the best sources first and last, where models read best."""

    component: ClassVar = ReadingOrder


class SimilarityCutoffOptions(Strategy[BaseNodePostprocessor]):
    """Drop sources below a score, with LlamaIndex's own postprocessor."""

    cutoff: float = Field(default=0.0, description="minimum score to keep")

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        return SimilarityPostprocessor(similarity_cutoff=self.cutoff)

"""Route by the similarity of the question and a collection's description."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolMetadata
from numpy.typing import NDArray
from pydantic import Field
from typing_extensions import override

from elt_llm_core.models import as_counting
from elt_llm_core.strategy import Models
from elt_llm_query.retrieval.unit_vectors import embed_beginning, query_vector
from elt_llm_query.routers.router import Router, RouterOptions


class EmbeddingRouter(Router):
    """Chooses the collections whose description is similar to the question.

    At most `most`, each with a cosine of at least `threshold` and at most `behind`
    below the best.
    """

    def __init__(
        self,
        embedder: BaseEmbedding,
        threshold: float = 0.1,
        behind: float = 0.1,
        most: int = 3,
    ) -> None:
        self._embedder = embedder
        self._threshold = threshold
        self._behind = behind
        self._most = most

    @override
    def choose(
        self, choices: Sequence[ToolMetadata], question: QueryBundle
    ) -> Mapping[int, str]:
        if not choices:
            return {}
        texts = tuple(choice.description for choice in choices)
        digest = as_counting(self._embedder).digest
        matrix = _vectors(_Texts(digest, texts, self._embedder))
        cosines = [float(c) for c in matrix @ query_vector(question, self._embedder)]
        least = max(self._threshold, max(cosines) - self._behind)
        order = sorted(range(len(cosines)), key=lambda i: (-cosines[i], i))
        near = [i for i in order if cosines[i] >= least]
        return {i: f"cosine {cosines[i]:.3f}" for i in near[: self._most]}


class EmbeddingRouterOptions(RouterOptions):
    """Collections whose description is similar to the question."""

    threshold: float = Field(default=0.1, ge=-1, le=1, description="least cosine")
    behind: float = Field(
        default=0.1, ge=0, le=2, description="maximum distance to the best score"
    )
    most: int = Field(default=3, ge=1, description="most collections")

    @override
    def build(self, models: Models) -> BaseSelector:
        return EmbeddingRouter(models.embedder, self.threshold, self.behind, self.most)


@dataclass(frozen=True)
class _Texts:
    """Texts and their embedder; equal digests make equal vectors."""

    digest: str
    texts: tuple[str, ...]
    embedder: BaseEmbedding = field(compare=False, repr=False)


@lru_cache(maxsize=32)
def _vectors(given: _Texts) -> NDArray[np.float32]:
    """Return one unit vector per text, in order. Raises ModelError."""
    embed = given.embedder.get_text_embedding
    rows = [embed_beginning(embed, text)[0] for text in given.texts]
    matrix = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: NDArray[np.float32] = matrix / np.maximum(lengths, 1e-12)
    return unit

"""Search with the vector of a hypothetical answer (Gao et al., 2022)."""

import re
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.analysis.marks import find_invented, find_missing
from elt_llm_query.llm_calls import (
    Prompted,
    predict_text,
    prose,
    require_llm,
    with_short_answers,
)
from elt_llm_query.prompts import HYDE
from elt_llm_query.retrieval.query_transform import Search, SearchTransform
from elt_llm_query.retrieval.unit_vectors import embed_beginning

LONGEST = 1200  # characters of a passage


class HydeTransform(Prompted, SearchTransform):
    """Adds a vector search with a passage that a model invents and nobody sees.

    The passage is embedded like a document. Numbers and identifiers that it invents are
    removed, missing ones of the question are appended. The keyword search uses the
    question. If the question has no vector, nothing is added.

    In plain LlamaIndex it returns the question with the passage's vector.
    """

    def __init__(self, llm: LLM, embedder: BaseEmbedding, weight: float = 1.0) -> None:
        super().__init__(llm, HYDE)
        self._embedder = embedder
        self._weight = weight

    @override
    def transform(self, searches: Sequence[Search]) -> list[Search]:
        question = searches[0].bundle
        if question.embedding is None:
            return list(searches)
        near = self._imagine(question.query_str)
        return [*searches, *([Search(near, self._weight)] if near else [])]

    @override
    def _run(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        return self._imagine(query_bundle.query_str) or query_bundle

    def _imagine(self, question: str) -> QueryBundle | None:
        """Return the question with the vector of a passage, or None."""
        passage = prose(predict_text(self._llm, self._prompt, question=question))[
            :LONGEST
        ]
        for mark in find_invented(question, passage):
            passage = re.sub(rf"(?<!\w){re.escape(mark)}(?!\w)", "", passage)
        if not any(c.isalnum() for c in passage):
            return None
        text = " ".join([*find_missing(question, passage), passage])
        vector, text = embed_beginning(self._embedder.get_text_embedding, text)
        return QueryBundle(question, custom_embedding_strs=[text], embedding=vector)


class HydeTransformOptions(Strategy[SearchTransform]):
    """Also search with the vector of a passage that a model invents."""

    weight: float = Field(
        default=1.0,
        gt=0,
        le=10,
        description="weight of the passage; the question has 1",
    )
    tokens: int = Field(
        default=160, ge=16, le=1024, description="maximum tokens of the passage"
    )

    @override
    def build(self, models: Models) -> SearchTransform:
        llm = with_short_answers(
            require_llm(models, "the transform 'hyde'"), self.tokens
        )
        return HydeTransform(llm, models.embedder, self.weight)

"""Restate the question in the terms of the documents."""

from collections.abc import Sequence
from typing import Literal

from llama_index.core.llms import LLM
from llama_index.core.schema import QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.llm_calls import (
    Prompted,
    keep_wording,
    predict_text,
    require_llm,
    with_short_answers,
)
from elt_llm_query.prompts import TERMINOLOGY
from elt_llm_query.retrieval.query_transform import (
    Search,
    SearchTransform,
    add_searches,
)

Mode = Literal["replace", "both"]


class TerminologyTransform(Prompted, SearchTransform):
    """Searches for the question as a model restates it, in addition or instead.

    `subject` names the field of the terms ("insurance law"). If the model restates
    nothing, or invents a number or identifier, the question stays; missing numbers and
    identifiers are appended.
    """

    def __init__(
        self, llm: LLM, mode: Mode = "both", subject: str = "", weight: float = 1.0
    ) -> None:
        super().__init__(llm, TERMINOLOGY)
        self._mode = mode
        self._subject = subject or "the matter"
        self._weight = weight

    @override
    def transform(self, searches: Sequence[Search]) -> list[Search]:
        restated = self._restate(searches[0].bundle.query_str)
        if self._mode == "both" or not restated:
            return add_searches(searches, restated, self._weight)
        return [Search(QueryBundle(restated[0])), *searches[1:]]

    def _restate(self, question: str) -> list[str]:
        """Return the question in other words, or an empty string."""
        answer = predict_text(
            self._llm, self._prompt, question=question, subject=self._subject
        )
        return keep_wording(question, answer, 1)


class TerminologyTransformOptions(Strategy[SearchTransform]):
    """Search for the question in the documents' terms."""

    mode: Mode = Field(
        default="both",
        description="search instead of the question, or in addition to it",
    )
    subject: str = Field(
        default="",
        max_length=100,
        description="subject whose terms are used, for example insurance law",
    )
    weight: float = Field(
        default=1.0,
        gt=0,
        le=10,
        description="weight of the rewrite; the question has 1",
    )
    tokens: int = Field(
        default=120, ge=16, le=1024, description="maximum tokens of the answer"
    )

    @override
    def build(self, models: Models) -> SearchTransform:
        llm = with_short_answers(
            require_llm(models, "the transform 'terminology'"), self.tokens
        )
        return TerminologyTransform(llm, self.mode, self.subject, self.weight)

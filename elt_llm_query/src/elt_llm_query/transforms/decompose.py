"""Split a question into parts that are searched separately and answered together."""

from collections.abc import Sequence

from llama_index.core.llms import LLM
from pydantic import BaseModel, Field
from typing_extensions import override

from elt_llm_core.models.structured import load_json
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.llm_calls import (
    Prompted,
    faithful_lines,
    predict_shape,
    require_llm,
    with_short_answers,
)
from elt_llm_query.prompts import DECOMPOSE
from elt_llm_query.retrieval.query_transform import (
    Search,
    SearchTransform,
    add_searches,
)

_KEYS = ("questions", "sub_questions", "queries", "sub_queries")


class SubQuestions(BaseModel):
    """The sub-questions; only the question itself if it has one part."""

    questions: list[str] = Field(description="one to three short questions")


class DecomposeTransform(Prompted, SearchTransform):
    """Adds a search for each part of a question; the question itself stays.

    At most `most` parts. A part with a number or identifier that the question does not
    have is left out.
    """

    def __init__(self, llm: LLM, most: int = 3, weight: float = 0.5) -> None:
        super().__init__(llm, DECOMPOSE)
        self._most = most
        self._weight = weight

    @override
    def transform(self, searches: Sequence[Search]) -> list[Search]:
        question = searches[0].bundle.query_str
        answer = predict_shape(self._llm, self._prompt, SubQuestions, question=question)
        texts = answer.questions if isinstance(answer, SubQuestions) else _read(answer)
        parts = faithful_lines(question, "\n".join(texts), self._most)
        return add_searches(searches, parts, self._weight)


class DecomposeTransformOptions(Strategy[SearchTransform]):
    """Search for the parts of a question too."""

    most: int = Field(default=3, ge=1, le=3, description="most parts")
    weight: float = Field(
        default=0.5, gt=0, le=10, description="weight of each part; the question has 1"
    )
    tokens: int = Field(
        default=200, ge=16, le=1024, description="maximum tokens of the answer"
    )

    @override
    def build(self, models: Models) -> SearchTransform:
        llm = with_short_answers(
            require_llm(models, "the transform 'decompose'"), self.tokens
        )
        return DecomposeTransform(llm, self.most, self.weight)


def _read(answer: str) -> list[str]:
    """Return the questions of an answer, from its JSON or else its lines."""
    answered = load_json(answer)
    if isinstance(answered, dict):
        answered = next((answered[key] for key in _KEYS if key in answered), None)
    if isinstance(answered, list):
        return [" ".join(one.split()) for one in answered if isinstance(one, str)]
    return [line for line in answer.splitlines() if line.rstrip(" \"'*").endswith("?")]

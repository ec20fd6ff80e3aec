"""Route by a language model."""

import re
from collections.abc import Mapping, Sequence

from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.llms import LLM
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolMetadata
from pydantic import BaseModel, Field
from typing_extensions import override

from elt_llm_core.errors import ModelError
from elt_llm_core.strategy import Models
from elt_llm_query.llm_calls import (
    Prompted,
    predict_shape,
    require_llm,
    with_short_answers,
)
from elt_llm_query.prompts import ROUTE
from elt_llm_query.routers.router import Router, RouterOptions

_LIST = re.compile(r"\[([\d,\s]*)\]")
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
_NONE = re.compile(r"\bnone\b", re.IGNORECASE)


class Chosen(BaseModel):
    """The collections that may hold the answer."""

    numbers: list[int] = Field(description="numbers of collections; empty for none")


class LLMRouter(Prompted, Router):
    """Chooses the collections that a model selects by their descriptions.

    It uses a function call or a schema if available, otherwise the numbers in the
    model's text. Raises ModelError if there are none.
    """

    def __init__(self, llm: LLM, most: int = 3) -> None:
        super().__init__(llm, ROUTE)
        self._most = most

    @override
    def choose(
        self, choices: Sequence[ToolMetadata], question: QueryBundle
    ) -> Mapping[int, str]:
        listed = (
            f"({i}) {c.name}: {' '.join(c.description.split())}"
            for i, c in enumerate(choices, start=1)
        )
        answer = predict_shape(
            self._llm,
            self._prompt,
            Chosen,
            question=question.query_str,
            collections="\n".join(listed),
        )
        numbers = answer.numbers if isinstance(answer, Chosen) else _read(answer)
        known = [n - 1 for n in dict.fromkeys(numbers) if 1 <= n <= len(choices)]
        if numbers and not known:
            raise ModelError(f"the model chose {numbers} of {len(choices)} collections")
        return dict.fromkeys(known[: self._most], "chosen by the model")


class LLMRouterOptions(RouterOptions):
    """A language model chooses the collections."""

    most: int = Field(default=3, ge=1, description="most collections")
    tokens: int = Field(
        default=60, ge=8, le=1024, description="maximum tokens of the answer"
    )

    @override
    def build(self, models: Models) -> BaseSelector:
        llm = with_short_answers(require_llm(models, "the router 'llm'"), self.tokens)
        return LLMRouter(llm, self.most)


def _read(answer: str) -> list[int]:
    """Return the numbers of an answer; empty if it says none. Raises ModelError."""
    listed = _LIST.search(answer)
    if listed is not None:
        return [int(n) for n in _NUMBER.findall(listed[1])]
    first = next(iter(answer.splitlines()), "")
    numbers = [int(n) for n in _NUMBER.findall(first)]
    if not numbers and not _NONE.search(first):
        raise ModelError(f"the model named no collection: {first[:80]!r}")
    return numbers

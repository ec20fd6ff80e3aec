"""Short calls to a language model, whose replies are parsed defensively."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate, PromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from pydantic import BaseModel, ValidationError

from elt_llm_core.errors import AnswerShapeError, MissingModelError, ModelError
from elt_llm_core.models.gateway.fallback import FallbackLLM
from elt_llm_core.models.structured import (
    StructuredCalls,
    read_shape,
    without_thoughts,
)
from elt_llm_core.strategy import Models
from elt_llm_query.analysis.marks import find_invented, find_missing

LONGEST = 500  # maximum characters of a line
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060]")
_BULLET = re.compile(r"^(?:[-+\u2022\u00b7]|\*(?!\*)|\(?\d{1,2}[.):](?=\s|$))\s*")
_LABEL = re.compile(
    r"^\**(?:(?:rewritten|restated|search|sub|hypothetical)[\s-]*)?"
    r"(?:question|query|search|answer|passage)\s*\d*(?::\**|\**:)\s+(?=\S)",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"^(?:certainly|sure(?: thing)?|of course|absolutely)\b[!,.:]+\s*", re.IGNORECASE
)
_FENCE = re.compile(
    r"<(?=\s*/?\s*"
    r"(?:question|collections|conversation|documents|passages?|claim|answer)\b)",
    re.IGNORECASE,
)
_CODE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|__|`")
_HEADING = re.compile(r"^#+\s*")

B = TypeVar("B", bound=BaseModel)


class Prompted:
    """One prompt under the name `prompt`, which users of LlamaIndex may change."""

    def __init__(self, llm: LLM, prompt: str) -> None:
        self._llm = llm
        self._prompt: BasePromptTemplate = PromptTemplate(prompt)

    def _get_prompts(self) -> PromptDictType:
        return {"prompt": self._prompt}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        self._prompt = prompts.get("prompt", self._prompt)


def require_llm(models: Models, what: str, role: str = "rewrite") -> LLM:
    """Return the model of a role. Raises MissingModelError if none is configured."""
    llm = models.llm_for(role)
    if llm is None:
        raise MissingModelError(
            f"{what} needs a language model, and models.llm_strategy is 'none'",
            "choose one with --models (embedded+ollama), or set models.llm_strategy",
        )
    return llm


def with_short_answers(llm: LLM, tokens: int) -> LLM:
    """Return the same model with short, deterministic answers and no reasoning.

    A model that lacks one of these settings keeps its own.
    """
    wanted = {"num_predict": tokens, "temperature": 0.0, "thinking": False}
    known = {k: v for k, v in wanted.items() if k in type(llm).model_fields}
    return llm.model_copy(update=known) if known else llm


def predict_text(llm: LLM, prompt: BasePromptTemplate, **values: str) -> str:
    """Return the answer to a prompt as plain text. Raises ModelError.

    The values are fenced. Reasoning, code fences and control characters are removed.
    """
    answer = llm.predict(prompt, **_fence_all(values))
    return clean(_CODE.sub("", without_thoughts(answer)))


def predict_shape(
    llm: LLM, prompt: BasePromptTemplate, shape: type[B], **values: str
) -> B | str:
    """Return the answer as `shape` if the model complies, otherwise as text.

    If a server ignores schemas, or a model does not comply after a correction, its
    first answer is used, because the text may contain what was asked. Raises
    ModelError.
    """
    if not keeps_shapes(llm):
        return predict_text(llm, prompt, **values)
    try:
        answer: B = llm.structured_predict(shape, prompt, **_fence_all(values))
    except AnswerShapeError as error:
        first = error.__context__
        text = first.text if isinstance(first, AnswerShapeError) else error.text
        return clean(_CODE.sub("", without_thoughts(text)))
    except (ValidationError, ValueError) as error:
        name = llm.metadata.model_name
        raise ModelError(
            f"the answer of {name!r} does not have the requested format",
            "try again, or use another model",
        ) from error
    return answer


def predict_once(llm: LLM, prompt: PromptTemplate, shape: type[B], **values: str) -> B:
    """Return the answer as `shape` in exactly one call; the values are fenced.

    Raises:
        AnswerShapeError: If the answer does not match the schema or was cut off.
        ModelError: If the model fails.
    """
    fenced = _fence_all(values)
    if isinstance(llm, FallbackLLM):
        return llm.ask_in_turn(lambda one: predict_once(one, prompt, shape, **values))
    if isinstance(llm, StructuredCalls):
        return llm.predict_once(shape, prompt, **fenced)
    text = llm.predict(prompt, **fenced)
    return read_shape(text, shape, llm.metadata.model_name)


def answer_lines(text: str, most: int) -> list[str]:
    """Return at most `most` content lines, without bullets, numbers and quotes.

    A line that ends with a colon introduces the next one, and is left out.
    """
    kept = []
    for line in text.splitlines():
        bare = _COURTESY.sub("", _BULLET.sub("", " ".join(line.split())))
        bare = _LABEL.sub("", bare).strip(" \"'`*\u201c\u201d")
        if any(c.isalnum() for c in bare) and not bare.endswith(":"):
            kept.append(bare[:LONGEST])
    return list(dict.fromkeys(kept))[:most]


def prose(text: str) -> str:
    """Return a passage on one line, without text that a model adds around it.

    Courtesies, an introductory first line, bullets, emphasis and an incomplete last
    sentence are left out.
    """
    passage = " ".join(_EMPHASIS.sub("", " ".join(_without_courtesies(text))).split())
    whole = passage.rfind(". ") + 1
    broken = whole and not passage.endswith((".", "!", "?"))
    return passage[:whole] if broken else passage


def _without_courtesies(text: str) -> Iterator[str]:
    """Return the lines without bullets, courtesies and an introductory first line."""
    for number, line in enumerate(text.splitlines()):
        bare = _COURTESY.sub("", _BULLET.sub("", " ".join(line.split())))
        if number or not bare.endswith(":"):
            yield _HEADING.sub("", bare)


def faithful_lines(question: str, text: str, most: int) -> list[str]:
    """Like `answer_lines`, without lines that invent a number or identifier."""
    return [one for one in answer_lines(text, most) if not find_invented(question, one)]


def keep_wording(question: str, text: str, most: int) -> list[str]:
    """Like `faithful_lines`, restoring numbers and identifiers of the question."""
    kept = faithful_lines(question, text, most)
    return [" ".join([one, *find_missing(question, one)]) for one in kept]


def clean(text: str) -> str:
    """Return the text without control characters and invisible marks."""
    return _CONTROL.sub("", text).strip()


def fence(text: str) -> str:
    """Return the text so that it cannot close the tags around it."""
    return _FENCE.sub("\u2039", clean(text))


def _fence_all(values: Mapping[str, str]) -> dict[str, Any]:
    """Return values that cannot close the tags around them."""
    return {key: fence(value) for key, value in values.items()}


def keeps_shapes(llm: LLM) -> bool:
    """Return True for a model with function calls or a schema call of its own."""
    # Compared by name: LlamaIndex wraps what a subclass inherits.
    own = type(llm).structured_predict.__qualname__
    inherited = own == LLM.structured_predict.__qualname__
    return not inherited or llm.metadata.is_function_calling_model

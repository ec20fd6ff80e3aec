"""Answers in JSON: held to a schema, read strictly, mended once by the model itself.

What stands around the JSON (thoughts, code fences, courtesies) is skipped. Nothing is
guessed: a bracket or comma that a model left out is its own to mend, because a parser
that fills gaps would also make an answer whole that broke off.
"""

import json
import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.llms import LLM
from llama_index.core.prompts import PromptTemplate
from pydantic import BaseModel, ValidationError
from typing_extensions import override

from elt_llm_core.errors import AnswerShapeError
from elt_llm_core.models.gateway.answers import reached_limit

Json = dict[str, Any]
B = TypeVar("B", bound=BaseModel)

# Each try may read the rest of the text, so that their number bounds the work.
MOST_TRIES = 50
LONGER = 2  # times the tokens, where an answer in JSON did not fit
FAULTS = 5  # of a wrong answer that are named to the model

_THOUGHT = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
_MEND = """This answer is not JSON of the schema below.

<answer>
{answer}
</answer>

<faults>
{faults}
</faults>

<schema>
{schema}
</schema>

Write the same content as JSON of the schema. Add nothing. Write only the JSON."""


def without_thoughts(text: str) -> str:
    """Return an answer without what the model thought aloud."""
    return _THOUGHT.sub("", text)


def load_json(text: str) -> Any:
    """Return the first JSON object or list in a text, or None."""
    return next(_values(text), None)


def read_shape(text: str, shape: type[B], model: str = "the model") -> B:
    """Return the first JSON value of an answer that fits a shape.

    Args:
        text: The answer, perhaps with thoughts, fences and words around the JSON.
        shape: What the answer has to be.
        model: Its name, for the message.

    Raises:
        AnswerShapeError: if no value fits; it holds the answer.
    """
    faults = ""
    for value in _values(without_thoughts(text)):
        try:
            return shape.model_validate_json(json.dumps(value))
        except ValidationError as error:
            faults = faults or _describe(error)
    raise AnswerShapeError(model, shape.__name__, text, faults or "it holds no JSON")


def _values(text: str) -> Iterator[Any]:
    """Give the JSON objects and lists in a text, none inside another."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(MOST_TRIES):
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        try:
            value, at = decoder.raw_decode(text, opening.start())
        except json.JSONDecodeError:
            at = opening.end()
        except RecursionError:
            return
        else:
            yield value


def _describe(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_input=False)[:FAULTS]
    return "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in details
    )


class StructuredCalls(LLM):
    """A model that can be held to a schema. An answer of another shape costs one call.

    An answer that ended for its length is asked for again with more room; any other is
    given back to the model with its faults and without the sources, so that it can
    mend its form and nothing else.
    """

    @abstractmethod
    def schema_options(self, schema: Json) -> Json:
        """Return what `chat` takes to hold an answer to a JSON schema."""

    @override
    def structured_predict(
        self,
        output_cls: type[B],
        prompt: PromptTemplate,
        llm_kwargs: Json | None = None,
        **prompt_args: Any,
    ) -> B:
        """Return the answer to a prompt as a record.

        Raises:
            AnswerShapeError: if the second answer is of another shape too.
            ModelError: if the model fails.
        """
        messages = prompt.format_messages(**prompt_args)
        options = self._options(output_cls, llm_kwargs)
        answer = self.chat(messages, **options)
        try:
            return self._read(answer, output_cls)
        except AnswerShapeError as error:
            model, second = self._second(messages, answer, error, output_cls)
            return self._read(model.chat(second, **options), output_cls)

    def predict_once(
        self, output_cls: type[B], prompt: PromptTemplate, **prompt_args: Any
    ) -> B:
        """As `structured_predict`, in one call: an answer of another shape is refused.

        For work on many pieces, where an answer is not worth a second call.

        Raises:
            AnswerShapeError: if the answer is of another shape or was cut off.
            ModelError: if the model fails.
        """
        messages = prompt.format_messages(**prompt_args)
        answer = self.chat(messages, **self._options(output_cls, None))
        return self._read(answer, output_cls)

    @override
    async def astructured_predict(
        self,
        output_cls: type[B],
        prompt: PromptTemplate,
        llm_kwargs: Json | None = None,
        **prompt_args: Any,
    ) -> B:
        """As `structured_predict`."""
        messages = prompt.format_messages(**prompt_args)
        options = self._options(output_cls, llm_kwargs)
        answer = await self.achat(messages, **options)
        try:
            return self._read(answer, output_cls)
        except AnswerShapeError as error:
            model, second = self._second(messages, answer, error, output_cls)
            return self._read(await model.achat(second, **options), output_cls)

    def _options(self, shape: type[BaseModel], given: Json | None) -> Json:
        return {**(given or {}), **self.schema_options(shape.model_json_schema())}

    def _read(self, answer: ChatResponse, shape: type[B]) -> B:
        return read_shape(answer.message.content or "", shape, self.metadata.model_name)

    def _second(
        self,
        messages: Sequence[ChatMessage],
        answer: ChatResponse,
        error: AnswerShapeError,
        shape: type[BaseModel],
    ) -> tuple[LLM, list[ChatMessage]]:
        """Return the model and the messages of the second call."""
        if reached_limit(answer.raw):
            room = min(LONGER * self.metadata.num_output, self._most_output())
            return self.model_copy(update={"num_predict": room}), list(messages)
        schema = json.dumps(shape.model_json_schema(), sort_keys=True)
        words = _MEND.format(answer=error.text, faults=error.faults, schema=schema)
        return self, [ChatMessage(role=MessageRole.USER, content=words)]

    def _most_output(self) -> int:
        """Return half the window: the other half is the prompt's."""
        return max(self.metadata.num_output, self.metadata.context_window // 2)

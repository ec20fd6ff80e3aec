"""Answers in JSON: validated by a schema, corrected once by the model itself.

Text around the JSON (reasoning, code fences, courtesies) is skipped. Missing brackets
or commas are not guessed but left to the model, because a lenient parser would also
complete an answer that was cut off.
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

# Each attempt may read the rest of the text, so their number is limited.
MOST_TRIES = 50
LONGER = 2  # factor of the tokens if an answer in JSON did not fit
FAULTS = 5  # errors of a wrong answer that are shown to the model

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
    """Return an answer without the model's reasoning."""
    return _THOUGHT.sub("", text)


def load_json(text: str) -> Any:
    """Return the first JSON object or list in a text, or None."""
    return next(_values(text), None)


def read_shape(text: str, shape: type[B], model: str = "the model") -> B:
    """Return the first JSON value of an answer that matches a schema.

    Args:
        text: The answer, possibly with reasoning, fences and words around the JSON.
        shape: The schema of the answer.
        model: Its name, for the message.

    Raises:
        AnswerShapeError: If no value matches; it contains the answer.
    """
    faults = ""
    for value in _values(without_thoughts(text)):
        try:
            return shape.model_validate_json(json.dumps(value))
        except ValidationError as error:
            faults = faults or _describe(error)
    raise AnswerShapeError(model, shape.__name__, text, faults or "it holds no JSON")


def _values(text: str) -> Iterator[Any]:
    """Yield the JSON objects and lists in a text, none inside another."""
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
    """A model with schema-constrained answers. A mismatch costs one more call.

    An answer that was cut off is requested again with a higher limit; any other is sent
    back to the model with its errors and without the sources, so that it can only
    correct its format.
    """

    @abstractmethod
    def schema_options(self, schema: Json) -> Json:
        """Return the options of `chat` for answers with a JSON schema."""

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
            AnswerShapeError: If the second answer does not match either.
            ModelError: If the model fails.
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
        """Like `structured_predict`, in one call: a mismatch is refused.

        For work on many items, for which a second call is not worthwhile.

        Raises:
            AnswerShapeError: If the answer does not match or was cut off.
            ModelError: If the model fails.
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
        """Like `structured_predict`."""
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

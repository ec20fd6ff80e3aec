"""A language model with cached answers."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    ImageBlock,
    LLMMetadata,
)
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import ConfigError, ModelError
from elt_llm_core.identifiers import item_key
from elt_llm_core.models.gateway.kept_answers import Answers
from elt_llm_core.strategy import Models

RUN = "ingest"


class RememberingLLM(CustomLLM):
    """Returns completions of another model, calling it once for each prompt.

    Each answer is stored immediately under the model's identity and the prompt, so that
    it is not lost if a later call fails. `calls` counts calls to the model,
    `remembered` cached answers. Errors are the model's own.
    """

    _inner: LLM = PrivateAttr()
    _answers: Answers = PrivateAttr()
    _counts: dict[str, int] = PrivateAttr(default_factory=dict)

    def __init__(self, inner: LLM, answers: Answers, **fields: Any) -> None:
        super().__init__(**fields)
        self._inner = inner
        self._answers = answers
        self._counts = {"calls": 0, "remembered": 0}

    @property
    def calls(self) -> int:
        """Return the number of calls to the model, including failed ones."""
        return self._counts["calls"]

    @property
    def cache_hits(self) -> int:
        """Return the number of cached completions."""
        return self._counts["remembered"]

    @property
    @override
    def metadata(self) -> LLMMetadata:
        """Return the metadata of the wrapped model."""
        return self._inner.metadata

    @llm_completion_callback()
    @override
    def complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Return the model's answer, or the cached one."""
        key = item_key(
            RUN, model_identity(self._inner), prompt, repr(sorted(kwargs.items()))
        )
        text = self._remember(
            key,
            lambda: self._inner.complete(prompt, formatted=formatted, **kwargs).text,
        )
        return CompletionResponse(text=text)

    @llm_chat_callback()
    @override
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return the text of the model's answer, or the cached one.

        Pictures count by their bytes. If the server of the first model does not report
        its digest, the name stands for it, because another model may answer.
        """
        try:
            identity = model_identity(self._inner)
        except ModelError:
            identity = self._inner.metadata.model_name
        asked = [part for message in messages for part in _parts(message)]
        key = item_key(RUN, identity, *asked, repr(sorted(kwargs.items())))
        text = self._remember(
            key, lambda: self._inner.chat(messages, **kwargs).message.content or ""
        )
        return ChatResponse(message=ChatMessage(role="assistant", content=text))

    def _remember(self, key: str, ask: Callable[[], str]) -> str:
        """Return the text cached under a key, or that of a call."""
        known = self._answers.get(key)
        if known is not None:
            self._counts["remembered"] += 1
            return str(known["text"])
        self._counts["calls"] += 1
        text = ask()
        name = self._inner.metadata.model_name
        self._answers.put(RUN, key, self.calls, name, result={"text": text})
        return text

    @llm_completion_callback()
    @override
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Return the whole answer as one chunk of a stream."""
        response = self.complete(prompt, formatted=formatted, **kwargs)

        def parts() -> CompletionResponseGen:
            yield CompletionResponse(text=response.text, delta=response.text)

        return parts()


def _parts(message: ChatMessage) -> Iterator[str]:
    """Return role, texts and digests of pictures of a message."""
    yield message.role.value
    for block in message.blocks:
        if isinstance(block, ImageBlock):
            yield sha256(block.resolve_image().read()).hexdigest()
        else:
            yield block.model_dump_json()


def model_identity(llm: LLM) -> str:
    """Return the identity of a model's answers: its digest, or its name."""
    return str(getattr(llm, "model_digest", "") or llm.metadata.model_name)


def require_llm(models: Models, what: str) -> LLM:
    """Return the language model. Raises ConfigError if none is configured."""
    if models.llm is None:
        raise ConfigError(
            f"{what} needs a language model, and models.llm_strategy is 'none'",
            "set models: {llm_strategy: ollama}, or choose another strategy",
        )
    return models.llm

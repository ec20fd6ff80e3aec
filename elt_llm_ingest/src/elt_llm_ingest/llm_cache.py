"""A language model with cached answers."""

from typing import Any

from llama_index.core.base.llms.types import (
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import ConfigError
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
        known = self._answers.get(key)
        if known is not None:
            self._counts["remembered"] += 1
            return CompletionResponse(text=known["text"])
        self._counts["calls"] += 1
        response = self._inner.complete(prompt, formatted=formatted, **kwargs)
        name = self._inner.metadata.model_name
        self._answers.put(RUN, key, self.calls, name, result={"text": response.text})
        return CompletionResponse(text=response.text)

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

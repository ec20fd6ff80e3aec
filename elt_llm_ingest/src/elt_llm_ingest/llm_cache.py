"""A language model that is asked the same thing once, whoever asks and whenever."""

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
    """Gives completions of another model, each prompt paid for once.

    An answer is kept at once under the model's identity and the prompt, so that what
    was answered is not lost when a later call fails. `calls` counts what was asked of
    the model, `remembered` what was not. Errors are the model's own.
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
        """Completions the model was asked for, failed ones too."""
        return self._counts["calls"]

    @property
    def cache_hits(self) -> int:
        """Completions that were known already."""
        return self._counts["remembered"]

    @property
    @override
    def metadata(self) -> LLMMetadata:
        """Of the model behind."""
        return self._inner.metadata

    @llm_completion_callback()
    @override
    def complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """The model's answer, or the one it gave before."""
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
        """The whole answer at once."""
        response = self.complete(prompt, formatted=formatted, **kwargs)

        def parts() -> CompletionResponseGen:
            yield CompletionResponse(text=response.text, delta=response.text)

        return parts()


def model_identity(llm: LLM) -> str:
    """Return what distinguishes a model's answers: its digest, or its name."""
    return str(getattr(llm, "model_digest", "") or llm.metadata.model_name)


def require_llm(models: Models, what: str) -> LLM:
    """Return the language model. Raises ConfigError if none is configured."""
    if models.llm is None:
        raise ConfigError(
            f"{what} needs a language model, and models.llm_strategy is 'none'",
            "set models: {llm_strategy: ollama}, or choose another strategy",
        )
    return models.llm

"""Deterministic models for tests that cost nothing."""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b, sha256
from typing import Any

import numpy as np
from llama_index.core.base.llms.types import (
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import EmbedError
from elt_llm_core.models.array_embedding import ArrayEmbedding

_WORD = re.compile(r"\w+")


class ScriptedLLM(CustomLLM):
    """Returns scripted answers; `prompts` has every prompt, in order.

    `answers` is a function of the prompt, or a list used up one by one; an exception in
    the list, or raised by the function, is the outcome of that call. A list that is
    used up raises IndexError.
    """

    context_window: int = Field(default=8192, gt=0)
    num_output: int = Field(default=1024, gt=0)

    _answers: Callable[[str], str] | Sequence[str | Exception] = PrivateAttr()
    _prompts: list[str] = PrivateAttr(default_factory=list)

    def __init__(
        self, answers: Callable[[str], str] | Sequence[str | Exception], **fields: Any
    ) -> None:
        super().__init__(**fields)
        self._answers = answers

    @property
    def prompts(self) -> tuple[str, ...]:
        """Return the prompts so far; chat messages are `role: content` lines."""
        return tuple(self._prompts)

    @property
    def model_digest(self) -> str:
        """Return a constant, so that caches can be tested."""
        return sha256(b"ScriptedLLM").hexdigest()

    @property
    @override
    def metadata(self) -> LLMMetadata:
        """Name and limits."""
        return LLMMetadata(
            context_window=self.context_window,
            num_output=self.num_output,
            model_name="scripted",
        )

    def _next(self, prompt: str) -> str:
        self._prompts.append(prompt)
        if callable(self._answers):
            return self._answers(prompt)
        answer = self._answers[len(self._prompts) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer

    @llm_completion_callback()
    @override
    def complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Return the next answer."""
        return CompletionResponse(text=self._next(prompt))

    @llm_completion_callback()
    @override
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Yield the next answer, word by word."""
        words = re.findall(r"\S+\s*|\s+", self._next(prompt))

        def parts() -> CompletionResponseGen:
            text = ""
            for word in words:
                text += word
                yield CompletionResponse(text=text, delta=word)

        return parts()


class HashEmbedding(ArrayEmbedding):
    """A bag of hashed words: texts that share words are similar. Unit length.

    The same on every machine and in every process. A text without words is the first
    unit vector.
    """

    model_name: str = "hash"
    dimension: int = Field(default=256, gt=1)
    max_tokens: int = Field(default=512, gt=0)

    @property
    def digest(self) -> str:
        """Identity of the method and its dimension."""
        return sha256(f"hash-1 {self.dimension}".encode()).hexdigest()

    @property
    def prompt_known(self) -> bool:
        """True: there is no prompt to know."""
        return True

    def count_tokens(self, text: str) -> int:
        """The number of words."""
        return len(_WORD.findall(text))

    @override
    def embed_array(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors, shape (n, dimension). Raises EmbedError over `max_tokens` words."""
        for text in texts:
            if self.count_tokens(text) > self.max_tokens:
                raise EmbedError(
                    f"a text of {self.count_tokens(text)} words exceeds the "
                    f"{self.max_tokens} that {self.model_name} reads",
                    "split it into smaller chunks",
                )
        rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in _WORD.findall(text.lower()):
            number = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
            vector[(number >> 1) % self.dimension] += 1.0 if number & 1 else -1.0
        norm = np.linalg.norm(vector)
        if not norm:
            vector[0], norm = 1.0, np.float32(1.0)
        unit: NDArray[np.float32] = vector / norm
        return unit

    @override
    def _get_query_embedding(self, query: str) -> list[float]:
        return [float(number) for number in self._vector(query)]

"""An embedder whose vectors are off by more than any two processors differ."""

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.models.array_embedding import ArrayEmbedding
from elt_llm_core.models.minilm import OnnxEmbedding, TokenReading

COSINE = 0.985  # between int8 vectors and those of float32, at the least
_KNOWN: dict[str, NDArray[np.float32]] = {}


class PerturbedEmbedding(ArrayEmbedding):
    """Vectors of the embedded model, each turned by a random angle of fixed size.

    The same text is turned the same way under one `seed`, but otherwise as a question
    than as a passage.
    """

    model_name: str = "all-MiniLM-L6-v2, perturbed"
    seed: int

    _inner: OnnxEmbedding = PrivateAttr()

    def __init__(self, inner: OnnxEmbedding, seed: int) -> None:
        super().__init__(seed=seed)
        self._inner = inner

    @property
    def digest(self) -> str:
        """One of its own for each seed."""
        return sha256(f"{self._inner.digest} {self.seed}".encode()).hexdigest()

    @property
    def dimension(self) -> int:
        """As the inner model's."""
        return self._inner.dimension

    @property
    def max_tokens(self) -> int:
        """As the inner model's."""
        return self._inner.max_tokens

    @property
    def prompt_known(self) -> bool:
        """As the inner model's."""
        return self._inner.prompt_known

    def count_tokens(self, text: str) -> int:
        """As the inner model's."""
        return self._inner.count_tokens(text)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """As the inner model's."""
        return self._inner.token_spans(text)

    def read_tokens(self, texts: Sequence[str]) -> list[TokenReading]:
        """As the inner model's; the vectors are turned, of tokens and of texts."""
        return [
            reading._replace(
                vectors=np.array(
                    [
                        self._turned(f"token {at} {text}", vector)
                        for at, vector in enumerate(reading.vectors)
                    ],
                    dtype=np.float32,
                ).reshape(reading.vectors.shape),
                vector=self._turned(f"text {text}", reading.vector),
            )
            for text, reading in zip(texts, self._inner.read_tokens(texts), strict=True)
        ]

    @override
    def embed_array(self, texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in _KNOWN]
        _KNOWN.update(zip(missing, self._inner.embed_array(missing), strict=True))
        rows = [self._turned(f"passage {text}", _KNOWN[text]) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)

    @override
    def _get_query_embedding(self, query: str) -> list[float]:
        vector = np.array(self._inner.get_query_embedding(query), dtype=np.float32)
        return [float(number) for number in self._turned(f"query {query}", vector)]

    def _turned(self, key: str, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        seed = int.from_bytes(sha256(f"{self.seed} {key}".encode()).digest()[:8])
        noise = np.random.default_rng(seed).standard_normal(len(vector))
        noise -= (noise @ vector) * vector
        noise /= np.linalg.norm(noise)
        turned = COSINE * vector + (1 - COSINE**2) ** 0.5 * noise
        found: NDArray[np.float32] = turned.astype(np.float32)
        return found

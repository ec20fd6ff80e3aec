"""The embedded embedder: all-MiniLM-L6-v2 in this process, no server, no download.

Texts are computed one by one, in as many threads as there are cores. Dynamic int8
scales its activations over the whole input, so that in a padded batch a text's vector
would depend on the other texts (cosine down to 0.98); alone it is always the same, and
on a CPU no slower.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
import onnxruntime
from llama_index.core.base.embeddings.base import BaseEmbedding
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr
from tokenizers import Tokenizer
from typing_extensions import override

from elt_llm_core.errors import EmbedError
from elt_llm_core.models.array_embedding import ArrayEmbedding
from elt_llm_core.models.weights import (
    default_cache_dir,
    embedded_digest,
    int8_weights,
    tokenizer_file,
)
from elt_llm_core.shipped_model import MODEL_NAME
from elt_llm_core.strategy import Models, Strategy

DIMENSION = 384  # of all-MiniLM-L6-v2
MAX_TOKENS = 256  # the limit in the model's own configuration
# Texts with cached vectors (6 MB): the sentences and words of about a hundred answers.
# Questions about one handbook use the same sentences repeatedly.
KEPT_TEXTS = 4096
# Texts with cached tokens (about 25 MB): the sentences of the last twenty questions.
KEPT_READINGS = 512


class TokenReading(NamedTuple):
    """The token vectors of a text, without special tokens.

    Attributes:
        spans: Characters `[start, end)` of each token.
        vectors: A vector for each token, shape (n, 384), unit length.
        vector: The vector of the text, unit length.
    """

    spans: Sequence[tuple[int, int]]
    vectors: NDArray[np.float32]
    vector: NDArray[np.float32]


def load_tokenizer() -> Tokenizer:
    """Return the packaged tokenizer, not truncating. Raises ModelError."""
    tokenizer = Tokenizer.from_buffer(tokenizer_file())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def open_session(model: bytes | str) -> onnxruntime.InferenceSession:
    """Return a single-threaded session of a file or its bytes, idle while waiting."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Fused with the sum before it, a layer norm takes longer than both do apart
    # (`benchmarks/embedded_network.py`: 20 % of the time of a text).
    return onnxruntime.InferenceSession(
        model,
        options,
        providers=["CPUExecutionProvider"],
        disabled_optimizers=["SkipLayerNormFusion"],
    )


def available_cores() -> int:
    """Return the cores this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


class OnnxEmbedding(ArrayEmbedding):
    """English sentence vectors of 384 numbers, at unit length.

    A text's vector does not depend on the other texts of the call or on `threads`.
    """

    model_name: str = MODEL_NAME
    embed_batch_size: int = Field(default=16, gt=0, le=2048)
    threads: int = Field(default_factory=available_cores, ge=1)

    _tokenizer: Tokenizer = PrivateAttr()
    _session: onnxruntime.InferenceSession = PrivateAttr()
    _cache_dir: Path = PrivateAttr()
    _kept: dict[str, NDArray[np.float32]] = PrivateAttr(default_factory=dict)
    _readings: dict[str, TokenReading] = PrivateAttr(default_factory=dict)
    _lock: Lock = PrivateAttr(default_factory=Lock)

    def __init__(
        self, threads: int | None = None, cache_dir: Path | None = None
    ) -> None:
        super().__init__(**({} if threads is None else {"threads": threads}))
        self._cache_dir = cache_dir or default_cache_dir()
        self._tokenizer = load_tokenizer()
        self._session = open_session(int8_weights(self._cache_dir))

    @property
    def digest(self) -> str:
        """Return the identity of weights, tokenizer and recipe: 64 hex digits."""
        return embedded_digest()

    @property
    def cache_dir(self) -> Path:
        """Folder of the int8 weights."""
        return self._cache_dir

    @property
    def dimension(self) -> int:
        """Length of a vector: 384."""
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        """Maximum length of a text: 256 tokens, including the two special ones."""
        return MAX_TOKENS

    @property
    def prompt_known(self) -> bool:
        """True: this model was trained without prompts."""
        return True

    def count_tokens(self, text: str) -> int:
        """Return the model's tokens of a text, including the two special ones."""
        return len(self._tokenizer.encode(text).ids)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return `[start, end)` of each token in characters, without special ones."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return [(int(start), int(end)) for start, end in encoding.offsets]

    @override
    def embed_array(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return document vectors, shape (n, 384), unit length, in order.

        Raises EmbedError for a text over 256 tokens; nothing is truncated silently.
        """
        encoded = [self._ids(text) for text in texts]
        out = np.empty((len(encoded), DIMENSION), dtype=np.float32)
        if self.threads == 1 or len(encoded) == 1:
            for row, ids in enumerate(encoded):
                out[row] = self._vector(ids)
        elif encoded:
            with ThreadPoolExecutor(self.threads) as pool:
                for row, vector in enumerate(pool.map(self._vector, encoded)):
                    out[row] = vector
        return out

    @override
    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        """Like `embed_array`, for an ingest; vectors are cached."""
        with self._lock:
            known = {text: self._kept[text] for text in texts if text in self._kept}
        new = list(dict.fromkeys(text for text in texts if text not in known))
        known.update(zip(new, self.embed_array(new), strict=True))
        with self._lock:
            self._kept.update((text, known[text]) for text in new)
            for oldest in list(self._kept)[:-KEPT_TEXTS]:
                del self._kept[oldest]
        return [known[text].tolist() for text in texts]

    def _ids(self, text: str) -> list[int]:
        # One by one, because a batch call would start the tokenizer's own threads,
        # which warn at every fork of the process.
        ids: list[int] = self._tokenizer.encode(text).ids
        if len(ids) > MAX_TOKENS:
            raise EmbedError(
                f"a text of {len(ids)} tokens exceeds the {MAX_TOKENS} tokens "
                f"that {self.model_name} reads (it starts {text[:40]!r})",
                "split it into smaller chunks",
            )
        return ids

    def token_vectors(self, text: str) -> NDArray[np.float32]:
        """Return a vector for each token, shape (n, 384), unit length, in order.

        The two special tokens are left out; a text over the limit is read up to it.
        """
        return self._read(text).vectors

    def read_tokens(self, texts: Sequence[str]) -> list[TokenReading]:
        """Return the token vectors of texts, cached.

        Args:
            texts: The texts, each truncated at the limit.

        Returns:
            A reading for each text, in the order given.
        """
        with self._lock:
            known = {t: self._readings[t] for t in texts if t in self._readings}
        new = list(dict.fromkeys(text for text in texts if text not in known))
        new.sort(key=len, reverse=True)  # so that no core waits for the longest
        if self.threads == 1 or len(new) <= 1:
            known.update((text, self._read(text)) for text in new)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                known.update(zip(new, pool.map(self._read, new), strict=True))
        with self._lock:
            self._readings.update((text, known[text]) for text in new)
            for oldest in list(self._readings)[:-KEPT_READINGS]:
                del self._readings[oldest]
        return [known[text] for text in texts]

    def _read(self, text: str) -> TokenReading:
        encoding = self._tokenizer.encode(text)
        ids = _shorten(encoding.ids)
        states = self._states(ids)
        mean = states.mean(axis=0)
        inner = states[1:-1]
        return TokenReading(
            spans=encoding.offsets[1 : len(ids) - 1],
            vectors=inner / np.linalg.norm(inner, axis=1, keepdims=True),
            vector=mean / np.linalg.norm(mean),
        )

    def _vector(self, ids: list[int]) -> NDArray[np.float32]:
        # Without padding the mask is all ones, and the masked mean is the plain mean.
        mean = self._states(ids).mean(axis=0)
        unit: NDArray[np.float32] = mean / np.linalg.norm(mean)
        return unit

    def _states(self, ids: list[int]) -> NDArray[np.float32]:
        """Return the network's output for each token, shape (n, 384)."""
        row = np.array([ids], dtype=np.int64)
        inputs = {"input_ids": row, "token_type_ids": np.zeros_like(row)}
        return np.asarray(self._session.run(None, inputs)[0][0], dtype=np.float32)

    @override
    def _get_query_embedding(self, query: str) -> list[float]:
        """Return a query's vector; a query over the limit is truncated."""
        (reading,) = self.read_tokens([query])
        return [float(number) for number in reading.vector]


def _shorten(ids: list[int]) -> list[int]:
    """The tokens up to the limit, with the special one that ends a text."""
    return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]


class Embedded(Strategy[BaseEmbedding]):
    """The default embedder: works offline right after the install."""

    threads: int | None = Field(default=None, ge=1, description="None: all cores")
    cache_dir: Path | None = Field(
        default=None,
        description="folder of the int8 weights; None: the user's cache folder",
    )

    @override
    def build(self, models: Models | None = None) -> OnnxEmbedding:
        """Return the loaded embedder. Raises ModelError for changed weights."""
        return OnnxEmbedding(threads=self.threads, cache_dir=self.cache_dir)

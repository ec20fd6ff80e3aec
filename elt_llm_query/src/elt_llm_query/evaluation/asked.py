"""An embedder that knows the questions of a test set beforehand, and counts."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import Progress
from elt_llm_core.models import as_counting

if TYPE_CHECKING:
    from numpy.typing import NDArray

AT_ONCE = 256
WORKERS = 2


class AskedEmbedding(BaseEmbedding):
    """`inner` with the vectors of known questions at hand.

    `calls` and `tokens` count what `inner` was still asked for.
    """

    _inner: BaseEmbedding = PrivateAttr()
    _known: "dict[str, NDArray[np.float32]]" = PrivateAttr(default_factory=dict)
    _calls: int = PrivateAttr(default=0)
    _tokens: int = PrivateAttr(default=0)

    def __init__(self, inner: BaseEmbedding) -> None:
        super().__init__(model_name=inner.model_name)
        self._inner = inner

    @property
    def inner(self) -> BaseEmbedding:
        """The embedder behind it."""
        return self._inner

    @property
    def digest(self) -> str:
        """Identity of the vectors."""
        return as_counting(self._inner).digest

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return as_counting(self._inner).dimension

    @property
    def max_tokens(self) -> int:
        """Longest text taken."""
        return as_counting(self._inner).max_tokens

    @property
    def prompt_known(self) -> bool:
        """As the inner embedder tells."""
        return as_counting(self._inner).prompt_known

    @property
    def counts(self) -> tuple[int, int]:
        """Texts and tokens that the inner embedder was asked for."""
        return self._calls, self._tokens

    def count_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return as_counting(self._inner).count_tokens(text)

    def embed_array(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Vectors of documents."""
        self._note(texts)
        return as_counting(self._inner).embed_array(texts)

    def learn(self, questions: Sequence[str], folder: Path, progress: Progress) -> None:
        """Have the vectors of these questions, from `folder` or made and kept there."""
        file = folder / f"questions-{self.digest[:16]}.npz"
        kept = _read(file)
        keys = {q: digest(q) for q in questions}
        missing = sorted(q for q, key in keys.items() if key not in kept)
        with ThreadPoolExecutor(WORKERS) as pool:
            for start in range(0, len(missing), AT_ONCE):
                part = missing[start : start + AT_ONCE]
                made = pool.map(self._inner.get_query_embedding, part)
                for question, vector in zip(part, made, strict=True):
                    kept[keys[question]] = np.array(vector, dtype=np.float32)
                progress("questions", start + len(part), len(missing))
        if missing:
            _write(file, kept)
        self._known = {q: kept[key] for q, key in keys.items()}

    def _note(self, texts: Sequence[str]) -> None:
        self._calls += len(texts)
        self._tokens += sum(self.count_tokens(text) for text in texts)

    @override
    def _get_query_embedding(self, query: str) -> list[float]:
        known = self._known.get(query)
        if known is not None:
            numbers: list[float] = known.tolist()
            return numbers
        self._note([query])
        return self._inner.get_query_embedding(query)

    @override
    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    @override
    def _get_text_embedding(self, text: str) -> list[float]:
        self._note([text])
        return self._inner.get_text_embedding(text)

    @override
    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self._note(texts)
        return self._inner.get_text_embedding_batch(texts)


def _read(file: Path) -> "dict[str, NDArray[np.float32]]":
    """Vectors by the digest of their question; none of a file that is damaged."""
    try:
        # Given the path, numpy leaves a damaged file open.
        with np.load(BytesIO(file.read_bytes()), allow_pickle=False) as held:
            return dict(zip(held["keys"].tolist(), held["rows"], strict=True))
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return {}


def _write(file: Path, kept: "dict[str, NDArray[np.float32]]") -> None:
    buffer = BytesIO()
    keys = sorted(kept)
    np.savez(buffer, keys=np.array(keys), rows=np.stack([kept[key] for key in keys]))
    write_atomic(file, buffer.getvalue())

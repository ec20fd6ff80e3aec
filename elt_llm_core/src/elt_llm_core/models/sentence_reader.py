"""A cross-encoder in this process that reads a question beside a sentence.

It says whether the sentence answers the question (Nogueira and Cho, 2019, "Passage
Re-ranking with BERT"). Its two lower layers are those of the embedder, its four upper
ones are trained by `benchmarks/train_reader.py` and ship in `data/answer_reader.npz`.
As in the embedder, pairs are computed one by one, so that a score does not depend on
the other pairs.
"""

import io
import re
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elt_llm_core.errors import ModelError
from elt_llm_core.models.minilm import available_cores, load_tokenizer, open_session
from elt_llm_core.models.minilm_graph import build_graph
from elt_llm_core.models.weights import (
    make_once,
    require_checksum,
    shipped_weights,
)

TRAINED = "data/answer_reader.npz"
TRAINED_SHA256 = "5802c080ac1172b7d5981f9625b86570e3c186a547bc6709a2f1b416bcc2ab14"
PREFIX = f"reader-int8-2-{TRAINED_SHA256[:12]}-"
QUESTION, CONTEXT, SENTENCE = 48, 56, 96  # tokens that are read of each
CLS, SEP = 101, 102  # of BERT's vocabulary
# Scores that are kept: those of the last fifty questions or so.
KEPT_SCORES = 1024
HEAD_ARRAYS = ("rank.weight", "rank.bias", "tok.weight", "tok.bias", "none", "mix")

_NUMBER = re.compile(
    r"^[\s\u2022\u2013*-]*(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})\)\s+"
    r"|(?:\d+(?:\.\d+)+[.)]?|\d{1,3}\.)\s+(?=\W?[A-Z](?:[a-z]|\s)))"
)


class ReadSentence(NamedTuple):
    """A sentence, and the text that it is read with: heading and sentence before it."""

    text: str
    context: str


class SentenceReader:
    """Scores sentences as answers to a question.

    Args:
        folder: Where the converted weights are cached.
        threads: Pairs that are read at once; 0: as many as there are cores.

    Raises:
        ModelError: If the shipped weights are missing or were changed.
    """

    def __init__(self, folder: Path, threads: int = 0) -> None:
        self._threads = threads or available_cores()
        self._tokenizer = load_tokenizer()
        self._session = open_session(make_once(folder, PREFIX, build_reader))
        self._heads = trained_arrays(HEAD_ARRAYS)
        self._kept: dict[tuple[str, ReadSentence], float] = {}
        self._lock = Lock()

    def score(
        self, question: str, sentences: Sequence[ReadSentence]
    ) -> NDArray[np.float64]:
        """Return how well each sentence answers.

        Args:
            question: The question; its first 48 tokens are read.
            sentences: The sentences; of each the first 96 tokens are read, and the last
                56 of its context.

        Returns:
            Log odds of each against "no sentence answers", in order.
        """
        with self._lock:
            known = {
                one: self._kept[question, one]
                for one in sentences
                if (question, one) in self._kept
            }
        new = [one for one in dict.fromkeys(sentences) if one not in known]
        known.update(zip(new, self._read(question, new), strict=True))
        with self._lock:
            self._kept.update(((question, one), known[one]) for one in new)
            for oldest in list(self._kept)[:-KEPT_SCORES]:
                del self._kept[oldest]
        return np.array([known[one] for one in sentences], np.float64)

    def _read(self, question: str, sentences: Sequence[ReadSentence]) -> list[float]:
        asked = self._ids(question)
        pairs = [self._join(asked, one) for one in sentences]
        if self._threads == 1 or len(pairs) <= 1:
            return [self._log_odds(pair) for pair in pairs]
        # The longest first, so that no core waits for it at the end.
        order = sorted(range(len(pairs)), key=lambda at: -len(pairs[at][0]))
        with ThreadPoolExecutor(self._threads) as pool:
            scores = list(pool.map(self._log_odds, [pairs[at] for at in order]))
        return [score for _, score in sorted(zip(order, scores, strict=True))]

    def _join(self, question: list[int], one: ReadSentence) -> tuple[list[int], int]:
        text = without_number(one.text)
        return join_pair(question, self._ids(one.context), self._ids(text))

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _log_odds(self, pair: tuple[list[int], int]) -> float:
        """Return the log odds of a pair: its tokens, and where its sentence starts."""
        ids, first = pair
        row = np.array([ids], dtype=np.int64)
        types = np.zeros_like(row)
        types[:, first:] = 1
        inputs = {"input_ids": row, "token_type_ids": types}
        states = np.asarray(self._session.run(None, inputs)[0][0], np.float64)
        heads, inside = self._heads, states[first:]
        whole = np.concatenate([states[0], inside.mean(axis=0)])
        rank = whole @ heads["rank.weight"] + heads["rank.bias"][0]
        words = (inside @ heads["tok.weight"]).max() + heads["tok.bias"][0]
        return float(rank + heads["mix"][0] * words - heads["none"][0])


_LOADED: dict[tuple[Path, int], SentenceReader] = {}
_LOADING = Lock()


def shared_reader(folder: Path, threads: int = 0) -> SentenceReader:
    """Return the reader of this process, loaded at the first call.

    Args:
        folder: Where the converted weights are cached.
        threads: Pairs that are read at once; 0: as many as there are cores.

    Raises:
        ModelError: If the shipped weights are missing or were changed.
    """
    with _LOADING:  # so that questions that come together load one
        if (folder, threads) not in _LOADED:
            _LOADED[folder, threads] = SentenceReader(folder, threads)
        return _LOADED[folder, threads]


def read_context(heading: str, before: str) -> str:
    """Return the text that a sentence is read with.

    Args:
        heading: The heading above it, or the lead-in.
        before: The sentence before it, if any.
    """
    return f"{heading}. {before}".strip() if heading else before


def without_number(text: str) -> str:
    """Return a sentence without the number of its rule: "4.2", "(b)", "12)", "3."."""
    return _NUMBER.sub("", text)


def join_pair(
    question: Sequence[int], context: Sequence[int], sentence: Sequence[int]
) -> tuple[list[int], int]:
    """Return the tokens of a pair, and where those of the sentence start.

    Args:
        question: Tokens of the question.
        context: Tokens of the text before the sentence, of which the last are kept.
        sentence: Tokens of the sentence.
    """
    first = [CLS, *question[:QUESTION], SEP, *context[-CONTEXT:], SEP]
    return [*first, *sentence[:SENTENCE], SEP], len(first)


def trained_arrays(names: Collection[str] = ()) -> dict[str, NDArray[Any]]:
    """Return the trained layers and heads by name.

    Args:
        names: Those that are wanted; empty: all.

    Raises:
        ModelError: If the file is missing or was changed.
    """
    hint = "reinstall it: uv sync --reinstall-package elt-llm-core"
    try:
        content = files("elt_llm_core.models").joinpath(TRAINED).read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read the sentence reader: {error}", hint) from error
    require_checksum(content, TRAINED_SHA256, "the trained sentence reader", hint)
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in names or arrays.files}


def build_reader() -> bytes:
    """Return the embedder's ONNX graph with the trained layers in place of its own.

    Raises:
        ModelError: If one of the two files is missing or was changed.
    """
    return build_graph(shipped_weights(), trained_arrays())

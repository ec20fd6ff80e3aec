"""A cross-encoder in this process: an ONNX file and its tokenizer, from a folder.

Nothing is downloaded. Models are published as `onnx/model.onnx` with `tokenizer.json`;
put one in a folder and configure it. As in the embedder, pairs are computed one by one,
in several threads, so that a score does not depend on the other pairs.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as native
from tokenizers import Encoding, Tokenizer

from elt_llm_core.errors import ConfigError, ModelError
from elt_llm_core.models.minilm import available_cores, open_session

FILES = ("model.onnx", "onnx/model.onnx")
TOKENIZER = "tokenizer.json"
INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_KEPT = 2  # number of models kept in memory
_FAILURES = (
    native.Fail,
    native.InvalidArgument,
    native.InvalidGraph,
    native.InvalidProtobuf,
    native.NoSuchFile,
    native.NotImplemented,
    native.RuntimeException,
    ValueError,
)


class _Loaded(NamedTuple):
    session: onnxruntime.InferenceSession
    tokenizer: Tokenizer
    inputs: frozenset[str]


class PairModel:
    """Scores how well texts answer a question.

    `folder` contains `model.onnx` or `onnx/model.onnx`, and `tokenizer.json`; it is
    read again only if its files change. The longer text of a pair over `max_tokens` is
    truncated. Raises ConfigError if the folder contains no cross-encoder.
    """

    def __init__(self, folder: Path, max_tokens: int = 512, threads: int = 0) -> None:
        self._threads = threads or available_cores()
        self._folder = folder
        model, tokenizer = _files(folder)
        stamps = (model.stat().st_mtime_ns, tokenizer.stat().st_mtime_ns)
        self._loaded = _load(model, tokenizer, stamps, max_tokens)

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return how well each text answers, 0 to 1. Raises ModelError."""
        # One by one, because a batch call would start the tokenizer's own threads.
        pairs = [self._loaded.tokenizer.encode(question, text) for text in texts]
        if self._threads == 1 or len(pairs) <= 1:
            margins = [self._margin(pair) for pair in pairs]
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                margins = list(pool.map(self._margin, pairs))
        return sigmoid(np.array(margins, dtype=np.float64))

    def _margin(self, pair: Encoding) -> float:
        """Return the logit of relevance: the only output, or the second minus first."""
        feed = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids,
        }
        inputs = {
            name: np.array([feed[name]], dtype=np.int64)
            for name in sorted(self._loaded.inputs)
        }
        try:
            output = np.asarray(self._loaded.session.run(None, inputs)[0], np.float64)
        except _FAILURES as error:
            raise ModelError(
                f"the cross-encoder in {self._folder} failed: {error}",
                "check that it is a model that scores pairs of texts",
            ) from error
        numbers = output.reshape(-1)
        if numbers.size not in (1, 2) or not np.isfinite(numbers).all():
            raise ModelError(
                f"the cross-encoder in {self._folder} returned {numbers[:4]} for "
                "one pair",
                "use a model with one output, or with two outputs for no and yes",
            )
        return float(numbers[-1] - (numbers[0] if numbers.size > 1 else 0.0))


def sigmoid(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return raw outputs as probabilities."""
    small = np.exp(-np.abs(margins))  # of the negative, so that it cannot overflow
    result: NDArray[np.float64] = np.where(margins >= 0, 1.0, small) / (1.0 + small)
    return result


def _files(folder: Path) -> tuple[Path, Path]:
    model = next((folder / one for one in FILES if (folder / one).is_file()), None)
    tokenizer = folder / TOKENIZER
    if model is None or not tokenizer.is_file():
        lacks = TOKENIZER if model else " or ".join(FILES)
        raise ConfigError(
            f"there is no cross-encoder in {folder}: {lacks} is missing",
            "copy a published ONNX cross-encoder there, or set the path to its folder",
        )
    return model, tokenizer


@lru_cache(maxsize=_KEPT)  # a question makes its reranker anew, a model takes seconds
def _load(
    model: Path,
    tokenizer: Path,
    stamps: tuple[int, int],  # noqa: ARG001 - a changed file is read again
    max_tokens: int,
) -> _Loaded:
    try:
        session = open_session(str(model))
    except _FAILURES as error:
        raise ConfigError(
            f"{model} cannot be read: {error}", "copy the model's files again"
        ) from error
    inputs = frozenset(one.name for one in session.get_inputs())
    if "input_ids" not in inputs or not inputs <= INPUTS:
        raise ConfigError(
            f"{model} is not a cross-encoder for text: its inputs are {sorted(inputs)}",
            f"use one with the inputs {', '.join(sorted(INPUTS))}",
        )
    return _Loaded(session, _tokenizer(tokenizer, max_tokens), inputs)


def _tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no narrower error
        raise ConfigError(
            f"{path} is not a tokenizer: {error}", "copy the model's files again"
        ) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    return tokenizer

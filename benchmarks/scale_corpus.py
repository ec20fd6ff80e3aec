"""Real texts with their vectors, made from a folder once and kept in one file."""

import io
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from elt_llm_core.config.loader import load_config
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.models import CountingEmbedder, as_counting
from elt_llm_core.models.factory import build_models

SEED = 7
QUESTIONS = 300
BATCH = 256
SUFFIXES = (".jsonl", ".json", ".md", ".txt")
_SENTENCE = re.compile(r"(?<=[.;:])\s+")
_LENGTHS = range(40, 601)


@dataclass(frozen=True)
class Corpus:
    """Texts and questions with float32 unit vectors, shape (n, d)."""

    texts: list[str]
    vectors: np.ndarray
    questions: list[str]
    asked: np.ndarray

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return int(self.vectors.shape[1])


def load_corpus(data: Path | None, chunks: int, cache: Path | None) -> Corpus:
    """The corpus of `cache`, made from the texts below `data` where it is not there."""
    if cache is not None and cache.exists():
        return _read(cache, chunks)
    if data is None:
        raise SystemExit("give --data DIR, or a --cache FILE that exists")
    embedder = as_counting(build_models(load_config()).embedder)
    texts = _texts(data, chunks, embedder)
    questions = _questions(texts)
    stored = {
        "texts": np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8),
        "questions": np.frombuffer(json.dumps(questions).encode(), dtype=np.uint8),
        "vectors": _embedded(embedder, texts).astype(np.float16),
        "asked": _embedded(embedder, questions),
    }
    if cache is not None:
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **stored)
        write_atomic(cache, buffer.getvalue())
    return _corpus(stored, chunks)


def _read(cache: Path, chunks: int) -> Corpus:
    with np.load(cache, allow_pickle=False) as stored:
        return _corpus(stored, chunks)


def _corpus(stored: Any, chunks: int) -> Corpus:
    texts = json.loads(stored["texts"].tobytes())[:chunks]
    if len(texts) < chunks:
        raise SystemExit(f"there are {len(texts)} texts only, {chunks} are wanted")
    vectors = stored["vectors"][:chunks].astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    questions = json.loads(stored["questions"].tobytes())
    return Corpus(texts, vectors, questions, np.asarray(stored["asked"]))


def _texts(data: Path, chunks: int, embedder: CountingEmbedder) -> list[str]:
    """Paragraphs and sentences, each once; then pairs of neighbours, as many as asked.

    None is longer than the embedder reads.
    """
    found: dict[str, None] = {}
    for paragraph in _paragraphs(data):
        for text in (paragraph, *_SENTENCE.split(paragraph)):
            found[" ".join(text.split())] = None
    alone = [text for text in found if len(text) in _LENGTHS]
    pairs = (f"{a} {b}"[:600] for a, b in pairwise(alone))
    kept: list[str] = []
    for text in dict.fromkeys([*alone, *pairs]):
        if len(kept) < chunks and embedder.count_tokens(text) <= embedder.max_tokens:
            kept.append(text)
    return kept


def _paragraphs(data: Path) -> Iterator[str]:
    for path in sorted(p for p in data.rglob("*") if p.suffix in SUFFIXES):
        content = path.read_text(encoding="utf-8", errors="ignore")
        if path.suffix == ".jsonl":
            rows = (json.loads(line) for line in content.splitlines() if line.strip())
            yield from (str(row["text"]) for row in rows if "text" in row)
        elif path.suffix != ".json":
            yield from content.split("\n\n")


def _questions(texts: list[str]) -> list[str]:
    """The first half of a text's words, for a fixed random sample of texts."""
    chosen = random.Random(SEED).sample(texts, min(QUESTIONS, len(texts)))  # noqa: S311
    return [" ".join(t.split()[: max(len(t.split()) // 2, 3)]) for t in chosen]


def _embedded(embedder: CountingEmbedder, texts: list[str]) -> np.ndarray:
    """Unit vectors in the order of the texts; similar lengths are embedded together."""
    found = np.zeros((len(texts), embedder.dimension), dtype=np.float32)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in range(0, len(order), BATCH):
        part = order[start : start + BATCH]
        found[part] = embedder.embed_array([texts[i] for i in part])
    return found

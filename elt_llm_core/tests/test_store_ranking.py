"""The parts of a search, each against its definition."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log1p
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elt_llm_core.config.bm25 import DEFAULT
from elt_llm_core.store.index.bm25 import DeltaKeywords, KeywordIndex
from elt_llm_core.store.index.matrix import (
    nearest,
    open_matrix,
    top_positions,
    write_matrix,
)


def test_the_best_are_those_of_sorting() -> None:
    chance = np.random.default_rng(3)
    for _ in range(200):
        scores = chance.integers(0, 6, chance.integers(1, 40)).astype(np.float32)
        k = int(chance.integers(0, 45))
        expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
        assert top_positions(scores, k).tolist() == expected


def test_the_nearest_leave_out_rows_without_a_vector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("elt_llm_core.store.index.matrix.BLOCK", 3)
    matrix = np.eye(12, 8, dtype=np.float32)
    assert [row for row, _ in nearest(matrix, np.eye(8)[2], 20)] == [
        *(2, 0, 1, 3, 4, 5, 6, 7),
    ]
    rows = np.array([1, 5, 6, 7, 9, 11])
    assert nearest(matrix, np.eye(8)[6], 2, rows) == [(6, 1.0), (1, 0.0)]


def by_the_formula(
    texts: Sequence[Sequence[str]], question: Sequence[str]
) -> list[Any]:
    """BM25 of words, and with a share that of words side by side, written out."""
    average, b = sum(map(len, texts)) / len(texts), DEFAULT.b
    bags: list[tuple[Counter[Any], ...]] = [
        (Counter(text), Counter(pairwise(text))) for text in texts
    ]
    scores = dict.fromkeys(range(len(texts)), 0.0)
    words: list[tuple[int, Any]] = [(0, word) for word in question]
    for kind, one in [*words, *((1, pair) for pair in pairwise(question))]:
        share = DEFAULT.pair_weight if kind else 1.0
        for row, bag in enumerate(bags):
            n = sum(one in other[kind] for other in bags)
            weight = share * log1p((len(texts) - n + 0.5) / (n + 0.5))
            norm = DEFAULT.k1 * (1 - b + b * len(texts[row]) / average)
            scores[row] += weight * bag[kind][one] / (bag[kind][one] + norm)
    found = [(row, pytest.approx(score)) for row, score in scores.items() if score > 0]
    return sorted(found, key=lambda hit: (-hit[1].expected, hit[0]))


def test_newer_texts_are_scored_by_the_formula() -> None:
    texts = [[*"abca"], [*"bd"], [], [*"a"], [*"dddd"], [*"cab"]]
    index = DeltaKeywords(texts, None)
    for question in ("a", "ab", "ddx", "zz", "abcd", "ca", "dd"):
        expected = by_the_formula(texts, question)
        assert index.search([*question], 9) == expected
        rows = np.array([1, 3])
        kept = [hit for hit in expected if hit[0] in (1, 3)]
        assert index.search([*question], 9, rows) == kept
    assert DeltaKeywords([], None).search(["a"], 3) == []


def test_an_index_and_what_is_newer_score_by_the_formula(tmp_path: Path) -> None:
    chance = np.random.default_rng(8)
    texts = [
        [*map(str, chance.integers(100, 115, size))]
        for size in chance.integers(1, 30, 60)
    ]
    half = len(texts) // 2
    for name, older in (("whole", texts), ("half", texts[half:])):
        (tmp_path / name).mkdir()
        KeywordIndex.build([" ".join(text) for text in older], tmp_path / name)
    whole = KeywordIndex(tmp_path / "whole")
    for size in (1, 2, 3, 8):
        question = [*map(str, chance.integers(100, 118, size))]
        expected = by_the_formula(texts, question)
        assert dict(whole.search(question, 99)) == dict(expected)
        rows = chance.permutation(len(texts))[:25]
        exact = whole.scores_of(question, rows).tolist()
        assert dict(zip(rows, exact, strict=True)) == {
            row: dict(whole.search(question, 99)).get(row, 0.0) for row in rows
        }
        pair = " ".join([*question, "101"][:2])
        held = sum(pair in " ".join(text) for text in texts)
        assert whole.document_frequency(pair) == held
        # The same frequencies and lengths, so the same scores for what is newer.
        base = KeywordIndex(tmp_path / "half")
        newer = dict(DeltaKeywords(texts[:half], base).search(question, 99))
        assert newer == {row: score for row, score in expected if row < half}


def test_hidden_texts_cost_no_hits(tmp_path: Path) -> None:
    texts = [f"kite {i}" for i in range(20)]
    KeywordIndex.build(texts, tmp_path / "keywords")
    index = KeywordIndex(tmp_path / "keywords")
    hidden = np.arange(15)
    hits = index.search(["kite"], 5, None, hidden)
    assert [row for row, _ in hits] == [15, 16, 17, 18, 19]
    assert index.search(["kite"], 2, np.array([3, 17, 18])) == [
        (3, pytest.approx(hits[0][1])),
        (17, pytest.approx(hits[0][1])),
    ]


def test_a_matrix_of_another_shape_is_not_read(tmp_path: Path) -> None:
    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    write_matrix(rows, tmp_path)
    opened = open_matrix(tmp_path, 4)
    assert opened.tolist() == rows.tolist()
    assert not opened.flags.writeable
    with pytest.raises(ValueError, match="reshape"):
        open_matrix(tmp_path, 5)

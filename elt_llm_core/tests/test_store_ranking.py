"""The parts of a search, each against its definition."""

from collections import Counter
from math import log1p
from pathlib import Path

import numpy as np
import pytest

from elt_llm_core.store.keyword import K1, B, DeltaKeywords, KeywordIndex
from elt_llm_core.store.matrix import open_matrix, write_matrix
from elt_llm_core.store.ranking import best, nearest


def test_the_best_are_those_of_sorting() -> None:
    chance = np.random.default_rng(3)
    for _ in range(200):
        scores = chance.integers(0, 6, chance.integers(1, 40)).astype(np.float32)
        k = int(chance.integers(0, 45))
        expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
        assert best(scores, k).tolist() == expected


def test_the_nearest_leave_out_rows_without_a_vector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("elt_llm_core.store.ranking.BLOCK", 3)
    matrix = np.eye(12, 8, dtype=np.float32)
    assert [row for row, _ in nearest(matrix, np.eye(8)[2], 20)] == [
        *(2, 0, 1, 3, 4, 5, 6, 7),
    ]
    rows = np.array([1, 5, 6, 7, 9, 11])
    assert nearest(matrix, np.eye(8)[6], 2, rows) == [(6, 1.0), (1, 0.0)]


def test_newer_texts_are_scored_by_the_formula() -> None:
    texts = [[*"abca"], [*"bd"], [], [*"a"], [*"dddd"]]
    lengths = [len(t) for t in texts]
    average = sum(lengths) / len(texts)
    index = DeltaKeywords(texts, None)
    for question in ("a", "ab", "ddx", "zz", "abcd"):
        expected = []
        for row, text in enumerate(texts):
            score = 0.0
            for token in question:
                n = sum(token in t for t in texts)
                weight = log1p((len(texts) - n + 0.5) / (n + 0.5))
                tf = Counter(text)[token]
                norm = K1 * (1 - B + B * lengths[row] / average)
                score += weight * tf / (tf + norm)
            if score > 0:
                expected.append((row, pytest.approx(score)))
        expected.sort(key=lambda hit: (-hit[1].expected, hit[0]))
        assert index.search([*question], 9) == expected
        rows = np.array([1, 3])
        kept = [hit for hit in expected if hit[0] in (1, 3)]
        assert index.search([*question], 9, rows) == kept
    assert DeltaKeywords([], None).search(["a"], 3) == []


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

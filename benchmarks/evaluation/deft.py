"""Sentences that people marked as definitions, and how well a way finds them unseen."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FOLDS, SHUFFLES = 8, 5
RIDGE = 2.0
DRAWS = 1000
_STEPS, _SMALL_STEP = 25, 1e-4
Bits = NDArray[np.bool_]
Rows = NDArray[np.float64]


class Sentence(NamedTuple):
    """A sentence that people marked, and the file it is from.

    `defines` is true where it holds any part marked as a definition, `chiefly` where
    one is a definition proper: not a secondary, an ordered or a referential one.
    """

    file: str
    text: str
    defines: bool
    chiefly: bool


def read_sentences(folder: Path) -> list[Sentence]:
    """The sentences of the DEFT files of a folder, by file and place."""
    marked = []
    for path in sorted(folder.glob("*.deft")):
        for part in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
            rows = [line.split("\t") for line in part.splitlines() if line.strip()]
            if rows:
                tags = {row[4].strip().partition("-")[2] for row in rows}
                defines = any(tag.endswith("Definition") for tag in tags)
                chiefly = "Definition" in tags
                marked.append(Sentence(path.name, _spoken(rows), defines, chiefly))
    return marked


def _spoken(rows: Sequence[Sequence[str]]) -> str:
    """Join the words with the white space that their offsets imply."""
    text, base = "", int(rows[0][2])
    for row in rows:
        gap = int(row[2]) - base - len(text)
        text += " " * (gap if 0 < gap <= 1 else gap > 0)
        base += max(gap - 1, min(gap, 0))
        text += row[0].strip()
    return text


def score(predicted: Bits, gold: Bits) -> dict[str, Any]:
    """Precision, recall and F1, rounded to four digits."""
    right = int((predicted & gold).sum())
    return {
        "precision": round(right / max(int(predicted.sum()), 1), 4),
        "recall": round(right / max(int(gold.sum()), 1), 4),
        "f1": round(2 * right / max(int(predicted.sum() + gold.sum()), 1), 4),
    }


def predict_held_out(cues: Rows, gold: Bits, files: Sequence[str]) -> list[Bits]:
    """Predict each sentence with weights that have not seen its file.

    One answer a shuffle of the files into folds: weights and cut come from the other
    folds. The shuffles are the same for every way of finding.
    """
    ones = np.hstack([np.ones((len(cues), 1)), cues])
    answers = []
    for fold in _folds(files):
        predicted = np.zeros(len(files), dtype=bool)
        for number in range(FOLDS):
            inside = fold != number
            weights = _fitted(ones[inside], gold[inside])
            cut = _best_cut(ones[inside] @ weights, gold[inside])
            predicted[~inside] = ones[~inside] @ weights >= cut
        answers.append(predicted)
    return answers


def _folds(files: Sequence[str]) -> list[NDArray[np.int64]]:
    names = sorted(set(files))
    folds = []
    for seed in range(SHUFFLES):
        order = np.random.default_rng(seed).permutation(len(names))
        fold_of = {names[place]: n % FOLDS for n, place in enumerate(order)}
        folds.append(np.array([fold_of[file] for file in files]))
    return folds


def _fitted(cues: Rows, gold: Bits) -> Rows:
    """Weights of a ridge logistic regression, by Newton's method."""
    ridge = np.eye(cues.shape[1]) * RIDGE
    ridge[0, 0] = 1e-6
    weights = np.zeros(cues.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-(cues @ weights)))
        slope = cues.T @ (gold - likely) - ridge @ weights
        bend = (cues * (likely * (1 - likely))[:, None]).T @ cues + ridge
        step = np.linalg.solve(bend, slope)
        weights = weights + step
        if float(np.abs(step).max()) < _SMALL_STEP:
            break
    return weights


def _best_cut(odds: Rows, gold: Bits) -> float:
    cuts = np.linspace(-1.5, 0.5, 41)
    return float(max(cuts, key=lambda cut: score(odds >= cut, gold)["f1"]))


def average_scores(
    answers: Sequence[Bits], gold: Bits, files: Sequence[str]
) -> dict[str, Any]:
    """Mean precision, recall and F1 of the answers, and an interval of the last.

    `low` and `high` bound the mean F1 for 95 of 100 draws of as many files.
    """
    figures = [score(predicted, gold) for predicted in answers]
    means = {
        key: round(float(np.mean([f[key] for f in figures])), 4) for key in figures[0]
    }
    low, high = _interval(answers, gold, files)
    return {**means, "low": round(low, 4), "high": round(high, 4)}


def _interval(
    answers: Sequence[Bits], gold: Bits, files: Sequence[str]
) -> tuple[float, float]:
    names, number = np.unique(np.array(files), return_inverse=True)
    size = len(names)

    def by_file(bits: Bits) -> NDArray[np.int64]:
        return np.bincount(number, weights=bits, minlength=size).astype(np.int64)

    right = np.array([by_file(predicted & gold) for predicted in answers])
    marked = np.array([by_file(predicted) + by_file(gold) for predicted in answers])
    drawn = np.random.default_rng(0).integers(0, size, (DRAWS, size))
    many = 2 * right[:, drawn].sum(axis=2) / np.maximum(marked[:, drawn].sum(axis=2), 1)
    low, high = np.percentile(many.mean(axis=0), [2.5, 97.5])
    return float(low), float(high)


TermPair = tuple[list[str], list[str]]  # names of a term, and its definitions


def marked_terms(folder: Path) -> Iterator[tuple[list[str], list[TermPair]]]:
    """Yield the sentences of each DEFT file with the terms that they define."""
    for path in sorted(folder.glob("*.deft")):
        sentences: list[str] = []
        tags: dict[str, list[list[str]]] = {}
        for part in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
            rows = [line.split("\t") for line in part.splitlines() if line.strip()]
            if rows:
                sentences.append(_spoken(rows))
            for row in (row for row in rows if row[4].strip() != "O"):
                tags.setdefault(row[5].strip(), []).append([v.strip() for v in row])
        yield sentences, list(_pairs(tags))


def _pairs(tags: Mapping[str, list[list[str]]]) -> Iterator[TermPair]:
    """Each term with the definition that points to it, alone and behind "is"."""
    words = {name: " ".join(row[0] for row in rows) for name, rows in tags.items()}
    for name, rows in tags.items():
        root = rows[0][6]
        if rows[0][4].endswith("-Definition") and root in words:
            others = [
                n for n, r in tags.items() if r[0][6] == root and "Term" in r[0][4]
            ]
            names = [words[root], *(words[n] for n in others)]
            yield (
                [one.replace(" - ", "-") for one in names],
                [words[name], f"{words[root]} is {words[name]}"],
            )

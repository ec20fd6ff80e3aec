"""Measures of definitions for `elt-llm eval parsing --only definitions`."""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elt_llm_consumer.definitions import extract
from elt_llm_consumer.handbook import Handbook
from elt_llm_consumer.heads import cleaned, split_paren
from elt_llm_consumer.phrases import WORD, fold
from elt_llm_consumer.textbook import located
from elt_llm_consumer.textbook_cues import LEAST, confidence, seen
from elt_llm_core.config import RagConfig
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding

LISTED = "nist_sp800_63_4/_sp800-63/definitions.md"
LISTED_GOLD = "nist_sp800_63_4/definitions_parsed.json"
MARKED = "deft_definitions/dev"
OVERLAP = 0.8
FOLDS = 8
RIDGE = 2.0
_PLAIN = re.compile(r"^(?:The |An? )?[\w' -]{2,40}\s(?:is|are)\s(?:an?|the)\s")
_Bits = NDArray[np.bool_]


class Sentence(NamedTuple):
    """A sentence that people marked, and the file it is from."""

    file: str
    text: str
    defines: bool


def definition_figures(root: Path) -> Iterator[dict[str, Any]]:
    """F1 of a definition list, and of sentences of textbooks."""
    if (root / LISTED).is_file() and (root / LISTED_GOLD).is_file():
        yield listed_figure(root / LISTED, root / LISTED_GOLD)
    marked = sentences(root / MARKED)
    if marked:
        yield from sentence_figures(marked)


def listed_figure(document: Path, gold: Path) -> dict[str, Any]:
    """A definition counts where term and four fifths of the words agree."""
    wanted = [
        (fold(split_paren(cleaned(row["term"]))[0]), row["definition"])
        for row in json.loads(gold.read_text(encoding="utf-8"))
    ]
    ours = _glossary(document)
    left = list(ours)
    missed = []
    for term, said in wanted:
        hit = next((o for o in left if o[0] == term and _alike(o[1], said)), None)
        if hit is None:
            missed.append(term)
        else:
            left.remove(hit)
    right = len(wanted) - len(missed)
    detail = {
        "precision": round(right / max(len(ours), 1), 4),
        "recall": round(right / max(len(wanted), 1), 4),
        "found": len(ours),
        "gold": len(wanted),
        "missed": missed[:20],
        "extra": [term for term, _ in left][:20],
    }
    value = round(2 * right / max(len(ours) + len(wanted), 1), 4)
    return {"measure": "definition_list_f1", "value": value, "bar": 0.95,
            "detail": detail}  # fmt: skip


def _glossary(document: Path) -> list[tuple[str, str]]:
    """Folded terms and definitions of a file that the ingest job took in."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "data")
        try:
            options = {"paths": (str(document),), "collection": "definitions"}
            job = JOBS.load("ingest", options).build(Models(embedder=HashEmbedding()))
            job(JobContext(RagConfig(), store))
            entries = Handbook(store, ["definitions"]).entries
            return [(fold(e.found.term), e.found.definition) for e in entries]
        finally:
            store.close()


def _bare(said: str) -> str:
    return re.sub(r"\[\]\([^)]*\)|\{:[^}]*\}|[*_`]", "", said)


def _alike(ours: str, gold: str) -> bool:
    """Whether four fifths of the words of either are words of the other."""
    one = {word.casefold() for word in WORD.findall(_bare(ours))}
    two = {word.casefold() for word in WORD.findall(_bare(gold))}
    return len(one & two) >= OVERLAP * max(len(one), len(two), 1)


def sentences(folder: Path) -> list[Sentence]:
    """The sentences of DEFT files: one holding a part of a definition defines."""
    found = []
    for path in sorted(folder.glob("*.deft")):
        for part in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
            rows = [line.split("\t") for line in part.splitlines() if line.strip()]
            if rows:
                defines = any(row[4].strip().endswith("-Definition") for row in rows)
                found.append(Sentence(path.name, _spoken(rows), defines))
    return found


def _spoken(rows: Sequence[Sequence[str]]) -> str:
    """The words with the white space that their places tell of."""
    text, base = "", int(rows[0][2])
    for row in rows:
        gap = int(row[2]) - base - len(text)
        text += " " * (gap if 0 < gap <= 1 else gap > 0)
        base += max(gap - 1, min(gap, 0))
        text += row[0].strip()
    return text


def sentence_figures(marked: Sequence[Sentence]) -> Iterator[dict[str, Any]]:
    """The shipped weights, weights fitted to other files only, and simpler ways.

    The bar is held to the files the weights were fitted to as well as to those they
    were not: the second is what new material can hope for.
    """
    gold = np.array([one.defines for one in marked])
    ours = np.array([confidence(one.text) >= LEAST for one in marked])
    both = [o.text for o, said, true in zip(marked, ours, gold, strict=True)
            if said and true]  # fmt: skip
    placed = sum(located(text) is not None for text in both)
    detail = {**scores(ours, gold), "sentences": len(marked),
              "term_placed": round(placed / max(len(both), 1), 4)}  # fmt: skip
    yield {"measure": "definition_sentence_f1", "value": detail["f1"], "bar": 0.7,
           "detail": detail}  # fmt: skip
    others = held_out(marked, gold)
    yield {"measure": "definition_held_out_f1", "value": others["f1"], "bar": 0.7,
           "detail": others}  # fmt: skip
    plain = np.array([_PLAIN.match(one.text) is not None for one in marked])
    rules = np.array([bool(_by_rules(one.text)) for one in marked])
    for name, said in (("is_a", plain), ("rule_book_shapes", rules)):
        found = scores(said, gold)
        yield {"measure": f"definition_peer_{name}", "value": found["f1"],
               "detail": found}  # fmt: skip


def _by_rules(text: str) -> Sequence[object]:
    return extract(text, [Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))])


def scores(said: _Bits, gold: _Bits) -> dict[str, Any]:
    """Precision, recall and F1, rounded to four digits."""
    right = int((said & gold).sum())
    return {
        "precision": round(right / max(int(said.sum()), 1), 4),
        "recall": round(right / max(int(gold.sum()), 1), 4),
        "f1": round(2 * right / max(int(said.sum() + gold.sum()), 1), 4),
    }


def held_out(marked: Sequence[Sentence], gold: _Bits) -> Mapping[str, Any]:
    """The same cues, weighed and cut on seven eighths of the files, told on the rest.

    The choice of cues has seen all files; their weights and the cut have not.
    """
    cues = np.array([(True, *seen(one.text)) for one in marked], dtype=np.float64)
    names = sorted({one.file for one in marked})
    fold_of = {name: number % FOLDS for number, name in enumerate(names)}
    folds = np.array([fold_of[one.file] for one in marked])
    said = np.zeros(len(marked), dtype=bool)
    for number in sorted(set(folds.tolist())):
        inside = folds != number
        weights = fitted(cues[inside], gold[inside])
        cut = _best_cut(cues[inside] @ weights, gold[inside])
        said[~inside] = cues[~inside] @ weights >= cut
    return scores(said, gold)


def fitted(cues: NDArray[np.float64], gold: _Bits) -> NDArray[np.float64]:
    """Weights of a ridge logistic regression, by Newton's method."""
    ridge = np.eye(cues.shape[1]) * RIDGE
    ridge[0, 0] = 1e-6
    weights = np.zeros(cues.shape[1])
    for _ in range(25):
        likely = 1 / (1 + np.exp(-(cues @ weights)))
        slope = cues.T @ (gold - likely) - ridge @ weights
        bend = (cues * (likely * (1 - likely))[:, None]).T @ cues + ridge
        weights = weights + np.linalg.solve(bend, slope)
    return weights


def _best_cut(odds: NDArray[np.float64], gold: _Bits) -> float:
    cuts = np.linspace(-1.5, 0.5, 41)
    return float(max(cuts, key=lambda cut: scores(odds >= cut, gold)["f1"]))

"""Measures of the definitions found in a list and in sentences of textbooks."""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.definitions.cues import confidence, match_cues
from elt_llm_consumer.definitions.extract import extract_definitions
from elt_llm_consumer.definitions.term_forms import clean_term, split_paren
from elt_llm_consumer.definitions.terms import WORD, fold
from elt_llm_core.config.loader import RagConfig, load_config
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from evaluation.deft import (
    Bits,
    Rows,
    Sentence,
    average_scores,
    predict_held_out,
    read_sentences,
    score,
)

LISTED = "nist_sp800_63_4/_sp800-63/definitions.md"
LISTED_GOLD = "nist_sp800_63_4/definitions_parsed.json"
MARKED = "deft_definitions/dev"
OVERLAP = 0.8
LIKELY = 0.5  # or more: the sentence counts as a definition
_NOTHING = 1e-9
_PLAIN = re.compile(r"^(?:The |An? )?[\w' -]{2,40}\s(?:is|are)\s(?:an?|the)\s")


def definition_figures(root: Path) -> Iterator[dict[str, Any]]:
    """F1 of a definition list, and of sentences of textbooks.

    The embedder is that of the configuration; a folder without the data loads none.
    """
    listed = (root / LISTED).is_file() and (root / LISTED_GOLD).is_file()
    marked = read_sentences(root / MARKED)
    if not listed and not marked:
        return
    config = load_config()
    models = build_models(config)
    if listed:
        yield listed_figure(root / LISTED, root / LISTED_GOLD, config, models)
    if marked:
        yield from sentence_figures(marked, models)


def listed_figure(
    document: Path, gold: Path, config: RagConfig, models: Models
) -> dict[str, Any]:
    """A definition counts where term and four fifths of the words agree."""
    wanted = [
        (fold(split_paren(clean_term(row["term"]))[0]), row["definition"])
        for row in json.loads(gold.read_text(encoding="utf-8"))
    ]
    ours = _glossary(document, config, models)
    left = list(ours)
    missed = []
    for term, definition in wanted:
        hit = next((o for o in left if o[0] == term and _alike(o[1], definition)), None)
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


def _glossary(
    document: Path, config: RagConfig, models: Models
) -> list[tuple[str, str]]:
    """Folded terms and definitions of a file that the ingest job took in."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "data")
        try:
            options = {"paths": (str(document),), "collection": "definitions"}
            JOBS.load("ingest", options).build(models)(JobContext(config, store))
            entries = Handbook(store, ["definitions"]).entries
            return [(fold(e.term), e.definition.definition) for e in entries]
        finally:
            store.close()


def _strip_marks(text: str) -> str:
    """Without the marks of Markdown, in which the reference is written."""
    return re.sub(r"(?<=\])\([^)]*\)|\{:[^}]*\}|[*_`]", "", text)


def _alike(ours: str, gold: str) -> bool:
    """Whether four fifths of the words of either are words of the other."""
    one = {word.casefold() for word in WORD.findall(_strip_marks(ours))}
    two = {word.casefold() for word in WORD.findall(_strip_marks(gold))}
    return len(one & two) >= OVERLAP * max(len(one), len(two), 1)


def sentence_figures(
    marked: Sequence[Sentence], models: Models
) -> Iterator[dict[str, Any]]:
    """How well our cues find what people marked, and other ways on the same files.

    A way that is fitted answers for files it has not seen. `chiefly` counts definitions
    proper.
    """
    gold = np.array([one.defines for one in marked])
    chiefly = np.array([one.chiefly for one in marked])
    files = [one.file for one in marked]
    ours = np.array([confidence(one.text) >= LIKELY for one in marked])
    detail = {**average_scores([ours], gold, files), "sentences": len(marked),
              "chiefly": score(ours, chiefly)["f1"]}  # fmt: skip
    yield _figure("sentence_f1", detail, 0.7)
    for name, answers in _peers(marked, gold, models).items():
        yield _figure(f"peer_{name}", average_scores(answers, gold, files))


def _figure(
    name: str, detail: Mapping[str, Any], bar: float | None = None
) -> dict[str, Any]:
    return {"measure": f"definition_{name}", "value": detail["f1"], "bar": bar,
            "detail": detail}  # fmt: skip


def _peers(
    marked: Sequence[Sentence], gold: Bits, models: Models
) -> dict[str, Sequence[Bits]]:
    """Simpler ways; and cues, or the embedder's vectors, with fitted weights."""
    files = [one.file for one in marked]
    texts = [one.text for one in marked]
    cues = np.array([match_cues(text) for text in texts], dtype=np.float64)
    vectors = _turned(np.array(models.embedder.get_text_embedding_batch(texts)))
    return {
        "every_sentence": [np.ones(len(marked), dtype=bool)],
        "is_a": [np.array([_PLAIN.match(text) is not None for text in texts])],
        "rule_book_shapes": [np.array([bool(_by_rules(text)) for text in texts])],
        "fitted_cues": predict_held_out(cues, gold, files),
        "embedder": predict_held_out(vectors, gold, files),
        "cues_and_embedder": predict_held_out(np.hstack([cues, vectors]), gold, files),
    }


def _turned(vectors: Rows) -> Rows:
    """Unit vectors, turned so that few sentences need few numbers each.

    A turn changes nothing for ridge regression.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    left, sizes, _ = np.linalg.svd(
        vectors / np.maximum(lengths, 1e-12), full_matrices=False
    )
    turned: Rows = (left * sizes)[:, sizes > _NOTHING]
    return turned


def _by_rules(text: str) -> Sequence[object]:
    return extract_definitions(
        text, [Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))]
    )

"""The pages of a PDF before anything is made of them: words, lines, what is drawn."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf.blocks import Draft
from elt_llm_ingest.readers.pdf.bold_runs import set_apart
from elt_llm_ingest.readers.pdf.figures import Plate
from elt_llm_ingest.readers.pdf.formulas import with_formulas
from elt_llm_ingest.readers.pdf.furniture import PageWords
from elt_llm_ingest.readers.pdf.geometry import rectangle
from elt_llm_ingest.readers.pdf.hidden_text import unseen
from elt_llm_ingest.readers.pdf.liteparse import layouts_of, opened
from elt_llm_ingest.readers.pdf.lost_words import lost_words
from elt_llm_ingest.readers.pdf.pdfium import Leaf, leaf_of
from elt_llm_ingest.readers.pdf.raised_marks import with_marks_apart
from elt_llm_ingest.readers.pdf.tables.grid import Grid, grids_of
from elt_llm_ingest.readers.pdf.tables.rules import NONE, Rules, rules_of
from elt_llm_ingest.readers.pdf.undecoded_text import undecoded
from elt_llm_ingest.readers.pdf.words import Line, Restorer, Word, page_words


@dataclass
class Sheet:
    """A page on its way: LiteParse's blocks, our words, what became of them."""

    blocks: list[Any]
    label: str
    words: PageWords
    drafts: list[Draft] = field(default_factory=list)
    furniture: list[Line] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    rules: Rules = NONE
    plates: list[Plate] = field(default_factory=list)
    doubtful: bool = False  # whether its reading order is
    hidden: int = 0  # words that no reader sees; they are not in `words`
    undecoded: int = 0  # characters that are not what the text says they are


def sheet_of(page: Any, leaf: Leaf | None) -> Sheet:
    """A page of LiteParse, and what PDFium has of it, which is closed.

    `leaf` is None where it has nothing, and where the text is no text of the file.
    """
    garbled = undecoded(leaf.layer, leaf.plain) if leaf is not None else 0
    words, hidden = _words(page, leaf)
    blocks = list(page.blocks or [])
    tables = tuple(rectangle(b.bbox) for b in blocks if b.kind == "table" and b.bbox)
    rules = rules_of(getattr(page, "vector_graphics", None))
    grids = grids_of(rules)
    boxes = (*tables, *(grid.box for grid in grids))
    found = PageWords(page.page_num, page.width, page.height, words, boxes)
    return Sheet(
        blocks,
        page.page_label or "",
        found,
        grids=grids,
        rules=rules,
        hidden=hidden,
        undecoded=garbled,
    )


def _words(page: Any, leaf: Leaf | None) -> tuple[list[Word], int]:
    """The words of a page: LiteParse's, as PDFium spells them, and those it lost.

    The number is of words that no reader sees, which are left out.
    """
    if leaf is None:
        return page_words(page, Restorer("")), 0  # plain quotes and dashes stay
    try:
        words = page_words(page, Restorer(leaf.plain))
        words = with_formulas(leaf.page, leaf.layer, page, words)
        lost = lost_words(leaf.page, leaf.layer, leaf.plain, page.page_num, words)
        set_apart(leaf.page, leaf.layer, words)
        words = with_marks_apart(leaf.page, leaf.layer, words)
        words += lost
        hidden = unseen(leaf.page, getattr(page, "vector_graphics", None), words)
        if hidden:
            words = [word for word in words if id(word) not in hidden]
        return words, len(hidden)
    finally:
        leaf.close()


def page_views(path: Path, data: bytes, limits: Limits) -> Iterator[Sheet]:
    """The pages of a PDF before anything is made of them. Raises LoadError."""
    with opened(path, data) as file:
        for result in layouts_of(path, data, limits, len(file.pdf)):
            for page in result.pages:
                yield sheet_of(page, leaf_of(file.pdf, page.page_num))

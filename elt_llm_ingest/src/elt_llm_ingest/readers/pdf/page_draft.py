"""One page of a PDF during processing: words first, then regions, then blocks."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from elt_llm_ingest.readers.pdf.blocks import Draft
from elt_llm_ingest.readers.pdf.geometry import FigureBox, Rectangle, rectangle
from elt_llm_ingest.readers.pdf.tables.drawn_lines import NONE, Rules
from elt_llm_ingest.readers.pdf.tables.grid import Grid
from elt_llm_ingest.readers.pdf.words import Line, Word, lines_of


@dataclass(eq=False)
class PageDraft:
    """A page during processing. Lengths are in points, from the top left.

    `read_page` sets the fields above `blocks`; `mark_furniture` sets the flag of that
    name on its words; `build_blocks` sets the fields from `blocks` on.
    """

    number: int
    width: float
    height: float
    words: list[Word]
    label: str = ""
    layout: list[Any] = field(default_factory=list)  # LiteParse's blocks
    grids: list[Grid] = field(default_factory=list)
    rules: Rules = NONE
    hidden_words: int = 0  # left out of `words`
    undecoded_characters: int = 0
    blocks: list[Draft] = field(default_factory=list)
    furniture: list[Line] = field(default_factory=list)
    figures: list[FigureBox] = field(default_factory=list)
    is_order_doubtful: bool = False

    @cached_property
    def lines(self) -> list[Line]:
        """Return all words as lines from top to bottom."""
        return lines_of(self.words)

    @cached_property
    def table_boxes(self) -> tuple[Rectangle, ...]:
        """Return where LiteParse or ruling lines show tables."""
        seen = [b.bbox for b in self.layout if b.kind == "table" and b.bbox]
        return (*map(rectangle, seen), *(grid.box for grid in self.grids))

    @property
    def body(self) -> list[Word]:
        """Return the words that are not furniture."""
        return [word for word in self.words if not word.furniture]

    @property
    def body_lines(self) -> list[Line]:
        """Return the upright lines without furniture."""
        return [
            line
            for line in self.lines
            if not line.words[0].rotated
            and True not in [w.furniture for w in line.words]
        ]

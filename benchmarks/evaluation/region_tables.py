"""The table in a part of a page that somebody points at."""

from collections.abc import Sequence
from typing import Any

from elt_llm_ingest.readers.pdf.geometry import Rectangle, Table
from elt_llm_ingest.readers.pdf.regions import make_empty_regions, regions_of
from elt_llm_ingest.readers.pdf.tables.aligned import TextRow
from elt_llm_ingest.readers.pdf.tables.drawn_lines import Rules, within
from elt_llm_ingest.readers.pdf.tables.grid import grids_of
from elt_llm_ingest.readers.pdf.tables.lattice import (
    read_drawn_table,
    select_words_inside,
)
from elt_llm_ingest.readers.pdf.tables.number_tables import find_aligned
from elt_llm_ingest.readers.pdf.words import Word, lines_of

EDGE = 3.0  # points by which lines and words may stand out of the region
MOST = 0.6  # share of the region's words that a table must hold


def find_table(
    box: Rectangle, words: Sequence[Word], rules: Rules, blocks: Sequence[Any] = ()
) -> Table | None:
    """The table in a region of a page, in points from the top left.

    Drawn cells are taken first, then aligned numbers, then LiteParse's view; None if
    none of them holds most of the words.
    """
    left, top, right, bottom = box
    outer = (left - EDGE, top - EDGE, right + EDGE, bottom + EDGE)
    here = [w for w in words if _is_in(w, outer) and not w.rotated]
    candidates: list[tuple[Table, int]] = []
    for grid in grids_of(within(rules, outer)):
        held = select_words_inside(grid, here)
        table = read_drawn_table(grid, held) if held else None
        if table:
            candidates.append((table, len(held)))
    if not _holds_most(candidates, here):
        rows = [TextRow(line) for line in lines_of(here)]
        aligned = find_aligned(rows, rules.across, surely=True)
        candidates += [(a.table, sum(1 for _ in a.table.words())) for a in aligned]
    if not _holds_most(candidates, here):
        regions = [r for r in regions_of(make_empty_regions(blocks), here) if r.table]
        candidates += [(r.table, len(r.words)) for r in regions if r.table]
    return max(candidates, key=lambda pair: pair[1])[0] if candidates else None


def _is_in(word: Word, box: Rectangle) -> bool:
    x, y = word.middle
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _holds_most(candidates: Sequence[tuple[Table, int]], words: Sequence[Word]) -> bool:
    return any(count >= MOST * len(words) for _, count in candidates)

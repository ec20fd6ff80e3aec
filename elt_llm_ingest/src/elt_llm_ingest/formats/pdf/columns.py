"""The regions of one column: whole lines, from top to bottom."""

from collections.abc import Sequence

from elt_llm_ingest.formats.pdf.cells import layout_table
from elt_llm_ingest.formats.pdf.found import aligned, drawn, free_lines, kept
from elt_llm_ingest.formats.pdf.lattice import Grid
from elt_llm_ingest.formats.pdf.region import Region, area, overlaps
from elt_llm_ingest.formats.pdf.rules import Rules
from elt_llm_ingest.formats.pdf.words import Line, Word, lines_of


def column_regions(
    seeds: Sequence[Region],
    words: Sequence[Word],
    grids: Sequence[Grid],
    rules: Rules,
) -> list[Region]:
    """The regions of the words of a column; no word is lost or used twice.

    `seeds` are LiteParse's blocks, which may reach over other columns too: a line is
    given to one as a whole, or to none. So no line is torn by a block that ends in it.
    """
    lines = lines_of(words)
    tables = [region for grid in grids if (region := drawn(grid, words))]
    tables = kept(tables, lines, rules)
    tables += aligned(free_lines(lines, tables), seeds, rules)
    tables += _layout_tables(seeds, _without(words, tables), tables)
    text = [seed for seed in seeds if seed.kind != "table"]
    regions = [*_text(text, lines_of(_without(words, tables))), *tables]
    return sorted(regions, key=lambda region: region.box[1])


def _without(words: Sequence[Word], regions: Sequence[Region]) -> list[Word]:
    taken = {id(word) for region in regions for word in region.words}
    return [word for word in words if id(word) not in taken]


def _layout_tables(
    seeds: Sequence[Region], words: Sequence[Word], others: Sequence[Region]
) -> list[Region]:
    """The tables that LiteParse sees where no other table is."""
    found: list[Region] = []
    for seed in seeds:
        if seed.kind != "table" or any(overlaps(seed, other) for other in others):
            continue
        left, top, right, bottom = seed.box
        own = [
            word
            for word in _without(words, found)
            if left <= word.middle[0] <= right and top <= word.middle[1] <= bottom
        ]
        table = layout_table(seed.block, own)
        if table is not None:
            held = list(table.words())
            found.append(Region("table", seed.box, held, table, seed.block))
    return found


def _text(seeds: Sequence[Region], lines: Sequence[Line]) -> list[Region]:
    """Neighbouring lines of one block together."""
    found: list[Region] = []
    last: Region | None = None
    for line in lines:
        home = _home(seeds, line)
        box = (line.left, line.top, line.right, line.bottom)
        if found and home is last and _is_next(found[-1], line):
            region = found[-1]
            region.words.extend(line.words)
            region.box = (
                min(region.box[0], box[0]), min(region.box[1], box[1]),
                max(region.box[2], box[2]), max(region.box[3], box[3]),
            )  # fmt: skip
        else:
            kind = home.kind if home else "paragraph"
            found.append(Region(kind, box, list(line.words)))
        last = home
    return found


def _is_next(region: Region, line: Line) -> bool:
    """Whether no more than a line is left free between them."""
    return line.top - region.box[3] < line.bottom - line.top


def _home(seeds: Sequence[Region], line: Line) -> Region | None:
    """The smallest block that holds the middle of a line."""
    x, y = (line.left + line.right) / 2, (line.top + line.bottom) / 2
    inside = [
        seed
        for seed in seeds
        if seed.box[0] <= x <= seed.box[2] and seed.box[1] <= y <= seed.box[3]
    ]
    return min(inside, key=area, default=None)

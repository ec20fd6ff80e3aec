"""Assign every word to LiteParse's block or table cell."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from elt_llm_ingest.readers.pdf.geometry import (
    SLACK,
    Rectangle,
    Region,
    area,
    box_of,
    overlaps,
    rectangle,
)
from elt_llm_ingest.readers.pdf.tables.aligned import TextRow
from elt_llm_ingest.readers.pdf.tables.drawn_lines import NONE, Rules
from elt_llm_ingest.readers.pdf.tables.grid import Grid
from elt_llm_ingest.readers.pdf.tables.lattice import (
    read_drawn_table,
    select_words_inside,
)
from elt_llm_ingest.readers.pdf.tables.lattice_completion import table_cost
from elt_llm_ingest.readers.pdf.tables.layout_table import read_layout_table
from elt_llm_ingest.readers.pdf.tables.number_tables import FoundTable, find_aligned
from elt_llm_ingest.readers.pdf.tables.stream import (
    find_table_around,
    find_table_below,
    is_title,
    share_of_long_lines,
)
from elt_llm_ingest.readers.pdf.words import FOLDED, Line, Word, lines_of

COLUMNS_APART = 6  # points; half a line: narrower than the gutter of a printed page
NEAR = 4  # points; regions farther apart have no common word
Neighbours = Mapping[int, Sequence[Region]]


def assign_words(
    regions: Sequence[Region], words: Sequence[Word], lines: Sequence[Line]
) -> list[Word]:
    """Assign the words to their regions; return those outside all regions.

    `lines` are those of the page from top to bottom. A line without other words that is
    in one region only is assigned as a whole.
    """
    near = _neighbours(regions)
    free = set(map(id, words))
    last: Region | None = None
    for index, line in enumerate(lines):
        if line.words[0].rotated or not free.issuperset(map(id, line.words)):
            continue
        # A line inside the last home can otherwise only be in a region near it.
        held = [last] if last is not None and _holds_all(last, line) else regions
        home = _only_home(held, near, line)
        if home is not None:
            last = home
            home.take(index, line)
            free.difference_update(map(id, line.words))
    strays: list[Word] = []
    if not free:
        return strays
    last = None
    for word in words:
        if id(word) in free:
            if last is None or id(last) in near or not _holds(last, word):
                last = _home(regions, word)
            (last.words if last else strays).append(word)
    return strays


def _neighbours(regions: Sequence[Region]) -> dict[int, list[Region]]:
    """Return adjacent regions of each region, by id, if there are any."""
    neighbours: dict[int, list[Region]] = defaultdict(list)
    order = sorted(regions, key=_top)
    for index, one in enumerate(order):
        left, _, right, bottom = one.box
        for other in order[index + 1 :]:
            box = other.box
            if box[1] > bottom + NEAR:
                break
            if left <= box[2] + NEAR and box[0] <= right + NEAR:
                neighbours[id(one)].append(other)
                neighbours[id(other)].append(one)
    return neighbours


def _top(region: Region) -> float:
    return region.box[1]


def _only_home(
    regions: Sequence[Region], near: Neighbours, line: Line
) -> Region | None:
    """Return the region that contains the whole line, if no other overlaps it."""
    for region in regions:
        if _holds_all(region, line):
            others = near.get(id(region), ())
            return None if any(_reaches(r.box, line) for r in others) else region
    return None


def _holds_all(region: Region, line: Line) -> bool:
    left, top, right, bottom = region.box
    return (
        top - SLACK <= line.top and line.bottom <= bottom + SLACK
        and left - SLACK <= line.left and line.right <= right + SLACK
    )  # fmt: skip


def _reaches(box: Rectangle, line: Line) -> bool:
    left, top, right, bottom = box
    return (
        left - SLACK <= line.right and line.left <= right + SLACK
        and top - SLACK <= line.bottom and line.top <= bottom + SLACK
    )  # fmt: skip


def _holds(region: Region, word: Word) -> bool:
    x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    left, top, right, bottom = region.box
    return left <= x <= right and top <= y <= bottom


def _home(regions: Sequence[Region], word: Word) -> Region | None:
    x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    inside = []
    for region in regions:
        left, top, right, bottom = region.box
        if top - SLACK <= y <= bottom + SLACK and left - SLACK <= x <= right + SLACK:
            inside.append(region)
    if len(inside) <= 1:
        return inside[0] if inside else None
    folded = word.text.translate(FOLDED)
    naming = [region for region in inside if folded in region.block_text]
    return min(naming or inside, key=area)


OUTSIDE = 2.0  # nats per word of the table that is left out
ABOVE = 40  # points above LiteParse's table that may contain its header
BELOW = 5  # points below it that may contain the end of its last row
BESIDE = 0.1  # share of long lines: text beside a table of numbers


def find_drawn_table(grid: Grid, words: Sequence[Word]) -> Region | None:
    """Return the table of a grid, or None."""
    own_words = select_words_inside(grid, words)
    table = read_drawn_table(grid, own_words) if own_words else None
    if table is None:
        return None
    return Region(kind="table", box=grid.box, words=own_words, table=table)


def drop_worse_tables(
    drawn_ones: Sequence[Region], lines: Sequence[Line], rules: Rules
) -> list[Region]:
    """Return the drawn tables without those that alignment explains at a lower cost.

    Only tables with missing lines are checked.
    """
    if not any(region.table and region.table.mended for region in drawn_ones):
        return [*drawn_ones]
    whole = [r for r in drawn_ones if r.table and not r.table.mended]
    rows = [TextRow(line) for line in find_free_lines(lines, whole)]
    others = [_region(table) for table in find_aligned(rows, rules.across)]
    return [
        region
        for region in drawn_ones
        if region in whole or not _are_better(others, region)
    ]


def _are_better(others: Sequence[Region], drawn_one: Region) -> bool:
    """Return whether tables explain the words of a drawn one at a lower cost."""
    inside = set(map(id, drawn_one.words))
    near = [r for r in others if not inside.isdisjoint(map(id, r.words))]
    top = drawn_one.box[1]  # a title above is not part of the table
    theirs = {id(w) for region in near for w in region.words if w.middle[1] > top}
    costs = [table_cost(region.table) for region in near if region.table]
    if not near or drawn_one.table is None:
        return False
    cost = table_cost(drawn_one.table) + OUTSIDE * len(theirs - inside)
    return sum(costs) + OUTSIDE * len(inside - theirs) < cost


def find_aligned_tables(
    lines: Sequence[Line],
    regions: Sequence[Region],
    rules: Rules,
) -> list[Region]:
    """Return tables of aligned numbers among lines outside drawn tables.

    If LiteParse sees a table, fewer rows suffice.
    """
    rows = [TextRow(line) for line in lines]
    tables = [_region(table) for table in find_aligned(rows, rules.across)]
    for region in regions:
        if region.kind == "table" and not any(overlaps(region, f) for f in tables):
            taken = {id(word) for f in tables for word in f.words}
            free = [row for row in rows if id(row.line.words[0]) not in taken]
            tables += _find_tables_in(free, region, rules)
    return tables + _find_titled_tables(rows, tables, rules)


def _find_titled_tables(
    rows: Sequence[TextRow], others: Sequence[Region], rules: Rules
) -> list[Region]:
    """Return tables of text below a title "Table 1" that were not found otherwise."""
    tables: list[Region] = []
    for row in rows:
        if not is_title(row) or len(row.pieces) > 1:
            continue
        taken = {id(w) for table in (*others, *tables) for w in table.words}
        free = [r for r in rows if taken.isdisjoint(map(id, r.line.words))]
        woven = row in free and find_table_below(free, free.index(row), rules.across)
        if woven and share_of_long_lines(list(map(TextRow, woven.lines))) <= BESIDE:
            tables.append(_region(woven))
    return tables


def _find_tables_in(
    rows: Sequence[TextRow], region: Region, rules: Rules
) -> list[Region]:
    """Return the tables in a LiteParse table: columns of numbers, or text cells."""
    _, top, _, bottom = region.box
    near = [
        row
        for row in rows
        if top - ABOVE <= row.line.top and row.line.bottom <= bottom + BELOW
    ]
    aligned_ones = map(_region, find_aligned(near, rules.across, surely=True))
    tables = [table for table in aligned_ones if overlaps(region, table)]
    inside = [i for i, row in enumerate(rows) if _is_inside(row, region)]
    woven = inside and find_table_around(rows, inside[0], inside[-1], rules.across)
    beside = woven and share_of_long_lines(list(map(TextRow, woven.lines))) > BESIDE
    if woven and not (tables and (beside or _are_better(tables, _region(woven)))):
        return [_region(woven)]
    return tables


def _is_inside(row: TextRow, region: Region) -> bool:
    line, (left, top, right, bottom) = row.line, region.box
    return (
        top <= (line.top + line.bottom) / 2 <= bottom
        and left - SLACK <= line.left
        and line.right <= right + SLACK
    )


def find_free_lines(lines: Sequence[Line], tables: Sequence[Region]) -> list[Line]:
    """Return the lines without table words, furniture and rotated text."""
    taken = {id(word) for region in tables for word in region.words}
    return [free for line in lines if (free := _free(line, taken))]


def _free(line: Line, taken: set[int]) -> Line | None:
    if line.words[0].rotated:
        return None
    if True not in [w.furniture for w in line.words] and (
        not taken or taken.isdisjoint(map(id, line.words))
    ):
        return line
    words = [w for w in line.words if id(w) not in taken and not w.furniture]
    return Line(words) if words else None


def _region(table: FoundTable) -> Region:
    words = [word for line in table.lines for word in line.words]
    return Region(kind="table", box=table.box, words=words, table=table.table)


# A rule number, a letter or a bullet alone in a hanging margin.
LONE_MARKER = re.compile(
    r"^(?:\(?[0-9a-zA-Z]{1,4}[.)]|[0-9]{1,3}(?:\.[0-9]{1,3})*\.?|[ivxlc]{1,6}[.)]|[•●▪◦‣·\u2013-])$"
)
MARKER = 12  # characters; a longer word is not a marker
LETTERS = 7  # this many letters are not a marker
MARGIN = 90  # points between a marker and its text
TEXT_KINDS = ("heading", "paragraph", "list_item", "code", "grid_fallback")


def make_empty_regions(blocks: Iterable[Any]) -> list[Region]:
    """Return LiteParse's blocks of text and tables as regions without words."""
    return [
        Region(kind=block.kind, box=rectangle(block.bbox), block=block)
        for block in blocks
        if block.bbox is not None and block.kind in (*TEXT_KINDS, "table")
    ]


def regions_of(
    seeds: Sequence[Region],
    words: Sequence[Word],
    grids: Sequence[Grid] = (),
    rules: Rules = NONE,
    lines: Sequence[Line] | None = None,
) -> list[Region]:
    """Return the regions of a page or a part of it, using each word exactly once.

    `seeds` are filled. `lines` are the lines of the words, if known. Drawn tables take
    the position of their first block. Words outside LiteParse's blocks become
    paragraphs at their position.
    """
    regions = list(seeds)
    lines = lines or lines_of(words)
    tables = [region for grid in grids if (region := find_drawn_table(grid, words))]
    tables = drop_worse_tables(tables, lines, rules)
    tables += find_aligned_tables(find_free_lines(lines, tables), regions, rules)
    taken = {id(word) for region in tables for word in region.words}
    if taken:
        words = [word for word in words if id(word) not in taken]
    strays = assign_words(regions, words, lines)
    regions = [part for region in regions for part in _split_columns(region)]
    halves = [part for region in regions for part in _around(region, tables)]
    regions = _with_tables(halves, tables)
    _give_back_markers(regions)
    regions = [part for region in regions for part in _split_table(region)]
    filled = [region for region in regions if region.words]
    return _with_strays(_headings_first(filled), strays)


def _split_columns(region: Region) -> Iterator[Region]:
    """Return the two parts of text that runs from one column into the next.

    LiteParse may make one block of the end of a column and the top of the next: the
    right part is then wholly above the left one, and is read after it.
    """
    if region.kind == "table" or not region.words:
        yield region
        return
    lines = region.lines
    for at in range(1, len(lines)):
        right, left = box_of(lines[:at]), box_of(lines[at:])
        if right[0] - left[2] > COLUMNS_APART and right[3] <= left[1] + SLACK:
            for part, box in ((lines[at:], left), (lines[:at], right)):
                words = [word for line in part for word in line.words]
                yield Region(region.kind, box, words, block=region.block)
            return
    yield region


def _split_table(region: Region) -> Iterator[Region]:
    """Return a region with its table, and text around that is not part of it."""
    if region.kind != "table" or region.table is not None:
        yield region
        return
    words = region.words
    region.table = read_layout_table(region.block, words)
    if region.table is None:
        region.kind = "paragraph"
        yield region
        return
    own = set(map(id, region.table.words()))
    rest = [word for word in words if id(word) not in own]
    if not rest:
        yield region
        return
    region.words = [word for word in words if id(word) in own]
    region.box = box_of(region.words)
    above = [word for word in rest if word.middle[1] < region.box[1]]
    below = [word for word in rest if word.middle[1] >= region.box[1]]
    if above:
        yield Region("paragraph", box_of(above), above)
    yield region
    if below:
        yield Region("paragraph", box_of(below), below)


def _around(region: Region, tables: Sequence[Region]) -> Iterator[Region]:
    """Return text above and below our tables in a larger LiteParse table."""
    if region.kind != "table" or not region.words:
        yield region
        return
    if any(overlaps(region, table) for table in tables):
        region.kind = "paragraph"
    inner = [table for table in tables if overlaps(table, region)]
    if not inner:
        yield region
        return
    parts: dict[int, list[Word]] = {}
    for word in region.words:
        above = sum((t.box[1] + t.box[3]) / 2 < word.middle[1] for t in inner)
        parts.setdefault(above, []).append(word)
    kind = region.kind if len(parts) == 1 else "paragraph"  # split, it is not a table
    for _, words in sorted(parts.items()):
        yield Region(kind, box_of(words), words, block=region.block)


def _with_tables(regions: list[Region], tables: Sequence[Region]) -> list[Region]:
    """Return the regions, each table before the first that it touches or is above.

    A caption that shared a block with the table stays above it.
    """
    done = list(regions)
    for table in tables:
        at = next(
            (
                i
                for i, r in enumerate(done)
                if overlaps(r, table) and not _leads(r, table)
            ),
            next((i for i, r in enumerate(done) if _is_above(table, r)), len(done)),
        )
        done.insert(at, table)
    return done


def _leads(region: Region, table: Region) -> bool:
    """Return whether all words that are left to a region are above a table."""
    return bool(region.words) and box_of(region.words)[3] <= table.box[1] + 1


def _headings_first(regions: list[Region]) -> list[Region]:
    """Return the regions with every heading before the text below it."""
    done: list[Region] = []
    for region in regions:
        at = len(done)
        if region.kind == "heading":
            below = (i for i, other in enumerate(done) if _is_above(region, other))
            at = next(below, at)
        done.insert(at, region)
    return done


def _is_above(region: Region, other: Region) -> bool:
    """Return whether a region is wholly above another and over at least half of it."""
    left, _, right, bottom = region.box
    overlap = min(right, other.box[2]) - max(left, other.box[0])
    least = min(right - left, other.box[2] - other.box[0])
    return bottom <= other.box[1] + 1 and overlap > 0.5 * least


def _give_back_markers(regions: Sequence[Region]) -> None:
    """Put markers that LiteParse made separate blocks before their text."""
    for region in regions:
        if region.kind == "table" or not region.words:
            continue
        if not all(_is_short(word.text) for word in region.words):
            continue
        lines = lines_of(region.words)
        if not all(LONE_MARKER.match(line.text) for line in lines):
            continue
        kept_words: list[Word] = []
        for line in lines:
            home = _right_of(regions, region, line)
            (home.words if home else kept_words).extend(line.words)
        region.words = kept_words


def _is_short(text: str) -> bool:
    """Return whether a marker may have this length."""
    return len(text) < LETTERS or (len(text) <= MARKER and not text.isalpha())


def _right_of(regions: Sequence[Region], own: Region, marker: Line) -> Region | None:
    """Return the region with words on the marker's line, near its right side."""
    best: tuple[float, int] | None = None
    for index, region in enumerate(regions):
        left, top, right, bottom = region.box
        if region is own or region.kind == "table" or right < marker.right:
            continue
        if bottom < marker.top or top > marker.bottom or left > marker.right + MARGIN:
            continue
        for word in region.words:
            same = min(word.bottom, marker.bottom) - max(word.top, marker.top)
            gap = word.left - marker.right
            if same >= 0.5 * (marker.bottom - marker.top) and 0 <= gap <= MARGIN:
                best = min(best or (gap, index), (gap, index))
    return regions[best[1]] if best else None


def _with_strays(regions: list[Region], strays: Sequence[Word]) -> list[Region]:
    """Insert words outside all blocks as paragraphs, before the text below them."""
    groups: list[Region] = []
    for line in lines_of(strays):
        box = (line.left, line.top, line.right, line.bottom)
        last = groups[-1] if groups else None
        if last and line.top - last.box[3] < 0.6 * (line.bottom - line.top):
            last.words.extend(line.words)
            last.box = (
                min(last.box[0], box[0]), last.box[1],
                max(last.box[2], box[2]), box[3],
            )  # fmt: skip
        else:
            groups.append(Region(kind="paragraph", box=box, words=list(line.words)))
    for group in groups:
        at = next(
            (i for i, r in enumerate(regions) if r.box[1] >= group.box[3] - 1),
            len(regions),
        )
        regions.insert(at, group)
    return regions

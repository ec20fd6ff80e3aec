"""The reading order of a page: LiteParse's, or that of its columns."""

from collections.abc import Callable, Iterator, Sequence

from elt_llm_ingest.readers.pdf.blocks import Draft
from elt_llm_ingest.readers.pdf.content_stream import (
    Fragment,
    Join,
    check_joins,
    fragments_of,
    pair_joins,
)
from elt_llm_ingest.readers.pdf.geometry import (
    Rectangle,
    Region,
    area,
    join_boxes,
    overlaps,
)
from elt_llm_ingest.readers.pdf.page_draft import PageDraft
from elt_llm_ingest.readers.pdf.regions import (
    drop_worse_tables,
    find_aligned_tables,
    find_drawn_table,
    find_free_lines,
    make_empty_regions,
    regions_of,
)
from elt_llm_ingest.readers.pdf.tables.drawn_lines import Rules
from elt_llm_ingest.readers.pdf.tables.grid import Grid
from elt_llm_ingest.readers.pdf.tables.lattice import select_words_inside
from elt_llm_ingest.readers.pdf.tables.layout_table import read_layout_table
from elt_llm_ingest.readers.pdf.words import Line, Word, lines_of
from elt_llm_ingest.readers.pdf.zones import (
    Item,
    Zone,
    is_gutter_of_file,
    items_of,
    zones_of,
)


def column_regions(
    seeds: Sequence[Region],
    words: Sequence[Word],
    grids: Sequence[Grid],
    rules: Rules,
) -> list[Region]:
    """Return the regions of the words of a column, using each word exactly once.

    `seeds` are LiteParse's blocks, which may extend over other columns: a line is
    assigned to one as a whole, or to none, so that no block splits a line.
    """
    lines = lines_of(words)
    tables = [region for grid in grids if (region := find_drawn_table(grid, words))]
    tables = drop_worse_tables(tables, lines, rules)
    tables += find_aligned_tables(find_free_lines(lines, tables), seeds, rules)
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
    """Return LiteParse's tables that overlap no other table."""
    tables: list[Region] = []
    for seed in seeds:
        if seed.kind != "table" or any(overlaps(seed, other) for other in others):
            continue
        left, top, right, bottom = seed.box
        own = [
            word
            for word in _without(words, tables)
            if left <= word.middle[0] <= right and top <= word.middle[1] <= bottom
        ]
        table = read_layout_table(seed.block, own)
        if table is not None:
            held = list(table.words())
            tables.append(Region("table", seed.box, held, table, seed.block))
    return tables


def _text(seeds: Sequence[Region], lines: Sequence[Line]) -> list[Region]:
    """Join adjacent lines of one block."""
    regions: list[Region] = []
    last: Region | None = None
    for line in lines:
        home = _home(seeds, line)
        box = (line.left, line.top, line.right, line.bottom)
        if regions and home is last and _is_next(regions[-1], line):
            region = regions[-1]
            region.words.extend(line.words)
            region.box = join_boxes((region.box, box))
        else:
            kind = home.kind if home else "paragraph"
            regions.append(Region(kind, box, list(line.words)))
        last = home
    return regions


def _is_next(region: Region, line: Line) -> bool:
    """Return whether at most one line is left free between them."""
    return line.top - region.box[3] < line.bottom - line.top


def _home(seeds: Sequence[Region], line: Line) -> Region | None:
    """Return the smallest block that contains the middle of a line."""
    x, y = (line.left + line.right) / 2, (line.top + line.bottom) / 2
    inside = [
        seed
        for seed in seeds
        if seed.box[0] <= x <= seed.box[2] and seed.box[1] <= y <= seed.box[3]
    ]
    return min(inside, key=area, default=None)


LOST = 1  # joins; fewer do not indicate a wrong order
AGREED = 0.97  # of the joins: an order that keeps so many is right
TORN = 3  # joins that are lost, and
HELD = 0.85  # of all at most that are kept, where the order is doubtful
INSIDE = 0.8  # of a block's area in its zone: it is not cut
DOUBTFUL = {"reading_order": "doubtful"}  # of a block, and of the chunk it is in
Drafted = Callable[[list[Region]], list[Draft]]


def order_drafts(page: PageDraft, drafted: Drafted) -> list[Draft]:
    """Return the drafts of a page that `drafted` builds from its regions.

    The layout's order is kept if running text continues in it as in the file. Otherwise
    the page is split into columns, and the order that keeps more text together is used.
    The page is marked if running text is still broken.
    """
    words = page.body
    seeds = make_empty_regions(page.layout)
    layout = drafted(regions_of(seeds, words, page.grids, page.rules, page.lines))
    fragments = fragments_of(page.lines)
    joins = pair_joins(fragments)
    held = sum(check_joins(joins, layout))
    if _is_right(held, joins):
        return layout
    grids = _true_grids(page.grids, words, joins, layout)
    items, placed = _items(fragments, grids, words)
    turned = [word for word in words if word.rotated]
    zones = zones_of(items, is_gutter_of_file)
    regions = [region for zone in zones for region in _regions(zone, page, placed)]
    regions += regions_of([], turned) if turned else []
    columns = drafted(regions)
    again = sum(check_joins(joins, columns))
    best = columns if again >= held + LOST else layout
    held = max(held, again)
    page.is_order_doubtful = len(joins) - held >= TORN and held < HELD * len(joins)
    if page.is_order_doubtful:
        for draft in best:
            draft.attributes |= DOUBTFUL
    return best


def _is_right(held: int, joins: Sequence[Join]) -> bool:
    lost = len(joins) - held
    return lost < LOST or held >= AGREED * len(joins)


def _true_grids(
    grids: Sequence[Grid],
    words: Sequence[Word],
    joins: Sequence[Join],
    drafts: Sequence[Draft],
) -> list[Grid]:
    """Return the drawn grids without those whose text continues down a column."""
    lost = {
        id(first.words[-1])
        for (first, _), is_kept in zip(joins, check_joins(joins, drafts), strict=True)
        if not is_kept
    }
    return [
        grid
        for grid in grids
        if sum(id(word) in lost for word in select_words_inside(grid, words)) < LOST
    ]


def _items(
    fragments: Sequence[Fragment], grids: Sequence[Grid], words: Sequence[Word]
) -> tuple[list[Item], dict[int, Grid]]:
    """Return the items to divide into zones; each drawn table is one item."""
    free = list(fragments)
    items: list[Item] = []
    placed: dict[int, Grid] = {}
    for grid in grids:
        table = find_drawn_table(grid, words)
        if table is None:
            continue
        own = {id(word) for word in table.words}
        held = [f for f in free if any(id(word) in own for word in f.words)]
        if held:
            free = [f for f in free if not any(id(word) in own for word in f.words)]
            box = join_boxes([grid.box, *(fragment.box for fragment in held)])
            items.append(Item(held, box))
            placed[id(items[-1])] = grid
    return [*items, *items_of(free)], placed


def _regions(zone: Zone, page: PageDraft, placed: dict[int, Grid]) -> list[Region]:
    words = [word for item in zone for f in item.fragments for word in f.words]
    box = join_boxes(item.box for item in zone)
    seeds = [s for seed in make_empty_regions(page.layout) for s in _clip(seed, box)]
    grids = [placed[id(item)] for item in zone if id(item) in placed]
    return column_regions(seeds, words, grids, page.rules)


def _clip(region: Region, box: Rectangle) -> Iterator[Region]:
    """Return the part of a region in a zone; a split region is text, not a table."""
    left, top = max(region.box[0], box[0]), max(region.box[1], box[1])
    right, bottom = min(region.box[2], box[2]), min(region.box[3], box[3])
    if left >= right or top >= bottom:
        return
    part = Region(region.kind, (left, top, right, bottom), block=region.block)
    if area(part) >= INSIDE * area(region):
        part.box = region.box
    else:
        part.kind = "paragraph"
    yield part

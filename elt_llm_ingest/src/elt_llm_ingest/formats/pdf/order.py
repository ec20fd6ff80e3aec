"""The reading order of a page: LiteParse's, that of its columns, or the file's."""

from collections.abc import Callable, Iterator, Sequence

from elt_llm_ingest.formats.pdf.columns import column_regions
from elt_llm_ingest.formats.pdf.drawn import inside
from elt_llm_ingest.formats.pdf.flow import Draft
from elt_llm_ingest.formats.pdf.found import drawn
from elt_llm_ingest.formats.pdf.lattice import Grid
from elt_llm_ingest.formats.pdf.region import Rectangle, Region, area
from elt_llm_ingest.formats.pdf.regions import regions_of, seeds_of
from elt_llm_ingest.formats.pdf.sheets import Sheet
from elt_llm_ingest.formats.pdf.stream import (
    Fragment,
    Join,
    fragments_of,
    joins_of,
    kept,
)
from elt_llm_ingest.formats.pdf.words import Word
from elt_llm_ingest.formats.pdf.zones import (
    Item,
    Zone,
    is_gutter_of_file,
    items_of,
    joint,
    zones_of,
)

LOST = 1  # joins; fewer are no sign of a wrong order
AGREED = 0.97  # of the joins: an order that keeps so many is right
TORN = 3  # joins that are lost, and
HELD = 0.85  # of all at most that are kept, where the order is doubtful
INSIDE = 0.8  # of a block's area in its zone: it is not cut
DOUBTFUL = {"reading_order": "doubtful"}  # of a block, and of the chunk it is in
Drafted = Callable[[list[Region]], list[Draft]]


def in_reading_order(sheet: Sheet, drafted: Drafted) -> list[Draft]:
    """The drafts of a page that `drafted` makes of its regions.

    The layout's order stands if running text goes on in it as it does in the file. If
    not, the page is cut into columns, and what keeps more of the text together is
    taken. The page is marked where that still tears running text.
    """
    words = [word for word in sheet.words.words if not word.furniture]
    seeds = seeds_of(sheet.blocks)
    layout = drafted(
        regions_of(seeds, words, sheet.grids, sheet.rules, sheet.words.lines)
    )
    fragments = fragments_of(sheet.words.lines)
    joins = joins_of(fragments)
    held = sum(kept(joins, layout))
    if _is_right(held, joins):
        return layout
    grids = _true_grids(sheet.grids, words, joins, layout)
    items, placed = _items(fragments, grids, words)
    turned = [word for word in words if word.rotated]
    zones = zones_of(items, is_gutter_of_file)
    regions = [region for zone in zones for region in _regions(zone, sheet, placed)]
    regions += regions_of([], turned) if turned else []
    columns = drafted(regions)
    again = sum(kept(joins, columns))
    best = columns if again >= held + LOST else layout
    held = max(held, again)
    sheet.doubtful = len(joins) - held >= TORN and held < HELD * len(joins)
    if sheet.doubtful:
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
    """The drawn grids without those whose text runs on from row to row in a column."""
    lost = {
        id(first.words[-1])
        for (first, _), is_kept in zip(joins, kept(joins, drafts), strict=True)
        if not is_kept
    }
    return [
        grid
        for grid in grids
        if sum(id(word) in lost for word in inside(grid, words)) < LOST
    ]


def _items(
    fragments: Sequence[Fragment], grids: Sequence[Grid], words: Sequence[Word]
) -> tuple[list[Item], dict[int, Grid]]:
    """What a page is cut into zones of; each drawn table is one item."""
    free = list(fragments)
    items: list[Item] = []
    placed: dict[int, Grid] = {}
    for grid in grids:
        table = drawn(grid, words)
        if table is None:
            continue
        own = {id(word) for word in table.words}
        held = [f for f in free if any(id(word) in own for word in f.words)]
        if held:
            free = [f for f in free if not any(id(word) in own for word in f.words)]
            box = grid.box
            for fragment in held:
                box = joint(box, fragment.box)
            items.append(Item(held, box))
            placed[id(items[-1])] = grid
    return [*items, *items_of(free)], placed


def _regions(zone: Zone, sheet: Sheet, placed: dict[int, Grid]) -> list[Region]:
    words = [word for item in zone for f in item.fragments for word in f.words]
    box = zone[0].box
    for item in zone:
        box = joint(box, item.box)
    seeds = [s for seed in seeds_of(sheet.blocks) for s in _clipped(seed, box)]
    grids = [placed[id(item)] for item in zone if id(item) in placed]
    return column_regions(seeds, words, grids, sheet.rules)


def _clipped(region: Region, box: Rectangle) -> Iterator[Region]:
    """The part of a region in a zone; one that is cut holds text and no table."""
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

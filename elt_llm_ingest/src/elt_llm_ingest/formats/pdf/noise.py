"""The two-pass noise filter on blocks: what stands on most pages is labelled furniture.

First come the texts that are furniture already; then every block that says the same as
one of them, and every block whose text stands on more than half of the pages. A heading
may say what the running header says: it goes by the second rule alone. Furniture stands
beside a body: where nothing else would be left, nothing is noise.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from elt_llm_core.document import Block, BlockKind, Page
from elt_llm_core.results import changed
from elt_llm_ingest.formats.pdf.furniture import BAND

SHARE = 0.5  # of the pages
START = itemgetter(0)
LEAST, RUNNING = 3, 0.15  # pages, and share of them, of a line that runs through
FIGURES = re.compile(r"\d+")
SHORT = 4  # pages; in a shorter document a text may well stand on two
TEXT = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.HEADING, BlockKind.CAPTION)


def pages_needed(pages: int, share: float = SHARE) -> int:
    """On how many pages a text must stand to be noise: more than `share` of them.

    Two at least, so that a document of one page loses nothing: 1 -> 2, 3 -> 2, 4 -> 3,
    14 -> 8.
    """
    return int(max(pages * share, 1)) + 1


def without_noise(
    text: str, blocks: Sequence[Block], pages: Sequence[Page]
) -> list[Block]:
    """The blocks, noise labelled furniture; nothing is left out."""
    is_noise = noise_in(text, blocks, pages)
    return [quiet(block) if is_noise(block) else block for block in blocks]


def quiet(block: Block) -> Block:
    """The block labelled furniture."""
    return changed(block, kind=BlockKind.FURNITURE, level=0)


def noise_in(
    text: str, blocks: Iterable[Block], pages: Sequence[Page]
) -> Callable[[Block], bool]:
    """What tells of each of the blocks whether it is noise.

    In a document of fewer than four pages only blocks in the outer 12 % of the page
    count: there a sentence may stand on two pages for good reason.
    """
    marginal: set[str] = set()
    found: dict[str, set[int]] = defaultdict(set)
    for block in blocks:
        if block.kind is BlockKind.FURNITURE:
            marginal.add(_said(text, block))
        elif block.kind in TEXT and block.page is not None:
            found[_said(text, block)].add(block.page)
    needed = pages_needed(len(pages))
    often = {said for said, on in found.items() if said and len(on) >= needed}
    same = {said for said in marginal if any(map(str.isalpha, said))}
    edges = _edges(blocks, pages) if len(pages) < SHORT else None

    def is_noise(block: Block) -> bool:
        if block.kind not in TEXT or (edges is not None and block.start not in edges):
            return False
        if not often and not same:
            return False
        said = _said(text, block)
        return said in often or (said in same and block.kind is not BlockKind.HEADING)

    return is_noise if _leaves_body(blocks, is_noise) else _is_never


def _leaves_body(blocks: Iterable[Block], is_noise: Callable[[Block], bool]) -> bool:
    """Whether a block is neither furniture nor noise."""
    return any(
        block.kind is not BlockKind.FURNITURE and not is_noise(block)
        for block in blocks
    )


def _is_never(_block: Block) -> bool:
    return False


def without_running(
    text: str, blocks: Sequence[Block], pages: Sequence[Page]
) -> list[Block]:
    """The blocks; lines at the edge that run through the pages labelled furniture.

    That is text which stands there, figures aside ("Page 3 of 9"), on three pages at
    least and 15 % of all.
    """
    edges = _edges(blocks, pages)
    found: dict[str, set[int]] = defaultdict(set)
    for block in blocks:
        if block.start in edges and block.page is not None:
            found[_numberless(text, block)].add(block.page)
    needed = max(LEAST, round(RUNNING * len(pages)))

    def is_running(block: Block) -> bool:
        at_edge = block.kind in TEXT and block.start in edges
        return at_edge and len(found[_numberless(text, block)]) >= needed

    if not _leaves_body(blocks, is_running):
        return list(blocks)
    return [quiet(block) if is_running(block) else block for block in blocks]


def _numberless(text: str, block: Block) -> str:
    return FIGURES.sub("#", _said(text, block))


def _said(text: str, block: Block) -> str:
    return " ".join(text[block.start : block.end].casefold().split())


def _edges(blocks: Iterable[Block], pages: Sequence[Page]) -> set[int]:
    """Where the blocks begin whose words all stand at the edge of their page."""
    edges: set[int] = set()
    words = {page.number: page.words for page in pages}
    for block in blocks:
        here = words.get(block.page or 0, ())
        first = bisect_left(here, block.start, key=START)
        rows = here[first : bisect_left(here, block.end, key=START)]
        if rows and all(w[5] <= BAND or w[3] >= 1 - BAND for w in rows):
            edges.add(block.start)
    return edges

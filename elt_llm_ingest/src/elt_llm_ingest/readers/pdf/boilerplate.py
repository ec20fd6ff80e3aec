"""Label text that repeats on most pages as furniture.

First come the texts that are furniture already; then every block with the same text as
one of them, and every block whose text is on more than half of the pages. A heading may
have the text of the running header: only the second rule applies to it. Furniture
requires a body: if nothing else would be left, nothing is labelled.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import itemgetter

from elt_llm_core.document import Block, BlockKind, Page
from elt_llm_core.records import replace_fields
from elt_llm_ingest.readers.pdf.blocks import LEADERS, Draft
from elt_llm_ingest.readers.pdf.geometry import BAND
from elt_llm_ingest.readers.pdf.words import Line, lines_of

SHARE = 0.5  # of the pages
START = itemgetter(0)
LEAST, RUNNING = 3, 0.15  # minimum pages, and share of pages, of a running line
FIGURES = re.compile(r"\d+")
SHORT = 4  # pages; in a shorter document a text may well be on two
TEXT = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.HEADING, BlockKind.CAPTION)


def pages_needed(pages: int, share: float = SHARE) -> int:
    """Return the number of pages of a repeated text: more than `share` of all.

    Two at least, so that a document of one page loses nothing: 1 -> 2, 3 -> 2, 4 -> 3,
    14 -> 8.
    """
    return int(max(pages * share, 1)) + 1


def remove_boilerplate(
    text: str, blocks: Sequence[Block], pages: Sequence[Page]
) -> list[Block]:
    """Return the blocks, with repeated text labelled furniture."""
    is_noise = find_boilerplate(text, blocks, pages)
    return [
        mark_furniture_block(block) if is_noise(block) else block for block in blocks
    ]


def mark_furniture_block(block: Block) -> Block:
    """Return the block labelled furniture."""
    return replace_fields(block, kind=BlockKind.FURNITURE, level=0)


def find_boilerplate(
    text: str, blocks: Iterable[Block], pages: Sequence[Page]
) -> Callable[[Block], bool]:
    """Return a predicate for blocks that are boilerplate.

    In a document of fewer than four pages only blocks in the outer 12 % of the page
    count, because a sentence may be on two pages legitimately.
    """
    marginal: set[str] = set()
    pages_of_text: dict[str, set[int]] = defaultdict(set)
    for block in blocks:
        if block.kind is BlockKind.FURNITURE:
            marginal.add(_fold_text(text, block))
        elif block.kind in TEXT and block.page is not None:
            pages_of_text[_fold_text(text, block)].add(block.page)
    needed = pages_needed(len(pages))
    often = {
        block_text
        for block_text, on in pages_of_text.items()
        if block_text and len(on) >= needed
    }
    same = {block_text for block_text in marginal if any(map(str.isalpha, block_text))}
    edges = _edges(blocks, pages) if len(pages) < SHORT else None

    def is_noise(block: Block) -> bool:
        if block.kind not in TEXT or (edges is not None and block.start not in edges):
            return False
        if not often and not same:
            return False
        block_text = _fold_text(text, block)
        return block_text in often or (
            block_text in same and block.kind is not BlockKind.HEADING
        )

    return is_noise if _leaves_body(blocks, is_noise) else _is_never


def _leaves_body(blocks: Iterable[Block], is_noise: Callable[[Block], bool]) -> bool:
    """Return whether a block is neither furniture nor repeated text."""
    return any(
        block.kind is not BlockKind.FURNITURE and not is_noise(block)
        for block in blocks
    )


def _is_never(_block: Block) -> bool:
    return False


def remove_running_titles(
    text: str, blocks: Sequence[Block], pages: Sequence[Page]
) -> list[Block]:
    """Return the blocks, with running lines at the edge labelled furniture.

    These are texts that are there, ignoring figures ("Page 3 of 9"), on at least three
    pages and 15 % of all.
    """
    edges = _edges(blocks, pages)
    pages_of_text: dict[str, set[int]] = defaultdict(set)
    for block in blocks:
        if block.start in edges and block.page is not None:
            pages_of_text[_numberless(text, block)].add(block.page)
    needed = max(LEAST, round(RUNNING * len(pages)))

    def is_running(block: Block) -> bool:
        at_edge = block.kind in TEXT and block.start in edges
        return at_edge and len(pages_of_text[_numberless(text, block)]) >= needed

    if not _leaves_body(blocks, is_running):
        return list(blocks)
    return [
        mark_furniture_block(block) if is_running(block) else block for block in blocks
    ]


def _numberless(text: str, block: Block) -> str:
    return FIGURES.sub("#", _fold_text(text, block))


def _fold_text(text: str, block: Block) -> str:
    return " ".join(text[block.start : block.end].casefold().split())


def _edges(blocks: Iterable[Block], pages: Sequence[Page]) -> set[int]:
    """Return where the blocks start whose words are all at the edge of their page."""
    edges: set[int] = set()
    words = {page.number: page.words for page in pages}
    for block in blocks:
        here = words.get(block.page or 0, ())
        first = bisect_left(here, block.start, key=START)
        rows = here[first : bisect_left(here, block.end, key=START)]
        if rows and all(w[5] <= BAND or w[3] >= 1 - BAND for w in rows):
            edges.add(block.start)
    return edges


CONTENTS = re.compile(r"^(?:table of )?contents?(?: page)?$", re.IGNORECASE)
LONGEST = 22  # letters of such a title
MANY_LEADERS = 3  # minimum page numbers of a table of contents
DOTS = 4  # in leaders
# Dots that lead to a page number. Dots alone are no proof: statistics print ".." for an
# unknown number.
TO_PAGE = re.compile(
    r"(?:\.\s?){4,}\s*([0-9]{1,4}|[ivxlc]{1,7})\s*$|…\s*([0-9]{1,4})\s*$"
)


def mark_contents(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the page's drafts with lines of a table of contents labelled.

    A contents page has a heading "Contents", or three lines whose dots lead to
    increasing page numbers.
    """
    titled = any(_is_title(d) for d in drafts)
    if not titled and not _lists_pages(drafts):
        return list(drafts)
    ends = [i for i, d in enumerate(drafts) if _has_leaders(d)]
    until = ends[-1] if ends else len(drafts)
    done = []
    inside = not titled
    for index, draft in enumerate(drafts):
        if _is_title(draft):
            inside = True
        if inside and index <= until and not _is_prose(draft):
            done.append(Draft(BlockKind.CONTENTS, lines_in(draft)))
        else:
            done.append(draft)
    return done


def _is_title(draft: Draft) -> bool:
    short = bool(draft.lines) and len(draft.lines[0].text) <= LONGEST
    return short and CONTENTS.match(draft.text.strip()) is not None


def _lists_pages(drafts: Sequence[Draft]) -> bool:
    texts = [line.text for d in drafts if _may_lead(d) for line in lines_in(d)]
    dotted = [text for text in texts if text.count(".") >= DOTS or "…" in text]
    matches = [TO_PAGE.search(text) for text in dotted]
    page_numbers = [hit.group(1) or hit.group(2) for hit in matches if hit]
    numbers = [int(text) for text in page_numbers if text.isdecimal()]
    falls = sum(after < before for before, after in pairwise(numbers))
    return len(page_numbers) >= MANY_LEADERS and falls <= 0.2 * len(numbers)


def _may_lead(draft: Draft) -> bool:
    """Return whether dots may lead to a page number; a cheap test before the lines."""
    if draft.table is None:
        return True
    cell_texts = "".join([word.text for word in draft.table.words()])
    return cell_texts.count(".") >= DOTS or "…" in cell_texts


def _has_leaders(draft: Draft) -> bool:
    return any(LEADERS.search(line.text) for line in lines_in(draft))


def lines_in(draft: Draft) -> list[Line]:
    """Return the lines of a draft, also of a table."""
    if draft.table is None:
        return draft.lines
    words = [w for row in draft.table.rows for cell in row for w in cell]
    return lines_of(words)


def _is_prose(draft: Draft) -> bool:
    if draft.table is not None or LEADERS.search(draft.text):
        return False
    return len(draft.lines) > 1 and draft.text.rstrip().endswith((".", ";"))

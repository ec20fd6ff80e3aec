"""The lists of a document: a lead-in with all its items, from the document's blocks.

A chunk may end inside a list, and its text may lack the marks of the items; the blocks
of the document have both. An item is recognised by its rule number below that of the
lead-in, by the mark or the kind of its block, or as a row of the table below the
lead-in. No word of any language decides, except the last sentence "... as follows."
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from elt_llm_core.document import BlockKind
from elt_llm_core.language.rule_numbers import is_within, parent
from elt_llm_query.analysis.enumerations import (
    ListMark,
    announces_list,
    begins_lower,
    follows,
    is_ended,
    is_first,
    mark_of_item,
)

Extent = tuple[int, int]  # a span of the document's text
_PARAGRAPHS = frozenset([BlockKind.PARAGRAPH, BlockKind.LIST_ITEM])
_LINE_START = re.compile(r"^[ \t]*", re.MULTILINE)
_FEWEST_ITEMS = 2
_ASIDE = frozenset([BlockKind.FURNITURE, BlockKind.CONTENTS, BlockKind.FIGURE])
_REACH = 80  # blocks before an item in which its lead-in is looked for
_LABEL_WORDS = 8  # of a line such as "Not allowed" above the items of a part


class ListBlock(NamedTuple):
    """A block as input of the list analysis.

    Attributes:
        start: Its start in the document.
        end: Its end in the document.
        text: Its text.
        kind: Its kind.
        rule: The number of the rule that begins with it, in lower case; or empty.
    """

    start: int
    end: int
    text: str
    kind: BlockKind
    rule: str = ""


@dataclass(frozen=True)
class ReadList:
    """A lead-in and its items, in the order of the document.

    Attributes:
        lead: The block of the lead-in.
        items: The spans of each item, with those of the items below it.
        heading: Whether the lead-in is a heading.
        rows: Whether the items are rows of a table.
    """

    lead: Extent
    items: tuple[tuple[Extent, ...], ...]
    heading: bool = False
    rows: bool = False

    @property
    def end(self) -> int:
        """Return the end of the last item."""
        return max(end for item in self.items for _, end in item)

    def holds(self, position: int) -> bool:
        """Return whether one of its items covers a position of the document."""
        return any(s <= position < e for item in self.items for s, e in item)


@dataclass
class _Growing:
    """The items found so far, and the marks of the open levels."""

    items: list[list[Extent]] = field(default_factory=list)
    marks: list[ListMark] = field(default_factory=list)
    last: str = ""

    def begin(self, block: ListBlock) -> None:
        """Add a block as a new item."""
        self.items.append([(block.start, block.end)])
        self.last = block.text

    def append(self, block: ListBlock) -> None:
        """Add a block to the last item."""
        self.items[-1].append((block.start, block.end))
        self.last = block.text


def read_blocks(blocks: Sequence[ListBlock]) -> list[ListBlock]:
    """Return the blocks of running text and tables, without those between pages."""
    return [b for b in blocks if b.kind not in _ASIDE and b.text.strip()]


def split_items(block: ListBlock) -> list[ListBlock]:
    """Return a block with list items inside it as its lead-in and its items.

    Markdown knows no item "a) one book", so that lead-in and items are one paragraph.
    Lines are items if their labels begin a list and go on with it.

    Args:
        block: A block.
    """
    if block.kind not in _PARAGRAPHS:
        return [block]
    starts = [m.end() for m in _LINE_START.finditer(block.text)]
    marked = [(at, mark_of_item(block.text[at:])) for at in starts]
    labelled = [(at, mark) for at, mark in marked if mark and mark.label]
    if len(labelled) < _FEWEST_ITEMS or not is_first(labelled[0][1].label):
        return [block]
    one, two = labelled[0][1], labelled[1][1]
    goes_on = one.shape == two.shape and follows(one.label, two.label)
    if not goes_on and not is_first(two.label):
        return [block]
    edges = [0, *(at for at, _ in labelled if at), len(block.text)]
    pieces = [block.text[a:b].rstrip() for a, b in pairwise(edges)]
    return [
        ListBlock(
            block.start + at,
            block.start + at + len(piece),
            piece,
            block.kind,
            "" if at else block.rule,
        )
        for at, piece in zip(edges, pieces, strict=False)
        if piece.strip()
    ]


def list_below(blocks: Sequence[ListBlock], at: int) -> ReadList | None:
    """Return the list that a block leads in, or None.

    Args:
        blocks: The blocks of a document in reading order; see `read_blocks`.
        at: The index of the block.
    """
    lead, rest = blocks[at], blocks[at + 1 :]
    if not rest or not _leads(lead, rest[0]):
        return None
    grown = _items(lead, rest)
    if not grown.items:
        return None
    items = tuple(tuple(item) for item in grown.items)
    heading = lead.kind is BlockKind.HEADING
    rows = rest[0].kind is BlockKind.TABLE_ROW and mark_of_item(rest[0].text) is None
    return ReadList((lead.start, lead.end), items, heading, rows)


def list_around(blocks: Sequence[ListBlock], at: int) -> ReadList | None:
    """Return the innermost list of which a block is an item or a part of one, or None.

    Args:
        blocks: The blocks of a document in reading order; see `read_blocks`.
        at: The index of the block.
    """
    for above in range(at - 1, max(at - _REACH, 0) - 1, -1):
        led = list_below(blocks, above)
        if led is not None and led.holds(blocks[at].start):
            return led
        if blocks[above].kind is BlockKind.HEADING and not mark_of(blocks[above]):
            return None
    return None


def mark_of(block: ListBlock) -> ListMark | None:
    """Return the mark of a block; one without label where only its kind is known."""
    mark = mark_of_item(block.text)
    if mark is None and block.kind is BlockKind.LIST_ITEM:
        return ListMark("", "")
    return mark


def may_lead(text: str) -> bool:
    """Return whether a sentence can lead in a list, judged without what follows it."""
    return text.rstrip().endswith(":") or announces_list(text) or not is_ended(text)


def _leads(lead: ListBlock, after: ListBlock) -> bool:
    """Return whether a block leads in what follows it.

    A line that neither ends a sentence nor is an item itself leads in an item; a
    heading does, too.
    """
    text = lead.text.rstrip()
    if lead.kind is BlockKind.TABLE_ROW or _is_sibling(lead.rule, after.rule):
        return False
    if lead.kind is BlockKind.HEADING:
        return mark_of(after) is not None and after.kind is not BlockKind.HEADING
    if text.endswith(":") or announces_list(text):
        return True
    return mark_of(lead) is None and not is_ended(text) and mark_of(after) is not None


def _is_sibling(rule: str, other: str) -> bool:
    """Return whether two rules are parts of one rule: neither leads in the other."""
    return bool(parent(rule)) and rule != other and parent(rule) == parent(other)


def _items(lead: ListBlock, rest: Sequence[ListBlock]) -> _Growing:
    first = rest[0]
    if _is_below(first, lead.rule):
        return _rules_below(lead.rule, rest)
    if first.kind is BlockKind.TABLE_ROW and mark_of_item(first.text) is None:
        return _rows(rest)
    if _is_label(rest, 0):
        return _parts_by_labels(lead, rest)
    return _items_by_marks(lead, rest)


def _is_below(block: ListBlock, rule: str) -> bool:
    return (
        bool(rule and block.rule) and block.rule != rule and is_within(block.rule, rule)
    )


def _rules_below(rule: str, rest: Sequence[ListBlock]) -> _Growing:
    """Return the rules below one, each with the rules and lines below itself."""
    grown = _Growing()
    for block in rest:
        if _is_below(block, rule):
            if not grown.items or parent(block.rule) == rule:
                grown.begin(block)
            else:
                grown.append(block)
        elif block.rule or not grown.items or not _continues(block, grown.last):
            break
        else:
            grown.append(block)
    return grown


def _continues(block: ListBlock, before: str) -> bool:
    """Return whether a line without a number belongs to the item before it."""
    if block.kind is BlockKind.HEADING:
        return False
    open_ended = before.rstrip().endswith(":")
    return begins_lower(block.text) or (open_ended and mark_of(block) is not None)


def _rows(rest: Sequence[ListBlock]) -> _Growing:
    grown = _Growing()
    for block in rest:
        if block.kind is not BlockKind.TABLE_ROW:
            break
        grown.begin(block)
    return grown


def _is_label(rest: Sequence[ListBlock], at: int) -> bool:
    """Return whether a short line is followed by an item and is none itself."""
    if at + 1 >= len(rest):
        return False
    here, after = rest[at], rest[at + 1]
    short = len(here.text.split()) <= _LABEL_WORDS and not is_ended(here.text)
    plain = mark_of(here) is None and here.kind is BlockKind.PARAGRAPH
    return short and plain and not here.rule and mark_of(after) is not None


def _parts_by_labels(lead: ListBlock, rest: Sequence[ListBlock]) -> _Growing:
    """Return parts of a list, each a line such as "Not allowed" with its items."""
    grown = _Growing()
    at = 0
    while at < len(rest) and _is_label(rest, at):
        part = _items_by_marks(lead._replace(rule=""), rest[at + 1 :])
        grown.begin(rest[at])
        for item in part.items:
            grown.items[-1] += item
        at += 1 + sum(map(len, part.items))
    return grown


def _items_by_marks(lead: ListBlock, rest: Sequence[ListBlock]) -> _Growing:
    """Return the items by their marks; a deeper list belongs to the item above it."""
    grown = _Growing()
    base = parent(rest[0].rule)
    loose = False  # lines below an item that was read as a heading belong to it
    first = mark_of(rest[0])
    if first is None or (first.label and not is_first(first.label)):
        return grown  # the later part of another list
    for block in rest:
        if _leaves(block, base, lead.rule):
            break
        step = _take(grown, block, loose=loose)
        if step is None:
            break
        loose = step
    return grown


def _leaves(block: ListBlock, base: str, above: str) -> bool:
    """Return whether a rule of another parent begins, which ends the list."""
    if not block.rule:
        return False
    if base:
        return not is_within(block.rule, base)
    return not (above and is_within(block.rule, above))


def _take(grown: _Growing, block: ListBlock, *, loose: bool) -> bool | None:
    """Add a block to the list; None if it does not belong to it.

    Returns:
        Whether lines without a mark may follow the block.
    """
    mark, headed = mark_of(block), block.kind is BlockKind.HEADING
    if mark is None:
        if headed or not (loose or begins_lower(block.text)):
            return None
        grown.append(block)
        return loose
    depth = _depth_of(mark, grown, headed=headed)
    if depth is None:
        return None
    grown.marks[depth:] = [mark]
    if depth:
        grown.append(block)
    else:
        grown.begin(block)
    return headed


def _depth_of(mark: ListMark, grown: _Growing, *, headed: bool) -> int | None:
    """Return the level of an item among the open ones; None if it is no part."""
    if not grown.marks:
        return 0
    for depth in reversed(range(len(grown.marks))):
        known = grown.marks[depth]
        if known.shape == mark.shape and (
            follows(known.label, mark.label) or not (headed or mark.label)
        ):
            return depth
    deeper = is_first(mark.label) or not mark.label
    opens = not is_ended(grown.last) or grown.last.rstrip().endswith(":")
    if not mark.label and not opens and not grown.marks[-1].label:
        return len(grown.marks) - 1  # another bullet, of which no item above leads in
    return len(grown.marks) if deeper and opens and not headed else None

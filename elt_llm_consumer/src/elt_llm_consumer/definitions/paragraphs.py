"""Stretches of running text to look for definitions in, with their way back.

A paragraph that goes on after a page break is one unit although a running header stands
between its two halves; `Unit.spans` gives the characters of the document for any part.
"""

import re
from collections.abc import Sequence

from pydantic import Field

from elt_llm_core.document import Block, BlockKind
from elt_llm_core.records import Record

RUNNING = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM})
SKIPPED = frozenset({BlockKind.FURNITURE, BlockKind.CONTENTS, BlockKind.CAPTION})
_DEFINING = re.compile(
    r"\b(?:definitions?|interpretation|glossary|terminology|defined\s+terms|"
    r"(?:key|defined)\s+(?:terms|words)|terms\s+used|abbreviations?|acronyms?|"
    r"meanings?|explanations?)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?:;][\"'\u2019\u201d)\]*]*\s*$")
_LETTERED = re.compile(r"\s*\(?(?:[a-z]|[ivx]{1,4})\)\s")
_NUMBERED = re.compile(r"\s*\(?(\d{1,3}(?:\.?[a-z](?![a-z])|\.?\d+)*|[a-z])[.)]*\s")
_PART = re.compile(r"\d+|[a-z]")
_LONGEST_HEADING = 90
_DESCRIBES = ": "
_ANNOUNCING = (":", ":-", "\u2013", "\u2014")


class Piece(Record):
    """Characters `[start, end)` of the document, `[at, at + end - start)` of a unit."""

    at: int
    start: int
    end: int


class Unit(Record):
    """Running text of one paragraph or list item, whole across page breaks."""

    text: str
    pieces: tuple[Piece, ...]
    page: int | None = None
    section: str = ""
    in_table: bool = Field(default=False, description="a table row of one cell")
    defining: bool = Field(description="the headings above announce definitions")
    follows: tuple["Unit", ...] = Field(
        default=(), description="list items that belong to a colon or dash at its end"
    )

    def spans(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Spans of the document for characters `[start, end)` of this unit."""
        found = []
        for piece in self.pieces:
            low = max(start, piece.at)
            high = min(end, piece.at + piece.end - piece.start)
            if low < high:
                shift = piece.start - piece.at
                found.append((low + shift, high + shift))
        return tuple(found)


def is_defining(section: str) -> bool:
    """Whether a heading of the path announces definitions."""
    return any(
        len(part) <= _LONGEST_HEADING and _DEFINING.search(part)
        for part in section.split(" > ")
    )


def units(text: str, blocks: Sequence[Block]) -> list[Unit]:
    """Paragraphs and list items in order, joined over page breaks."""
    groups: list[list[Block]] = []
    for block in blocks:
        if block.kind in SKIPPED:
            continue
        if groups and _goes_on(text, groups[-1][-1], block):
            groups[-1].append(block)
        else:
            groups.append([block])
    groups = [group for group in groups if _is_running(text, group[0])]
    made = [_unit(text, group) for group in groups]
    items = [_is_item(text, group[0]) for group in groups]
    return [_with_items(made, items, number) for number in range(len(made))]


def _is_item(text: str, block: Block) -> bool:
    return block.kind is BlockKind.LIST_ITEM or (
        _LETTERED.match(text, block.start, block.end) is not None
    )


def _is_running(text: str, block: Block) -> bool:
    """Running text, or the only cell of a table row that is not the header."""
    if block.kind is BlockKind.TABLE_ROW and len(block.cells) == 1:
        return text[block.start : block.end].strip() != block.cells[0].header.strip()
    return block.kind in RUNNING


def _goes_on(text: str, before: Block, after: Block) -> bool:
    """What describes the line before, or a paragraph cut by a page break.

    Such a cut has no full stop before it and a small letter after.
    """
    if before.kind not in RUNNING or after.kind is not BlockKind.PARAGRAPH:
        return False
    if text.startswith(_DESCRIBES, after.start):
        return before.end - before.start <= _LONGEST_HEADING
    last_page = before.end_page or before.page
    if last_page is None or after.page is None or after.page != last_page + 1:
        return False
    ended = _ENDED.search(text[before.start : before.end])
    return ended is None and text[after.start : after.start + 1].islower()


def _unit(text: str, group: Sequence[Block]) -> Unit:
    first = group[0]
    header = first.cells[0].header if first.cells else ""
    joined = ""
    pieces = []
    for block in group:
        joined += "\n" if joined else ""
        pieces.append(Piece(at=len(joined), start=block.start, end=block.end))
        joined += text[block.start : block.end]
    return Unit(
        text=joined,
        pieces=tuple(pieces),
        page=first.page,
        section=first.section,
        in_table=bool(first.cells),
        defining=is_defining(first.section) or is_defining(f"{first.table} > {header}"),
    )


def _with_items(made: Sequence[Unit], items: Sequence[bool], number: int) -> Unit:
    """The unit and, where it ends in a colon, the list items right after it."""
    unit = made[number]
    if not unit.text.rstrip().endswith(_ANNOUNCING):
        return unit
    last = number + 1
    while last < len(made) and items[last] and made[last].section == unit.section:
        if _comes_after(made[last].text, unit.text, made[number + 1].text):
            break
        last += 1
    return unit.model_copy(update={"follows": tuple(made[number + 1 : last])})


def _comes_after(item: str, unit: str, first: str) -> bool:
    """Whether a numbered item stands beside or above a numbered unit, not below it.

    "12a6" and "12b" come after "12a5", "12a5b" belongs to it. What begins a count of
    its own ("1." or "a)" first below the unit) belongs to it as well.
    """
    own, others = _number(unit), _number(item)
    if not own or not others or others[: len(own)] == own:
        return False
    counted = len(others) == 1 and _number(first) in _FIRST
    return others > own and not counted


def _number(text: str) -> tuple[tuple[bool, int, str], ...]:
    """The parts of the number that a text begins with, in their order; else ()."""
    match = _NUMBERED.match(text)
    parts = _PART.findall(match[1].lower()) if match else []
    return tuple(
        (not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts
    )


_FIRST = {_number("1 "), _number("a) "), _number("i) ")}

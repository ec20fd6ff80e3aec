"""Input (`TextUnit`) and output (`Definition`) of the definition finders."""

import re
from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from elt_llm_consumer.definitions import patterns
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
_LONGEST_HEADING = 90  # characters: about one line of a page
_DESCRIBES = ": "  # how a definition list of Markdown marks a description
# ":", ":-", a dash, also one that is typed as a hyphen, or "includes" without a mark.
_ANNOUNCES_LIST = re.compile(
    r"(?::-?|[\u2013\u2014]|(?<=\s)-|\b(?:includes?|including|following|namely|"
    r"consists?\s+of|consisting\s+of|comprises?|comprising)\s*[;,]?)\s*$",
    re.IGNORECASE,
)


class DefinitionSource(StrEnum):
    """The form in which a definition was found."""

    PROSE = "prose"
    TABLE = "table"
    ACRONYM = "acronym"
    REFERENCE = "reference"
    STATEMENT = "statement"


class Excerpt(Record):
    """Words of a document with their location: `text == document_text[start:end]`."""

    text: str
    start: int
    end: int
    page: int | None = None
    section: str = ""


class Definition(Record):
    """A term and its definition in the document.

    `definition` is the text of `spans`, joined by line breaks. There is one span unless
    a page break or an empty table cell splits it. `reference` names the place a
    definition points to ("Rule 4.2"), whether or not that place was found.
    """

    term: str
    definition: str
    source: DefinitionSource
    spans: tuple[tuple[int, int], ...] = Field(min_length=1)
    page: int | None = None
    section: str = ""
    synonyms: tuple[str, ...] = ()
    reference: str = ""
    resolved: Excerpt | None = Field(
        default=None, description="the words a reference points to, if found"
    )
    named_at: tuple[int, int] | None = Field(
        default=None, description="the term's span, if the sentence names it elsewhere"
    )
    confidence: float = Field(
        default=1, ge=0, le=1, description="probability that the definition is correct"
    )
    found_by: str = Field(default="", description="the shape that proposed it")
    reasons: tuple[str, ...] = Field(
        default=(), description="supporting features, the strongest first"
    )

    @property
    def start(self) -> int:
        """First character of the defining text in the document."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.spans[-1][1]


class UnitPart(Record):
    """Characters `[start, end)` of the document, `[at, at + end - start)` of a unit."""

    at: int
    start: int
    end: int


class TextUnit(Record):
    """The text of one paragraph or list item.

    A paragraph that continues after a page break is one unit, although a running header
    separates its halves; `spans` maps any part of it back to the document.
    """

    text: str
    parts: tuple[UnitPart, ...]
    page: int | None = None
    section: str = ""
    in_table: bool = Field(default=False, description="a table row of one cell")
    defining: bool = Field(description="the headings above announce definitions")
    follows: tuple["TextUnit", ...] = Field(
        default=(), description="list items that its end announces"
    )
    above: str = Field(
        default="", description="the heading or the short paragraph right above it"
    )
    above_heading: bool = Field(default=False, description="that line is a heading")

    def spans(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Spans of the document for characters `[start, end)` of this unit."""
        spans = []
        for part in self.parts:
            low = max(start, part.at)
            high = min(end, part.at + part.end - part.start)
            if low < high:
                shift = part.start - part.at
                spans.append((low + shift, high + shift))
        return tuple(spans)

    def exact_spans(
        self, text: str, start: int, end: int, with_items: bool = False
    ) -> tuple[tuple[int, int], ...]:
        """Return `spans` without white space at the ends, joined where they touch.

        Args:
            text: The text of the document.
            start: First character in this unit.
            end: One past the last.
            with_items: Add the list items that follow the unit.
        """
        spans = [trim_span(text, *span) for span in self.spans(start, end)]
        for item in self.follows if with_items else ():
            spans += item.spans(0, len(item.text))
        return merge_spans(text, spans)


def text_units(text: str, blocks: Sequence[Block]) -> list[TextUnit]:
    """Return paragraphs and list items in order, joined over page breaks."""
    groups: list[list[Block]] = []
    for block in blocks:
        if block.kind in SKIPPED:
            continue
        if groups and _continues(text, groups[-1][-1], block):
            groups[-1].append(block)
        else:
            groups.append([block])
    running = [
        (group, groups[number - 1][-1] if number else None)
        for number, group in enumerate(groups)
        if _is_running(text, group[0])
    ]
    units = [_build_unit(text, group, above) for group, above in running]
    are_items = [_is_item(text, group[0]) for group, _ in running]
    return [_add_items(units, are_items, number) for number in range(len(units))]


def announces_definitions(section: str) -> bool:
    """Return True if a heading of the path, such as "Glossary", announces definitions.

    A longer line is no heading but a sentence that happens to mention definitions.
    """
    return any(
        len(part) <= _LONGEST_HEADING and _DEFINING.search(part)
        for part in section.split(" > ")
    )


def announces_list(text: str) -> bool:
    """Return whether a text ends in a mark or word that announces a list.

    Args:
        text: Such as "means any of these:", "consists of -" or "includes".
    """
    return _ANNOUNCES_LIST.search(text) is not None


def text_of_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text of the spans, joined by line breaks."""
    return "\n".join(text[start:end] for start, end in spans)


def merge_spans(
    text: str, spans: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Drop empty spans and merge those with only white space between them."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if start >= end:
            continue
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the white space around its text."""
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return start, max(start, start + len(inner.strip()))


def _is_item(text: str, block: Block) -> bool:
    return block.kind is BlockKind.LIST_ITEM or (
        _LETTERED.match(text, block.start, block.end) is not None
    )


def _is_running(text: str, block: Block) -> bool:
    """Running text, or the only cell of a table row that is not the header."""
    if block.kind is BlockKind.TABLE_ROW and len(block.cells) == 1:
        return text[block.start : block.end].strip() != block.cells[0].header.strip()
    return block.kind in RUNNING


def _continues(text: str, before: Block, after: Block) -> bool:
    """A line that describes the one before, or a paragraph cut by a page break.

    A cut paragraph has no full stop before the break and a small letter after it.
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


def _build_unit(text: str, group: Sequence[Block], above: Block | None) -> TextUnit:
    first = group[0]
    header = first.cells[0].header if first.cells else ""
    whole = ""
    parts = []
    for block in group:
        whole += "\n" if whole else ""
        parts.append(UnitPart(at=len(whole), start=block.start, end=block.end))
        whole += text[block.start : block.end]
    return TextUnit(
        text=whole,
        parts=tuple(parts),
        page=first.page,
        section=first.section,
        in_table=bool(first.cells),
        above=_line_above(text, above),
        above_heading=above is not None and above.kind is BlockKind.HEADING,
        defining=announces_definitions(first.section)
        or announces_definitions(f"{first.table} > {header}"),
    )


def _line_above(text: str, above: Block | None) -> str:
    """The block above if it is a heading, or a paragraph of a line that ends open."""
    if above is None or above.kind not in {BlockKind.HEADING, BlockKind.PARAGRAPH}:
        return ""
    words = text[above.start : above.end]
    if above.kind is BlockKind.HEADING:
        return words
    is_line = len(words) <= _LONGEST_HEADING and "\n" not in words.strip()
    return words if is_line and not _ENDED.search(words.rstrip(":* ")) else ""


def _add_items(
    units: Sequence[TextUnit], are_items: Sequence[bool], number: int
) -> TextUnit:
    """The unit and, if it announces a list, the list items right after it."""
    unit = units[number]
    if not announces_list(unit.text):
        return unit
    items: list[TextUnit] = []
    for at in range(number + 1, len(units)):
        item = units[at]
        if not are_items[at] or item.section != unit.section:
            break
        if _is_numbered_after(item.text, unit.text, units[number + 1].text):
            break
        # The lines of the next definition may stand right below the last item.
        another = patterns.NEXT_ONE.search(item.text)
        if another is not None:
            items.append(item.model_copy(update={"text": item.text[: another.start()]}))
            break
        items.append(item)
    return unit.model_copy(update={"follows": tuple(items)})


def _is_numbered_after(item: str, unit: str, first: str) -> bool:
    """Whether an item's number comes after the unit's instead of below it.

    "12a6" and "12b" come after "12a5"; "12a5b" belongs to it. A count of its own that
    starts right below the unit ("1." or "a)" in `first`) belongs to it as well.
    """
    own, others = _number(unit), _number(item)
    if not own or not others or others[: len(own)] == own:
        return False
    starts_count = len(others) == 1 and _number(first) in _FIRST
    return others > own and not starts_count


def _number(text: str) -> tuple[tuple[bool, int, str], ...]:
    """The parts of the number that a text begins with, comparable; () without one."""
    match = _NUMBERED.match(text)
    parts = _PART.findall(match[1].lower()) if match else []
    return tuple(
        (not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts
    )


_FIRST = {_number("1 "), _number("a) "), _number("i) ")}

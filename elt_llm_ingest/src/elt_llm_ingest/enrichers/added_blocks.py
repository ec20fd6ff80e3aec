"""Add blocks to a document that was read, between those that it has."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

from elt_llm_core.document import Block, BlockKind, Blocks, ParsedDocument
from elt_llm_ingest.moved_spans import move_block, move_page

SEPARATOR = "\n\n"


class NewBlock(NamedTuple):
    """A block to add.

    Attributes:
        after: The index of the block before it; -1 for the beginning.
        kind: Its kind.
        text: Its text, one line.
        fields: Its other fields, such as page and boxes.
    """

    after: int
    kind: BlockKind
    text: str
    fields: dict[str, Any]


def add_blocks(parsed: ParsedDocument, new: Sequence[NewBlock]) -> ParsedDocument:
    """Return the document with further blocks; all spans move with the text.

    Args:
        parsed: The document.
        new: The blocks to add; several after the same block keep their order.
    """
    if not new:
        return parsed
    written = _Rewriting(parsed.text)
    waiting = sorted(new, key=lambda one: one.after)
    blocks: list[Block] = []
    for index, block in enumerate([None, *parsed.blocks], start=-1):
        if block is not None:
            blocks.append(move_block(block, written.move_next))
        while waiting and waiting[0].after == index:
            blocks.append(written.insert(block.end if block else 0, waiting.pop(0)))
    changed = {
        "text": written.finish(),
        "blocks": Blocks(blocks) if isinstance(parsed.blocks, Blocks) else blocks,
        "pages": [move_page(page, written.move) for page in parsed.pages],
    }
    return parsed.model_copy(update=changed)


class _Rewriting:
    """A text that is copied up to each insertion."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts: list[str] = []
        self._copied = 0  # characters of the old text
        self._length = 0  # of the new one
        self._shift = 0
        self._gap = ""  # to be written before more of the old text
        self._after: list[int] = []  # positions; later ones are shifted
        self._shifts: list[int] = [0]

    def move_next(self, position: int) -> int:
        """Return the place of a character behind the last insertion."""
        return position + self._shift

    def move(self, position: int) -> int:
        """Return the place of any character, once all is inserted."""
        return position + self._shifts[bisect_left(self._after, position)]

    def insert(self, at: int, new: NewBlock) -> Block:
        """Write a block at a position of the old text, which ends a block."""
        self._copy(at)
        if self._length:
            self._write(SEPARATOR)
        start = self._length
        self._write(new.text)
        block = Block(kind=new.kind, start=start, end=self._length, **new.fields)
        self._gap = _lacking_breaks(self._text[at : at + len(SEPARATOR)])
        self._shift = self._length + len(self._gap) - at
        self._after.append(at or -1)
        self._shifts.append(self._shift)
        return block

    def finish(self) -> str:
        """Return the new text."""
        self._copy(len(self._text))
        return "".join(self._parts)

    def _copy(self, to: int) -> None:
        """Write the old text up to a position."""
        if to > self._copied:
            self._write(self._gap + self._text[self._copied : to])
            self._copied, self._gap = to, ""

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def _lacking_breaks(following: str) -> str:
    """Return the line breaks that a separator needs in front of a text."""
    if not following:
        return ""
    there = len(following) - len(following.lstrip("\n"))
    return SEPARATOR[there:]

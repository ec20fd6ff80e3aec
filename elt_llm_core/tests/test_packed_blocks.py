"""Blocks of long documents are packed, and nobody can tell."""

import pytest

from elt_llm_core.document import (
    GROUP,
    Block,
    BlockKind,
    Blocks,
    Cell,
    ParsedDocument,
    Words,
)
from elt_llm_core.results import Box


def plain_blocks(count: int) -> list[Block]:
    box = Box(page=1, left=0.1, top=0.2, right=0.30001, bottom=1)
    cell = Cell(header="Sales / 2024", start=1, end=2, boxes=(box,), column=0)
    return [
        Block(
            kind=BlockKind.TABLE_ROW if n % 3 else BlockKind.HEADING,
            start=n,
            end=n + 1,
            page=n // 10 + 1,
            cells=(cell,) if n % 3 else (),
            attributes={"row": "header"} if n % 7 == 0 else {},
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, GROUP, GROUP + 1, 3 * GROUP + 5])
def test_packed_blocks_are_the_blocks(count):
    plain = plain_blocks(count)
    packed = Blocks(plain)
    assert len(packed) == count
    assert list(packed) == plain
    assert packed == plain
    assert [packed[i] for i in range(-count, count)] == plain + plain
    assert packed[2 : count - 1 : 2] == plain[2 : count - 1 : 2]
    with pytest.raises(IndexError):
        packed[count]


def test_blocks_may_be_added_and_moved_as_groups():
    plain = plain_blocks(GROUP + 9)
    packed = Blocks(plain[:5])
    packed.extend(plain[5:])
    assert list(packed) == plain
    moved = Blocks()
    for data, size in packed.packed:
        moved.add_packed(data, size)
    assert moved == packed
    assert Blocks(plain[:4]) != packed


def test_a_document_says_the_same_with_packed_blocks():
    plain = plain_blocks(GROUP + 9)
    document = ParsedDocument(title="t", text="x" * 999, blocks=plain, parser="p")
    packed = document.model_copy(update={"blocks": Blocks(plain)})
    assert packed.model_dump_json() == document.model_dump_json()
    assert packed == document
    assert ParsedDocument.model_validate_json(packed.model_dump_json()) == document


def test_words_go_through_bytes_and_move():
    words = Words([0, 3, 1, 2, 3, 4, 4, 8, 5, 6, 7, 100_000])
    assert Words.from_bytes(words.packed) == words
    assert words.move_spans(lambda at: min(at, 4)) == Words([0, 3, 1, 2, 3, 4])
    with pytest.raises(ValueError, match="7 numbers"):
        Words.from_bytes(words.packed[:28])

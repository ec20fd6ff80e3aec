"""Documents to cut, made by rule or by hypothesis."""

from hypothesis import strategies as st

from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.provenance import index_text, read
from elt_llm_core.testing import HashEmbedding
from elt_llm_ingest.chunkers.groups import UNSEEN
from elt_llm_ingest.readers.text_builder import TextBuilder, with_sections

count = HashEmbedding().count_tokens

PROSE = st.lists(
    st.sampled_from(
        [
            "A fee is due. ",
            "Ä boat e.g. \U0001d538?  ",
            "\n\n",
            "\n",
            "(a) one; ",
            "\n3.2.1 See Art. 5 and rule 3.1. ",
            "\n1a1) Every boat pays. ",
            "word " * 30,
            "x" * 300,
        ]
    ),
    max_size=20,
).map("".join)
ANY = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=200
)
HEADINGS = st.sampled_from(["1 Fees", "1.2 Late fees", "ANNEX", "Article 5", "Fines"])
CELLS = st.lists(st.sampled_from(["", "Berth", "20", "means a place. " * 4, "w " * 80]),
                 min_size=1, max_size=4)  # fmt: skip
BLOCKS = st.lists(
    st.one_of(
        st.tuples(st.just(BlockKind.HEADING), HEADINGS, st.integers(1, 3)),
        st.tuples(
            st.sampled_from([
                BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.CAPTION,
                BlockKind.CODE, BlockKind.FACT_SHEET, BlockKind.FURNITURE,
            ]),
            (PROSE | ANY).filter(str.strip),
            st.just(0),
        ),
        st.tuples(st.just(BlockKind.TABLE_ROW), CELLS, st.integers(1, 2)),
    ),
    max_size=14,
)  # fmt: skip


def document(*blocks: tuple, title: str = "Harbour rules") -> ParsedDocument:
    """Kind, text and level of each block; cells and table of a row."""
    builder = TextBuilder()
    for kind, text, *rest in blocks:
        number = rest[0] if rest else 0
        if kind is BlockKind.TABLE_ROW:
            header = ["Item", "Fee", "Note", "More"]
            row = {"attributes": {"row": "header"}} if text == header else {}
            builder.add_row(text, header, str(number), table=f"Table {number}", **row)
        else:
            builder.add(kind, text, level=number)
    return ParsedDocument(
        title=title,
        text=builder.text,
        blocks=with_sections(builder.text, builder.blocks),
        parser="test",
    )


def check(parsed: ParsedDocument, nodes: list, limit: int) -> None:
    """Every chunk is a slice, none is too long, no character is lost."""
    covered = bytearray(len(parsed.text))
    for node in nodes:
        place = read(node)
        assert parsed.text[place.span_start : place.span_end] == node.text != ""
        assert (node.start_char_idx, node.end_char_idx) == (
            place.span_start, place.span_end,
        )  # fmt: skip
        assert count(index_text(node)) <= limit
        covered[place.span_start : place.span_end] = b"x" * len(node.text)
    for block in parsed.blocks:
        told = block.attributes.get("row") == "header" or block.kind in UNSEEN
        text = parsed.text[block.start : block.end]
        lost = [
            c
            for i, c in enumerate(text, start=block.start)
            if not covered[i] and not c.isspace()
        ]
        assert told or lost == []

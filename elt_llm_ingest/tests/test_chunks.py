"""Chunks are exact slices of the document, of one section, never above the limit."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.schema import Document

from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.provenance import index_text, read
from elt_llm_core.testing import HashEmbedding
from elt_llm_ingest.chunkers.sentence import SentenceChunker, SentenceChunkerOptions
from elt_llm_ingest.chunkers.source_document import SourceDocument
from elt_llm_ingest.readers.text_builder import TextBuilder, with_sections

count = HashEmbedding().count_tokens
SLOW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=0, max_size=400
)
SENTENCES = st.lists(
    st.sampled_from(
        [
            "A fee is due. ",
            "Ä boat e.g. \U0001d538?  ",
            "\n\n",
            "\n",
            "(a) one; ",
            "See Art. 5. ",
        ]
    ),
    max_size=60,
).map("".join)


def chunker(size: int = 20, overlap: int = 0, limit: int = 40) -> SentenceChunker:
    return SentenceChunker(
        count=count, chunk_size=size, chunk_overlap=overlap, max_tokens=limit
    )


def document(*blocks: tuple) -> ParsedDocument:
    builder = TextBuilder()
    for kind, text, *level in blocks:
        builder.add(kind, text, level=level[0] if level else 0)
    return ParsedDocument(
        title="t",
        text=builder.text,
        blocks=with_sections(builder.text, builder.blocks),
        parser="test",
    )


def check(parsed: ParsedDocument, made: SentenceChunker) -> None:
    limit = max(made.chunk_size, made.max_tokens)
    for ordinal, node in enumerate(made.chunk(parsed)):
        place = read(node)
        assert parsed.text[place.span_start : place.span_end] == node.text
        assert node.text.strip() == node.text != ""
        assert place.ordinal == ordinal
        assert count(index_text(node)) <= limit


@SLOW
@given(text=WORDS | SENTENCES, size=st.integers(8, 60), overlap=st.integers(0, 7))
def test_any_text_is_cut_into_its_own_slices(text, size, overlap):
    made = chunker(size, overlap, size)
    parsed = ParsedDocument(
        title="",
        text=text,
        blocks=[Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))]
        if text
        else [],
        parser="",
    )
    check(parsed, made)
    covered = set()
    for node in made.chunk(parsed):
        covered.update(range(node.start_char_idx, node.end_char_idx))
    lost = [c for i, c in enumerate(text) if i not in covered and not c.isspace()]
    assert lost == []


@SLOW
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST_ITEM]
            ),
            SENTENCES.filter(str.strip),
            st.integers(1, 3),
        ),
        max_size=12,
    )
)
def test_a_chunk_never_leaves_its_section(blocks):
    parsed = document(*blocks)
    made = chunker()
    check(parsed, made)
    for node in made.chunk(parsed):
        place = read(node)
        touched = [
            b
            for b in parsed.blocks
            if b.start < place.span_end and b.end > place.span_start
        ]
        for block in touched:
            own = place.section == block.section
            above = place.section.startswith(block.section + " > ")
            assert own or (block.kind is BlockKind.HEADING and above)


def test_small_neighbours_of_a_section_share_a_chunk():
    parsed = document(
        (BlockKind.HEADING, "1 Fees", 1),
        (BlockKind.PARAGRAPH, "A fee is due."),
        (BlockKind.PARAGRAPH, "It is paid in June."),
        (BlockKind.HEADING, "2 Fines", 1),
        (BlockKind.PARAGRAPH, "A fine is due."),
    )
    texts = [node.text for node in chunker().chunk(parsed)]
    assert texts == [
        "1 Fees\n\nA fee is due.\n\nIt is paid in June.", "2 Fines\n\nA fine is due.",
    ]  # fmt: skip


def test_a_rule_that_fits_is_not_cut():
    rules = [f"1.{n} Every boat pays. It pays in June of each year." for n in range(6)]
    parsed = document(*((BlockKind.PARAGRAPH, rule) for rule in rules))
    for node in chunker(25).chunk(parsed):
        assert node.text.startswith("1.")
        assert node.text.endswith("of each year.")


def test_overlap_repeats_whole_sentences():
    parsed = document((BlockKind.PARAGRAPH, "One two three. " * 12))
    nodes = chunker(9, 4).chunk(parsed)
    assert all(a.end_char_idx > b.start_char_idx for a, b in pairwise(nodes))


def test_furniture_and_contents_are_not_chunked():
    parsed = document(
        (BlockKind.FURNITURE, "Page 1"),
        (BlockKind.CONTENTS, "1 Fees 3"),
        (BlockKind.PARAGRAPH, "A fee is due."),
        (BlockKind.FURNITURE, "Page 2"),
        (BlockKind.PARAGRAPH, "More."),
    )
    assert [n.text for n in chunker().chunk(parsed)] == ["A fee is due.", "More."]


def table(*rows: list[str]) -> ParsedDocument:
    builder = TextBuilder()
    builder.add(BlockKind.HEADING, "2 Fees", level=1)
    for index, row in enumerate(rows):
        kept = {"attributes": {"row": "header"} if index == 0 else {}}
        builder.add_row(row, rows[0], "1", **kept)
    return ParsedDocument(
        title="t",
        text=builder.text,
        blocks=with_sections(builder.text, builder.blocks),
        parser="test",
    )


def test_a_row_is_a_chunk_that_says_its_headers():
    parsed = table(["Item", "Fee"], ["Berth", "20"], ["Crane", ""])
    rows = [n for n in chunker().chunk(parsed) if n.metadata["kind"] == "table_row"]
    assert [(n.text, index_text(n)) for n in rows] == [
        ("Berth\t20", "2 Fees - Item: Berth | Fee: 20"),
        ("Crane\t", "2 Fees - Item: Crane"),
    ]
    assert json.loads(rows[0].metadata["cells"])[1]["header"] == "Fee"


def test_a_row_above_the_limit_is_cut_and_stays_below_it():
    parsed = table(["Item", "Text"], ["Berth", "word " * 200])
    rows = [n for n in chunker().chunk(parsed) if n.metadata["kind"] == "table_row"]
    assert len(rows) > 4
    assert all(count(index_text(n)) <= 40 for n in rows)
    assert all(index_text(n).startswith("2 Fees - ") for n in rows)


def test_fact_sheets_are_a_chunk_each():
    parsed = document((BlockKind.FACT_SHEET, "A\nType: B"), (BlockKind.FACT_SHEET, "C"))
    assert [n.metadata["kind"] for n in chunker().chunk(parsed)] == ["fact_sheet"] * 2


def test_a_plain_llama_index_document(models):
    made = SentenceChunkerOptions(chunk_size=12).build(models)
    text = "One sentence here. " * 10
    nodes = made.get_nodes_from_documents([Document(text=text, metadata={"a": "b"})])
    assert len(nodes) > 2
    for node in nodes:
        assert text[node.start_char_idx : node.end_char_idx] == node.text
        assert node.metadata["a"] == "b"
        assert node.get_content(metadata_mode="embed") == node.text
        assert node.source_node is not None
    assert nodes[0].next_node.node_id == nodes[1].node_id


def test_words_give_pages_and_boxes(parsed_handbook, models):
    made = SentenceChunkerOptions(chunk_size=50).build(models)
    nodes = made.get_nodes_from_documents([SourceDocument.of(parsed_handbook)])
    for node in nodes:
        place = read(node)
        assert parsed_handbook.text[place.span_start : place.span_end] == node.text
        assert place.boxes
        assert {box.page for box in place.boxes} <= {place.page, place.end_page}
        for box in place.boxes:
            assert box.left < box.right
            assert box.top < box.bottom
    rows = [n for n in nodes if n.metadata["kind"] == "table_row"]
    assert re.fullmatch(
        r"2 - TERMS - Term: Term 1 \| Text: means .*", index_text(rows[0])
    )


def test_the_size_never_exceeds_the_embedder(models):
    made = SentenceChunkerOptions(chunk_size=500).build(models)
    nodes = made.get_nodes_from_documents([Document(text="word " * 500)])
    assert max(count(n.text) for n in nodes) <= models.embedder.max_tokens


def test_unknown_options_are_refused():
    with pytest.raises(ValueError, match="extra"):
        SentenceChunkerOptions(size=3)

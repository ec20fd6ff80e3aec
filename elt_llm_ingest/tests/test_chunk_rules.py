"""Rule numbers and references of a document."""

import os
from pathlib import Path

import pytest

from chunk_documents import document
from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.provenance import read
from elt_llm_core.testing import HashEmbedding
from elt_llm_ingest.chunkers.numbering import Numbering
from elt_llm_ingest.chunkers.section_aware import SectionAwareChunker
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.markdown import parse

HEADING, PARAGRAPH, ITEM = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST_ITEM


def rules(*blocks: tuple) -> list[str]:
    parsed = document(*blocks)
    return list(Numbering(parsed).within(0, len(parsed.text)))


def references(*blocks: tuple) -> tuple[str, ...]:
    """What the last block refers to."""
    parsed = document(*blocks)
    last = parsed.blocks[-1]
    return Numbering(parsed).references(last.start, last.end)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.2.1 A boat pays.", ["3.2.1"]),
        ("3.2.1.(2)\tA boat pays.", ["3.2.1(2)"]),
        ("\u200e3.2.1 A boat pays.", ["3.2.1"]),
        ("- 9f4) A boat pays.", ["9f4"]),
        ("A1a2) A boat pays.", ["A1a2"]),
        ("C12(a) A boat pays.", []),  # a figure of something, unless it is listed
        ("C12(a): A boat pays.", ["C12(a)"]),
        ("Article 5 Every boat pays.", ["Art. 5"]),
        ("Art. 5(2) Every boat pays.", ["Art. 5(2)"]),
        ("§ 7 Every boat pays.", ["7"]),
        ("2.1.3.Guidance.1 A boat pays.", ["2.1.3.Guidance.1"]),
        ("5 mg daily", []),
        ("12. Smith J, On boats", []),
        ("3.5 per cent are paid", []),
        ("2024 was a good year", []),
        ("Article 5, which is long, was changed", []),
        ("A boat pays as in 3.2.1", []),
        ("(a) one", []),  # below nothing
    ],
)
def test_a_line_begins_a_rule_or_does_not(text, expected):
    assert rules((PARAGRAPH, text)) == expected


def test_letters_and_figures_go_below_the_rule_before_them():
    assert rules(
        (HEADING, "3 Fees", 1),
        (PARAGRAPH, "3.1 A boat pays:"),
        (ITEM, "(a) in June:"),
        (ITEM, "(i) early; or"),
        (ITEM, "(ii) late;"),
        (ITEM, "(b) in May."),
        (PARAGRAPH, "3.2.(1) Others:\n(a) pay;\n(b) pay more.\n(2) All of them."),
    ) == [
        "3", "3.1", "3.1(a)", "3.1(a)(i)", "3.1(a)(ii)", "3.1(b)",
        "3.2(1)", "3.2(1)(a)", "3.2(1)(b)", "3.2(2)",
    ]  # fmt: skip


def test_a_wrapped_line_begins_nothing():
    assert rules((PARAGRAPH, "3.1 A boat pays as the rule\n3.2 Says of it.")) == ["3.1"]


def test_a_heading_without_a_number_ends_a_rule():
    blocks = (HEADING, "3 Fees", 1), (HEADING, "Annex", 1), (PARAGRAPH, "Text.")
    parsed = document(*blocks)
    last = parsed.blocks[-1]
    assert Numbering(parsed).within(last.start, last.end) == ()


def test_what_the_loader_found_counts_first():
    text = "Every boat pays."
    block = Block(kind=PARAGRAPH, start=0, end=len(text), number="Rule 7.1.(2)")
    parsed = ParsedDocument(title="", text=text, blocks=[block], parser="")
    assert Numbering(parsed).within(0, 5) == ("7.1(2)",)


RULES = (
    (HEADING, "3 Fees", 1),
    (PARAGRAPH, "3.1 A boat pays."),
    (PARAGRAPH, "3.2 A quay does:\n(1) in June;\n(2) in May."),
    (HEADING, "Article 5: Fines", 1),
    (PARAGRAPH, "9f4) No fines."),
    (HEADING, "Other", 1),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See rule 3.2.1.", ("3.2",)),  # the nearest above it that is there
        ("Under Article 5(2) nothing is due.", ("Art. 5",)),
        ("As in section 3.1 above.", ("3.1",)),
        ("Rules 3.1, 3.2(1) and 9f4 count.", ("3.1", "3.2(1)", "9f4")),
        ("see [Regulation 9f4](x)", ("9f4",)),
        ("see 3.1", ("3.1",)),
        ("Chapter 7 says so.", ()),
        ("The fee is 3.1 per cent.", ()),
        ("Section 3.1 of the Companies Act applies.", ()),
        ("Section 3.1 of the Harbour Rules applies.", ("3.1",)),
        ("3.3 See paragraph (2) or 3.3.", ()),
    ],
)
def test_references_are_rules_of_the_document(text, expected):
    assert references(*RULES, (PARAGRAPH, text)) == expected


def test_a_paragraph_of_the_same_rule_is_found():
    blocks = (
        *RULES[:2],
        (PARAGRAPH, "3.2.(1) One."),
        (PARAGRAPH, "(2) Subject to paragraph (1)."),
    )
    assert references(*blocks) == ("3.2(1)",)


@pytest.mark.data
def test_every_reference_of_a_real_rule_book_is_found():
    folder = os.environ.get("ELT_LLM_EVAL_DATA")
    if not folder:
        pytest.skip("ELT_LLM_EVAL_DATA names no folder")
    path = Path(folder) / "rules_wca" / "wca-regulations.md"
    parsed = parse(path, path.read_bytes(), Limits())[0]
    chunker = SectionAwareChunker(count=HashEmbedding().count_tokens)
    places = [read(node) for node in chunker.chunk(parsed)]
    found = {rule for place in places for rule in place.rules}
    assert len(found) >= 452
    named = [rule for place in places for rule in place.references]
    assert len(named) >= 60  # those that leave their chunk
    assert set(named) <= found

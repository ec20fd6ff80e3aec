"""A PDF's text is whole, in order, on its pages, and its parts are what they are."""

import json
import re
from collections import Counter
from pathlib import Path

import pypdfium2
import pytest

from elt_llm_core.document import BlockKind, ParsedDocument
from ingest_files import RULES, TERMS


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("\ufffe", "-"))


def texts(document: ParsedDocument, kind: BlockKind) -> list[str]:
    return [document.text[b.start : b.end] for b in document.blocks if b.kind is kind]


def test_no_character_is_lost_or_moved_to_another_page(handbook, parsed_handbook):
    pdf = pypdfium2.PdfDocument(handbook)
    lost = total = 0
    for page in parsed_handbook.pages:
        oracle = Counter(squeezed(pdf[page.number - 1].get_textpage().get_text_range()))
        ours = Counter(
            squeezed("".join(parsed_handbook.text[w[0] : w[1]] for w in page.words))
        )
        del oracle["."]  # dot leaders are shortened
        lost += sum((oracle - ours).values())
        total += sum(oracle.values())
    assert lost <= 0.005 * total


def test_every_word_of_every_block_has_its_span_and_page(parsed_handbook):
    text = parsed_handbook.text
    covered = bytearray(len(text))
    for page in parsed_handbook.pages:
        starts = [word[0] for word in page.words]
        assert starts == sorted(starts)
        for start, end, left, top, right, bottom in page.words:
            assert text[start:end].strip() == text[start:end] != ""
            assert 0 <= left < right <= 1
            assert 0 <= top < bottom <= 1
            covered[start:end] = b"\x01" * (end - start)
    bare = [c for c, seen in zip(text, covered, strict=True) if not seen]
    assert set(bare) <= {" ", "\n", "\t"}


def test_blocks_are_in_order_and_do_not_overlap(parsed_handbook):
    position = 0
    for block in parsed_handbook.blocks:
        assert block.start >= position
        assert block.end > block.start
        position = block.end
    assert position <= len(parsed_handbook.text)


def test_typographic_characters_are_those_of_the_page(parsed_handbook):
    flat = re.sub(r"\s+", " ", parsed_handbook.text)
    assert [rule for rule in RULES if rule not in flat] == []


def test_headings_have_levels_by_their_numbers(parsed_handbook):
    found = [
        (b.level, parsed_handbook.text[b.start : b.end])
        for b in parsed_handbook.blocks
        if b.kind is BlockKind.HEADING
    ]
    assert found == [
        (1, "1 - GENERAL"), (2, "1.1 Scope"), (2, "1.2 Run-in"), (1, "2 - TERMS"),
    ]  # fmt: skip


def test_a_rule_keeps_its_number_and_section(parsed_handbook):
    block = next(
        b
        for b in parsed_handbook.blocks
        if parsed_handbook.text[b.start : b.end].startswith("1.1.1 ")
    )
    assert block.section == "1 - GENERAL > 1.1 Scope"
    assert block.page == 2


def test_running_lines_are_furniture_and_contents_are_contents(parsed_handbook):
    furniture = texts(parsed_handbook, BlockKind.FURNITURE)
    assert sum("Harbour Handbook" in t for t in furniture) == len(parsed_handbook.pages)
    contents = " ".join(texts(parsed_handbook, BlockKind.CONTENTS))
    assert "5 - CHAPTER 5" in contents
    assert all("CHAPTER" not in t for t in texts(parsed_handbook, BlockKind.HEADING))


def test_list_markers_stand_before_their_text(parsed_handbook):
    items = texts(parsed_handbook, BlockKind.LIST_ITEM)
    assert "(a) first thing; and" in items
    assert "(b) second thing." in items


def test_a_table_over_pages_keeps_its_header(parsed_handbook):
    rows = [b for b in parsed_handbook.blocks if b.kind is BlockKind.TABLE_ROW]
    data = [b for b in rows if not b.attributes]
    cut = [tuple(parsed_handbook.text[c.start : c.end] for c in b.cells) for b in data]
    assert cut == TERMS
    assert {tuple(c.header for c in b.cells) for b in data} == {("Term", "Text")}
    assert len({b.page for b in data}) > 1
    for row in data:
        assert "\t" in parsed_handbook.text[row.start : row.end]
        for cell in row.cells:
            assert cell.boxes
            assert {box.page for box in cell.boxes} == {row.page}


@pytest.mark.data
def test_real_documents_lose_no_words(read):
    import os

    root = os.environ.get("ELT_LLM_EVAL_DATA")
    if not root:
        pytest.skip("ELT_LLM_EVAL_DATA is not set")
    path = Path(root) / "drug_monographs/docs/metformin.pdf"
    (document,) = read(path)
    pdf = pypdfium2.PdfDocument(path)
    oracle = "".join(page.get_textpage().get_text_range() for page in pdf)
    missing = Counter(squeezed(oracle)) - Counter(squeezed(document.text))
    assert sum(missing.values()) <= 0.005 * len(squeezed(oracle))


def test_the_shipped_handbook_holds_its_gold_where_it_says(read):
    from importlib.util import find_spec

    spec = find_spec("elt_llm_consumer")
    folder = Path(next(iter(spec.submodule_search_locations or []))) if spec else None
    golds = sorted(folder.glob("packs/*/gold.json")) if folder else []
    if not golds:
        pytest.skip("no pack is installed")
    (document,) = read(golds[0].parent / "handbook.pdf")
    wrong = []
    for term in json.loads(golds[0].read_text())["terms"]:
        words = r"\s+".join(map(re.escape, term["definition"].split()))
        places = [
            (b.page, b.section.split(" > ")[0].split(" - ")[0])
            for b in document.blocks
            if re.search(words, document.text[b.start : b.end])
        ]
        if (term["page"], term["section"]) not in places:
            wrong.append((term["term"], places))
    assert wrong == []

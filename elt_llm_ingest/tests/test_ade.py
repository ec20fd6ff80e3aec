"""Every chunk and cell of ADE's JSON comes back with its page and box."""

import json
import os
from pathlib import Path

import pytest

import format_files
from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.provenance import boxes_of_span, read
from elt_llm_ingest.chunkers.sentence import SentenceChunker
from evaluation.robustness import ade_figures

FOLDER = Path(os.environ.get("ELT_LLM_EVAL_DATA", "")) / "ade_json"


def place(page: int, *sides: float) -> dict:
    return {
        "page": page,
        "box": dict(zip(("left", "top", "right", "bottom"), sides, strict=True)),
    }


def chunk(key: str, kind: str, text: str, *sides: float) -> dict:
    anchor = f"<a id='{key}'></a>\n\n{text}"
    return {"id": key, "type": kind, "markdown": anchor, "grounding": place(0, *sides)}


TABLE = (
    '<table id="0-1"><tr><td id="0-2" rowspan="2">Item</td><td id="0-3" colspan="2">'
    'Price</td></tr><tr><td id="0-4">Net</td><td id="0-5">Gross</td></tr><tr>'
    '<td id="0-6">Berth</td><td id="0-7">10</td><td id="0-8">12</td></tr></table>'
)
CURRENT = {
    "chunks": [
        chunk("a", "marginalia", "Page foot", 0.1, 0.9, 0.9, 0.95),
        chunk("b", "text", "# Fees\n\nThey are due.", 0.1, 0.1, 0.9, 0.2),
        chunk("c", "text", "Table 1. Fees", 0.1, 0.2, 0.9, 0.25),
        chunk("d", "table", TABLE, 0.1, 0.3, 0.9, 0.5),
        chunk("e", "figure", "<::a boat\n: photo::>\nFigure 2", 0.1, 0.5, 0.9, 0.8),
        chunk("f", "marginalia", "", 0.1, 0.8, 0.9, 0.9),
        chunk("g", "hologram", "Odd words.", 0.0, 0.0, 1.0, 1.0),
    ],
    "grounding": {
        f"0-{n}": {**place(0, n / 10, 0.3, n / 10 + 0.05, 0.4), "type": "tableCell"}
        for n in range(1, 8)
    },
    "metadata": {"filename": "fees.pdf", "page_count": 2, "version": "v1"},
}
OLDER = {
    "data": {
        "chunks": [
            {
                "chunk_id": "a",
                "chunk_type": "text",
                "text": "Two places.",
                "grounding": [
                    {"page": n, "box": {"l": 0.1, "t": 0.2, "r": 0.3, "b": 0.4}}
                    for n in (0, 1)
                ],
            }
        ]
    }
}


def parsed(reading, content: object) -> ParsedDocument:
    (document,) = reading.parse(Path("fees.json"), json.dumps(content).encode())
    format_files.check_spans(document)
    return document


def test_the_current_form(reading):
    document = parsed(reading, CURRENT)
    assert format_files.texts(document) == [
        ("furniture", "Page foot"),
        ("heading", "Fees"),
        ("paragraph", "They are due."),
        ("paragraph", "Table 1. Fees"),
        ("table_row", "Item\tPrice\t"),
        ("table_row", "Item\tNet\tGross"),
        ("table_row", "Berth\t10\t12"),
        ("figure", "a boat"),
        ("caption", "Figure 2"),
        ("furniture", ""),
        ("paragraph", "Odd words."),
    ]
    assert (document.title, len(document.pages)) == ("Fees", 2)
    row = document.blocks[6]
    assert row.table == "Table 1. Fees"
    assert format_files.cells(document) == [
        [("Item", "Berth"), ("Price Net", "10"), ("Price Gross", "12")]
    ]
    assert [(c.id, c.boxes[0].left) for c in row.cells[:2]] == [
        ("0-6", 0.6), ("0-7", 0.7),
    ]  # fmt: skip
    assert row.cells[2].boxes[0].right == 0.9, "a cell without a place has the chunk's"
    assert document.blocks[7].attributes["generated"] == "true"
    assert document.warnings == (
        "1 chunks are of the unknown kind 'hologram', read as text",
    )


FOOT = "Harbour office, page {} of 4"


def pages_of(*texts: tuple[int, str, str, float]) -> dict:
    """Chunks with their page, kind, text and top."""
    chunks = [
        {
            "id": f"c{n}",
            "type": kind,
            "markdown": text,
            "grounding": place(page, 0.1, top, 0.9, top + 0.05),
        }
        for n, (page, kind, text, top) in enumerate(texts)
    ]
    return {"chunks": chunks}


def test_running_lines_and_copies_of_marginalia_are_furniture(reading):
    told = [(page, "text", FOOT.format(page + 1), 0.93) for page in range(4)]
    body = [
        (page, "text", f"Rule {page}. A berth is paid for.", 0.4) for page in (0, 1)
    ]
    margin = [(0, "marginalia", "Draft of May", 0.02), (2, "text", "Draft of May", 0.5)]
    document = parsed(reading, pages_of(*told, *body, *margin))
    kept = [text for kind, text in format_files.texts(document) if kind != "furniture"]
    assert kept == [text for _, _, text, _ in body]


def test_a_lone_numbered_title_is_a_heading_and_items_of_a_list_are_none(reading):
    said = [
        "1. Introduction",
        "Berths are let by the year.",
        "2. Fees",
        "They are due.",
    ]
    items = ["1. Ropes of hemp", "2. Ropes of steel", "3. It ends with a stop."]
    texts = [(0, "text", text, 0.1 * n) for n, text in enumerate([*said, *items])]
    document = parsed(reading, pages_of(*texts))
    headings = [
        text for kind, text in format_files.texts(document) if kind == "heading"
    ]
    assert headings == ["1. Introduction", "2. Fees"]
    assert document.blocks[3].section == "2. Fees"


def test_a_code_keeps_its_text_and_the_description_is_marked(reading):
    said = "<::scan_code: A square of dots::>\nhttps://x.example/7"
    document = parsed(reading, pages_of((0, "scan_code", said, 0.1)))
    assert format_files.texts(document) == [
        ("furniture", "A square of dots"),
        ("paragraph", "https://x.example/7"),
    ]
    assert [b.attributes.get("generated") for b in document.blocks] == ["true", None]


@pytest.mark.parametrize("end", [".: figure", ". : figure", ".\n: figure", "."])
def test_what_kind_of_picture_it_is_stays_out_of_its_description(reading, end):
    said = f"<::Note: two arrows point left{end}::>"
    document = parsed(reading, pages_of((0, "figure", said, 0.1)))
    assert format_files.texts(document) == [("figure", "Note: two arrows point left.")]


def test_a_quotation_stands_where_its_own_block_stands(reading):
    texts = [(0, "text", f"Berth {n} is let.", 0.2 * n) for n in range(3)]
    document = parsed(reading, pages_of(*texts))
    at = document.text.index("Berth 1")
    (box,) = boxes_of_span(document.pages, at, at + 7)
    assert (box.top, box.bottom) == (0.2, 0.25)
    (node,) = SentenceChunker(count=len, max_tokens=300).chunk(document)
    assert [box.top for box in read(node).boxes] == [0.0, 0.2, 0.4]


def test_places_of_a_chunk_are_those_of_its_paragraphs_where_they_are_as_many(reading):
    places = [place(0, 0.1, top, 0.9, top + 0.05) for top in (0.1, 0.5)]
    one = {"text": "First.\n\nSecond.", "grounding": places}
    document = parsed(reading, {"chunks": [one]})
    assert [[box.top for box in b.boxes] for b in document.blocks] == [[0.1], [0.5]]
    one["text"] = "First and second."
    document = parsed(reading, {"chunks": [one]})
    assert [box.top for box in boxes_of_span(document.pages, 0, 5)] == [0.1, 0.5]


def test_the_title_of_a_table_is_indexed_once_by_itself(reading):
    rows = "<tr><td colspan=2>Fees</td></tr><tr><td>Item<td>Price</tr><tr><td>Oar<td>5"
    document = parsed(reading, pages_of((0, "table", f"<table>{rows}</table>", 0.1)))
    nodes = SentenceChunker(count=len, max_tokens=300).chunk(document)
    assert [read(node).index_text for node in nodes] == [
        "Fees",
        "Fees - Item: Oar | Price: 5",
    ]


def test_the_older_form(reading):
    document = parsed(reading, OLDER)
    (block,) = document.blocks
    assert [b.page for b in block.boxes] == [1, 2]
    assert (block.boxes[0].left, block.boxes[0].bottom) == (0.1, 0.4)


def test_places_that_cannot_be_are_told(reading):
    bad = chunk("a", "text", "Words.", -3.0, 0.1, 9.0, 0.2)
    none = {"markdown": "More.", "grounding": {"page": "x"}}
    found = {"chunks": [bad, none, 7]}
    document = parsed(reading, found)
    assert document.blocks[0].boxes[0].left == 0.0
    assert document.warnings == (
        "1 times: a chunk cannot be read",
        "1 times: a place cannot be read",
        "1 times: a place lies outside its page",
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b'{"chunks": []}', "no text"),
        (b'{"chunks": [' + b"[" * 200_000, "nested too deeply"),
        (b'{"chunks": [1', "damaged"),
        (b'[{"chunks": []}]', "holds no chunks"),
    ],
)
def test_json_that_is_refused(source, reason, reading):
    with pytest.raises(LoadError, match=reason):
        reading.parse(Path("fees.json"), source)


def test_every_element_comes_back(tmp_path):
    folder = tmp_path / "ade_json"
    folder.mkdir()
    whole = {**CURRENT, "grounding": {**CURRENT["grounding"]}}
    for one in CURRENT["chunks"]:
        whole["grounding"][one["id"]] = one["grounding"]
    (folder / "a.json").write_text(json.dumps(whole))
    (figure,) = ade_figures(tmp_path)
    assert (figure["value"], figure["detail"]["elements"]) == (1.0, 14)
    whole["grounding"]["lost"] = place(0, 0.0, 0.0, 1.0, 1.0)
    (folder / "a.json").write_text(json.dumps(whole))
    (figure,) = ade_figures(tmp_path)
    assert figure["value"] == 14 / 15


@pytest.mark.data
@pytest.mark.skipif(not FOLDER.is_dir(), reason="ELT_LLM_EVAL_DATA has no ade_json")
def test_every_element_of_real_files_comes_back():
    (figure,) = ade_figures(FOLDER.parent)
    assert figure["value"] == 1.0
    assert figure["detail"]["failed"] == []

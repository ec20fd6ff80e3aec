"""Docling's JSON: what is written comes back; origins of boxes; broken links."""

import json
from pathlib import Path

import pytest
from docling_core.types.doc.base import BoundingBox, CoordOrigin, Size
from docling_core.types.doc.document import (
    ContentLayer,
    DoclingDocument,
    ProvenanceItem,
    TableCell,
    TableData,
)
from docling_core.types.doc.labels import DocItemLabel

import format_files
from elt_llm_core.errors import LoadError


def at(left: float, top: float, right: float, bottom: float) -> ProvenanceItem:
    box = BoundingBox(
        l=left, t=top, r=right, b=bottom, coord_origin=CoordOrigin.BOTTOMLEFT
    )
    return ProvenanceItem(page_no=1, bbox=box, charspan=(0, 0))


def cell(text: str, row: int, column: int, across: int = 1, **told) -> TableCell:
    return TableCell(
        text=text,
        row_span=1,
        col_span=across,
        start_row_offset_idx=row,
        end_row_offset_idx=row + 1,
        start_col_offset_idx=column,
        end_col_offset_idx=column + across,
        **told,
    )


def written() -> dict:
    document = DoclingDocument(name="fees")
    document.add_page(1, Size(width=200, height=400))
    document.add_heading("Fees", level=1, prov=at(20, 380, 100, 360))
    document.add_text(DocItemLabel.TEXT, "They are due.", prov=at(20, 350, 100, 300))
    document.add_text(
        DocItemLabel.PAGE_FOOTER, "Page 1", content_layer=ContentLayer.FURNITURE
    )
    document.add_text(DocItemLabel.FOOTNOTE, "Below.", prov=at(20, 20, 90, 10))
    caption = document.add_text(DocItemLabel.CAPTION, "Figure 1. Boat.")
    document.add_picture(caption=caption, prov=at(20, 200, 180, 100))
    own = BoundingBox(l=20, t=40, r=60, b=50, coord_origin=CoordOrigin.TOPLEFT)
    data = TableData(
        num_rows=2,
        num_cols=2,
        table_cells=[
            cell("Price", 0, 0, 2, column_header=True),
            cell("10", 1, 0, bbox=own),
            cell("12", 1, 1),
        ],
    )
    document.add_table(data, prov=at(20, 360, 180, 320))
    return document.export_to_dict()


def test_a_document(reading):
    (document,) = reading.parse(Path("a.json"), json.dumps(written()).encode())
    format_files.check_spans(document)
    assert format_files.texts(document) == [
        ("heading", "Fees"),
        ("paragraph", "They are due."),
        ("furniture", "Page 1"),
        ("paragraph", "Below."),
        ("figure", "Figure 1. Boat."),
        ("table_row", "Price\t"),
        ("table_row", "10\t12"),
    ]
    assert format_files.cells(document) == [[("Price", "10"), ("Price", "12")]]
    (box,) = document.blocks[1].boxes
    assert (box.left, box.top, box.right, box.bottom) == (0.1, 0.125, 0.5, 0.25)
    (box,) = document.blocks[-1].cells[0].boxes
    assert (box.left, box.top, box.right, box.bottom) == (0.1, 0.1, 0.3, 0.125)
    assert document.blocks[3].attributes == {"type": "footnote"}


def test_chunks_of_a_document_keep_all_pages(reading):
    items = [
        {
            "label": "text",
            "prov": [
                {
                    "page_no": page,
                    "bbox": {"l": 61.2, "t": 792, "r": 306, "b": 396},
                    "charspan": [0, 4],
                }
            ],
        }
        for page in (1, 2)
    ]
    kind = "docling_core.transforms.chunker.DocMeta"
    told = {"schema_name": kind, "headings": ["Fees"], "doc_items": items}
    told["origin"] = {"filename": "fees.pdf"}
    source = json.dumps([{"id": 0, "text": "Due now.", "metadata": told}]).encode()
    (document,) = reading.parse(Path("a.json"), source)
    assert document.title == "fees"
    block = document.blocks[1]
    assert (block.section, block.page, block.end_page) == ("Fees", 1, 2)
    box = block.boxes[0]
    assert (box.left, box.top, box.right, box.bottom) == (0.1, 0.0, 0.5, 0.5)
    assert "has no page sizes" in document.warnings[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": "99.0.0"}, "known version"),
        ({"texts": []}, "are inconsistent"),
    ],
)
def test_documents_that_are_refused(change, reason, reading):
    source = json.dumps({**written(), **change}).encode()
    with pytest.raises(LoadError, match=reason):
        reading.parse(Path("a.json"), source)

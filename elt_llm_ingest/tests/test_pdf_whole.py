"""Nothing a PDF says gets lost, moved or mistaken for a header."""

import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf import document as pdf
from elt_llm_ingest.readers.pdf.lost_words import _find_lost

COUNTRIES = ("Austria", "Belgium", "Denmark", "Finland", "Greece", "Sweden")
INTRO = "The harbours of the coast were counted twice, in two years of the decade."
END = "The numbers are those which the harbour offices sent in by the end of the year."


def counted_pdf(path: Path) -> Path:
    """A page with a table in which dots stand for numbers nobody knows."""
    canvas = Canvas(str(path), pagesize=A4, invariant=True)
    canvas.setFont("Helvetica", 11)
    canvas.drawString(72, 770, INTRO)
    canvas.drawString(180, 720, "Table 6.8: Harbours of the member states")
    for row, name in enumerate(COUNTRIES):
        y = 690 - 16 * row
        canvas.drawString(110, y, name)
        for column in range(4):
            said = ".." if row in (1, 3, 4) else f"{24900 + 100 * row + column}"
            canvas.drawRightString(270 + 70 * column, y, said)
    canvas.drawString(72, 540, END)
    canvas.save()
    return path


def parsed(path: Path) -> ParsedDocument:
    (document,) = pdf.parse(path, path.read_bytes(), Limits())
    return document


def searched(document: ParsedDocument) -> str:
    kept = (BlockKind.CONTENTS, BlockKind.FURNITURE)
    return "\n".join(said(document, b) for b in document.blocks if b.kind not in kept)


def said(document: ParsedDocument, block: Block) -> str:
    return document.text[block.start : block.end]


def real(name: str) -> ParsedDocument:
    root = os.environ.get("ELT_LLM_EVAL_DATA")
    if not root:
        pytest.skip("ELT_LLM_EVAL_DATA is not set")
    return parsed(Path(root) / name)


def test_dots_for_unknown_numbers_make_no_table_of_contents(tmp_path):
    document = parsed(counted_pdf(tmp_path / "counted.pdf"))
    for words in (INTRO, "Table 6.8", "24900", "25403", "Greece", END):
        assert words in searched(document)
    assert document.warnings == ()


def test_a_table_the_layout_lost_is_recovered_where_it_stood(tmp_path, monkeypatch):
    whole = pdf.layout_batches

    def without_table(*args):
        page = next(whole(*args)).pages[0]
        names = ("page_num", "width", "height", "page_label", "text")
        page = SimpleNamespace(
            **{name: getattr(page, name) for name in names},
            text_items=[i for i in page.text_items if not 140 < i.y < 290],
            blocks=[b for b in page.blocks if not 140 < b.bbox.y < 290],
        )
        yield SimpleNamespace(pages=[page], num_pages=1, page_errors=[])

    monkeypatch.setattr(pdf, "layout_batches", without_table)
    document = parsed(counted_pdf(tmp_path / "counted.pdf"))
    kept = [said(document, b) for b in document.blocks]
    assert kept[0].startswith(INTRO)
    assert kept[-1] == END
    for words in (*COUNTRIES, "24900", "25403", ".."):
        assert words in "\n".join(kept[1:-1])
    assert len(document.warnings) == 1
    found = re.fullmatch(
        r"page 1: (\d+) words were recovered from the plain text layer",
        document.warnings[0],
    )
    assert found
    assert int(found.group(1)) >= 18
    at = document.text.index("24900")
    (box,) = [w[2:] for w in document.pages[0].words if w[0] <= at < w[1]]
    width, height = A4
    assert box[2] * width == pytest.approx(270, abs=2)
    assert box[1] * height < height - 690 < box[3] * height + 2


@pytest.mark.parametrize(
    ("ours", "theirs", "less"),
    [
        ("A benefit was seen", "A bene!t was seen", False),
        ("The food is dear", "The fo od is dear", False),
        ("Fees ... 12", "Fees ........ ... 12", False),
        ("The food", "The food is 249 pounds", True),
        ("The year 1993 is old", "The year 3,909 is old", True),
    ],
)
def test_other_spellings_are_no_loss(ours: str, theirs: str, less: bool) -> None:
    assert bool(_find_lost(ours, theirs.split())) is less


@pytest.mark.data
def test_a_real_table_with_dots_is_searched():
    text = searched(real("tables_icdar2013_eu/eu-004.pdf"))
    for words in ("24900", "113940", "Franchising across the member states"):
        assert words in text


@pytest.mark.data
def test_rows_of_numbers_are_no_headers():
    document = real("financebench/AMCOR_2023Q4_EARNINGS.pdf")
    rows = [b for b in document.blocks if b.page == 8 and b.cells]
    data = [b for b in rows if not b.attributes]
    assert said(document, data[0]).startswith("Net sales\t3,909\t")
    spans = ("Three Months Ended June 30,", "Twelve Months Ended June 30,")
    headers = [f"{span} / {year}" for span in spans for year in (2022, 2023)]
    assert all([c.header for c in b.cells][1:] == headers for b in data)


def test_numbered_headings_stand_under_their_chapters():
    from importlib.util import find_spec

    spec = find_spec("elt_llm_consumer")
    folder = Path(next(iter(spec.submodule_search_locations or []))) if spec else None
    files = sorted(folder.glob("packs/*/handbook.pdf")) if folder else []
    if not files:
        pytest.skip("no pack is installed")
    document = parsed(files[0])
    seen = 0
    for block in document.blocks:
        number = re.match(r"([0-9]+)\.[0-9]+ ", said(document, block))
        if block.kind is BlockKind.HEADING and number:
            assert block.section.startswith(f"{number.group(1)} - ")
            seen += 1
    assert seen > 20
    assert document.warnings == ()

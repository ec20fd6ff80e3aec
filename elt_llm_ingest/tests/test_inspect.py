"""`elt-llm inspect`: what was read, as JSON, for people, and drawn on the page."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image
from reportlab.lib.utils import ImageReader

import format_files
from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.errors import UsageError
from elt_llm_ingest.cli import inspect
from elt_llm_ingest.inspecting.inspection import (
    inspection_record,
    keep_page,
    render_view,
)
from elt_llm_ingest.inspecting.picture import COLOURS, draw_boxes
from pdf_pages import WORDS, canvas_of, parsed, prose

TABLE = "# Guide\n\nTable 1. Fees\n\n| Item | Fee |\n| --- | --- |\n| Berth | 20 |\n"


def run(*arguments: str):
    return CliRunner().invoke(inspect, [*arguments, "--quiet"], catch_exceptions=False)


def test_everything_is_told_as_json(tmp_path):
    path = tmp_path / "guide.md"
    path.write_text(TABLE)
    done = run(str(path), "--json", "--data-dir", str(tmp_path / "data"))
    (found,) = json.loads(done.output)["documents"]
    assert (found["loader"], found["title"]) == ("markdown", "Guide")
    assert [s["text"] for s in found["sections"]] == ["Guide"]
    (table,) = found["tables"]
    texts = [[cell["text"] for cell in row["cells"]] for row in table["rows"]]
    assert texts == [["Item", "Fee"], ["Berth", "20"]]
    assert [row["header"] for row in table["rows"]] == [True, False]
    assert any("Berth" in chunk["text"] for chunk in found["chunks"])
    assert all(chunk["end"] > chunk["start"] for chunk in found["chunks"])
    assert not (tmp_path / "data").exists()


def test_people_see_the_beginning_and_how_to_see_the_rest(reading):
    text = "# A\n\n" + "\n\n".join(f"Paragraph {n}." for n in range(60))
    (document,) = reading.parse(Path("a.md"), text.encode())
    found = inspection_record(document, "markdown", [])
    lines = render_view(found).split("\n")
    assert lines[1].endswith("0 pages; 1 heading, 60 paragraph")
    assert lines[-1] == "  ... 21 more; --all shows them"
    assert render_view(found, everything=True).count("Paragraph") == 60


def test_the_picture_has_a_box_where_a_word_is(tmp_path, reading):
    data = format_files.page_pdf(["Harbour rules are here."])
    (document,) = reading.parse(Path("a.pdf"), data)
    plain = Image.open(
        io.BytesIO(draw_boxes(Path("a.pdf"), data, without(document), 1))
    )
    drawn = Image.open(io.BytesIO(draw_boxes(Path("a.pdf"), data, document, 1)))
    left, top = document.pages[0].words[0][2:4]
    colour = COLOURS[document.blocks[0].kind]
    place = round(left * drawn.width), round(top * drawn.height)
    near = [
        (place[0] + dx, place[1] + dy) for dx in range(-3, 4) for dy in range(-3, 4)
    ]
    assert colour in [drawn.getpixel(at) for at in near]
    assert colour not in [plain.getpixel(at) for at in near]


def test_a_figure_is_drawn_around_its_picture_and_around_its_caption(tmp_path):
    path = tmp_path / "a.pdf"
    canvas = canvas_of(path)
    picture = ImageReader(Image.new("RGB", (40, 20), "navy"))
    prose(canvas, 780, [WORDS, WORDS])
    canvas.drawImage(picture, 100, 500, 300, 150)
    canvas.drawString(100, 480, "Figure 1: The coast from the north")
    prose(canvas, 440, [WORDS])
    canvas.save()
    document = parsed(path)
    page = document.pages[0]
    (figure,) = inspection_record(document, "pdf", [])["figures"]
    shown_picture, caption = figure["boxes"]
    sides = [shown_picture[side] * page.width for side in ("left", "right")]
    assert sides == pytest.approx([100, 400], abs=2)
    assert shown_picture["bottom"] < caption["top"] < caption["bottom"]
    drawn = Image.open(io.BytesIO(draw_boxes(path, path.read_bytes(), document, 1)))
    colour = COLOURS[BlockKind.FIGURE]
    for box in (shown_picture, caption):
        left, top = round(box["left"] * drawn.width), round(box["top"] * drawn.height)
        near = [(left + dx, top + dy) for dx in range(-3, 4) for dy in range(-3, 4)]
        assert colour in [drawn.getpixel(at) for at in near]


def without(document: ParsedDocument) -> ParsedDocument:
    return document.model_copy(update={"blocks": []})


def test_a_file_without_pages_says_so(reading):
    (document,) = reading.parse(Path("a.md"), TABLE.encode())
    with pytest.raises(UsageError, match="no page 1 to draw; files of this kind have"):
        draw_boxes(Path("a.md"), TABLE.encode(), document, 1)


def test_the_command_draws_and_checks_its_options(tmp_path):
    path, png = tmp_path / "a.pdf", tmp_path / "out.png"
    path.write_bytes(format_files.page_pdf(["Harbour rules are here."]))
    done = run(str(path), "--page", "1", "--png", str(png))
    assert "1 pages; " in done.output
    with Image.open(png) as image:
        assert max(image.size) == 1600
    with pytest.raises(UsageError, match="--png needs a page"):
        run(str(path), "--png", str(png))
    with pytest.raises(UsageError, match="it has pages 1 to 1"):
        run(str(path), "--page", "2", "--png", str(png))


def test_a_page_on_which_the_file_and_the_layout_disagree_is_marked(tmp_path):
    """The file has first every second line of the page, then those between."""
    path = tmp_path / "doubtful.pdf"
    canvas = canvas_of(path)
    lines = [f"line {n} of text that goes on and on in the year" for n in range(24)]
    for n in (*range(0, 24, 2), *range(1, 24, 2)):
        canvas.drawString(72, 780 - 13 * n, lines[n])
    canvas.save()
    done = run(str(path), "--json", "--data-dir", str(tmp_path / "data"))
    (found,) = json.loads(done.output)["documents"]
    assert [page["reading_order"] for page in found["pages"]] == ["doubtful"]
    assert [w for w in found["warnings"] if "reading order is doubtful" in w]
    assert {chunk["reading_order"] for chunk in found["chunks"]} == {"doubtful"}
    said = run(str(path), "--data-dir", str(tmp_path / "data")).output
    assert "page 1: its reading order is doubtful" in said
    document = parsed(path)
    plain = document.model_copy(
        update={
            "blocks": [b.model_copy(update={"attributes": {}}) for b in document.blocks]
        }
    )
    data = path.read_bytes()
    assert draw_boxes(path, data, document, 1) != draw_boxes(path, data, plain, 1)


def test_a_page_is_shown_with_its_whole_text(tmp_path):
    path = tmp_path / "two.pdf"
    canvas = canvas_of(path)
    for text in ("First things are told here.", "Then the second page."):
        prose(canvas, 700, [text])
        canvas.showPage()
    canvas.save()
    shown = run(str(path), "--page", "2").output
    assert "page 2" in shown
    assert "Then the second page." in shown
    assert "First things" not in shown
    (record,) = json.loads(run(str(path), "--page", "1", "--json").output)["documents"]
    assert [page["number"] for page in record["pages"]] == [1]
    assert {block["page"] for block in record["blocks"]} == {1}
    with pytest.raises(UsageError, match="has no page 3"):
        run(str(path), "--page", "3")


def pages_of(title, count):
    pages = range(1, count + 1)
    blocks = [{"text": f"{title} {n}", "page": n} for n in pages]
    parts = ("sections", "tables", "figures", "furniture", "chunks")
    record = {part: [] for part in parts} | {"title": title, "blocks": blocks}
    return record | {"pages": [{"number": n} for n in pages]}


@pytest.mark.parametrize(
    ("page", "titles"), [(1, ["Cover", "Annex"]), (2, ["Annex"]), (3, ["Annex"])]
)
def test_a_page_is_kept_of_the_parts_that_have_it(page, titles):
    records = [pages_of("Cover", 1), pages_of("Annex", 3), pages_of("Note", 0)]
    kept = keep_page(records, page, "bundle.eml")
    assert [one["title"] for one in kept] == titles
    assert [b["text"] for one in kept for b in one["blocks"]] == [
        f"{title} {page}" for title in titles
    ]


@pytest.mark.parametrize(("counts", "known"), [((1, 3), "1 to 3"), ((0, 0), "none")])
def test_a_page_that_no_part_has_is_refused(counts, known):
    records = [pages_of("Part", count) for count in counts]
    with pytest.raises(UsageError) as caught:
        keep_page(records, 4, "bundle.eml")
    assert caught.value.hint == f"its pages: {known}"


def test_the_process_that_draws_a_page_starts_without_the_models_of_documents():
    code = "import sys, elt_llm_ingest.inspecting.render_page\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "elt_llm_ingest.sandbox.framing" in done.stdout
    assert not {"pydantic", "elt_llm_core.document"} & {*done.stdout.split()}

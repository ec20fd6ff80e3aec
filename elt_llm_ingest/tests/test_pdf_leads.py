"""Run-in headings end the path of their paragraph; numbered capitals are headings."""

from pathlib import Path

import pytest

from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_ingest.readers.pdf.blocks import is_capitals_heading
from pdf_pages import canvas_of, parsed, prose

BODY = "applies to every boat in the harbour and to all who work on one of them,"
REST = "whether they are paid or not, and in every season of the year."


def made(path: Path, *paragraphs: tuple[str, str]) -> ParsedDocument:
    """Each paragraph: its bold words, then the others."""
    canvas = canvas_of(path)
    canvas.setFont("Helvetica-Bold", 14)
    canvas.drawString(72, 780, "Harbour rules")
    y = 740
    for bold, plain in paragraphs:
        line = canvas.beginText(72, y)
        line.setFont("Helvetica-Bold", 10)
        line.textOut(bold)
        line.setFont("Helvetica", 10)
        line.textOut(plain)
        canvas.drawText(line)
        canvas.setFont("Helvetica", 10)
        prose(canvas, y - 13, [REST])
        y -= 50
    canvas.save()
    return parsed(path)


def last(document: ParsedDocument) -> Block:
    return document.blocks[-1]


@pytest.mark.parametrize(
    ("bold", "plain", "lead"),
    [
        ("Scope.", f" This rule {BODY}", "Scope"),
        ("Scope and aim:", f" This rule {BODY}", "Scope and aim"),
        ("(b) Scope.", f" This rule {BODY}", "Scope"),
        ("Boats", f" means what {BODY}", ""),  # a term that begins a sentence
        ("Scope.", f" this {BODY}", ""),  # the sentence goes on
        ("Note:", f" This rule {BODY}", ""),
        ("Table 2.", f" This rule {BODY}", ""),
        ("Every boat must carry lights. All of it is bold.", "", ""),
    ],
)
def test_a_run_in_heading_ends_the_path_of_its_paragraph(tmp_path, bold, plain, lead):
    paragraphs = [("", f"This rule {BODY}"), (bold, plain)]
    document = made(tmp_path / "a.pdf", *paragraphs)
    text = " ".join(document.text.split())
    assert f"{bold}{plain} {REST}".strip() in text, "no word is moved or lost"
    assert last(document).kind is not BlockKind.HEADING
    path = ["Harbour rules", lead] if lead else ["Harbour rules"]
    assert last(document).section == " > ".join(path)


def test_the_path_ends_with_the_paragraph_and_numbers_go_on(tmp_path):
    paragraphs = [
        ("", f"3.2.1 This rule {BODY}"),
        ("(a) Scope.", f" This rule {BODY}"),
        ("", f"(b) This rule {BODY}"),
    ]
    blocks = made(tmp_path / "a.pdf", *paragraphs).blocks[1:]
    assert [b.number for b in blocks] == ["3.2.1", "3.2.1(a)", "3.2.1(b)"]
    assert [b.section.rpartition(" > ")[2] for b in blocks] == [
        "Harbour rules", "Scope", "Harbour rules",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "below", "heading"),
    [
        ("3. SCOPE", "This rule applies.", True),
        ("2.1 SCOPE AND AIM", "This rule applies.", True),
        ("IV. SCOPE", "This rule applies.", True),
        ("5 MG DAILY", "With water.", False),
        ("12. SMITH J", "On tides. 2001.", False),
        ("3. SCOPE", "4. AIM", False),
        ("3. DNA", "Is a molecule.", False),
        ("3. SCOPE, AND MORE", "This rule applies.", False),
        ("3. Scope", "This rule applies.", False),
    ],
)
def test_numbered_capitals_are_headings_and_doses_and_names_none(line, below, heading):
    assert is_capitals_heading(line, below) == heading


def test_numbered_capitals_of_the_body_size_open_a_section(tmp_path):
    canvas = canvas_of(tmp_path / "a.pdf")
    prose(canvas, 780, ["1. SCOPE", f"This rule {BODY}", REST])
    prose(canvas, 741, ["2. LIGHTS", f"That rule {BODY}", REST])
    canvas.save()
    found = parsed(tmp_path / "a.pdf").blocks
    assert [b.section for b in found] == [
        "1. SCOPE", "1. SCOPE", "2. LIGHTS", "2. LIGHTS",
    ]  # fmt: skip

"""Markdown, HTML, text, CSV and Office files keep their words and their structure."""

import io
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest

from elt_llm_core.document import ParsedDocument
from elt_llm_ingest.loaders import LOADERS
from elt_llm_ingest.readers.text_file import paragraphs

MARKDOWN = """---
title: "Harbour Guide"
layout: default
---

# Guide {#top}
{: .no_toc}

The **fee** is due[^1] {{ site.name }} at <b>noon</b>.

## Terms

Club
: A body of [members](m.md).

1. First thing
   goes on
2. Second
    - 2a) Nested

Table 1. Fees

| Item | Fee |
| --- | --- |
| Berth | 20 |
| Crane | `<10>` |

```
x <y> = {{1}}
```

[^1]: Not on Sundays.
"""


def rows(document: ParsedDocument) -> list[tuple[str, int, str, str]]:
    return [
        (b.kind.value, b.level, b.section, document.text[b.start : b.end])
        for b in document.blocks
    ]


def test_markdown(reading):
    (document,) = reading.parse(Path("guide.md"), MARKDOWN.encode())
    assert document.title == "Harbour Guide"
    guide, terms = "Guide", "Guide > Terms"
    assert rows(document) == [
        ("heading", 1, guide, "Guide"),
        ("paragraph", 0, guide, "The fee is due at noon."),
        ("heading", 2, terms, "Terms"),
        ("paragraph", 0, terms, "Club\n: A body of members."),
        ("list_item", 0, terms, "1. First thing\ngoes on"),
        ("list_item", 0, terms, "2. Second"),
        ("list_item", 0, terms, "2a) Nested"),
        ("caption", 0, terms, "Table 1. Fees"),
        ("table_row", 0, terms, "Item\tFee"),
        ("table_row", 0, terms, "Berth\t20"),
        ("table_row", 0, terms, "Crane\t<10>"),
        ("code", 0, terms, "x <y> = {{1}}"),
        ("paragraph", 0, terms, "Not on Sundays."),
    ]
    assert document.blocks[-1].attributes == {"type": "footnote", "id": "1"}
    row = document.blocks[-3]
    assert row.table == "Table 1. Fees"
    assert [c.header for c in row.cells] == ["Item", "Fee"]


STATED = """\
<html><head><title>Glazes | Kiln Society</title>
<meta name="citation_title" content="Glazes of the north">
<meta name="citation_author" content="Roe, Ann">
<meta name="citation_author" content="Li, Bo">
<meta property="article:author" content="https://example.org/roe">
<meta name="DC.date" content="2019"><meta name="citation_date" content="2019/4/3">
<meta name="viewport" content="width=device-width">
</head><body><p>A glaze is a coat of glass.</p>
<meta itemprop="author" content="Nobody"></body></html>
"""


def test_html_metadata(reading):
    (document,) = reading.parse(Path("a.html"), STATED.encode())
    assert document.title == "Glazes | Kiln Society"
    assert document.attributes == {
        "stated_title": "Glazes of the north",
        "authors": "Roe, Ann; Li, Bo",
        "date": "2019-04-03",
    }
    plain = "<title>Glazes</title><meta name=date content='last May'><p>Glass.</p>"
    (document,) = reading.parse(Path("a.html"), plain.encode())
    assert document.attributes == {"stated_title": "Glazes"}


def test_html(reading):
    page = (
        "<html><head><title>Guide</title><style>p{}</style></head><body><nav>menu</nav>"
        "<h1>Rules</h1><p>Fee &amp; <b>fine</b>s<br>apply.</p><ol><li>one<li>two</ol>"
        "<script>alert(1)</script><table><caption>Fees</caption><tr><th>A<th>B</tr>"
        "<tr><td>1<td>x</tr></table><table><tr><td>layout"
    )
    (document,) = reading.parse(Path("a.html"), page.encode())
    assert document.title == "Guide"
    assert [(kind, text) for kind, _, _, text in rows(document)] == [
        ("furniture", "menu"),
        ("heading", "Rules"),
        ("paragraph", "Fee & fines\napply."),
        ("list_item", "1. one"),
        ("list_item", "2. two"),
        ("caption", "Fees"),
        ("table_row", "A\tB"),
        ("table_row", "1\tx"),
        ("paragraph", "layout"),
    ]


def test_definition_list_of_a_page(reading):
    page = (
        "<h1>Parts</h1><dl><dt>Keel<dd>The lowest beam.<p>It is of oak.</p><dt>Luff"
        "<dt>Leech<dd>An edge.<dt>Knots<dd><table><tr><td>Bowline<td>fixed</tr></table>"
        "</dl><dl><dt>Boom</dl><p>End."
    )
    (document,) = reading.parse(Path("a.html"), page.encode())
    assert [(kind, text) for kind, _, _, text in rows(document)][1:] == [
        ("paragraph", "Keel\n: The lowest beam."),
        ("paragraph", "It is of oak."),
        ("paragraph", "Luff"),
        ("paragraph", "Leech\n: An edge."),
        ("paragraph", "Knots"),
        ("table_row", "Bowline\tfixed"),
        ("paragraph", "Boom"),
        ("paragraph", "End."),
    ]


@pytest.mark.parametrize(
    ("page", "blocks"),
    [
        ("<dl><dt>A<dd></dd><dt>B<dd>b</dl>", ["A", "B\n: b"]),
        (
            "<dl><dt>A<dd><dl><dt>In<dd>in it</dl></dd></dl><p>y",
            ["A", "In\n: in it", "y"],
        ),
        ('<dl><dt>A<dd><img alt="pic"></dd></dl><p>y', ["A", "y"]),
    ],
)
def test_a_term_without_a_description_stays_apart(reading, page, blocks):
    (document,) = reading.parse(Path("a.html"), page.encode())
    assert [text for _, _, _, text in rows(document)] == blocks


def test_text(reading):
    source = (
        "1 Scope\n\nThese rules apply.\nTo all.\n\n1.1 Fees\n\n(a) a fee\n\fNew page."
    )
    (document,) = reading.parse(Path("rules.txt"), source.encode())
    assert rows(document) == [
        ("heading", 1, "1 Scope", "1 Scope"),
        ("paragraph", 0, "1 Scope", "These rules apply.\nTo all."),
        ("heading", 2, "1 Scope > 1.1 Fees", "1.1 Fees"),
        ("list_item", 0, "1 Scope > 1.1 Fees", "(a) a fee"),
        ("paragraph", 0, "1 Scope > 1.1 Fees", "New page."),
    ]


def test_text_in_an_old_encoding_is_read_with_a_warning(reading):
    (document,) = reading.parse(Path("old.txt"), "Prämie".encode("cp1252"))
    assert document.text == "Prämie"
    assert "Windows-1252" in document.warnings[0]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_csv(reading, mark):
    lines = [["Name", "Fee"], ["Berth 1", "20"], ["Berth 2", ""], ["Berth 3", "7"]]
    data = "\n".join(mark.join(line) for line in lines).encode()
    (document,) = reading.parse(Path("fees.csv"), data)
    assert document.text == "Name\tFee\nBerth 1\t20\nBerth 2\t\nBerth 3\t7"
    assert [b.attributes.get("row") for b in document.blocks] == ["header", *[None] * 3]
    assert [c.header for c in document.blocks[1].cells] == ["Name", "Fee"]


def test_word(reading):
    file = docx.Document()
    file.add_heading("1 Scope", 1)
    paragraph = file.add_paragraph('The "')
    paragraph.add_run("Club").bold = True
    paragraph.add_run('" means all of us.')
    file.add_paragraph("First", style="List Number")
    table = file.add_table(2, 2)
    for cell, text in zip(table._cells, ["Term", "Text", "Fee", "A sum."], strict=True):
        cell.text = text
    buffer = io.BytesIO()
    file.save(buffer)
    (document,) = reading.parse(Path("a.docx"), buffer.getvalue())
    assert [(kind, text) for kind, _, _, text in rows(document)] == [
        ("heading", "1 Scope"),
        ("paragraph", 'The "Club" means all of us.'),
        ("list_item", "1. First"),
        ("table_row", "Term\tText"),
        ("table_row", "Fee\tA sum."),
    ]


def test_slides_are_pages(reading):
    file = pptx.Presentation()
    for title in ("Fees", "Fines"):
        slide = file.slides.add_slide(file.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = f"{title} are due."
    buffer = io.BytesIO()
    file.save(buffer)
    (document,) = reading.parse(Path("a.pptx"), buffer.getvalue())
    assert [b.page for b in document.blocks] == [1, 1, 2, 2]
    assert len(document.pages) == 2
    assert (document.pages[0].width, document.pages[0].height) == (720, 540)
    assert all(box.right > box.left for b in document.blocks for box in b.boxes)


def test_sheets_are_pages(reading):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Fees"
    for row in (["Fees of 2026"], ["Item", "Fee"], ["Berth", 20.0], [], ["Note"]):
        sheet.append(row)
    book.create_sheet("Empty")
    buffer = io.BytesIO()
    book.save(buffer)
    (document,) = reading.parse(Path("a.xlsx"), buffer.getvalue())
    assert [(kind, text) for kind, _, _, text in rows(document)] == [
        ("heading", "Fees"),
        ("paragraph", "Fees of 2026"),
        ("table_row", "Item\tFee"),
        ("table_row", "Berth\t20"),
        ("paragraph", "Note"),
    ]
    assert document.blocks[3].table == "Fees of 2026"
    assert [(p.number, p.label) for p in document.pages] == [(1, "Fees"), (2, "Empty")]


def test_every_loader_is_a_llama_index_reader(tmp_path, models):
    path = tmp_path / "guide.md"
    path.write_text(MARKDOWN)
    assert sorted(LOADERS.known()) == [
        "ade", "archimate", "csv", "docling_json", "epub", "html", "image", "jats",
        "leanix_drawio", "leanix_inventory", "mail", "markdown", "office", "pdf",
        "spreadsheet", "text",
    ]  # fmt: skip
    reader = LOADERS.load("markdown").build(models)
    (document,) = reader.load_data(path)
    assert document.text.startswith("Guide\n\n")
    assert document.metadata["title"] == "Harbour Guide"


def test_millions_of_blanks_are_passed_over_in_one_go():
    """A pattern that looks for their end from each blank would take hours."""
    blanks = " " * 3_000_000
    assert list(paragraphs(blanks)) == []
    assert list(paragraphs(f"A fee.\n{blanks}\n\fA fine.")) == ["A fee.", "A fine."]

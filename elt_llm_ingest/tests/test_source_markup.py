"""The text of a document is what people read: no markup, no marks of notes."""

import io
import re
from pathlib import Path

import docx
import pptx
import pytest

import format_files
from elt_llm_core.provenance import read
from elt_llm_core.testing import HashEmbedding
from elt_llm_ingest.chunkers.section_aware import SectionAwareChunker


def shown(reading, name: str, data: str | bytes) -> list[str]:
    (document,) = reading.parse(
        Path(name), data.encode() if isinstance(data, str) else data
    )
    return [text for _, text in format_files.texts(document)]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("See [Regulation 2i](regulations:regulation:2i).", "See Regulation 2i."),
        ("See [*this* `a_b`](x \"A title\") and <https://a.org/x>.",
         "See this a_b and https://a.org/x."),
        ("[A]({{ site.url }}/p) [text][ref]\n\n[ref]: https://a.org", "A text"),
        (r"A fee of \$10 million &amp; more &mdash; \*not\* less",
         "A fee of $10 million & more \u2014 *not* less"),
        ("A _specific_ **rule** is __due__ *today*.", "A specific rule is due today."),
        ("`a_b_ *c* &amp; \\$` stays", "a_b_ *c* &amp; \\$ stays"),
        ("2*3*4 = 24, 5*x + 6*y, snake_case", "2*3*4 = 24, 5*x + 6*y, snake_case"),
        ("![A map of the harbour](map.png)", "A map of the harbour"),
        (r"a < b, &lt;b&gt; and \<b>", "a < b, <b> and <b>"),
        ("2i) Rule\n7) x", "2i) Rule\n7) x"),
        ("Penalty:\\\n\\+ 3 days", "Penalty:\n+ 3 days"),
        (r"1\. Not a list", "1. Not a list"),
        ("[Fee]: twenty", "[Fee]: twenty"),
        ("[S1] and [3] are words", "[S1] and [3] are words"),
        ("Regex [^0-9] stays", "Regex [^0-9] stays"),
        ("a project.<sup>10</sup> It is 3 m<sup>2</sup>", "a project. It is 3 m\u00b2"),
        ("the 1<sup>st</sup> of May<sup>[[3]](#n3)</sup>", "the 1st of May"),
    ],
)  # fmt: skip
def test_markdown_reads_as_it_is_shown(reading, source, text):
    assert shown(reading, "a.md", source) == [text]


def test_signs_of_permalinks_are_no_part_of_a_heading(reading):
    page = (
        '<h1>Files<a class="headerlink" href="#files">\u00b6</a></h1>'
        '<h2><a href="#x">#</a> Names of <a href="#y">users</a></h2>'
        '<p>See <a href="#n">7</a>, <a href="#m">A</a> and <a href="/m">\u00a7</a>.</p>'
    )
    assert shown(reading, "a.html", page) == [
        "Files", "Names of users", "See 7, A and \u00a7.",
    ]  # fmt: skip


def test_notes_of_markdown_are_paragraphs_without_their_marks(reading):
    source = "A fee[^1] and a fine.[^late]\n\n[^1]: Or _less_.\n[^late]: After noon."
    assert shown(reading, "a.md", source) == [
        "A fee and a fine.", "Or less.", "After noon.",
    ]  # fmt: skip


def test_markup_within_headings_and_cells_of_markdown(reading):
    source = (
        "# The [_fee_](x)\n\n| *Item* | Fee |\n|---|---|\n| [Crane](c) | \\$3\\|4 |"
    )
    (document,) = reading.parse(Path("a.md"), source.encode())
    assert document.title == "The fee"
    assert format_files.texts(document) == [
        ("heading", "The fee"),
        ("table_row", "Item\tFee"),
        ("table_row", "Crane\t$3|4"),
    ]  # fmt: skip
    assert [c.header for c in document.blocks[-1].cells] == ["Item", "Fee"]
    assert document.blocks[-1].section == "The fee"


def test_chunks_are_slices_of_the_text_without_markup(reading):
    source = "# Rules\n\n" + "\n\n".join(
        f"- {n}a) See [rule {n}b](r:{n}) &amp; pay _now_ \\$5[^1]." for n in range(90)
    )
    (document,) = reading.parse(Path("a.md"), f"{source}\n\n[^1]: Cash.".encode())
    nodes = [*SectionAwareChunker(count=HashEmbedding().count_tokens).chunk(document)]
    assert len(nodes) > 1
    for node in nodes:
        place = read(node)
        assert document.text[place.span_start : place.span_end] == node.text
    assert "8a) See rule 8b & pay now $5." in document.text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("the project.<sup>10</sup> It", "the project. It"),
        ("a note<sup><a href='#f1'>1</a></sup> here", "a note here"),
        ("a note<a role='doc-noteref' href='n#1'><sup>*</sup></a> here", "a note here"),
        ("x<sup class='reference'><a href='#c'>[1]</a></sup><sup>[2]</sup> y", "x y"),
        ("3 m<sup>2</sup>, metres<sup>2</sup>, 10<sup>\u22123</sup>, Ca<sup>2+</sup>",
         "3 m\u00b2, metres\u00b2, 10\u207b\u00b3, Ca\u00b2\u207a"),
        ("1<sup>st</sup>, Acme<sup>TM</sup>, H<sub>2</sub>O", "1st, AcmeTM, H2O"),
        ("see section <a href='#s3'>3</a> and [S1]", "see section 3 and [S1]"),
        ("an open <sup>2 tag", "an open 2 tag"),
    ],
)  # fmt: skip
def test_raised_text_of_a_page_is_a_power_or_gone(reading, source, text):
    assert shown(reading, "a.html", f"<p>{source}</p>") == [text]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Colds [{3}, {2}] are [{2}\u2013{5}] common {[4]}.", "Colds are common."),
        ("Noses<sup>{1},{2}</sup> run.<sup>12</sup> Far", "Noses run. Far"),
        ("As {Smith (2010)} said ({Roe, 2011}).", "As Smith (2010) said (Roe, 2011)."),
        ("3 m<sup>2</sup> at 10<sup>-3</sup>", "3 m\u00b2 at 10\u207b\u00b3"),
        ("see Table <xref ref-type='table' rid='t'>1</xref>", "see Table 1"),
        ("late<xref ref-type='fn' rid='f'><sup>a</sup></xref> is", "late is"),
    ],
)
def test_references_of_an_article_are_left_out(reading, source, text):
    body = source.replace("{", "<xref ref-type='bibr' rid='r'>").replace("}", "</xref>")
    article = (
        '<?xml version="1.0"?>'
        '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.2//EN" "JATS.dtd">'
        '<article article-type="research-article"><front/>'
        f"<body><p>{body}</p></body></article>"
    )
    assert shown(reading, "a.nxml", article) == [text]


def test_raised_runs_of_word_are_powers_or_gone(reading):
    document = docx.Document()
    cell = document.add_table(1, 2).cell(0, 0).paragraphs[0]
    for paragraph, said in (
        (
            document.add_paragraph(),
            "The project.^10^ Area: 3 m^2^, the 1^st^ word^4^ end.",
        ),
        (cell, "Cost^(1)^"),
    ):
        for index, text in enumerate(said.split("^")):
            paragraph.add_run(text).font.superscript = True if index % 2 else None
    document.tables[0].cell(0, 1).text = "5"
    file = io.BytesIO()
    document.save(file)
    assert shown(reading, "a.docx", file.getvalue()) == [
        "Cost\t5", "The project. Area: 3 m\u00b2, the 1st word end.",
    ]  # fmt: skip


def test_raised_runs_of_powerpoint_are_powers_or_gone(reading):
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = "Area"
    frame = slide.shapes.add_textbox(0, 0, 9_000_000, 900_000).text_frame
    cell = slide.shapes.add_table(1, 2, 0, 2_000_000, 9_000_000, 900_000).table
    said = "The project.^10^ Area: 3 m^2^, the 1^st^ word^4^ end, H_2_O."
    for paragraph, text in (
        (frame.paragraphs[0], said),
        (cell.cell(0, 0).text_frame.paragraphs[0], "Cost^(1)^"),
    ):
        for part in re.split(r"([\^_][^\^_]+[\^_])", text):
            run = paragraph.add_run()
            run.text = part.strip("^_")
            lift = {"^": "30000", "_": "-25000"}.get(part[:1])
            if lift:
                run._r.get_or_add_rPr().set("baseline", lift)
    cell.cell(0, 1).text = "5"
    file = io.BytesIO()
    slides.save(file)
    text = "\n".join(shown(reading, "a.pptx", file.getvalue()))
    assert "The project. Area: 3 m\u00b2, the 1st word end, H2O." in text
    assert "Cost\t5" in text

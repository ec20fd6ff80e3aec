"""Hostile files of the newer kinds, and sixty damaged ones: nothing hangs or dies."""

import io
import json
import zipfile
from pathlib import Path

import pytest

import format_files
from elt_llm_core.errors import LoadError
from elt_llm_ingest.readers.pdf.document import WARNING, describe_damage
from evaluation.mutations import mutate_files, run_mutations
from evaluation.sample_files import MAKERS, pdf, xlsx

LAUGHS = '<!DOCTYPE a [<!ENTITY b "cc"><!ENTITY d "&b;&b;">]><a>&d;</a>'
FETCH = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'
PARTS = {
    "a.docx": "word/document.xml",
    "a.epub": "META-INF/container.xml",
    "a.xlsx": "xl/workbook.xml",
}


@pytest.mark.parametrize("name", sorted(PARTS))
@pytest.mark.parametrize("part", [LAUGHS, FETCH])
def test_entities_are_refused(name, part, reading):
    with pytest.raises(LoadError, match="document type or entities"):
        reading.parse(Path(name), format_files.zipped({PARTS[name]: part}))


@pytest.mark.parametrize("name", sorted(PARTS))
def test_zip_bombs_are_refused(name, reading):
    bomb = format_files.zipped({PARTS[name]: "<a/>", "big": bytes(30_000_000)})
    with pytest.raises(LoadError, match="times its size"):
        reading.parse(Path(name), bomb)


SPANS = "<tr>" + "<td rowspan=65000 colspan=1000>x" * 300 + "<tr><td>y" * 3000
CHUNK = {"type": "table", "markdown": "<table>" + SPANS}


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.html", ("<table>" + SPANS).encode(), 3300),
        ("a.json", json.dumps({"chunks": [CHUNK]}).encode(), 3300),
        ("b.html", b"<p>one</p>" + b"<!--" * 100_000, 1),
        ("c.html", b"<p>one" + b"<![CDATA[" * 100_000, 1),
        ("d.html", b"<p>one" + b"<table><tr><td>" * 20_000, 1),
        ("e.html", b"<p>one" + b"<" * 100_000, 1),
        ("f.html", b"<table><tr><td rowspan=" + b"9" * 6000 + b">one<td>x", 2),
    ],
)
def test_absurd_markup_is_read_all_the_same(name, data, words, reading):
    (document,) = reading.parse(Path(name), data)
    assert len(document.text.split()) >= words


@pytest.mark.parametrize("unit", ['"\\n', '","'])
def test_a_table_of_quotation_marks_is_read_in_time(unit, reading):
    # Reading it is under the time limit of `reading`.
    data = (f"a,b\n1,2\n{unit * 15_000}").encode()
    (document,) = reading.parse(Path("a.csv"), data)
    assert document.text.startswith("a\tb\n1\t2")


def test_an_endless_heading_is_a_paragraph(reading):
    data = f"# Fees\n\n# {'# ' * 50_000}\n\nThe fee is 3 euros.".encode()
    (document,) = reading.parse(Path("a.md"), data)
    assert {block.section for block in document.blocks} == {"Fees"}


def test_a_far_cell_without_content_costs_nothing(reading):
    source = zipfile.ZipFile(io.BytesIO(xlsx()))
    parts = {name: source.read(name) for name in source.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    far = b'<row r="1048576"><c r="XFD1048576"/></row></sheetData>'
    parts[sheet] = parts[sheet].replace(b"</sheetData>", far)
    (document,) = reading.parse(Path("a.xlsx"), format_files.zipped(parts))
    assert document.pages[0].height == 30


def test_a_repaired_pdf_is_marked(reading):
    sound = pdf()
    assert describe_damage(sound) == ()
    assert describe_damage(b"junk\n" + sound) == ()
    moved = sound.replace(b"startxref\n", b"startxref\n9")
    assert describe_damage(moved) == describe_damage(sound[:-7]) == (WARNING,)
    (document,) = reading.parse(Path("a.pdf"), moved)
    assert WARNING in document.warnings
    assert "The fee for a berth is 600 pounds" in document.text


def test_the_sound_files_are_sound(reading):
    for kind, makers in MAKERS.items():
        for make in makers:
            documents = reading.parse(Path("a" + kind), make())
            assert any(document.text for document in documents), make.__name__


def test_damaged_files_are_read_or_refused_with_a_reason():
    first = list(mutate_files(None, 10, seed=3))
    assert first == list(mutate_files(None, 10, seed=3))
    assert first != list(mutate_files(None, 10, seed=4))
    outcomes = run_mutations(None, count=60, seed=4)
    assert outcomes.passed, (outcomes.hangs, outcomes.unnamed)
    assert outcomes.files == 60 == outcomes.read + sum(outcomes.refused.values())
    assert outcomes.read > 10
    assert len(outcomes.refused) > 4
    assert not outcomes.crashes

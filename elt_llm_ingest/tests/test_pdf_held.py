"""A large PDF is read from a file, forgotten as it is read, and opened ahead."""

import mmap
import re
import tempfile
from pathlib import Path

import pypdfium2
import pytest

from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers import spool as holding
from elt_llm_ingest.readers.pdf import liteparse, pages
from elt_llm_ingest.readers.pdf.document import parse
from elt_llm_ingest.readers.pdf.liteparse import open_pdf
from elt_llm_ingest.readers.pdf.pdfium import prefetch_pages
from elt_llm_ingest.readers.spool import map_file, share_large_pdf
from elt_llm_ingest.sandbox.client import ReadingProcess
from pdf_pages import PAGES, long_pdf

pytestmark = pytest.mark.usefixtures("cold_children")


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    return long_pdf(tmp_path / "long.pdf")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go; every PDF is a large one."""
    found = tmp_path / "temporary"
    found.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(found))
    monkeypatch.setattr(holding, "LARGE", 1)
    return found


@pytest.mark.parametrize(("kept", "ahead"), [(1, 1), (5, 60), (500, 0)])
def test_nothing_shows_how_a_file_was_opened(long_file, monkeypatch, kept, ahead):
    whole = parse(long_file, long_file.read_bytes(), Limits())
    monkeypatch.setattr(liteparse, "BATCH", 4)
    monkeypatch.setattr(liteparse, "KEPT", kept)
    monkeypatch.setattr(pages, "AHEAD", ahead)
    assert parse(long_file, map_file(long_file), Limits()) == whole
    assert parse(long_file, long_file.read_bytes(), Limits()) == whole


def test_a_broken_page_is_told_of_and_the_others_are_read(long_file, monkeypatch):
    data = long_file.read_bytes()
    sixth = [m.start() for m in re.finditer(rb"/Type /Page\b", data)][5]
    long_file.write_bytes(data[:sixth] + b"/Type /Pig " + data[sixth + 11 :])
    monkeypatch.setattr(liteparse, "BATCH", 4)
    found = parse(long_file, map_file(long_file), Limits())[0]
    assert found.warnings == ("page 6 could not be read: PDF error: page not found",)
    assert [p.number for p in found.pages] == [*range(1, 6), *range(7, PAGES + 1)]
    assert all(f"Harbour {n}" in found.text for n in (5, 7, PAGES))


def test_a_short_file_may_be_held_too(long_file):
    whole = parse(long_file, long_file.read_bytes(), Limits())
    assert parse(long_file, map_file(long_file), Limits()) == whole


def test_a_file_that_is_no_pdf_inside_is_refused_where_it_is_held(tmp_path):
    path = tmp_path / "none.pdf"
    path.write_bytes(b"%PDF-1.4\n" + b"x" * 5000)
    with pytest.raises(LoadError, match="damaged or incomplete"):
        parse(path, map_file(path), Limits())


def test_done_pages_are_forgotten_when_they_are_many(long_file, monkeypatch):
    monkeypatch.setattr(liteparse, "KEPT", 5)
    with open_pdf(long_file, map_file(long_file)) as file:
        first = file.pdf
        file.go_on(5)
        assert file.pdf is first
        file.go_on(6)
        assert file.pdf is not first
        assert len(file.pdf) == PAGES


def test_pages_opened_ahead_are_those_asked_for(long_file):
    pdf = pypdfium2.PdfDocument(long_file)
    with prefetch_pages() as found:
        found.prefetch(pdf, [2, 3, PAGES + 1])
        found.wait()
        second, last = found.take(pdf, 2), found.take(pdf, PAGES)
        assert second is not None
        assert last is not None
        assert "Harbour 2" in second.plain
        assert f"Harbour {PAGES}" in last.plain
        assert found.take(pdf, PAGES + 1) is None
        second.close()
        last.close()
    pdf.close()


def test_the_reading_process_reads_a_large_pdf_from_a_copy(long_file, folder):
    data = long_file.read_bytes()
    with ReadingProcess() as process:
        (read,) = process.parse(long_file, data)
        assert list(folder.iterdir()) == []
        (again,) = process.parse(long_file, data)
    assert read == again == parse(long_file, data, Limits())[0]


def test_no_copy_is_left_of_a_file_that_takes_too_long(long_file, folder):
    data = long_file.read_bytes()
    with ReadingProcess(Limits(timeout=0.001)) as process:
        with pytest.raises(LoadError, match="took longer"):
            process.parse(long_file, data)
        assert list(folder.iterdir()) == []


def test_a_mail_that_looks_like_a_pdf_is_a_mail(tmp_path, folder):
    mail = (
        b"From: anne@example.org\nTo: bob@example.org\nSubject: %PDF- files\n"
        b"Date: Mon, 5 Jan 2026 10:00:00 +0000\nMIME-Version: 1.0\n"
        b"Content-Type: text/plain\n\nThe boats are in the harbour.\n"
    )
    with ReadingProcess() as process:
        loader, (read,) = process.read(tmp_path / "boats.eml", mail)
    assert loader == "mail"
    assert "boats are in the harbour" in read.text


def test_only_large_pdfs_are_copied_and_only_where_there_is_room(folder, monkeypatch):
    with share_large_pdf(b"%PDF-1.7 of some size") as file:
        assert file is not None
        assert file.read_bytes() == b"%PDF-1.7 of some size"
        assert file.stat().st_mode & 0o777 == 0o600
    with share_large_pdf(b"plain text") as file:
        assert file is None
    monkeypatch.setattr(holding, "NAME", "no/" * 2000)
    with share_large_pdf(b"%PDF-1.7 of some size") as file:
        assert file is None
    assert list(folder.iterdir()) == []


def test_the_copy_of_a_killed_process_goes_with_the_next_one(folder):
    left = folder / "elt-llm-held-left"
    left.mkdir()
    (left / "held.pdf").write_bytes(b"%PDF-1.7 that nobody reads any more")
    (left / ".lock").touch()
    with share_large_pdf(b"%PDF-1.7 of some size") as file:
        assert file is not None
        assert not left.exists()


def test_what_is_held_cannot_be_written(long_file):
    data = map_file(long_file)
    assert isinstance(data, mmap.mmap)
    with pytest.raises(TypeError, match="readonly"):
        data[0:1] = b"x"

"""A long PDF is read in parts, and nothing shows where one ends."""

import json
from pathlib import Path

import pytest

from elt_llm_core.document import BlockKind, Blocks, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf import liteparse, writer
from elt_llm_ingest.readers.pdf.document import parse
from elt_llm_ingest.sandbox import protocol
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.sandbox.protocol import documents_of, messages
from pdf_pages import PAGES, long_pdf


def parsed(path: Path) -> ParsedDocument:
    (document,) = parse(path, path.read_bytes(), Limits())
    return document


def test_parts_read_as_the_whole_does(tmp_path, monkeypatch):
    path = long_pdf(tmp_path / "long.pdf")
    whole = parsed(path)
    monkeypatch.setattr(liteparse, "BATCH", 4)
    parts = parsed(path)
    assert parts.model_dump_json() == whole.model_dump_json()
    assert [page.number for page in parts.pages] == list(range(1, PAGES + 1))
    over = [b for b in parts.blocks if b.page != b.end_page]
    assert [(b.page, b.end_page) for b in over] == [(n, n + 1) for n in range(1, PAGES)]
    headers = [b for b in parts.blocks if b.kind is BlockKind.FURNITURE]
    assert len(headers) == PAGES


def test_many_blocks_are_packed_and_say_the_same(tmp_path, monkeypatch):
    path = long_pdf(tmp_path / "long.pdf")
    plain = parsed(path)
    monkeypatch.setattr(writer, "MANY", 10)
    packed = parsed(path)
    assert isinstance(plain.blocks, list)
    assert isinstance(packed.blocks, Blocks)
    assert packed.model_dump_json() == plain.model_dump_json()


def test_documents_arrive_from_the_other_process_as_they_are(tmp_path, monkeypatch):
    document = parsed(long_pdf(tmp_path / "long.pdf"))
    notes = document.model_copy(update={"pages": [], "part": "notes"})
    sent = messages("pdf", [document, notes])
    head = json.loads(next(sent))
    monkeypatch.setattr(protocol, "FEW", 10)
    found = documents_of(head, lambda: next(sent))
    assert [type(d.blocks) for d in found] == [Blocks, Blocks]
    assert found == [document, notes]
    assert next(sent, None) is None
    with ReadingProcess() as process:
        (read,) = process.parse(
            tmp_path / "long.pdf", (tmp_path / "long.pdf").read_bytes()
        )
    assert read == document


def test_nonsense_from_the_other_process_is_refused(tmp_path):
    document = parsed(long_pdf(tmp_path / "long.pdf"))
    sent = messages("pdf", [document])
    head = json.loads(next(sent))
    head["documents"][0]["groups"][0] += 1
    with pytest.raises(ValueError, match="declared length"):
        documents_of(head, lambda: next(sent))


def test_more_pages_than_allowed_are_refused(tmp_path):
    path = long_pdf(tmp_path / "long.pdf")
    with pytest.raises(LoadError, match=r"12 pages are more than the limit of 11"):
        parse(path, path.read_bytes(), Limits(max_pages=11))

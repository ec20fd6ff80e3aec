"""Letters of fonts without a map are told of; fonts that only lack the map are not."""

import pypdfium2
import pytest

from elt_llm_core.document import ParsedDocument
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.ocr import recognition
from elt_llm_ingest.readers.pdf import document as pdf
from elt_llm_ingest.readers.pdf import undecoded_text as module
from elt_llm_ingest.readers.pdf.undecoded_text import count_undecoded
from undecoded_pages import SAID, coded, shifted


def turned(shift: int) -> str:
    """The letters turned in the alphabet; all else stays."""
    small = "abcdefghijklmnopqrstuvwxyz"
    return SAID.lower().translate(str.maketrans(small, small[shift:] + small[:shift]))


def count(data: bytes) -> int:
    layer = pypdfium2.PdfDocument(data)[0].get_textpage()
    return count_undecoded(layer, layer.get_text_range())


def read(data: bytes, tmp_path) -> ParsedDocument:
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    (document,) = pdf.parse(path, data, Limits())
    return document


def test_letters_without_a_map_are_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(recognition, "languages", lambda: None)
    warnings = read(coded(shifted(29)), tmp_path).warnings
    said = "characters are in a font that does not say which letters they are"
    assert [told.count(said) for told in warnings].count(1) == 1
    assert recognition.CURE in warnings


def test_a_page_with_many_of_them_is_read_by_its_looks(tmp_path, monkeypatch):
    wanted: list[int] = []

    def recognise(_data, numbers, _seconds):
        wanted.extend(numbers)
        return recognition.Recognised()

    monkeypatch.setattr(recognition, "languages", lambda: (tmp_path, ("eng",)))
    monkeypatch.setattr(recognition, "recognise", recognise)
    read(coded(shifted(29)), tmp_path)
    assert wanted == [1]


@pytest.mark.parametrize("shift", [3, 7, 29])
def test_codes_that_no_language_uses_are_noticed(shift):
    assert count(coded(shifted(shift))) > 40


@pytest.mark.parametrize("shift", [3, 7, 20])
def test_letters_that_are_no_language_are_noticed(shift):
    assert count(coded(turned(shift) * 2)) > 80


def test_a_font_whose_codes_are_the_letters_is_no_fault():
    data = coded(SAID)
    layer = pypdfium2.PdfDocument(data)[0].get_textpage()
    assert SAID in layer.get_text_range()
    assert count(data) == 0


def test_few_letters_are_not_judged(monkeypatch):
    monkeypatch.setattr(module, "LETTERS", 1000)
    assert count(coded(turned(3))) == 0

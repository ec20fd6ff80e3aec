"""Text in encodings other than UTF-8: read, with the encoding named."""

from pathlib import Path

import pytest

from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.detection import decode_text, sniff
from elt_llm_ingest.readers.text_file import parse

LONG = {
    "de": "Für jedes Buch, das zu spät zurückgegeben wird, ist eine Gebühr zu zahlen.",
    "en": "The reader\u2019s fee is 20 cents \u2013 \u201cno more\u201d.",
    "es": "Quien devuelve un libro con retraso paga veinte céntimos por cada día.",
    "fr": "Celui qui rend un livre en retard paie vingt centimes à la bibliothèque.",
    "ja": "図書館は平日の九時に開き、夕方に閉まります。本を遅れて返す人は払います。",
    "ko": "도서관은 평일 아홉 시에 열고 저녁에 닫습니다. 요금을 내야 합니다.",
    "pl": "Kto oddaje książkę za późno, płaci dwadzieścia centów za każdy dzień.",
    "ru": "Кто возвращает книгу поздно, платит двадцать центов за каждый день.",
    "zh": "图书馆每个工作日九点开门。逾期还书的人每天支付二十分钱的费用。",
}
SHORT = {
    "de": "Die Gebühr für ein verspätetes Buch",
    "en": "The reader\u2019s fee \u2013 20 cents",
    "es": "¿Cuánto se paga por un día?",
    "fr": "Combien coûte un livre en été ?",
    "ja": "遅れた本の料金はいくらですか",
    "ko": "늦게 반납하면 요금이 얼마입니까?",
    "pl": "Ile wynosi opłata za spóźnioną książkę?",
    "ru": "Какова плата за книгу?",
    "zh": "逾期还书要付多少钱",
}
ROWS = [
    ("ja", "shift_jis"),
    ("ja", "cp932"),
    ("ja", "euc_jp"),
    ("ja", "iso2022_jp"),
    ("zh", "gb18030"),
    ("zh", "gbk"),
    ("ko", "euc_kr"),
    ("ko", "cp949"),
    ("ru", "cp1251"),
    ("ru", "koi8_r"),
    ("pl", "cp1250"),
    ("pl", "iso8859_2"),
    ("de", "cp1252"),
    ("en", "cp1252"),
    ("es", "cp1252"),
    ("fr", "cp1252"),
]
UTF16 = ["utf-16-le", "utf-16-be"]


@pytest.mark.parametrize("size", ["short", "long"])
@pytest.mark.parametrize(("language", "encoding"), ROWS)
def test_the_encoding_is_detected_and_named(
    language: str, encoding: str, size: str
) -> None:
    said = {"short": SHORT, "long": LONG}[size][language]
    path, data = Path("rules.txt"), said.encode(encoding)
    if encoding != "iso2022_jp":  # which is ASCII, byte by byte
        with pytest.raises(UnicodeDecodeError):
            data.decode()
    assert sniff(path, data)[0] == "text"
    (document,) = parse(path, data, Limits())
    assert document.text == said
    (warning,) = document.warnings
    assert "which was detected" in warning


@pytest.mark.parametrize("encoding", UTF16)
@pytest.mark.parametrize("language", sorted(LONG))
def test_utf_16_needs_no_mark(language: str, encoding: str) -> None:
    path = Path("rules.txt")
    said = f"{LONG[language]}\n\n{SHORT[language]}\n9.1 (a)\n"
    data = said.encode(encoding)
    assert sniff(path, data)[0] == "text"
    text, (warning,) = decode_text(path, data)
    assert text == said
    assert f"{encoding.upper()} without a mark" in warning


def test_zero_bytes_are_named_as_the_cause() -> None:
    path = Path("rules.txt")
    text = b"A fee is paid for each day.\n" * 40
    with pytest.raises(LoadError, match="contains 40 zero bytes, the first at byte 24"):
        sniff(path, text.replace(b"day", b"d\x00y"))
    few = text[:99] + b"\x00\x00\x00" + text
    assert sniff(path, few)[0] == "text"
    with pytest.raises(LoadError, match="contains 3 zero bytes, the first at byte 99"):
        decode_text(path, few)
    with pytest.raises(LoadError, match="format is not supported"):
        sniff(path, bytes(range(256)) * 8)


def test_what_cannot_be_detected_is_said_to_be_guessed() -> None:
    text, (warning,) = decode_text(Path("a.txt"), b"price 5 \x81 each")
    assert "could not be detected" in warning
    assert text.startswith("price 5 ")


def test_utf_8_says_nothing() -> None:
    for said in (*LONG.values(), ""):
        assert decode_text(Path("a.txt"), said.encode()) == (said, ())

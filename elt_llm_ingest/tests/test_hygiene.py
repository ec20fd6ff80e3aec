"""Characters nobody sees are taken out and counted; spans and boxes follow the text."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import format_files
from elt_llm_core.document import Block, BlockKind, Cell, Page, ParsedDocument
from elt_llm_ingest.sandbox.sanitize import clean_document

ODD = "\u200b\u200e\u202e\u2066\U000e0041\xad\ufeff"


def document(words: list[str]) -> ParsedDocument:
    """Each word is a block with one cell, and a word of the page."""
    text, blocks, rows = "", [], []
    for index, word in enumerate(words):
        start = len(text)
        text += word
        span = {"start": start, "end": len(text)}
        cell = Cell(header=word, **span)
        blocks.append(Block(kind=BlockKind.TABLE_ROW, cells=(cell,), **span))
        rows.append((start, len(text), index / 100, 0.0, index / 100 + 0.01, 0.1))
        text += "\n"
    page = Page(number=1, width=1, height=1, words=rows)
    return ParsedDocument(
        title="\u202ex", text=text, blocks=blocks, pages=[page], parser="p"
    )


@settings(deadline=None)
@given(st.lists(st.text("ab " + ODD, min_size=1, max_size=8), max_size=12))
def test_spans_follow_the_text(words):
    found = clean_document(document(words))
    format_files.check_spans(
        found.model_copy(update={"pages": []})  # words of blanks only are words here
    )
    kept = ["".join(c for c in word if c not in ODD) for word in words]
    kept = [word for word in kept if word]
    spans = [(b.start, b.end) for b in found.blocks]
    assert [found.text[s:e] for s, e in spans] == kept
    assert [(w[0], w[1]) for w in found.pages[0].words] == spans
    assert [b.cells[0].header for b in found.blocks] == kept
    places = [i / 100 for i, word in enumerate(words) if word.strip(ODD)]
    assert [w[2] for w in found.pages[0].words] == places
    assert found.title == "x"


def test_each_family_is_counted(reading):
    text = "plain\u200b te\xadxt \u202eand\U000e0041\U000e0042 12\x1313 more"
    text = (text + " and more" * 20).encode()
    (found,) = reading.parse(Path("odd.txt"), text)
    assert found.text.startswith("plain text and 12 13 more and more")
    assert found.warnings == (
        "1 control character was removed from the text (invisible to readers)",
        (
            "1 direction-changing character was removed from the text "
            "(invisible to readers)"
        ),
        "2 invisible tag characters were removed from the text (invisible to readers)",
        "1 zero-width character was removed from the text (invisible to readers)",
    )


def test_joiners_stay_where_letters_need_them(reading):
    text = "कर\u200cम and 👩\u200d💻 but a\u200db"
    (found,) = reading.parse(Path("joined.txt"), text.encode())
    assert found.text == "कर\u200cम and 👩\u200d💻 but ab"

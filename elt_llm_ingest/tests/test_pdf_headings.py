"""Which bold lines of a PDF are headings, and which are parts of a sentence."""

import pytest

from elt_llm_core.document import BlockKind
from elt_llm_ingest.readers.pdf.blocks import Style, make_drafts
from elt_llm_ingest.readers.pdf.geometry import Region
from elt_llm_ingest.readers.pdf.words import Word
from pdf_pages import canvas_of, parsed

STYLE = Style(size=10, pitch=16)
FIRST = "(b) The vouchers of the harbour will be arranged in the order in which entries"
REST = "stand in the cash book, and are sealed at the corner."


def region(kind: str, line: str, top: float, *, bold: bool) -> Region:
    """A block of LiteParse with one line, five points a letter."""
    words, left = [], 72.0
    for text in line.split():
        right = left + 5 * len(text)
        words.append(Word(text, left, top, right, top + 10, 1, 0, bold))
        left = right + 3
    return Region(kind, (72.0, top, left, top + 10), words)


def drafts(first: str, second: str) -> list[tuple[BlockKind, str]]:
    """The drafts of a bold line that LiteParse calls a heading, and a line below."""
    seeds = [
        region("heading", first, 100, bold=True),
        region("paragraph", second, 116, bold=False),
    ]
    return [(draft.kind, draft.text) for draft in make_drafts(seeds, STYLE)]


def test_a_bold_line_whose_sentence_goes_on_in_the_next_block_is_no_heading():
    assert drafts(FIRST, REST) == [(BlockKind.LIST_ITEM, f"{FIRST} {REST}")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Terms used here", "account means the account of a client at the bank."),
        (FIRST, "Seal each bundle at the corner."),
    ],
)
def test_short_bold_lines_and_those_above_a_new_sentence_stay_headings(first, second):
    kinds = [kind for kind, _ in drafts(first, second)]
    assert kinds == [BlockKind.HEADING, BlockKind.PARAGRAPH]


def test_a_number_needs_no_space_before_the_words_of_a_heading(tmp_path):
    canvas = canvas_of(tmp_path / "numbers.pdf")
    for at, heading in enumerate(["9. Safe keeping", "10.Record Media", "11.Review"]):
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(72, 780 - 60 * at, heading)
        canvas.setFont("Helvetica", 10)
        canvas.drawString(72, 760 - 60 * at, "The bank keeps its records in the room.")
    canvas.save()
    document = parsed(tmp_path / "numbers.pdf")
    headings = [b for b in document.blocks if b.kind is BlockKind.HEADING]
    assert [b.number for b in headings] == ["9", "10", "11"]
    assert {b.level for b in headings} == {1}

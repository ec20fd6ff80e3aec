"""A sentence that a page break cuts before a name is one sentence."""

import pytest

from elt_llm_core.document import BlockKind
from pdf_pages import canvas_of, parsed, prose

FULL = "Every cabin boat of the yard has a cooker, a fridge and a shower on board, and"


@pytest.mark.parametrize(
    ("last", "first", "joined"),
    [
        ("these are free of charge. There is wireless internet on the large boat Marsh",
         "Harrier only. Guests of the other boats can use that of the yard.", True),
        ("these are free of charge. The boats that may go to the sea are owned by Miss",
         "Reuter and Lund. Guests of the other boats stay on the river.", True),
        ("these are free of charge. There is wireless internet",
         "Harrier is the largest boat. Guests of the others come to the yard.", False),
        ("these are free of charge. There is wireless internet on every boat here.",
         "Harrier is the largest boat. Guests of the others come to the yard.", False),
        ("these are free of charge. There is wireless internet on the boat Marsh",
         "7. Breakdowns are reported to the yard, which sends an engineer.", False),
    ],
)  # fmt: skip
def test_a_line_without_room_goes_on_over_the_page(tmp_path, last, first, joined):
    canvas = canvas_of(tmp_path / "yard.pdf")
    prose(canvas, 90, [FULL, last])
    canvas.showPage()
    canvas.setFont("Helvetica", 10)
    prose(canvas, 780, [first, FULL + " more.", "The yard is open all year round."])
    canvas.save()
    document = parsed(tmp_path / "yard.pdf")
    blocks = [b for b in document.blocks if b.kind is not BlockKind.FURNITURE]
    texts = [document.text[b.start : b.end] for b in blocks]
    assert any(last in text and first in text for text in texts) is joined

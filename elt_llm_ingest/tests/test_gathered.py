"""What is odd about single pages, told once for all of them."""

from reportlab.pdfgen.canvas import Canvas

from elt_llm_core.results import DegradationKind
from elt_llm_ingest.page_warnings import merge_page_warnings
from ingest_world import World, told

LOST = "recovered from the plain text layer"
BLANK = "a picture and no text; recognise it"


def test_what_is_said_of_many_pages_is_one_sentence():
    found = merge_page_warnings(
        [
            f"page 2: 1 word was {LOST}",
            "the file was repaired",
            f"page 3: 4 words were {LOST}",
            f"page 7 holds {BLANK}",
            f"page 9: 1 word was {LOST}",
            f"page 8 holds {BLANK}",
            "page 4: 2 words that no reader of the page sees were left out",
        ]
    )
    assert found == (
        f"3 pages: 6 words were {LOST} (pages 2-3, 9)",
        "the file was repaired",
        f"pages 7-8 hold {BLANK}",
        "page 4: 2 words that no reader of the page sees were left out",
    )


def test_one_page_keeps_its_sentence_and_many_stretches_are_cut():
    alone = (f"page 1: 1 word was {LOST}", f"page 5 holds {BLANK}")
    assert merge_page_warnings(alone) == alone
    (found,) = merge_page_warnings(
        f"page {n}: 1 word was {LOST}" for n in range(1, 60, 2)
    )
    assert found.startswith(f"30 pages: 30 words were {LOST} (pages 1, 3, 5, ")
    assert found.endswith(", 23 and 18 more stretches)")


def test_an_ingest_tells_and_keeps_one_sentence_for_all_pages(tmp_path, without_index):
    world = World(tmp_path)
    canvas = Canvas(str(world.files / "gate.pdf"), pagesize=(420, 400))
    for _ in range(3):
        canvas.drawString(40, 370, "The tide gate opens at seven every morning.")
        canvas.setFillColorRGB(1, 1, 1)
        canvas.drawString(40, 300, "Ignore it.")
        canvas.showPage()
    canvas.save()
    unseen = (
        "3 pages: 6 words that no reader of the page sees were left out (pages 1-3)"
    )
    assert told(world.run(), DegradationKind.DOCUMENT_WARNING) == [
        f"gate.pdf: {unseen}"
    ]
    (row,) = world.store.documents("harbour")
    assert row.warnings == (unseen,)

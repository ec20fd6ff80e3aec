"""A heading that lists several things does not say which one a sentence is about."""

import pytest

from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.synthesizers.extractive.heading_items import is_of_another_item

PACKING = "3 Loans > 3.7 Packing, transport and couriers"
PONDS = "B > 2 Sheds, greenhouses, ponds"


@pytest.mark.parametrize(
    ("question", "sentence", "section", "other"),
    [
        (
            "What must be paid for packing?",
            "The courier flies standard.",
            PACKING,
            True,
        ),
        ("How deep may sheds be?", "Ponds may be 60 cm deep.", PONDS, True),
        (
            "When are moorings free?",
            "Locks are free at noon.",
            "Locks and moorings",
            True,
        ),
        (
            "What must be paid for packing?",
            "The borrower pays the rest.",
            PACKING,
            False,
        ),
        ("What does a courier cost?", "The courier flies standard.", PACKING, False),
        ("Who pays for packing?", "Packing and couriers cost 5 euros.", PACKING, False),
        ("How deep may ponds be?", "Ponds may be 60 cm deep.", PONDS, False),
        (
            "What does a key cost?",
            "Locks are free at noon.",
            "Locks and moorings",
            False,
        ),
        ("Who pays for packing?", "The courier does.", "3.7 Packing", False),
        (
            "What is the fee for a lost card?",
            "A charge of 10 euros is made for a lost card.",
            "Fees and charges",
            False,
        ),
        (
            "What happens after a cancellation?",
            "Refunds are paid within 14 days.",
            "Cancellations and refunds",
            False,
        ),
        (
            "When is the guest fee due?",
            "The fee is due in May.",
            "Guest fees and card fees",
            False,
        ),
    ],
)
def test_another_item_of_a_heading_is_another_subject(
    question, sentence, section, other
):
    assert is_of_another_item(analyse(question), read(sentence), section) is other

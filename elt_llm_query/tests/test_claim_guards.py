"""What turns a claim round, and other words for the same duty or bound."""

import pytest

from answer_world import offer
from elt_llm_query.grounding.claim_support import supporting, verdict_on

SAME = [
    ("The unit must be cleaned monthly.", "Clean the unit monthly."),
    ("Detergent must not be used on the lid.", "Do not use detergent on the lid."),
    ("The valve must be closed at night.", "Please close the valve at night."),
    ("Drivers must be able to read.", "Drivers must: (a) Be able to read; (b) Sign."),
    ("Crews must report the loss.", "Crews must record and report the loss."),
    ("A boat may not be moored at the pier.", "No boat may be moored at the pier."),
    ("Pay within 9 days of delivery.", "Pay within 9 days after delivery."),
    ("Schools with 50 or more pupils pay.", "Schools with at least 50 pupils pay."),
    ("The flag flies until the crew lands.", "The crew's flag flies until it lands."),
    ("The lamp is switched off at noon.", "Switch off the lamp at noon."),
    ("The map is kept in the tower.", "Keep the map in the tower."),
    ("A gift is returned if it fails.", "4.3.6 A gift is returned if it fails."),
]
OTHER = [
    ("A guest may swim at night.", "A hotel guest may not swim at night."),
    ("The lamp is switched on at noon.", "The guard switches off the lamp at noon."),
    ("Costs are at the payee's expense.", "Costs are at the payer's expense."),
    ("The cook may use the van.", "The cook may use the car, but the van is sold."),
    ("All barges must give way to old tugs.", "Old tugs must give way to all barges."),
    ("Use soap to clean the lid.", "Clean the lid with water. Do not use soap."),
    ("A member may be cleaned monthly.", "Clean the unit monthly."),
    ("The unit should be cleaned monthly.", "The unit must be cleaned monthly."),
]


@pytest.mark.parametrize(("claim", "text"), SAME)
def test_other_words_for_the_same_duty_or_bound_are_supported(claim, text):
    assert supporting(claim, offer("S1", text)).stands


@pytest.mark.parametrize(("claim", "text"), OTHER)
def test_a_claim_that_is_turned_round_is_not_supported(claim, text):
    assert not supporting(claim, offer("S1", text)).stands


@pytest.mark.parametrize("says_yes", [True, False])
def test_a_bare_answer_to_a_question_without_a_modal_needs_the_words(says_yes):
    where = offer("S1", "The law gives leave to members of the crew.")
    assert not verdict_on("Is leave paid?", where, says_yes=says_yes).stands

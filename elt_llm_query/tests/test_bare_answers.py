"""A bare "Yes" or "No" to a question that begins with neither "may" nor "must"."""

import pytest

from answer_world import offer
from elt_llm_query.grounding.claim_support import verdict_on


@pytest.mark.parametrize("says_yes", [True, False])
def test_a_bare_answer_needs_the_words_of_the_question(says_yes):
    where = offer("S1", "The law gives leave to members of the crew.")
    assert not verdict_on("Is leave paid?", where, says_yes=says_yes).stands


def test_a_bare_answer_stands_where_the_source_has_the_words():
    where = offer("S1", "Leave is paid by the owner.")
    assert verdict_on("Is leave paid?", where, says_yes=True).stands
    assert not verdict_on("Is leave paid?", where, says_yes=False).stands

"""A claim may leave out a clause, but no word that limits what its clause says."""

import pytest

from answer_world import cite, offer
from elt_llm_query.analysis.quantities import numbers

TEXT = """\
Guide dogs are welcome, other animals are not. Undergraduate students may not carry out
hydrogenations. All bills for raising revenue originate in the lower chamber; but the
upper chamber may propose amendments. Shield volcanoes are built almost entirely of
lava. Children under 14 need the consent of a parent. It is washed weekly by the
institute and
is never taken home. Legal holds suspend every deletion. Containers are filled to 80
percent at most. Rooms may be used for meetings only. Most of the 36,417 victims were
killed by waves. A candidate is at least thirty-five years old."""
SOURCES = (offer("S1", TEXT),)


@pytest.mark.parametrize(
    "claim",
    [
        "Dogs are welcome",
        "Students may not carry out hydrogenations",
        "All bills originate in the lower chamber",
        "All bills for raising revenue originate in the upper chamber",
        "Shield volcanoes are built entirely of lava",
        "Children over 14 need the consent of a parent",
        "It is taken home",
        "Every deletion suspends a legal hold",
        "Containers are filled to at least 80 percent",
        "All of the victims were killed by waves",
        "A candidate is at least thirty years old",
    ],
)
def test_a_claim_that_says_more_than_the_passage_is_not_shown(claim):
    checked = cite(f"{claim} [S1].", sources=SOURCES)
    assert not checked.citations, checked.answer


@pytest.mark.parametrize(
    "claim",
    [
        "Guide dogs are welcome",
        "Hydrogenations may not be carried out by undergraduate students",
        "The upper chamber may propose amendments",
        "Shield volcanoes are built of lava almost entirely",
        "It is washed weekly by the institute",
        "Containers are filled to at most 80%",
        "Rooms may be used only for meetings",
        "Most of the victims were killed by waves",
        "A candidate is at least 35 years old",
        "However, legal holds suspend every deletion",
    ],
)
def test_what_a_passage_says_in_another_order_is_shown(claim):
    checked = cite(f"{claim} [S1].", sources=SOURCES)
    assert checked.citations, checked.removed


def test_number_words_of_two_parts_are_one_number():
    assert numbers("twenty-one days or Thirty Five years") == {"21", "35"}
    assert numbers("twenty or one") == {"20", "1"}

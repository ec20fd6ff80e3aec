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


PARTS = """\
One of the parties must sign the agreement. Any one of the members may call a meeting.
Half of the rooms have a balcony. A member of the Board must approve the plan. At least
one of the keys must be kept in the safe. Each of the owners must pay a share. A yellow
helmet must be worn by each pilot. The council sets the fee for a stall. """


@pytest.mark.parametrize(
    "claim",
    [
        "The parties must sign the agreement",
        "All parties must sign the agreement",
        "Each party must sign the agreement",
        "Both parties must sign the agreement",
        "The agreement must be signed by the parties",
        "The members may call a meeting",
        "The rooms have a balcony",
        "The Board must approve the plan",
        "The keys must be kept in the safe",
        "The council is set by the fee for a stall",
    ],
)
def test_a_part_of_something_does_not_prove_the_whole(claim):
    checked = cite(f"{claim} [S1].", sources=(offer("S1", PARTS),))
    assert not checked.citations, checked.answer


@pytest.mark.parametrize(
    "claim",
    [
        "One party must sign the agreement",
        "The agreement must be signed by one of the parties",
        "At least one key must be kept in the safe",
        "Each owner must pay a share",
        "All owners must pay a share",
        "Each pilot must wear a yellow helmet",
        "The fee for a stall is set by the council",
    ],
)
def test_a_part_is_proven_and_so_is_the_other_voice(claim):
    checked = cite(f"{claim} [S1].", sources=(offer("S1", PARTS),))
    assert checked.citations, checked.removed


def test_number_words_of_two_parts_are_one_number():
    assert numbers("twenty-one days or Thirty Five years") == {"21", "35"}
    assert numbers("twenty or one") == {"20", "1"}

"""A sentence for a group answers only if nothing comparable holds for everybody."""

import pytest

from elt_llm_query.analysis.question import analyse
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.ranking import ScoredCandidate
from elt_llm_query.synthesizers.extractive.restrictions import (
    is_restricted,
    prefer_unrestricted,
    tells_of_another,
)

ASKED = "Must a harbour appoint a warden?"
DEPUTY = "A harbour must appoint a deputy warden who stands in for the warden."
WARDEN = "A harbour must appoint one of its members as the warden."


def scored(passage, text, sure, own=1.0):
    candidate = Candidate(passage, 0, len(text), own, 0.5, own=own)
    return ScoredCandidate(candidate, None, sure=sure)


@pytest.mark.parametrize(
    ("question", "text", "section", "restricted"),
    [
        (ASKED, DEPUTY, "", True),
        (ASKED, WARDEN, "", False),
        ("Must a harbour appoint a deputy warden?", DEPUTY, "", False),
        ("What is the fee?", "In this group the fee is 5 euros.", "Guests", True),
        ("What is the fee of guests?", "In this group it is 5.", "Guests", False),
        ("What is the fee?", "In this chapter the fee is 5 euros.", "Guests", False),
        ("What is the fee?", "The fee is 5 euros.", "Guests", False),
    ],
)
def test_what_restricts_a_sentence(question, text, section, restricted):
    passages = [Passage("S1", "a", text, section=section)]
    candidate = Candidate(0, 0, len(text), 1.0, 0.5)
    assert is_restricted(analyse(question), candidate, passages) is restricted


@pytest.mark.parametrize(
    ("sure", "own", "first"),
    [(0.4, 1.0, 1), (0.2, 1.0, 0), (0.4, 0.8, 0)],
)
def test_a_comparable_sentence_without_the_restriction_is_preferred(sure, own, first):
    passages = [Passage("S1", "a", DEPUTY), Passage("S2", "b", WARDEN)]
    good = [scored(0, DEPUTY, 0.8), scored(1, WARDEN, sure, own)]
    best = prefer_unrestricted(analyse(ASKED), good, passages)[0]
    assert best.candidate.passage == first


def test_nothing_is_preferred_to_a_sentence_without_restriction():
    passages = [Passage("S1", "a", WARDEN), Passage("S2", "b", DEPUTY)]
    good = [scored(0, WARDEN, 0.8), scored(1, DEPUTY, 0.7)]
    assert prefer_unrestricted(analyse(ASKED), good, passages) == good
    assert prefer_unrestricted(analyse(ASKED), [], passages) == []


@pytest.mark.parametrize(
    ("question", "text", "restricted"),
    [
        ("Where may dogs enter?", "Guide dogs may enter every hall.", True),
        ("Which boats allow dogs?", "Assistance dogs travel free on boats.", True),
        ("Which boats allow dogs?", "Keep dogs on a lead on all boats.", False),
        ("Where may guide dogs enter?", "Guide dogs may enter every hall.", False),
        ("Which dogs may enter?", "Guide dogs may enter every hall.", False),
        ("May dogs enter?", "Two dogs may enter.", False),
        ("When must day boats be back?", "Day boats come back by 5 pm.", False),
    ],
)
def test_a_kind_at_the_beginning_restricts_a_sentence(question, text, restricted):
    passages = [Passage("S1", "a", text)]
    candidate = Candidate(0, 0, len(text), 1.0, 0.5)
    assert is_restricted(analyse(question), candidate, passages) is restricted


LATE = "The fine for a late book is 20 cents a day."


@pytest.mark.parametrize(
    ("question", "text", "section", "other"),
    [
        ("What is the fine for dogs?", LATE, "Loans", True),
        ("How high is the fine for eating in the library?", LATE, "Loans", True),
        ("What is the fine for overdue books?", LATE, "Loans", False),
        ("What is the fine for dogs?", LATE, "Dogs and books", False),
        ("What is the fine for dogs?", "Dogs: the fine is 20 cents.", "Fines", False),
        ("What is the fine for dogs?", "The fine is 20 cents a day.", "Fines", False),
        ("What is the fine?", LATE, "Loans", False),
        ("Who pays the fine for dogs that are late?", LATE, "Loans", False),
        ("What is the fee for members?", "The fee for all is 5 euros.", "", False),
        ("What is the fee for members?", "The fee for 2024 is 5 euros.", "", False),
        (
            "What is the period for appeals?",
            "The period for filing is a week.",
            "",
            True,
        ),
    ],
)
def test_a_sentence_about_the_same_of_another_thing(question, text, section, other):
    passages = [Passage("S1", "a", text, section=section)]
    candidate = Candidate(0, 0, len(text), 1.0, 0.5)
    assert tells_of_another(analyse(question), candidate, passages) is other

"""A part of a question is no question by itself."""

import pytest

from answer_world import node, respond
from elt_llm_query.analysis.question import analyse
from elt_llm_query.synthesizers.extractive.question_kinds import FRAGMENT, is_fragment


@pytest.mark.parametrize(
    "text",
    [
        "And for juniors?",
        "And in winter?",
        "For visitors?",
        "But on Sundays",
        "Or cats?",
        "With the dogs?",
    ],
)
def test_a_part_of_a_question_is_refused(text):
    assert is_fragment(analyse(text))
    response = respond(text, node("Visitors and juniors pay 5 euros in winter."))
    assert FRAGMENT in str(response)
    assert response.metadata["refused"]


@pytest.mark.parametrize(
    "text",
    [
        "And when do they go out?",
        "In which month is the meeting?",
        "joining fee for juniors",
        "For whom is the pool free?",
        "In case of fire",
        "After a fire, must the hall be closed?",
        "What about dogs?",
        # Of another language, and keywords.
        "In welchem Monat tagt der Rat?",
        "In welcher Halle trainieren wir?",
        "Per chi \u00e8 gratis la piscina?",
        "Per diem rate?",
        "Over 60s discount?",
        "Under 16s swimming fee?",
    ],
)
def test_questions_and_keywords_are_no_fragments(text):
    assert not is_fragment(analyse(text))

"""An answer about one of two things that are asked for is not certain."""

import pytest

from elt_llm_query.analysis.question import analyse
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.synthesizers.extractive.joined_things import lacks_a_thing

GULLS = "Gulls are released on the north beach."
TERNS = "Terns are released from a boat."


def lacks(question: str, *quotes: str, section: str = "") -> bool:
    claims = [Claim("S1", "n", 0, len(text), text) for text in quotes]
    return lacks_a_thing(analyse(question), claims, [section])


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("Where are gulls released, and terns?", [GULLS]),
        ("Where are gulls and terns released and fed?", [GULLS]),
        ("How deep are the large pool and the small pool?", ["The small pool: 1 m."]),
        ("How much is the rent of a plot, and the tap charge?", ["Tap charge: 18."]),
        ("How much is the rent of a plot, and of a shed?", ["A shed's rent is 9."]),
    ],
)
def test_one_of_two_things_is_not_certain(question: str, quotes: list[str]) -> None:
    assert lacks(question, *quotes)


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("Where are gulls released, and terns?", [GULLS, TERNS]),
        ("Where are gulls released?", [GULLS]),
        ("Who keeps the keys and badges?", ["Keys and badges are kept by the porter."]),
        ("Who signs it and sends it to whom?", ["The porter signs."]),
    ],
)
def test_both_things_or_one_question_are(question: str, quotes: list[str]) -> None:
    assert not lacks(question, *quotes)


def test_a_heading_names_a_thing() -> None:
    quotes = ["They are released from a boat.", GULLS]
    assert not lacks("Where are gulls released, and terns?", *quotes, section="Terns")

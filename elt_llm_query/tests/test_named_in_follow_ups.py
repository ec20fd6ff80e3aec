"""What a quote must name after a follow-up, and how a correction is understood."""

import pytest

from elt_llm_query.analysis.ellipsis import read_follow_up
from elt_llm_query.analysis.message_form import ends_in_that, find_correction
from elt_llm_query.analysis.named_phrases import find_named
from elt_llm_query.analysis.question_phrase import ask_why_not
from elt_llm_query.conversation.asked_check import (
    have_one_role,
    tells_asked,
    tells_count_of,
    tells_dimension_of,
    tells_value_of,
)
from elt_llm_query.conversation.caller_turns import exchanges_of
from elt_llm_query.conversation.contextualise import ByRules
from elt_llm_query.conversation.naming import naming_headings
from elt_llm_query.conversation.spoken_of import SpokenOf

KNOWN = SpokenOf(
    ("Kites and balloons fly. A kite is locked. Drums are loud. A rowing club meets.",)
)


def test_a_heading_of_several_things_names_none() -> None:
    path = "5 Sky > 5.1 Kites, drums and balloons > Drums"
    assert naming_headings(path) == "5 Sky > Drums"


@pytest.mark.parametrize(
    ("question", "subject", "quoted", "counts"),
    [
        ("How many drums are there?", "drums", "There are four old drums.", True),
        ("How many drums may I own?", "drums", "Drums are limited to two each.", True),
        ("How many drums are there?", "drums", "Drums take 10 litres.", False),
        ("How many snare drums are there?", "snare drums", "They take 4 men.", False),
        ("How many drums are there?", "drums", "Kites take 4, drums 10 m.", False),
        ("How many kites are there at sea?", "sea", "Kites: 4.", True),
    ],
)
def test_how_many_needs_a_number_of_the_new_thing(
    question: str, subject: str, quoted: str, *, counts: bool
) -> None:
    assert tells_count_of(question, subject, quoted) is counts


@pytest.mark.parametrize(
    ("question", "quoted", "tells"),
    [
        ("How long can I stay at a red ring?", "A red ring costs £6 a night.", False),
        ("How long can I stay at a red ring?", "A red ring: for two nights.", True),
        ("How high may ponds be?", "Ponds are 60 centimetres deep.", False),
        ("How deep may ponds be?", "Ponds are 60 centimetres deep.", True),
        ("How high is the price of a wide pond?", "A wide pond costs £9.", True),
    ],
)
def test_a_rate_is_no_period_and_a_depth_no_height(
    question: str, quoted: str, *, tells: bool
) -> None:
    assert tells_asked(question, quoted) is tells


def test_the_height_of_another_thing_is_not_that_of_the_new_one() -> None:
    quoted = "A shed may be 6 m long and has a height of 2 m. A tent may have 9 m."
    assert not tells_dimension_of("How high may a tent be?", "tent", quoted)
    assert tells_dimension_of("How high may a shed be?", "shed", quoted)
    assert tells_dimension_of("How wide may a tent be?", "tent", quoted)
    quoted = "The main pool was opened in 1926. It is 2 metres deep."
    assert tells_dimension_of("How deep is the main pool?", "main pool", quoted)


def test_the_answer_before_says_the_same_of_two_things() -> None:
    drill = "How much does the drill cost?"
    quote = "The drill costs £8 a day, the saw £6, and ladders nothing."
    assert tells_value_of(drill, "drill", "saw", quote)
    assert tells_value_of(drill, "drill", "ladders", quote)
    payer = "The bursar pays up to £250; up to £900 needs leave of the dean."
    assert not have_one_role("bursar", "dean", payer)
    assert not tells_value_of("How much may the bursar pay?", "bursar", "dean", payer)


@pytest.mark.parametrize(
    ("question", "message", "meant"),
    [
        ("How many kites may I fly?", "And drums?", []),
        ("Who may fly kites?", "And balloons?", ["Who may fly balloons?"]),
        ("When is a kite locked?", "And drums?", ["When are drums locked?"]),
        ("When are drums locked?", "And the kite?", ["When is the kite locked?"]),
        ("How much may kites weigh?", "And with drums?", []),
        ("May I have kites?", "And a drum?", ["May I have a drum?"]),
    ],
)
def test_a_reading_is_grammatical(
    question: str, message: str, meant: list[str]
) -> None:
    named = find_named(message)
    assert named is not None
    read = read_follow_up(named, question, KNOWN, parallel=lambda _, __: True)
    assert [one.question for one in read] == meant


def test_a_correction_takes_the_place_of_its_kind() -> None:
    assert find_correction("No, I meant the kite.") == "the kite"
    assert find_correction("Sorry, drums") == "drums"
    assert find_correction("No, not the kite but the drum.") == "the drum"
    for message in (
        "No kites at all?",
        "No, thanks.",
        "Oh, I see.",
        "No, that's wrong",
    ):
        assert not find_correction(message)
    turns = [("How is a kite locked?", "A kite is locked. [S1]")]
    messages, exchanges = exchanges_of(turns)
    part = ByRules().contextualise("I meant a rowing club.", messages, exchanges)
    assert part.question == "How is a rowing club locked?" or part.unclear


def test_why_not_and_who_decides_that() -> None:
    assert (
        ask_why_not("Are drums allowed at sea?") == "Why aren't drums allowed at sea?"
    )
    assert ask_why_not("How many drums are there?") is None
    assert ends_in_that("Who decides that?")
    assert not ends_in_that("What is that kite?")
    refused = [("Who may drum at sea?", "No passage answers this.")]
    messages, exchanges = exchanges_of(refused)
    assert ByRules().contextualise("Who decides that?", messages, exchanges).unclear

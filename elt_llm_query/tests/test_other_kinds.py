"""A sentence about short loans answers nothing about long loans."""

import pytest

from answer_world import node, respond
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.synthesizers.extractive.other_kinds import is_of_another_kind


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Who approves long loans?", "Short loans are approved by the director."),
        ("Who clears private paths?", "Public paths are cleared by the city."),
        ("Who cleans the lower floors?", "Upper floors are cleaned by tenants."),
        ("When does the small hall close?", "The large lecture hall closes at 9 pm."),
        ("Who empties the green bins?", "Red bins are emptied on Mondays."),
        ("What does the annual ticket cost?", "The monthly ticket costs 30 euros."),
        ("Who trains junior swimmers?", "Two coaches train the adult swimmers."),
        ("How much is it in low season?", "In high season it is 90 euros."),
        ("What do part-time staff get?", "Full-time staff get 28 days."),
        ("Is it open on Sunday evenings?", "It is open on Friday evenings."),
    ],
)
def test_another_kind_is_no_answer(question, sentence):
    assert is_of_another_kind(question, read(sentence), read("Rules"))


@pytest.mark.parametrize(
    ("question", "sentence", "heading"),
    [
        ("Who approves long loans?", "Short and long loans need the board.", ""),
        ("Who approves long loans?", "All but short loans need the board.", ""),
        (
            "Who approves long loans?",
            "As with short loans, a form is due.",
            "Long loans",
        ),
        ("Must large ovens be booked?", "Small ovens are free; others are booked.", ""),
        ("How long is a loan?", "A short loan lasts a week.", ""),
        ("When does the pool open in summer?", "The winter hall opens at 8.", ""),
        ("What does the yearly ticket cost?", "The annual ticket costs 90 euros.", ""),
        ("What does the large boat cost?", "A short trip on the large boat is 5.", ""),
        (
            "How many days do part-time staff get?",
            "Full-time staff get 28 days and part-time staff 14.",
            "",
        ),
        ("What do part-time staff get?", "As full-time staff.", "Part-time staff"),
        ("May I bring a large dog?", "Only small dogs are allowed.", ""),
        (
            "Is the library open on Wednesday evenings?",
            "It is open Monday to Friday evenings until 9.",
            "",
        ),
        (
            "How do I change from a part-time contract to a full-time contract?",
            "A full-time contract is requested from the office.",
            "",
        ),
        (
            "How much is the annual membership fee?",
            "The fee for a year is 120 euros; the monthly membership fee is 12 euros.",
            "",
        ),
    ],
)
def test_the_same_kind_or_no_kind_may_answer(question, sentence, heading):
    assert not is_of_another_kind(question, read(sentence), read(heading))


def test_the_sentence_with_the_asked_kind_is_quoted():
    text = (
        "Short loans are approved by the director. Long loans, and any loan outside "
        "the country, need the approval of the trustees."
    )
    assert "trustees" in str(respond("Who approves long loans?", node(text)))
    assert "director" in str(respond("Who approves short loans?", node(text)))


def test_a_kind_that_no_sentence_names_is_refused():
    text = "Red bags are collected by the porter. Blue bags are taken to the yard."
    response = respond("Who collects the green bags?", node(text))
    assert response.metadata["refused"]

"""The form a question asks for, and texts that have it."""

import re

import pytest

from elt_llm_query.analysis.question import Form, analyse, defined_term
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import (
    closeness,
    match,
    may_contain,
    phrases,
    vocabulary,
)
from elt_llm_query.synthesizers.extractive.form_fit import form_fit


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("How many books may I borrow?", Form.NUMBER),
        ("How long is the loan period?", Form.NUMBER),
        ("When does it close?", Form.TIME),
        ("What is the most I can borrow?", Form.NUMBER),
        ("What is the most common fault?", Form.DEFINITION),
        ("By what date must I pay?", Form.TIME),
        ("Who may enter?", Form.PERSON),
        ("What is a reader?", Form.DEFINITION),
        ("What does DNF mean?", Form.DEFINITION),
        ("What is the fee for a book?", Form.OPEN),
        ("May I bring a dog?", Form.YES_NO),
        ("Which books are lent?", Form.OPEN),
        ("What does a kayak weigh?", Form.NUMBER),
        ("What will the tour cost?", Form.NUMBER),
        ("What may increase the cost?", Form.OPEN),
        ("What would affect their cost?", Form.OPEN),
        ("What will it take to weigh?", Form.OPEN),
    ],
)
def test_the_form_of_an_answer(question, form):
    assert analyse(question).form is form


def test_a_number_of_the_question_answers_nothing():
    question = analyse("How many days does rule 12 give?")
    assert form_fit(question, "rule 12 gives time") == 0
    assert form_fit(question, "rule 12 gives ten days") == 1
    assert form_fit(analyse("How often is it done?"), "it is done twice") == 1


@pytest.mark.parametrize(
    ("question", "text", "fit"),
    [
        ("What is the maximum age?", "They must be at least 30 years old.", 0),
        ("What is the maximum age?", "They must not be more than 30 years old.", 1),
        ("What is the minimum age?", "They must be at least 30 years old.", 1),
        ("What is the minimum age?", "They must not exceed 30 years.", 0),
        ("How many cards are issued?", "4.2.4 A card is issued to each.", 0),
        ("How many cards are issued?", "A card is issued under Rule 4.2.", 0),
        ("How many cards are issued?", "4.2.4 Two cards are issued.", 1),
        ("What is the maximal age?", "Their age must not exceed 30 years.", 1),
        ("How many factors are needed?", "Two-factor login is needed.", 0),
        ("How many flags are flown?", "No one may take down one of the flags.", 0),
        ("How many flags are flown?", "Three yellow flags are flown.", 1),
        ("How many flags are flown?", "They are flown 20 minutes before.", 0.6),
        ("How many readers are there?", "Readers pay a yearly fee.", 0),
        ("How often is it paid?", "It is paid yearly.", 1),
        ("How often is it paid?", "It is paid every Monday.", 1),
        ("How often is it paid?", "It is paid on Fridays.", 1),
        ("How often is it paid?", "It is paid on Friday.", 0),
        ("What is the most I can get as a loan?", "Only one loan is given.", 0),
        ("What is the most I can get as a loan?", "A loan is up to £90.", 1),
        ("How often is it paid?", "It is kept for a minimum of two years.", 0),
        ("How often is it paid?", "It is paid twice a calendar year.", 1),
        ("How often is it paid?", "It is paid three times a year.", 1),
        ("What does the fee come to?", "A member must pay the fee.", 0),
        ("What does the fee come to?", "The fee is 20 crowns.", 1),
        ("When is it paid?", "It is paid within ten days.", 1),
        ("When is it paid?", "It is paid in cash.", 0),
        ("When is it open?", "It opens at 8.", 1),
        ("When is it open?", "It opens at 8 a.m. each morning.", 1),
        ("When is it open?", "It opens at eight o'clock.", 1),
        ("When is it open?", "It opens 20.30 h.", 1),
        ("When is it open?", "It opens at noon.", 1),
        ("When is it open?", "It opens at half past six.", 1),
        ("When is it open?", "It opens at 8 knots.", 0),
        ("When is it open?", "It opens by 5 metres.", 0),
        ("When is it open?", "It opens at 8 %.", 0),
        ("When is it open on Sundays?", "It is open on Sundays.", 0),
    ],
)
def test_an_answer_has_the_form_that_is_asked_for(question, text, fit):
    assert form_fit(analyse(question), text) == fit


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is a Flyer?", "Flyer"),
        ("What's an RP?", "RP"),
        ("Who is the keeper?", "keeper"),
        ("What does the term Flyer mean?", "Flyer"),
        ("What is the meaning of lee shore?", "lee shore"),
        ("Define Reader", "Reader"),
        ("What is a Federal Standard (FS)?", "Federal Standard"),
        ("What is the fee for a book?", ""),
        ("Which books are lent?", ""),
    ],
)
def test_the_term_a_question_wants_defined(question, term):
    assert defined_term(question) == term


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("maximum", "Maximal load"),
        ("maximum", "It must not exceed ten."),
        ("maximum", "at most ten"),
        ("minimum", "at least ten"),
        ("minimum", "no fewer than ten"),
        ("daily", "ten a day"),
        ("annual", "ten per year"),
        ("weekly", "ten a week"),
    ],
)
def test_bounds_and_spans_of_time_are_the_same_in_every_shape(word, text):
    assert match(stem(word), vocabulary(text)) == 1


@pytest.mark.parametrize("text", ["At\n most ten", "AT MOST ten", "at mostly\tten"])
def test_the_quick_look_for_a_phrase_finds_all_that_its_pattern_finds(text):
    assert re.search(rf"\b(?:{phrases(['at most'])})", text, re.IGNORECASE)
    assert may_contain(text, ["at most"])
    assert not may_contain(text, ["at least"])


def test_bounds_are_not_each_other():
    assert match(stem("maximum"), vocabulary("at least ten")) == 0
    assert match(stem("daily"), vocabulary("ten a week")) == 0


def test_words_that_stand_together_are_close():
    terms = [stem("inspection"), stem("seconds")]
    near = closeness(terms, read("Inspection lasts 15 seconds for all.").stem_list)
    far = closeness(
        terms,
        read(
            f"Inspection is done by {'the very same old ' * 5}judge in 15 seconds."
        ).stem_list,
    )
    half = closeness(terms, read("Inspection is done.").stem_list)
    assert 1 >= near > half > far > 0
    assert closeness(terms, read("Nothing here.").stem_list) == 0


@pytest.mark.parametrize(
    ("question", "text", "fits"),
    [
        (
            "What is the maximum age of a driver?",
            "Drivers under 23 pay \u00a3350 more.",
            0,
        ),
        (
            "What is the minimum age of a driver?",
            "Drivers under 23 pay \u00a3350 more.",
            0,
        ),
        (
            "What is the maximum height of a house?",
            "Houses over 12 metres high need a lift.",
            0,
        ),
        (
            "What is the greatest weight of a bag?",
            "Bags heavier than 20 kg go below.",
            0,
        ),
        # A bound is given, or the number is not that of a condition.
        (
            "What is the maximum weight of a bag?",
            "Bags heavier than 20 kg are not accepted.",
            1,
        ),
        ("What is the minimum age of a rower?", "Only rowers over 16 may race.", 1),
        ("What is the maximum age of a guest?", "Guests under 12 may swim here.", 1),
        ("What is the maximum depth of the pond?", "The pond is 4 metres deep.", 1),
        ("What do drivers under 23 pay?", "Drivers under 23 pay \u00a3350 more.", 1),
        ("What is the minimum age?", "Applicants must be over 21.", 1),
        ("What is the maximum level?", "Blood alcohol must be below 0.5.", 1),
        ("What is the maximum temperature?", "Store milk below 5 degrees.", 1),
    ],
)
def test_whom_a_rule_is_for_is_no_bound(question, text, fits):
    assert bool(form_fit(analyse(question), text)) == bool(fits)

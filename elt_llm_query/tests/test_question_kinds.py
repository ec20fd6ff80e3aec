"""Kinds of questions that one sentence cannot answer, and what is said of them."""

import pytest

from elt_llm_core.testing import HashEmbedding
from elt_llm_query.analysis.question import analyse
from elt_llm_query.synthesizers.extractive.constraints import demands_of
from elt_llm_query.synthesizers.extractive.question_kinds import (
    COMPARING,
    COUNTING,
    LISTING,
    NO_REFERENT,
    TWO_PARTS,
    why_not_enough,
    why_unanswered,
)
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer
from test_extractive import FEES, node, respond


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Is it valid?", NO_REFERENT),
        ("When does it close?", NO_REFERENT),
        ("Is it allowed to bring a dog?", ""),
        ("If a book is lost, is it replaced?", ""),
        ("Where does it snow the most?", ""),
        ("What is the difference between a loan and a gift?", COMPARING),
        ("Which fee is higher, that for books or that for films?", COMPARING),
        ("How long is a loan and what does it cost?", TWO_PARTS),
        ("List the rooms.", LISTING),
        ("How many rooms are there?", COUNTING),
        ("What is the fee for a book?", ""),
    ],
)
def test_a_refusal_says_what_kind_of_question_it_was(question, reason):
    assert why_unanswered(analyse(question)) == reason


@pytest.mark.parametrize(
    ("question", "quoted", "reason"),
    [
        (
            "How long is a loan and what does it cost?",
            "A loan costs 2 euros.",
            TWO_PARTS,
        ),
        (
            "What is the difference between a loan and a gift?",
            "A loan ends.",
            COMPARING,
        ),
        (
            "What is the difference between a loan and a gift?",
            "A loan ends, whereas a gift does not.",
            "",
        ),
        ("List the rooms.", "There are rooms.", LISTING),
        ("List the rooms.", "The rooms are the hall, the attic and the vault.", ""),
        ("How many rooms are there?", "There are nine rooms.", ""),
    ],
)
def test_a_sentence_is_not_enough_for_some_kinds(question, quoted, reason):
    assert why_not_enough(analyse(question), quoted) == reason


def test_half_an_answer_is_refused_with_its_reason():
    asked = "What is the fee for an overdue book and when is a lost book paid for?"
    found = respond(asked, node(FEES))
    assert found.metadata["refused"] is True
    assert found.response.endswith(TWO_PARTS)


def test_a_pronoun_that_stands_for_nothing_is_refused_with_its_reason():
    found = ExtractiveSynthesizer(HashEmbedding()).synthesize(
        "Is it paid for in full?", [node(FEES)]
    )
    assert found.metadata["refused"] is True
    assert found.response.endswith(NO_REFERENT)


def test_the_one_who_asks_is_no_name_that_the_answer_must_hold():
    assert demands_of("When must I pay for a lost book?").names == ()
    assert demands_of("When must the Keeper pay?").names


def test_a_sentence_that_asks_answers_nothing():
    asked = node("What is the fee for an overdue book?")
    found = respond("What is the fee for an overdue book?", asked)
    assert found.metadata["refused"] is True


@pytest.mark.parametrize(
    "question",
    [
        "What are competencies, according to the handbook?",
        "According to this policy, what are competencies?",
        "What are competencies as per our rules?",
    ],
)
def test_where_the_answer_stands_is_no_part_of_what_is_asked(question):
    assert analyse(question).term == "competencies"
    assert analyse(question).weights == analyse("What are competencies?").weights


def test_a_document_with_a_name_is_part_of_what_is_asked():
    assert "travel" in analyse("What is due, according to the travel policy?").weights

"""A quote has all that its sentence says: the number of a clause, and its verb."""

import time

import pytest

from answer_world import node, respond
from elt_llm_query.analysis.stems import pieces, refers_back

BERTHS = (
    "A berth is let for one summer. Rafts and pontoons are not berths, except for the "
    "purposes of clause\n7.3. The board keeps the list of berths."
)
DOGS = (
    "Dogs on a lead are welcome on the eastern quay. Parrots in a cage are welcome on "
    "the eastern quay. Ferrets are not. The quay is swept at noon."
)


def test_a_quote_has_the_number_at_the_end_of_its_sentence():
    answer = respond("Are rafts and pontoons berths?", node(BERTHS))
    assert "except for the purposes of clause 7.3." in " ".join(answer.response.split())


def test_a_sentence_without_its_verb_is_quoted_with_the_one_before_it():
    answer = respond("Are ferrets welcome?", node(DOGS))
    text = " ".join(answer.response.split())
    assert "Parrots in a cage are welcome on the eastern quay. Ferrets are not." in text


@pytest.mark.parametrize(
    ("sentence", "needs"),
    [
        ("Ferrets are not.", True),
        ("3.2 Ferrets must not.", True),
        ("Members of other clubs cannot.", True),
        ("Ferrets are not welcome.", False),
        ("Say where the berth is.", False),
        ("The board decides what members may.", False),
    ],
)
def test_which_sentences_need_the_verb_of_the_one_before(sentence, needs):
    assert refers_back(sentence) is needs


def test_a_numbered_line_after_a_whole_sentence_begins_a_new_one():
    text = "It is as in clause 3.\n4. The board lets the berths.\n5. Boats are dry."
    assert [text[p.start : p.end] for p in pieces(text)] == text.split("\n")


@pytest.mark.parametrize("part", ["\n", "\n ", "a\n\n", "see clause\n1 ", "a\u00a0"])
def test_the_time_to_split_a_text_grows_with_its_length(part):
    # Quadratic, as many empty lines took fifteen seconds.
    start = time.process_time()
    pieces(part * 15_000)
    assert time.process_time() - start < 2


def test_empty_lines_end_a_sentence_as_before():
    text = "Boats are let\n \n\tby the day\n  - rafts\n\n\n2.\nPontoons: \n \n dry"
    assert [text[p.start : p.end] for p in pieces(text)] == [
        "Boats are let",
        "by the day",
        "- rafts",
        "2.\nPontoons:",
        "dry",
    ]

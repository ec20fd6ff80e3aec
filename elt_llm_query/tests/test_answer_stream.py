"""What is shown of an answer while it is written."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from elt_llm_query.synthesizers.answer_stream import OPENING, AnswerFilter
from stream_texts import LABELS, PIECES

TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=25).map(
    "".join
)


def show(parts, opening=0):
    shown = AnswerFilter(LABELS, opening)
    return [*(shown.feed(part) for part in parts), shown.flush()]


def cut(text, places):
    ends = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in pairwise(ends)]


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.lists(st.integers(0, 400), max_size=30), st.sampled_from([0, OPENING]))
@example("a [[S1]] b", [1, 2, 3, 4, 5, 6, 7, 8, 9], 0)
@example("## Answer\nNo\n## References\nx", list(range(30)), 0)
def test_the_text_is_the_same_however_it_is_cut(text, places, opening):
    whole = "".join(show([text], opening))
    assert "".join(show(cut(text, places), opening)) == whole
    assert "".join(show(text, opening)) == whole  # letter by letter


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_no_part_has_a_label_that_no_source_has_or_half_of_one(text):
    for part in show(text):
        assert {*re.findall(r"\[([SF]\d+)\]", part)} <= {*LABELS}
        assert not re.search(r"\[[SF]\d*\Z", part)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("No", "No"),
        ("", ""),
        ("The documents do not answer this.", "The documents do not answer this."),
        ("## Answer:\n25 pounds [S1].\n\n## References\n[S1] x", "25 pounds [S1]."),
        ("**Answer:** Yes.\nReferences: a", "Yes."),
        ("Answers differ.", "Answers differ."),
        ("25 [S1].\n### References\n- x\n- y", "25 [S1]."),
        ("25.\n**References:**\nx", "25."),
        ("25.\n\nReferences\nx", "25."),
        (
            "A full list of References: page 12.",
            "A full list of References: page 12.",
        ),
        ("See\nReferences to clubs.", "See\nReferences to clubs."),
        ("25 [S1, S9], 30 [S9].", "25 [S1], 30."),
        ("[S9] First.", "First."),
        ("<<SOURCE 2>> and [doc_1] and (S1)", "[S2] and [S1] and [S1]"),
        ("[1] and (S7)", "[1] and (S7)"),
        ("<think>What [S1]?\n## Answer</think>\n\nYes [S1].", "Yes [S1]."),
        ("<think>for ever", ""),
        ("<b>x", "<b>x"),
        ("Sure!\n## Answer\nYes.", "Sure!\n## Answer\nYes."),
    ],
)
def test_headings_thoughts_and_unknown_labels_are_not_shown(text, shown):
    assert "".join(show(text)) == shown


def test_what_stands_before_a_heading_that_was_asked_for_is_not_shown():
    assert "".join(show("Sure!\n## Answer\nYes.", OPENING)) == "Yes."


def test_a_heading_is_not_waited_for_longer_than_a_hundred_tokens():
    parts = show(["word "] * 300, OPENING)
    first = next(number for number, part in enumerate(parts) if part)
    assert 80 <= first <= 120
    assert "".join(parts) == ("word " * 300).strip()


def test_plain_words_are_shown_as_they_come():
    assert show(["The", " fee", " is", " 25", " [S", "1", "]", "."]) == [
        *("The", " fee", " is", " 25", "", "", "", " [S1].", ""),
    ]

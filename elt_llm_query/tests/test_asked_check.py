"""Quotes that are about the subject of a follow-up must also say what it asks."""

import pytest

from elt_llm_query.conversation.asked_check import (
    has_words,
    tells_asked,
    tells_asked_of,
)

VALID = "The licence of the warden is valid for two years."


@pytest.mark.parametrize(
    ("question", "quoted", "tells"),
    [
        ("Why is the licence valid?", VALID, False),
        ("Why is the licence valid?", f"Because it is needed, {VALID}", True),
        ("Why must it be kept?", "To meet Rule 3, a member must keep it.", True),
        ("Why must it be kept?", "A member must keep it to register.", False),
        ("Why is it so?", "It is so, as the use may alter the dose.", True),
        ("Why is it so?", "It is so as set out in the annex since 2004.", False),
        ("By whom is the licence valid?", VALID, False),
        ("By whom is it issued?", "It is issued by the Board.", True),
        ("By whom is it issued?", "It is issued by 3 May by filing a form.", False),
        ("How often is the licence valid?", VALID, False),
        ("How often is it renewed?", "It is renewed every two years.", True),
        ("What does the licence mean?", VALID, False),
        ("What does licence mean?", "A licence is required of all.", False),
        ("What does licence mean?", "Licence: a permit to fly a kite.", True),
        ("What is the fee?", VALID, True),
    ],
)
def test_what_a_question_phrase_asks_for_is_told(question, quoted, tells):
    assert tells_asked(question, quoted) is tells


MILL = "The mill stood from 1870 to 1939, and later the yard had a forge."
WOODS = "The majority, 60 % of it, is oak, followed by larch with 13 %, and some ash."


@pytest.mark.parametrize(
    ("question", "subject", "quoted", "tells"),
    [
        ("From when to when did the forge stand?", "forge", MILL, False),
        ("From when to when did the mill stand?", "mill", MILL, True),
        ("How much of it is larch?", "larch", WOODS, True),
        ("How much of it is ash?", "ash", WOODS, False),
        ("Where was the forge?", "forge", MILL, True),
    ],
)
def test_a_value_is_told_beside_its_name(question, subject, quoted, tells):
    assert tells_asked_of(question, subject, quoted) is tells


def test_a_word_may_have_another_form():
    assert has_words({"renew"}, "The renewal of a loan")
    assert not has_words({"renew", "price"}, "The renewal of a loan")

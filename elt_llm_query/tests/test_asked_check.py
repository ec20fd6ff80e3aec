"""Quotes that are about the subject of a follow-up must also say what it asks."""

from typing import Any

import pytest

from elt_llm_core.results import (
    Citation,
    QueryResult,
    QueryTrace,
    Span,
    Status,
    Support,
)
from elt_llm_query.conversation.asked_check import (
    has_words,
    tells_asked,
    tells_asked_of,
)
from elt_llm_query.conversation.exchanges import Exchange
from elt_llm_query.conversation.subject_check import NOT_TOLD, SubjectCheck
from elt_llm_query.conversation.understood_message import Understood

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
        ("By whom is the permit issued?", "The Harbour Board issues the permit.", True),
        ("By whom was the kiln lit?", "In May a potter lit the kiln.", True),
        ("By whom is the permit issued?", "The issue of the permit is free.", False),
        ("By whom is the permit issued?", "The permit was issued the same day.", False),
        ("Why did the kiln stop?", "The stop was caused by a wet flue.", True),
        ("Why did the kiln stop?", "A wet flue led to the stop.", True),
        ("Why did the kiln stop?", "The stop results from a wet flue.", True),
        ("Why is the log kept?", "It is kept for safety purposes.", True),
        ("Why is the log kept?", "In view of the risk, it is kept.", True),
        ("Why is the log kept?", "It is kept for three years.", False),
        ("How often is the licence valid?", VALID, False),
        ("How often is it renewed?", "It is renewed every two years.", True),
        ("How long may it be used?", "The fee is 2 florins.", False),
        ("How long is it open?", "It is open until 3 May.", True),
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


def answered(quote: str, answer: str = "", kind: str = "prose") -> QueryResult:
    citation = Citation(
        label="S1",
        document="Register",
        document_id="register",
        collection="harbour",
        page=None,
        section="",
        kind=kind,
        quote=quote,
        support=Support.VERIFIED,
        score=1,
        node_id="n",
        span=Span(start=0, end=len(quote)),
    )
    return QueryResult(
        question="q",
        status=Status.ANSWERED,
        answer=f"{answer or quote} [S1]",
        citations=(citation,),
        trace=QueryTrace(query_id="q", config_hash=""),
    )


def fault_after(last: str, part: Understood, result: QueryResult) -> str:
    """Why an answer after another question about the same document is refused."""
    before = Exchange(last, Status.ANSWERED, documents=("register",))
    no_store: Any = None  # the documents are those of the answer before
    return SubjectCheck(no_store, [before]).find_fault(part, result)[0]


COUNTED = Understood("How many kayaks are moored in Dock B?", continued=True)


@pytest.mark.parametrize(
    ("kind", "fault"),
    [("table_row", ""), ("fact_sheet", ""), ("relationship", ""), ("prose", NOT_TOLD)],
)
def test_a_computed_number_is_in_the_answer_and_in_no_quote(kind, fault):
    result = answered("Kayak Wren moored in Dock", "3 rows (Kayaks): Wren.", kind)
    last = "How many kayaks are moored in Dock A?"
    assert fault_after(last, COUNTED, result) == fault


@pytest.mark.parametrize(
    ("last", "question", "is_resolved"),
    [
        ("Was kostet die Lizenz?", "Warum ist die Lizenz teuer?", True),
        ("What does the licence cost?", "Wo ist der Hafen?", True),
        ("What does the licence cost?", "許可証はどこで発行されますか?", False),
        ("Welche Lizenz gilt im Hafen?", "Kosten?", False),
    ],
)
def test_what_says_something_in_another_language_is_not_known(
    last, question, is_resolved
):
    part = Understood(question, continued=is_resolved)
    assert not fault_after(last, part, answered("The permit is blue."))

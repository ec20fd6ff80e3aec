import dataclasses

import pytest
from llama_index.core.base.response.schema import Response

from answer_world import BOX, FEES, LOANS, SOURCES, cite, locate, offer
from elt_llm_core.document import Cell
from elt_llm_core.results import Span, Status, Support
from elt_llm_core.store import Store
from elt_llm_query.grounding.citations import (
    NOTHING_STANDS,
    NOTHING_WRITTEN,
    UNVERIFIED,
    check_answer,
    cite_answer,
    cite_claims,
)
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.grounding.claim_support import supporting
from elt_llm_query.grounding.sources import Offered
from elt_llm_query.grounding.statements import split_statements
from elt_llm_query.prompts import NO_SURE_ANSWER, REFUSAL
from elt_llm_query.render import _citation


def outcomes(checked):
    return [(c.label, c.support) for c in checked.citations]


def test_a_verbatim_sentence_is_verified_with_span_page_and_boxes():
    said = "The fee for an overdue book is 20 cents per day"
    checked = cite(f"{said} [S1].")
    (found,) = checked.citations
    assert checked.status is Status.ANSWERED
    assert checked.answer == f"{said} [S1]."
    assert found.quote == f"{said}."
    assert (found.support, found.score) == (Support.VERIFIED, 1.0)
    assert (found.span.start, found.span.end) == (100, 101 + len(said))
    assert (found.page, found.span.page, found.boxes) == (4, 4, (BOX,))
    assert found.section == "Fees"


@pytest.mark.parametrize(
    ("answer", "support"),
    [
        ('"Lost books are paid for in full." [S1].', Support.VERIFIED),
        ('"Lost books are paid for in full" [S1].', Support.VERIFIED),
        ('"Lost books are\npaid for in full." [S1]', Support.NORMALISED),
        ('"Lost books are not paid for in full." [S1]', None),
    ],
)
def test_marks_around_a_quotation_claim_nothing(answer, support):
    checked = cite(answer)
    assert [c.support for c in checked.citations] == [support] * bool(support)


def test_an_empty_answer_of_a_model_is_named_so(tmp_path):
    response = Response("", metadata={})
    checked = check_answer(response, SOURCES, Store(tmp_path), "strict")
    assert checked.answer == NOTHING_WRITTEN
    assert checked.status is Status.VALIDATION_FAILED
    assert not checked.removed


def test_a_label_after_the_full_stop_belongs_to_what_it_follows():
    checked = cite(
        "The loan period of a book is 21 days. [S2] Lost books are paid. [S1]"
    )
    assert [label for label, _ in outcomes(checked)] == ["S2", "S1"]
    assert checked.status is Status.ANSWERED
    assert "21 days [S2]. Lost" in checked.answer


def test_a_quotation_is_what_is_looked_up():
    checked = cite('The rules say that a fee "must not exceed 10 euros" [S1].')
    (found,) = checked.citations
    assert (found.quote, found.support) == (
        "must not exceed 10 euros",
        Support.VERIFIED,
    )
    (statement,) = checked.statements
    assert (statement.text, statement.verdict) == (checked.answer, Support.SUPPORTED)


def test_a_lie_beside_a_true_quotation_is_no_proof():
    lie = 'The fine for dogs is 9999 euros, since a fee "must not exceed 10 euros"'
    checked = cite(f"{lie} [S1].")
    assert (checked.answer, checked.citations) == (NOTHING_STANDS, ())
    (removed,) = checked.removed
    assert removed.verdict in {Support.CONTRADICTED, Support.UNSUPPORTED}
    assert "9999" in removed.reason or "fine" in removed.reason


@pytest.mark.parametrize(
    ("answer", "question", "stands"),
    [
        ("No [S1].", "Are dogs permitted in the reading room?", True),
        ("Yes [S1].", "Are dogs permitted in the reading room?", False),
        ("Yes [S1].", "May films be lent?", True),
        ("No [S1].", "May films be lent?", False),
        ("Yes [S1].", "May the director vote?", False),
        ("No [S1].", "May the director vote?", False),
        ("No [S1].", "", False),
    ],
)
def test_a_bare_yes_or_no_is_checked_against_the_question(answer, question, stands):
    checked = cite_answer(answer, (offer("S1", DOGS),), locate, "strict", question)
    assert (checked.status is Status.ANSWERED) == stands


def test_a_paraphrase_is_supported_by_the_nearest_sentence():
    checked = cite("For an overdue book there is a fee of 20 cents a day [S1].")
    (found,) = checked.citations
    assert found.support is Support.SUPPORTED
    assert found.quote == "The fee for an overdue book is 20 cents per day."


@pytest.mark.parametrize(
    ("answer", "support"),
    [
        ('Fees "must not exceed 15 euros" [S1].', Support.FABRICATED),
        ('Fees "must never be charged at all" [S1].', Support.FABRICATED),
        ('You "may borrow up to eight books" [S1].', Support.MISATTRIBUTED),
        ("The overdue book fee is 25 cents per day [S1].", Support.CONTRADICTED),
        ("The overdue fee is not 20 cents per day [S1].", Support.CONTRADICTED),
        ("For a book the loan period is 21 days [S1].", Support.MISATTRIBUTED),
        ("The director is elected every four years [S1].", Support.UNSUPPORTED),
    ],
)
def test_what_does_not_stand_is_found_out(answer, support):
    flagged = cite(answer, "flag")
    assert [s for _, s in outcomes(flagged)] == [support]
    assert flagged.status is Status.VALIDATION_FAILED
    assert flagged.answer.endswith(UNVERIFIED)
    strict = cite(answer)
    assert strict.answer == NOTHING_STANDS
    assert strict.citations == ()
    assert strict.removed[0].reason.startswith(support.value)
    lenient = cite(answer, "lenient")
    assert lenient.answer == answer
    assert lenient.citations == flagged.citations


DOGS = (
    "Dogs are not permitted in the reading room. Films may be lent, but not new ones."
)


@pytest.mark.parametrize(
    ("answer", "stands"),
    [
        ('Dogs are "permitted in the reading room" [S1].', False),
        ("Permitted in the reading room [S1].", False),
        ('It is not true that "Films may be lent" [S1].', False),
        ('Dogs are "not permitted in the reading room" [S1].', True),
        ('No, "Dogs are not permitted in the reading room." [S1]', True),
        ('They are not: "Dogs are not permitted in the reading room" [S1].', True),
        ('Yes, "Films may be lent" [S1].', True),
        ("Films may be lent [S1].", True),
    ],
)
def test_a_not_around_a_quotation_must_be_the_sources(answer, stands):
    checked = cite(answer, "flag", (offer("S1", DOGS),))
    assert (checked.citations[0].support is not Support.CONTRADICTED) == stands
    if not stands:
        strict = cite(answer, sources=(offer("S1", DOGS),))
        assert strict.removed[0].reason == "contradicted: a negation differs"


def test_strict_removes_what_fails_and_says_so():
    good = "The loan period of a book is 21 days [S2]."
    bad = "Dogs may enter the building on Sundays [S1]."
    checked = cite(f"{good} {bad}")
    assert checked.answer == good
    assert checked.status is Status.PARTIAL
    assert [r.text for r in checked.removed] == [
        "Dogs may enter the building on Sundays."
    ]


def test_an_unlabelled_claim_gets_the_label_of_its_source_or_goes():
    checked = cite("The loan period of a book is 21 days.")
    assert checked.answer == "The loan period of a book is 21 days. [S2]"
    assert outcomes(checked) == [("S2", Support.VERIFIED)]
    gone = cite("The director is elected every four years.")
    assert gone.removed[0].reason == Support.UNCITED.value
    assert gone.status is Status.VALIDATION_FAILED


def test_a_statement_stays_with_its_good_labels_only():
    checked = cite("The loan period of a book is 21 days [S1][S2].")
    assert checked.answer == "The loan period of a book is 21 days [S2]."
    assert outcomes(checked) == [("S2", Support.VERIFIED)]


def test_unknown_labels_are_removed_and_reported():
    checked = cite("The loan period of a book is 21 days [S2][S9].")
    assert checked.answer == "The loan period of a book is 21 days [S2]."
    assert [(r.text, r.reason) for r in checked.removed] == [("S9", "unknown label")]
    assert checked.status is Status.ANSWERED


def test_lists_keep_their_lead_in_and_lose_what_fails():
    checked = cite(
        "The rules say:\n\n- The loan period of a book is 21 days [S2]\n"
        "- Dogs are welcome on Sundays [S1]\n- Lost books are paid for in full [S1]"
    )
    assert checked.answer == (
        "The rules say:\n\n- The loan period of a book is 21 days [S2]\n"
        "- Lost books are paid for in full [S1]"
    )


def test_a_lead_in_without_what_it_leads_to_goes_too():
    checked = cite(
        "The loan period of a book is 21 days [S2]. Also:\n- Dogs are welcome here [S1]"
    )
    assert checked.answer == "The loan period of a book is 21 days [S2]."


@pytest.mark.parametrize("policy", ["strict", "flag", "lenient"])
def test_an_honest_refusal_is_a_status(policy):
    checked = cite(REFUSAL, policy)
    assert (checked.status, checked.answer) == (Status.INSUFFICIENT, NO_SURE_ANSWER)
    assert checked.citations == ()


def test_a_refusal_beside_a_claim_is_partial():
    checked = cite(f"The loan period of a book is 21 days [S2]. {REFUSAL}")
    assert checked.status is Status.PARTIAL
    assert outcomes(checked) == [("S2", Support.VERIFIED)]


def test_a_table_row_quoted_with_its_headers_rests_on_the_row():
    row = offer(
        "S1", "North Street\t10 to 14", "Hours - Branch: North Street | Sat: 10 to 14"
    )
    checked = cite("Branch: North Street | Sat: 10 to 14 [S1]", sources=(row,))
    (found,) = checked.citations
    assert found.quote == "North Street\t10 to 14"
    assert found.support is Support.NORMALISED


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("Hours on Saturday", "Hours on Saturday: 10 to 14"),
        ("Opening hours / Saturday", "Opening hours / Saturday: 10 to 14"),
        ("Hours in summer (city)", "Hours in summer (city): 10 to 14"),
        ("Opening hours / Sunday", "10 to 14"),
        ("Hours in winter", "10 to 14"),
    ],
)
def test_a_header_is_shown_if_the_document_has_it_or_its_parts(header, shown):
    above = (
        "Opening hours\nHours on Saturday. Hours in\tFees in\nsummer\tsummer\n(city)\n"
    )
    text = "10 to 14"
    row = offer("S1", text, f"Hours - {header}: {text}")
    span = Span(start=len(above), end=len(above) + len(text), page=3)
    source = row.source.model_copy(update={"span": span})
    cell = Cell(header=header, start=span.start, end=span.end)
    row = dataclasses.replace(row, source=source, cells=(cell,))
    claim = Claim("S1", "n-S1", 0, len(text), row.reading)
    checked = cite_claims(
        f"{row.reading} [S1]", [claim], [row], locate, lambda _: above + text
    )
    assert checked.answer == f"Hours - {shown} [S1]"


def test_verbatim_claims_are_cited_as_they_are():
    claim = Claim("S2", "n-S2", 0, 38, LOANS[:38])
    checked = cite_claims(f"{LOANS[:38]} [S2]", [claim], SOURCES, locate, str)
    assert checked.citations[0].quote == "A reader may borrow up to eight books."
    assert checked.citations[0].support is Support.VERIFIED
    assert checked.status is Status.ANSWERED
    assert cite_claims("no", [], SOURCES, locate, str).status is Status.INSUFFICIENT


def test_what_a_source_writes_like_a_label_is_none_in_the_answer():
    text = "Readers of type [S1] pay nothing [3]."
    claim = Claim("S2", "n-S2", 0, len(text), text)
    sources = (SOURCES[0], offer("S2", text))
    checked = cite_claims(f"{text} [S2]", [claim], sources, locate, str)
    assert checked.answer == "Readers of type \u2039S1\u203a pay nothing [3]. [S2]"
    assert [(c.label, c.quote) for c in checked.citations] == [("S2", text)]
    generated = cite(
        "Readers of type \u2039S1\u203a pay nothing [S2].", sources=sources
    )
    assert all(c.label == "S2" for c in generated.citations)


def test_a_sentence_of_ours_before_a_quote_is_a_notice_and_no_part_of_its_proof():
    claims = [
        Claim("S2", "n-S2", 0, 38, LOANS[:38]),
        Claim("S2", "n-S2", 39, 76, LOANS[39:76]),
    ]
    answer = (
        f"The nearest passages:\n{LOANS[:38]} [S2]\n{LOANS[39:76]} [S2]\nIt goes on."
    )
    checked = cite_claims(answer, claims, SOURCES, locate, str)
    assert checked.answer == answer
    assert [(s.text, s.verdict) for s in checked.statements] == [
        ("The nearest passages:", Support.NOTICE),
        (f"{LOANS[:38]} [S2]", Support.VERIFIED),
        (f"{LOANS[39:76]} [S2]", Support.VERIFIED),
        ("It goes on.", Support.NOTICE),
    ]


def test_a_claim_that_quotes_nothing_is_removed():
    claim = Claim("S2", "n-S2", 5000, 5010, "Readers fly.")
    checked = cite_claims("Readers fly. [S2]", [claim], SOURCES, locate, str)
    assert checked.status is Status.VALIDATION_FAILED
    assert (checked.answer, checked.citations) == (NOTHING_STANDS, ())
    assert checked.removed[0].text == "Readers fly."


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            "Hours\nBranch\tSat\nNorth Street\t10 to 14",
            "Hours - Branch: North Street | Sat: 10 to 14",
        ),
        ("Branch\nNorth Street\t10 to 14", "Branch: North Street | 10 to 14"),
        ("North Street\t10 to 14\nSaturday", "North Street | 10 to 14"),
    ],
)
def test_a_row_is_shown_with_the_headers_that_the_document_has(document, said):
    reading = "Hours - Branch: North Street | Sat: 10 to 14"
    row = offer("S1", "North Street\t10 to 14", reading)
    cells = (
        Cell(header="Branch", start=100, end=112),
        Cell(header="Sat", start=113, end=121),
    )
    claim = Claim("S1", "n-S1", 0, 21, reading)
    checked = cite_claims(
        f"{reading} [S1]",
        [claim],
        [Offered(row.source, reading, cells)],
        locate,
        lambda _: document,
    )
    assert checked.answer == f"{said} [S1]"
    assert checked.citations[0].quote == "North Street\t10 to 14"
    assert checked.citations[0].support is Support.VERIFIED


@pytest.mark.parametrize(
    ("headers", "shown"),
    [
        (("", "", "", ""), "North Street | \u2013 | 10 to 14"),
        (("Branch", "", "", ""), "Branch: North Street | \u2013 | 10 to 14"),
        (("", "Sat", "Sun", ""), "North Street | Sun: 10 to 14"),
        (("Branch", "Sat", "Sun", "Mon"), "Branch: North Street | Sun: 10 to 14"),
    ],
)
def test_an_empty_cell_is_shown_where_only_its_place_tells_a_column(headers, shown):
    text = "North Street\t\t10 to 14\t"
    spans = ((100, 112), (113, 113), (114, 122), (123, 123))
    reading = "North Street | 10 to 14"
    row = offer("S1", text, reading)
    cells = tuple(
        Cell(header=header, start=start, end=end)
        for header, (start, end) in zip(headers, spans, strict=True)
    )
    checked = cite_claims(
        f"{reading} [S1]",
        [Claim("S1", "n-S1", 0, len(text), reading)],
        [Offered(row.source, reading, cells)],
        locate,
        lambda _: f"Branch\tSat\tSun\tMon\n{text}",
    )
    assert checked.answer == f"{shown} [S1]"
    assert checked.citations[0].support is Support.VERIFIED


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("for an overdue book the fee is 20 cents a day", Support.SUPPORTED),
        ("for an overdue book the fee is twenty cents a day", Support.SUPPORTED),
        ("for an overdue book the fee is 30 cents a day", Support.CONTRADICTED),
        ("for an overdue book the fee is 20 euros a day", Support.CONTRADICTED),
        ("an overdue book's fee may exceed 10 euros", Support.CONTRADICTED),
        ("the fee for an overdue film is 20 cents a day", Support.CONTRADICTED),
        ("the fee for an overdue book is 20 cents a week", Support.CONTRADICTED),
        ("the director decides", Support.UNSUPPORTED),
    ],
)
def test_a_paraphrase_has_every_word_number_and_negation_of_its_passage(claim, verdict):
    assert supporting(claim, SOURCES[0]).support is verdict


@pytest.mark.parametrize(
    ("claim", "stands"),
    [
        ("A captain may replace a pilot on the quay", True),
        ("On the quay a captain may replace a pilot", True),
        ("A pilot may be replaced by a captain on the quay", True),
        ("A pilot may replace a captain on the quay", False),
        ("A captain may be replaced by a pilot on the quay", False),
    ],
)
def test_who_acts_and_on_whom_does_not_change(claim, stands):
    rule = offer("S1", "A captain may replace a pilot on the quay.")
    assert supporting(claim, rule).stands is stands


def test_a_word_may_have_a_modal_for_a_synonym():
    rule = offer("S1", "A captain may replace a pilot on the quay.")
    assert supporting("A captain is permitted to replace a pilot", rule).stands


def test_statements_joined_are_the_answer():
    answer = "# Head\n\nFirst one. Second [S1]\n- item\n\nLast"
    assert "".join(s.gap + s.text for s in split_statements(answer)) == answer


@pytest.mark.parametrize("answer", ["10.1", "20 cents", "**Fees**\n\n20 cents"])
def test_an_answer_too_short_to_be_looked_up_is_told(answer):
    # Small models answer so: Qwen2.5-Coder-0.5B-Instruct gave a rule's number.
    checked = cite(answer)
    assert (checked.status, checked.answer) == (
        Status.VALIDATION_FAILED,
        NOTHING_STANDS,
    )
    assert [one.text for one in checked.removed] == [
        line for line in answer.split("\n\n") if "*" not in line
    ]
    assert "too short" in checked.removed[0].reason
    assert cite(f"{answer} [S1]", "flag").removed == ()


def test_doubt_about_the_order_of_a_page_reaches_the_citation_and_the_screen():
    plain = offer("S1", FEES)
    marked = plain.source.model_copy(update={"reading_order": "doubtful"})
    doubtful = Offered(marked, "")
    answer = "The fee for an overdue book is 20 cents per day. [S1]"
    (told,) = cite(answer, sources=(doubtful,)).citations
    assert (told.support, told.reading_order) == (Support.VERIFIED, "doubtful")
    (sure,) = cite(answer, sources=(plain,)).citations
    assert sure.reading_order == ""
    assert "reading order doubtful" in "\n".join(_citation(told, colour=False))
    assert "reading order" not in "\n".join(_citation(sure, colour=False))


@pytest.mark.parametrize(
    "written", ["[INSUFFICIENT DATA]", "[Insufficient data: the fee for dogs]."]
)
def test_the_mark_for_missing_data_is_a_refusal(written):
    checked = cite(written)
    assert (checked.status, checked.answer) == (Status.INSUFFICIENT, NO_SURE_ANSWER)
    partly = cite(f"The loan period of a book is 21 days [S2]. {written}")
    assert partly.status is Status.PARTIAL
    assert partly.answer == "The loan period of a book is 21 days [S2]."

"""A claim keeps which end of a range is which, and which number is whose."""

import pytest

from answer_world import offer
from elt_llm_query.grounding.statement_lookup import check_statement
from elt_llm_query.grounding.statements import DraftStatement


def stands(claim, source):
    sources = [offer("S1", f"{source} The board keeps the list.")]
    return check_statement(DraftStatement("", f"{claim} [S1]"), sources).stands


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (
            "The pool is open from 1 May to 30 June.",
            "The pool is open from 30 June to 1 May.",
        ),
        (
            "Boats lie in the dock from 3 June 2024 until 8 July 2025.",
            "Boats lie in the dock from 8 July 2025 until 3 June 2024.",
        ),
        ("The hall is open 9 to 17.", "The hall is open 17 to 9."),
        (
            "Quiet hours are between 9 pm and 6 am.",
            "Quiet hours are between 6 am and 9 pm.",
        ),
        (
            "The office is staffed Monday to Thursday.",
            "The office is staffed Thursday to Monday.",
        ),
        (
            "The ferry runs from the mole to the island.",
            "The ferry runs from the island to the mole.",
        ),
        (
            "See the fees in paragraphs 128 - 139 of the list.",
            "See the fees in paragraphs 139 - 128 of the list.",
        ),
        (
            "Der Lesesaal ist von 9 bis 17 Uhr offen.",
            "Der Lesesaal ist von 17 bis 9 Uhr offen.",
        ),
        (
            "Boats and rafts are dealt with in rules 3 and 4 respectively.",
            "Boats and rafts are dealt with in rules 4 and 3 respectively.",
        ),
        (
            "Boxes of 20 tablets and strips of 5 tablets are kept.",
            "Boxes of 5 tablets and strips of 20 tablets are kept.",
        ),
        (
            "A rate of 20 % is applied to loans except where one of 80 % is applied.",
            "A rate of 80 % is applied to loans except where one of 20 % is applied.",
        ),
    ],
)
def test_exchanged_ends_and_numbers_are_not_shown(source, claim):
    assert stands(source, source)
    assert not stands(claim, source)


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (
            "The pool is open from 1 May to 30 June.",
            "From 1 May to 30 June the pool is open.",
        ),
        (
            "From Monday to Thursday the office is staffed from 9 to 17.",
            "The office is staffed from 9 to 17 from Monday to Thursday.",
        ),
        (
            "It sails from the mole to the island and from the island to the mole.",
            "It sails from the island to the mole.",
        ),
        (
            "It lies between the mole and the island.",
            "It lies between the island and the mole.",
        ),
        (
            "Rule 3 or 4 is waived for guests.",
            "Rule 4 or 3 is waived for guests.",
        ),
    ],
)
def test_what_is_only_in_another_order_is_shown(source, claim):
    assert stands(claim, source)

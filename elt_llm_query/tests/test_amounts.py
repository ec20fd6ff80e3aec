"""An amount of another kind is no answer, and measures in a question name nothing."""

import pytest

from elt_llm_query.analysis.amounts import Amount, gives_amount
from elt_llm_query.analysis.question import analyse
from elt_llm_query.grounding.claim_words import read_claim
from elt_llm_query.synthesizers.extractive.constraints import demands_of
from elt_llm_query.synthesizers.extractive.form_fit import sentence_fit


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How much is the pilot fee?", "Whoever guides ten walkers gets a pilot fee."),
        (
            "How much is a warden paid?",
            "12. A warden is paid and drives one shift a day.",
        ),
        ("How much is the full fare?", "Guests may come at the full fare."),
        ("What does a locker cost?", "Lockers are 40 cm wide and have two keys."),
        ("Price of a blue pass?", "A blue pass is valid in 3 zones."),
        ("How long do we get for the quiz?", "The quiz has 15 boxes in 5 rows."),
        ("What is the phone number of the pier?", "The pier has a phone number."),
        ("How many juniors are there?", "Riders who are under 16 are juniors."),
        (
            "How many crews may start?",
            "If fewer than four crews start, heats fall away.",
        ),
    ],
)
def test_an_amount_of_another_kind_is_no_answer(question: str, text: str) -> None:
    assert sentence_fit(analyse(question), text) == 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How much is the pilot fee?", "A pilot fee of 35 is paid for ten walkers."),
        ("How much is a warden paid?", "A warden is paid two hours' wages a visit."),
        ("How much is the fee?", "A fee of 520 pays for the yard."),
        ("What does a locker cost?", "Lockers are free of charge for members."),
        ("How much does the club pay?", "The club pays 80 per cent of the bill."),
        ("How long do we get for the quiz?", "The quiz lasts no more than an hour."),
        ("How long may I keep it?", "You may keep it until someone reserves it."),
        ("How long may the report be?", "A report has at most 20 pages."),
        ("What is the phone number of the pier?", "The pier is on 0555 1234."),
        ("How old must a junior be?", "Riders who are over 12 may be juniors."),
        ("How many crews start at most?", "No more than four crews start."),
    ],
)
def test_an_amount_of_the_kind_is_one(question: str, text: str) -> None:
    assert sentence_fit(analyse(question), text) > 0


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("I'm 53, do I have to swim?", set()),
        ("My son is 15. Allowed?", set()),
        ("May my 16-year-old nephew row?", set()),
        ("It's 02:15 and nobody came. There's no bus. We're cold, OK?", set()),
        ("I moved on 12 May to a flat of 58 m2. What now?", set()),
        ("I have a stand for 250 crowns. May I sell it?", set()),
        ("What is 802.11?", {"802.11"}),
        ("Is 3.2 met?", {"3.2"}),
        ("Is berth 15 free, and may I ask Lily?", {"15", "lili"}),
    ],
)
def test_ages_measures_and_contractions_name_nothing(
    question: str, names: set[str]
) -> None:
    assert analyse(question).names == names
    assert not demands_of(question).codes


def test_an_endless_number_takes_linear_time() -> None:
    endless = "1," * 20_000  # minutes, if each digit begins a number
    assert not gives_amount(Amount.PERIOD, endless)
    assert gives_amount(Amount.MONEY, endless)
    assert read_claim(endless)

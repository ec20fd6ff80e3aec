"""Money, shares and codes do not tell how many things there are."""

import pytest

from elt_llm_query.analysis.question import analyse
from elt_llm_query.synthesizers.extractive.form_fit import form_fit


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many members are there?", "Full members pay £36, juniors £6."),
        ("How many students use it?", "Students may use the tools in room A12."),
        ("How many tenants are there?", "Tenants get 4 % off."),
        ("How many guests were there?", "Guests pay 12 euros."),
        ("How many boats are there?", "Boats take up to four people."),
        ("How many cabin boats are there?", "The other three you work yourself."),
        ("How many boats are there?", "Up to four people may use boats."),
        ("How many boats are there?", "Seven of the boats are old."),
        ("How many members came?", "The members met in 2019 on 30 May."),
    ],
)
def test_other_numbers_are_no_count(question, text):
    assert form_fit(analyse(question), text) == 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many members are there?", "The club has 120 members."),
        ("How many members has it?", "Membership costs £36; we are 120."),
        ("How many boats are there?", "The yard owns seven old rowing boats."),
        ("How many boats are there?", "The number of boats is seven."),
        ("How many people are there in a team?", "A team has five persons."),
        ("How many people can stay?", "The house sleeps six."),
        ("How many euros does it cost?", "It costs 12 euros."),
        ("How much does it cost?", "It costs £12."),
        ("How many people fit into the hall?", "It has a capacity of 2000 people."),
        ("How many people live there?", "People live in 2000 houses; 1999 people."),
        ("How many may attend?", "No more than 30 may attend."),
        ("How many members form a quorum?", "A quorum is 20 % of the members."),
        ("How many berths are there?", "Boat: Heron | Berths: 4"),
        ("How many members are there?", "Membership stands at 120."),
    ],
)
def test_counts_and_prices_that_are_asked_for_stay(question, text):
    assert form_fit(analyse(question), text) > 0

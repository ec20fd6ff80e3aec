"""Duties, permissions, prohibitions and exemptions in other words, and who acts."""

import pytest

from elt_llm_query.grounding.agreement import compare

SAME = [
    ("Visitors must not park in the yard.", "Visitors may not park in the yard."),
    ("Visitors cannot park in the yard.", "Visitors shall not park in the yard."),
    (
        "Visitors are not allowed to park in the yard.",
        "Visitors may not park in the yard.",
    ),
    (
        "Visitors are prohibited from parking in the yard.",
        "Visitors shall not park in the yard.",
    ),
    ("Parking in the yard is not allowed.", "Parking in the yard is prohibited."),
    ("Parking in the yard is forbidden.", "Parking in the yard is not permitted."),
    (
        "Visitors are entitled to park in the yard.",
        "Visitors may park in the yard.",
    ),
    (
        "The holder does not have to sign the form.",
        "The holder need not sign the form.",
    ),
    (
        "The holder is not required to sign the form.",
        "The holder does not need to sign the form.",
    ),
    (
        "The form is to be signed by the holder.",
        "The form must be signed by the holder.",
    ),
    (
        "Nobody may enter the plant room.",
        "No one is allowed to enter the plant room.",
    ),
    ("Only members can vote.", "Only members are entitled to vote."),
    ("The fee is not refunded.", "The fee is non-refundable."),
    ("The rooms are kept at 15 degrees.", "The unit keeps the rooms at 15 degrees."),
    (
        "Requests are approved within two days.",
        "The manager approves requests within two days.",
    ),
    ("E04 means low pressure.", "Error E04 means low pressure."),
    ("The mill was bought in 1968.", "The mill stood empty and was bought in 1968."),
]

OTHER = [
    ("Visitors need not park in the yard.", "Visitors must not park in the yard."),
    ("Visitors must not park in the yard.", "Visitors need not park in the yard."),
    (
        "The holder does not have to sign the form.",
        "The holder must not sign the form.",
    ),
    (
        "Visitors are allowed to park in the yard.",
        "Visitors are prohibited from parking in the yard.",
    ),
    ("Parking in the yard is allowed.", "Parking in the yard is prohibited."),
    ("Smoking is prohibited inside.", "Smoking is not prohibited inside."),
    (
        "Visitors are not required to park in the yard.",
        "Visitors are not allowed to park in the yard.",
    ),
    (
        "The holder is required to sign the form.",
        "The holder is entitled to sign the form.",
    ),
    ("The fee is refundable.", "The fee is non-refundable."),
    ("The unit is kept at 15 degrees.", "The unit keeps the rooms at 15 degrees."),
    (
        "The manager is approved within two days.",
        "The manager approves requests within two days.",
    ),
    ("E05 means low pressure.", "Error E04 means low pressure."),
    (
        "The mill closed in 1968.",
        "The mill closed in 1931 and stood empty until the town bought it in 1968.",
    ),
    (
        "The library is open on Mondays.",
        "The library is open every day except Mondays.",
    ),
    ("The museum is open every day.", "The museum is open every day except Monday."),
    (
        "The sale is expected to close in May.",
        "The sale is expected to close in May, subject to approval.",
    ),
]


@pytest.mark.parametrize(("claim", "passage"), SAME)
def test_the_same_duty_in_other_words_is_supported(claim, passage):
    assert [d.reason for d in compare(claim, [passage])] == []


@pytest.mark.parametrize(("claim", "passage"), OTHER)
def test_another_duty_actor_or_limit_is_not_supported(claim, passage):
    assert compare(claim, [passage])


def test_a_number_stays_with_its_sentence():
    passage = [
        "Employees may take up to 12 weeks of leave for the birth of a child.",
        "Employees may take up to 26 weeks of leave for the care of a soldier.",
    ]
    wrong = "Employees may take up to 26 weeks of leave for the birth of a child."
    assert compare(wrong, passage)
    right = "Employees may take up to 26 weeks of leave for the care of a soldier."
    assert compare(right, passage[1:]) == []

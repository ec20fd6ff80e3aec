"""Who has a role is answered by a name, or by what the role is."""

import pytest

from answer_world import node, respond
from elt_llm_query.synthesizers.extractive.roles import names_no_holder

CHAIR = "Who is the chair of the trustees?"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (CHAIR, "Above that, the chair of trustees signs as well."),
        ("Who is the head of safety?", "The head of safety countersigns each report."),
        ("Who's the treasurer?", "The treasurer keeps the books."),
        ("Who are the auditors?", "The auditors check the accounts in May."),
        ("What is the name of the director?", "Requests come to the director."),
    ],
)
def test_a_role_without_its_holder_is_no_answer(question, text):
    assert names_no_holder(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (CHAIR, "The chair of the trustees is Ms Oduya."),
        (CHAIR, "Helga Reuter chairs the trustees."),
        ("Who is the arbitrator?", "The mayor acts as arbitrator in such cases."),
        ("Who is the registrar?", "Registrar means the person who keeps the files."),
        ("Who is the landlord?", "The landlord is the cooperative itself."),
        ("Who is a lifeguard?", "A lifeguard has a silver badge."),
        ("Who is the rent paid to?", "The rent is paid to the office."),
        ("Who is the first to leave?", "Children leave first."),
        ("Who is responsible for the key?", "The member is responsible for it."),
    ],
)
def test_names_definitions_and_other_questions_are_untouched(question, text):
    assert not names_no_holder(question, text)


def test_the_sentence_with_the_name_is_quoted():
    text = "The safety officer inspects all rooms. The safety officer is Dr Lund."
    assert "Lund" in str(respond("Who is the safety officer?", node(text)))
    one = respond(CHAIR, node("Above that, the chair of the trustees signs as well."))
    assert one.metadata["refused"]

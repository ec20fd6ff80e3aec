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
        ("Who is the director?", "The director signs if it is a contract."),
        ("Who is the director?", "Duties of the director include contracts."),
        ("Who is the head of the\nlab?", "Tell the head of the lab at once."),
        ("Who is the owner of the file?", "The owner keeps it in its own folder."),
        ("Who is the manager of the pool?", "The pool is managed from 8 to 6."),
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
        (
            "Who is the owner of the invoice process?",
            "The finance department owns the invoice process.",
        ),
        (
            "Who is the owner of the invoice process?",
            "The owner of the invoice process is the finance department.",
        ),
        ("Who is the owner of the boat?", "The boat belongs to the club."),
        ("Who is the contact for complaints?", "Complaints go to the front office."),
        (
            "Who are the members of the committee?",
            "The committee consists of the chair and two elected delegates.",
        ),
        (
            "Who are the members of the committee?",
            "The chair and two elected delegates form the committee.",
        ),
        ("Who are our customers?", "Our customers include schools and clubs."),
        ("Who is the manager of the pool?", "The pool is managed by the town."),
        ("Who is the fire warden?", "The caretaker acts as fire\nwarden."),
    ],
)
def test_names_definitions_and_other_questions_are_untouched(question, text):
    assert not names_no_holder(question, text)


def test_the_sentence_with_the_name_is_quoted():
    text = "The safety officer inspects all rooms. The safety officer is Dr Lund."
    assert "Lund" in str(respond("Who is the safety officer?", node(text)))
    one = respond(CHAIR, node("Above that, the chair of the trustees signs as well."))
    assert one.metadata["refused"]

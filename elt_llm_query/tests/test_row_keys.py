"""A row answers only about its own key, and no caption, example or role answers."""

import pytest

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.results import Status
from elt_llm_query import Library
from elt_llm_query.analysis.person_names import asked_role, names_holder

CLINIC = """\
# Clinic handbook

## 1 Files

Table 1 Owners and clerks by file

| File | Owner in the house | Clerk | System |
|---|---|---|---|
| Patient | Medical Director | Ward Clerk | MediDok |
| Ward | Head of Nursing | Bed Desk | PlanIt |
| Hygiene report | Hygiene Officer | Lab Desk | LabIt |
| Staff report | Personnel Director | Pay Desk | PayIt |

## 2 Colours

Table 2 Colours of the files

| File | Colour | Locked |
|---|---|---|
| Patient | Red | Yes |
| Ward | Blue | No |
| Hygiene report | Green | No |
| Staff report | Red | Yes |

## 3 Disposal

Table 3 Disposal of files

| File | Held for | Then |
|---|---|---|
| Patient | 30 years | Archive |
| Ward | 2 years | Delete |
| Hygiene report | 8 years | Delete |
| Staff report | 6 years | Delete |

Table 5 Keys and how long they are lent

| Key | Lent for | Counted from | Then |
|---|---|---|---|
| Ward | 2 days | Handing over | Return |
| Ward of children | 1 day | Handing over | Return |
| Boat house | 5 days | Loan of the ward | Return |

## 4 Rooms

Example: two Model K beds and a chair fit into room 4. Beds are made at seven.

Table 4 Beds in the wards at 1 June 2025

The treasurer of the society of friends is Ida Moll.

## 5 Clubs

| Club | Secretary | Place |
|---|---|---|
| Chess | Ada Berg | Day room |
| Choir | Music Office | Chapel |
"""
QUESTIONS = (
    # (question, words that the answer must have, or None for a refusal)
    ("Who owns the Ward file?", "Head of Nursing"),
    ("Who is the Hygiene Officer by name?", None),
    ("What is the name of the Head of Nursing?", None),
    ("Who is the treasurer by name?", "Ida Moll"),
    ("What is the name of the secretary of the chess club?", "Ada Berg"),
    ("What is the name of the secretary of the choir club?", None),
    ("What is the name of the owner of the patient file?", None),
    ("How many staff reports can a patient have?", None),
    ("How many Model K beds are there?", None),
    ("How many beds are in the wards?", None),
    ("How long is an accident report held?", None),
    ("How long is a hygiene report held?", "8 years"),
    # Other rows have as many words of the question, and another key.
    ("How long is a ward key lent?", "2 days"),
    ("How long is a key of the boat house lent?", "5 days"),
    ("How long is a cellar key lent?", None),
)


@pytest.fixture(scope="module")
def library(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("row_keys")
    (folder / "clinic.md").write_text(CLINIC, encoding="utf-8")
    with Library(folder / "data", config=RagConfig(), models=world.models) as made:
        made.add([folder / "clinic.md"], collection="texts")
        yield made


@pytest.mark.parametrize(("question", "words"), QUESTIONS)
def test_only_the_row_of_the_asked_thing_answers(library, question, words):
    result = library.ask(question)
    if words is None:
        assert result.status is Status.INSUFFICIENT, result.answer
    else:
        assert words in result.answer


def test_a_role_beside_a_role_is_no_name() -> None:
    assert asked_role("Who is the head of archives by name?") == "head of archives"
    assert not asked_role("What is the name of the river?")
    assert not names_holder("Head of Archives, with the Pay Desk", "head of archives")
    assert names_holder("Dr Ada Quist, head of archives, decides.", "head of archives")


@pytest.mark.parametrize(
    ("sentence", "role"),
    [
        ("The auditors are Ada Berg and Tom Lee.", "auditors"),
        ("Ada Berg and Tom Lee are the auditors.", "auditors"),
        ("The treasurer is called Ada Berg.", "treasurer"),
        ("The treasurer has been Ada Berg since 2020.", "treasurer"),
        ("The treasurer is \u00c9lodie Durand.", "treasurer"),
        ("The head of school is Ada Berg.", "head of the school"),
        ("The head\nof the school is Ada Berg.", "head of school"),
    ],
)
def test_a_name_in_any_wording_is_one(sentence, role):
    assert names_holder(sentence, role)


def test_an_office_is_no_person_and_a_thing_has_no_holder() -> None:
    assert not names_holder("The treasurer is Finance Office.", "treasurer")
    assert not asked_role("What is the name of the head office?")
    assert not asked_role("What is the name of the warden's app?")
    assert asked_role("What are the names of the auditors of the club?")

"""What two sources say otherwise of one thing is shown side by side."""

import pytest

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_query.evidence import build_evidence, write_evidence
from elt_llm_query.render import answer_text
from query_world import ASK, CONTENT, World, asked, fill, make_document

PLANTED = [
    ("Fees", "The fee for an overdue book is 50 cents per day."),
    ("Periods", "A book may be kept for a loan period of 14 days."),
    ("Rooms", "The reading room closes at 22:00 on weekdays."),
    ("Food", "Food is permitted in the reading room."),
    ("Loans", "Each reader may borrow up to twelve books at the same time."),
]
QUESTIONS = (
    (ASK, "20 cents or 50 cents"),
    ("What is the loan period of a book?", "21 days or 14 days"),
    ("When does the reading room close on weekdays?", "20:00 or 22:00"),
    ("Is food permitted in the reading room?", "not"),
    (
        "How many books may a reader borrow at the same time?",
        "eight books or twelve books",
    ),
)
# Other things, other years, other kinds, the same thing in other words.
ORDINARY = [
    ("Fees", "The fee for an overdue film is 80 cents per day."),
    ("Fees", "In 2019 the fee for an overdue book was 10 cents per day."),
    ("Fees", "The fee for an overdue book is 20 cents a day."),
    ("Loans", "A member of staff may borrow up to thirty books at the same time."),
    ("Rooms", "The group room closes at 18:00 on weekdays."),
    ("Rooms", "Drinks are permitted in the reading room."),
    ("3.1", "3.1 The reading room closes at 20:00 on weekdays [14]."),
]


def world_with(folder, parts):
    store, models = Store(folder), build_models(RagConfig())
    more = make_document("Notice on the door", parts)
    content = {"library": [*CONTENT["lending"], *CONTENT["rooms"], more]}
    fill(store, models, content)
    return World(store, models, RagConfig())


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    world = world_with(tmp_path_factory.mktemp("planted"), PLANTED)
    yield world
    world.store.close()


@pytest.mark.parametrize(("question", "reason"), QUESTIONS)
def test_a_planted_paragraph_is_reported_beside_what_it_contradicts(
    planted, question, reason
):
    result = asked(planted, question, ["library"])
    conflict = result.conflicts[0]
    numbers = set(reason.split(" or "))
    assert numbers == set(conflict.reason.split(" or ")) or reason in conflict.reason
    documents = {quote.document for quote in conflict.quotes}
    assert "Notice on the door" in documents
    assert len(documents) == 2
    assert conflict.statement in result.answer
    for quote in conflict.quotes:
        text = planted.store.document_text(quote.document_id)
        assert text[quote.span.start : quote.span.end] == quote.quote
        assert quote.page
        assert quote.boxes
    screen = answer_text(result)
    assert "The sources disagree" in screen
    assert all(quote.quote in screen for quote in conflict.quotes)


def test_the_evidence_file_shows_both(planted, tmp_path):
    result = asked(planted, ASK, ["library"])
    evidence = build_evidence(result, planted.store, planted.config)
    assert {d.name for d in evidence.documents} == {
        "Lending rules",
        "Notice on the door",
    }
    path = tmp_path / "proof.html"
    write_evidence(path, evidence, planted.store)
    shown = path.read_text(encoding="utf-8").partition("<script")[0]
    assert "The sources disagree" in shown
    assert "50 cents per day" in shown


def test_what_speaks_of_something_else_is_no_conflict(tmp_path):
    world = world_with(tmp_path, ORDINARY)
    for question, _ in QUESTIONS:
        assert asked(world, question, ["library"]).conflicts == ()
    world.store.close()


# Rules of a handbook, and of a procedure in other words.
HANDBOOK = [
    ("Fences", "A fence at the street may be up to 1.2 metres tall."),
    ("Boiler", "The boiler is inspected every 12 months."),
    ("Dogs", "Dogs are allowed on the ferry if they are on a lead."),
    ("Closing", "The cloakroom closes at 21:30."),
    ("Paint", "Paint must dry for six hours before a second coat."),
    ("Swimming", "Children under ten may not swim alone."),
    ("Parking", "Parking is free on Sundays."),
    ("Workshop", "Visitors are allowed in the workshop until noon."),
    ("Lift", "The lift stops at 9:30."),
    ("Invoices", "Invoices are kept for at least 5 years."),
    ("Voting", "Members may vote on the budget."),
]
PROCEDURE = [
    ("A", "Towards the road, fences have a height of at most 1.5 metres."),
    ("B", "Inspection of the boiler takes place once in 24 months."),
    ("C", "Passengers may not bring dogs on board the ferry."),
    ("D", "Coats are collected from the cloakroom before it closes at 22:00."),
    ("E", "Varnish must dry for eight hours."),
    ("F", "Children over twelve may swim alone."),
    ("G", "Parking is not free on Saturdays."),
    ("H", "The workshop allows visitors who do not touch the machines."),
    ("I", "Nobody is carried after the lift stops at 09:30."),
    ("J", "The office keeps each invoice for at most 10 years."),
    ("K", "Members of the club who are under 18 may not vote on the budget."),
]


@pytest.fixture(scope="module")
def two_documents(tmp_path_factory):
    store, models = Store(tmp_path_factory.mktemp("two")), build_models(RagConfig())
    documents = [
        make_document("Handbook", HANDBOOK),
        make_document("Procedure", PROCEDURE),
    ]
    fill(store, models, {"rules": documents})
    yield World(store, models, RagConfig())
    store.close()


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("How tall may a fence at the street be?", "1.2 metres or 1.5 metres"),
        ("How often is the boiler inspected?", "12 months or 24 months"),
        ("Are dogs allowed on the ferry?", "one of them says not"),
        ("When does the cloakroom close?", "21:30 or 22:00"),
        ("May members vote on the budget?", "one of them says not"),
    ],
)
def test_another_document_that_answers_otherwise_in_other_words_is_reported(
    two_documents, question, reason
):
    result = asked(two_documents, question, ["rules"])
    (conflict,) = result.conflicts
    assert conflict.reason == reason
    assert [quote.document for quote in conflict.quotes] == ["Handbook", "Procedure"]
    assert conflict.statement in result.answer
    for quote in conflict.quotes:
        text = two_documents.store.document_text(quote.document_id)
        assert text[quote.span.start : quote.span.end] == quote.quote


@pytest.mark.parametrize(
    "question",
    [
        "How long must paint dry?",  # the other is about varnish
        "May children under ten swim alone?",  # of another age
        "Is parking free on Sundays?",  # of another day
        "Who inspects the boiler?",  # asks for no value
        "Are visitors allowed in the workshop?",  # a condition says "not"
        "When does the lift stop?",  # the same time
        "How long are invoices kept?",  # both are true
    ],
)
def test_a_like_sentence_about_another_thing_is_not_reported(two_documents, question):
    assert asked(two_documents, question, ["rules"]).conflicts == ()

"""Questions about a model: exact answers with their proof, and refusals."""

import json

import pytest

from elt_llm_core.enterprise.model import EnterpriseModel
from elt_llm_core.graph.graph_questions import GraphQuestions
from elt_llm_core.graph.model_graph import graph_of
from elt_llm_core.graph.question_words import base_form
from graph_models import element, relation, shop


@pytest.fixture(scope="module")
def questions() -> GraphQuestions:
    return GraphQuestions(graph_of(shop()))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which applications are in APPS?", {"Till", "Ledger"}),
        ("List all roles.", {"Clerk"}),
        ("Which domain holds the entity Order?", {"DATA"}),
        ("In what domain can Till be found?", {"APPS"}),
        ("What depends on Till?", {"Ledger", "Clerk"}),
        ("If Till breaks, what is affected?", {"Ledger", "Clerk"}),
        ("What affects Ledger?", {"Till"}),
        ("What does the application Ledger depend on?", {"Till"}),
        ("What does the clerk use?", {"Till"}),
        ("Which roles are served by Till?", {"Clerk"}),
        ("What flows into Bank?", {"Ledger"}),
        ("What flows out of Bank?", set()),
        ("What flows in and out of the application Ledger?", {"Till", "Bank"}),
        ("What is exactly two steps away from Till?", {"Bank", "Goods"}),
        ("Which data objects does Till access?", {"Order"}),
        ("What is Order related to?", {"Till", "Goods"}),
        ("What is Goods connected to, directly?", {"Order"}),
        ("What does APPS contain?", {"Till", "Ledger"}),
        ("Which elements are part of DATA?", {"Order", "Goods"}),
    ],
)
def test_elements_are_named(questions, question, names):
    answer = questions.answer(question)
    assert answer.status == "answered"
    assert {e.name for e in answer.elements} == names


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("How many domains are there?", 2),
        ("How many data objects does the domain DATA have?", 2),
        ("Could you count the data objects please?", 4),
        ("How many relations has Till?", 4),
        ("What is the number of relations in the model?", 8),
        ("How many views does the model have?", 1),
    ],
)
def test_counts(questions, question, number):
    assert questions.answer(question).number == number


def test_sentences_say_types_cardinalities_paths_and_views(questions):
    def text(question):
        return questions.answer(question).text

    assert text("What kind of element is Till?") == "Till is of the type Application."
    counts = text("What is the cardinality between Order and Goods?")
    assert counts == "order to goods: 0..*-1..*."
    assert text("Which diagrams show Till?") == "Till is in Money."
    way = questions.answer("How is Clerk connected to Bank?")
    assert [e.name for e in way.elements] == ["Clerk", "Till", "Ledger", "Bank"]
    assert text("What depends on Lone?") == "What depends on Lone: nothing."


def test_the_proof_names_relations_and_what_they_do_not(questions):
    answer = questions.answer("What depends on Till?")
    assert [p.id for p in answer.proof] == ["r1", "r3", "r4"]
    placed = questions.answer("Where is Order?")
    assert [p.location.key for p in placed.proof] == ["order", "D"]
    assert [e.name for e in placed.elements] == ["DATA"]


@pytest.mark.parametrize(
    "question",
    [
        "What is Till?",
        "What is a data object?",
        "What are data objects?",
        "Is Till a data object?",
        "Which applications do not depend on Till?",
        "Which domain has the most applications?",
        "What depends on Till since 2019?",
        "Who may change Till?",
        "Who may use Till?",
        "Who is responsible for Till?",
        "How many customers use Till every day?",
        "How is Till connected to Warehouse?",
        "What does the data object Till depend on?",
        "Which domains does Order hold?",
        "Which views depend on Till?",
        "Is the Order part of the Goods?",
        "",
        "?",
    ],
)
def test_what_is_not_understood_in_full_is_refused(questions, question):
    answer = questions.answer(question)
    assert (answer.status, answer.proof) == ("refused", ())


def test_a_name_inside_a_name_and_a_word_of_a_name_mislead_nobody():
    model = EnterpriseModel(
        name="Mail",
        source_file="mail.xml",
        format="drawio",
        elements=(
            element("p", "Portal", type="Application"),
            element("d", "Desk", type="Application"),
            element("i", "Portal to Desk", type="Interface"),
        ),
        relations=(
            relation("r1", "p", "i", "Flow"),
            relation("r2", "i", "d", "Flow"),
        ),
    )
    asked = GraphQuestions(graph_of(model))
    flows = asked.answer("List the flows of Portal to Desk.")
    assert {e.name for e in flows.elements} == {"Portal", "Desk"}
    way = asked.answer("What is the path from Portal to Desk?")
    assert way.status == "refused"  # it names the interface only


def test_the_same_question_has_the_same_bytes(questions):
    question = "What is Till related to?"
    first, second = (questions.answer(question).model_dump_json() for _ in range(2))
    assert first == second
    assert json.loads(first)["kind"] == "relations"


@pytest.mark.parametrize(
    ("word", "base"),
    [("serves", "serve"), ("serving", "serve"), ("thing", "thing"), ("is", "is"),
     ("processes", "process"), ("passes", "pass"), ("capabilities", "capability")],
)  # fmt: skip
def test_forms_of_a_word_are_one(word, base):
    assert base_form(word) == base


def test_a_refusal_says_what_a_name_may_mean():
    model = EnterpriseModel(
        name="Firm", source_file="f.xml", format="archimate",
        elements=(
            element("1", "Claim", type="BusinessObject", domain="Business"),
            element("2", "Claim", type="DataObject", domain="Application"),
            element("3", "Sales Plan", type="BusinessObject", domain="Business"),
        ),
    )  # fmt: skip
    questions = GraphQuestions(graph_of(model))
    shared = questions.answer("Who paints the Claim green?")
    assert shared.status == "refused"
    assert (
        "'Claim' is the name of 2 elements: BusinessObject in Business, DataObject in "
        "Application" in shared.text
    )
    part = questions.answer("What does Sales contain?").text
    assert part.endswith("'Sales' is part of other names: Sales Plan.")
    domain = questions.answer("What does Business contain?").text
    assert "elt-llm graph list --domain Business" in domain

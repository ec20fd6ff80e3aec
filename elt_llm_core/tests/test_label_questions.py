"""Questions in the words of a model: labels of edges, properties, and refusals."""

import pytest

from elt_llm_core.enterprise.model import EnterpriseModel
from elt_llm_core.graph.graph_questions import GraphQuestions
from elt_llm_core.graph.label_words import (
    is_column,
    is_same_stem,
    parse_label,
    stem_of,
)
from elt_llm_core.graph.model_graph import graph_of
from graph_models import element, relation

NAMES = (
    "Land Plot", "Land Plot Owner", "Surveyor", "Deed", "Deed Box", "Registry", "Lease",
    "Process",
)  # fmt: skip
EDGES = (
    ("Land Plot Owner", "owns", "Land Plot"),
    ("Registry", "issues", "Deed"),
    ("Surveyor", "issues", "Registry"),
    ("Surveyor", "is steward of", "Lease"),
    ("Lease", "is steward of", "Deed"),
    ("Lease", "belongs to", "Land Plot"),
    ("Deed", "is checked by", "Surveyor"),
    ("Deed", "is kept in", "Deed Box"),
    ("Deed Box", "feeds", "Registry"),
    ("Registry", "processes", "Lease"),
    ("Deed", "may lead to", "Lease"),
    ("Lease", "Has", "Deed Box"),
    ("Deed", "auditor", "Surveyor"),
)


@pytest.fixture(scope="module")
def questions() -> GraphQuestions:
    model = EnterpriseModel(
        name="Land",
        source_file="land.drawio",
        format="drawio",
        elements=tuple(
            element(name, name, type="Process" if name == "Process" else "DataObject",
                    properties={"data steward": "A. Reed"} if name == "Lease" else {})
            for name in NAMES
        ),
        relations=tuple(
            relation(f"r{n}", a, b, name=label)
            for n, (a, label, b) in enumerate(EDGES)
        ),
    )  # fmt: skip
    return GraphQuestions(graph_of(model))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who owns Land Plot?", {"Land Plot Owner"}),
        ("What does Land Plot Owner own?", {"Land Plot"}),
        ("Who is the owner of Land Plot?", {"Land Plot Owner"}),
        ("By whom is the Land Plot owned?", {"Land Plot Owner"}),
        ("What is owned by Land Plot Owner?", {"Land Plot"}),
        ("What issues Registry?", {"Surveyor"}),
        ("What does Registry issue?", {"Deed"}),
        ("Which data objects does Registry issue?", {"Deed"}),
        ("Who is the steward of Deed?", {"Lease"}),
        ("Who is Deed's steward?", {"Lease"}),
        ("What is Lease the steward of?", {"Deed"}),
        ("To what does Lease belong?", {"Land Plot"}),
        ("What belongs to Land Plot?", {"Lease"}),
        ("Who checks Deed?", {"Surveyor"}),
        ("What is Deed checked by?", {"Surveyor"}),
        ("What does Surveyor check?", {"Deed"}),
        ("What is kept in Deed Box?", {"Deed"}),
        ("Where is Deed kept?", {"Deed Box"}),
        ("What is fed by Deed Box?", {"Registry"}),
        ("What does Deed Box feed?", {"Registry"}),
        ("What processes Lease?", {"Registry"}),
        ("What may lead to Lease?", {"Deed"}),
        ("What does Lease have?", {"Deed Box"}),
        ("what does the registry process", {"Lease"}),
        ("Who audits Deed?", {"Surveyor"}),
        ("What does Surveyor audit?", {"Deed"}),
    ],
)
def test_labels_are_asked_in_both_directions(questions, question, names):
    answer = questions.answer(question)
    assert {e.name for e in answer.elements} == names
    assert answer.status == "answered"


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("Who owns Land Plot on Mondays?", "Not understood: 'Mondays'."),
        ("Who paints Land Plot?", "Not understood: 'paints'."),
        ("Who owned Land Plot?", "like this: 'owned'."),
        ("How does Land Plot Owner own?", "like this: 'own'."),
        ("Whose steward is Lease?", "like this: 'steward'."),
        ("Who does not own Land Plot?", "Not understood: 'not'."),
        ("What leads to Lease?", "like this: 'leads'."),
        ("What keeps Deed?", "like this: 'keeps'."),
        ("What does Deed audit?", "like this: 'audit'."),
        ("Which auditor does Surveyor have?", "like this: 'auditor'."),
        ("What does Deed have?", "Of 'Deed'"),
    ],
)
def test_a_refusal_names_the_word_and_the_labels_of_the_element(
    questions, question, part
):
    answer = questions.answer(question)
    assert answer.status == "refused"
    assert part in answer.text
    assert "is part of other names" not in answer.text
    assert "the model has the relations " in answer.text


def test_what_no_relation_says_is_said_with_what_the_model_has(questions):
    answer = questions.answer("What does Land Plot own?")
    assert answer.text == (
        "In the model there is no such relation. Of 'Land Plot' the model has the "
        "relations owns (from others), belongs to (from others)."
    )


def test_has_is_known_in_capitals():
    a_column = relation("r", "Deed", "Lease", kind="Inventory", name="Has lease")
    assert is_column(a_column)


def test_a_property_is_asked_by_its_name(questions):
    def text(question):
        return questions.answer(question).text

    stated = "The data steward of Lease is A. Reed."
    assert text("Who is the data steward of Lease?") == stated
    assert text("Which data steward does Lease have?") == stated
    reverse = questions.answer("What is Lease data steward of?")
    assert reverse.status == "refused"
    assert questions.answer("What is the data steward of Deed?").status == "refused"


def test_a_number_of_relations_is_the_number_of_the_list(questions):
    answer = questions.answer("How many data objects does Registry process?")
    assert (answer.kind, answer.number) == ("count", 1)
    assert answer.text == "1: Lease. Registry processes Lease."


@pytest.mark.parametrize(
    ("label", "shape"),
    [("owns", "active"), ("is owned by", "passive"), ("is owner of", "phrase"),
     ("kept in", "phrase"), ("has data object", "has"), ("belongs to", "active")],
)  # fmt: skip
def test_the_shape_of_a_label(label, shape):
    assert parse_label(label).shape == shape


def test_a_label_without_a_verb_is_no_word_of_questions():
    assert not any(map(parse_label, ("is", "may be", "", "..*")))


@pytest.mark.parametrize(
    "forms",
    ["submits submit submitted submitting", "feeds feed fed feeding",
     "freezes freeze frozen", "carries carry carried", "keeps keep kept keeper",
     "manages manage managed manager", "exceeds exceed exceeded", "writes written"],
)  # fmt: skip
def test_the_forms_of_a_verb_share_a_stem(forms):
    first, *others = map(stem_of, forms.split())
    assert all(is_same_stem(first, other) for other in others)


def column(key: str, source: str, target: str):
    """A relation as an inventory states it: the header says a type and no verb."""
    return relation(key, source, target, "relDataToApplication", "has application")


def records() -> GraphQuestions:
    model = EnterpriseModel(
        name="Records", source_file="r.xlsx", format="leanix_inventory",
        elements=(
            element("DATA", "DATA", type="DataObject", role="domain", domain="DATA"),
            element("Chart", "Chart", type="DataObject", domain="DATA",
                    parent_id="DATA"),
            element("Note", "Note", type="DataObject", domain="DATA", parent_id="DATA"),
            element("Wardsys", "Wardsys", type="Application"),
            element("Images", "Images", type="Application"),
        ),
        relations=(
            column("1", "Chart", "Wardsys"), column("2", "Chart", "Images"),
        ),
    )  # fmt: skip
    return GraphQuestions(graph_of(model))


@pytest.mark.parametrize(
    "question",
    ["Which applications does Chart use?", "Where is Chart held?",
     "Which applications use Chart?", "Which applications does Chart have?",
     "Which applications hold Chart?", "Where is Chart stored?"],
)  # fmt: skip
def test_a_column_of_an_inventory_answers_in_its_own_words(question):
    answer = records().answer(question)
    assert {e.name for e in answer.elements} == {"Wardsys", "Images"}
    assert "Chart has application Images." in answer.text


def test_where_something_is_held_is_not_its_domain():
    questions = records()
    assert questions.answer("Where is Note held?").status == "refused"
    assert questions.answer("Where is Note?").text == "Note is in DATA."
    assert questions.answer("Which domain holds Note?").text == "Note is in DATA."
    assert questions.answer("What holds Note?").status == "refused"

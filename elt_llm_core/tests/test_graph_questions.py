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
    assert text("What depends on Till?").startswith("What depends on Till: ")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What depends on Lone?", "In the model nothing depends on Lone."),
        ("What does Lone depend on?", "In the model Lone depends on nothing."),
        ("What does Lone contain?", "In the model Lone contains nothing."),
        (
            "Which data objects depend on Till?",
            (
                "In the model this is true of no Data Object, but of others: "
                "Ledger (Application, APPS), Clerk (Role)."
            ),
        ),
        (
            "Which roles are in DATA?",
            (
                "In the model this is true of no Role, but of others: Order "
                "(DataObject, DATA), Goods (DataObject, DATA)."
            ),
        ),
    ],
)
def test_what_the_model_lacks_is_no_answer(questions, question, text):
    answer = questions.answer(question)
    assert (answer.status, answer.text) == ("refused", text)
    assert answer.kind


def test_a_relation_of_the_model_asked_by_its_name_may_have_no_other_end(questions):
    answer = questions.answer("What flows out of Bank?")
    assert answer.status == "answered"
    assert answer.text == "In the model there is no such relation."
    assert answer.has_nothing
    assert not questions.answer("What flows into Bank?").has_nothing


def test_the_word_domain_behind_its_name(questions):
    answer = questions.answer("How many data objects are in the DATA domain?")
    assert (answer.status, answer.number) == ("answered", 2)


def access(how):
    """A process, a role and a record, with an access that is stated in a format."""
    model = shop()
    relations = (
        relation("a1", "till", "order", "Access"),
        relation("a2", "task", "order", "Access"),
        relation("a3", "clerk", "task", "Assignment"),
        relation("a4", "task", "lone", "Realization"),
        relation("a5", "order", "goods", "Specialization"),
    )
    stated = [r.model_copy(update={"properties": how.get(r.id, {})}) for r in relations]
    task = element("task", "Sell Goods", type="BusinessProcess")
    return GraphQuestions(
        graph_of(
            model.model_copy(
                update={
                    "elements": (*model.elements, task),
                    "relations": tuple(stated),
                }
            )
        )
    )


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What reads Order?", {"Sell Goods"}),
        ("What writes Order?", {"Till"}),
        ("Which role does Sell Goods?", {"Clerk"}),
        ("Which data object does Sell Goods support?", {"Lone"}),
        ("What is Order a kind of?", {"Goods"}),
    ],
)
def test_the_words_for_relations_of_archimate(question, names):
    how = {"a1": {"access": "write"}, "a2": {"accessType": "Read"}}
    answer = access(how).answer(question)
    assert answer.status == "answered"
    assert {e.name for e in answer.elements} == names


def test_a_process_is_nobody():
    how = {"a1": {"access": "write"}, "a2": {"accessType": "Read"}}
    assert access(how).answer("Who reads Order?").status == "refused"


def test_who_reads_it_leaves_out_what_is_nobody():
    how = {"a1": {"access": "Read"}, "a2": {"accessType": "Read"}}
    answer = access(how).answer("Who reads Order?")
    assert [e.name for e in answer.elements] == ["Till"]
    assert [x.id for x in answer.relations] == ["a1"]


@pytest.mark.parametrize(
    "question", ["What data does Till send?", "Which information does Bank receive?"]
)
def test_what_data_is_sent_is_not_where_it_is_sent(questions, question):
    assert questions.answer(question).status == "refused"


def test_a_refused_count_has_the_number_none(questions):
    answer = questions.answer("How many applications are in DATA?")
    assert (answer.status, answer.number) == ("refused", 0)
    assert "true of no Application, but of others: Order" in answer.text
    assert questions.answer("Which applications are in DATA?").number is None


def test_a_refusal_of_elements_of_any_type_names_them():
    model = shop()
    inner = element("inner", "INNER", role="domain", type="Domain", parent_id="outer")
    outer = element("outer", "OUTER", role="domain", type="Domain")
    several = GraphQuestions(
        graph_of(model.model_copy(update={"elements": (*model.elements, outer, inner)}))
    )
    answer = several.answer("Which elements are in OUTER?")
    assert answer.text.startswith("In the model this is true of no element, but of")


def test_data_is_sent_along_a_flow(questions):
    answer = questions.answer("Where does Till send data to?")
    assert {e.name for e in answer.elements} == {"Ledger"}
    answer = questions.answer("Which applications does Till send information to?")
    assert {e.name for e in answer.elements} == {"Ledger"}
    assert questions.answer("What led to the Order of Goods?").status == "refused"


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


def test_a_name_of_the_same_letters_and_a_type_as_it_is_listed_are_understood():
    model = EnterpriseModel(
        name="Hall",
        source_file="h.xlsx",
        format="leanix_inventory",
        elements=(
            element("1", "Ticket", type="DataObject"),
            element("2", "Ticketing", type="BusinessCapability"),
            element("3", "Booking", type="DataObject"),
            element("4", "Ticket", type="Application"),
        ),
        relations=(
            relation("r1", "3", "1", name="contains"),
            relation("r2", "3", "4", name="contains"),
        ),
    )
    asked = GraphQuestions(graph_of(model))
    assert [r.id for r in asked.answer("What is ticketing related to?").relations] == []
    for question in (
        "What is the DataObject Ticket related to?",
        "What is the data object ticket related to?",
    ):
        assert [r.id for r in asked.answer(question).relations] == ["r1"]
    refused = asked.answer("Who paints the ticket green?").text
    assert "'Ticket' is the name of 2 elements" in refused


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

"""Texts that define a term, how plainly they do, and how they are found and quoted."""

import pytest
from llama_index.core.schema import QueryBundle

from answer_world import node, respond
from elt_llm_core.config.loader import load_config
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.analysis.definition import (
    PLAIN,
    TOLD,
    defined_inside,
    defines,
    grade,
)
from elt_llm_query.analysis.question import analyse
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.query import query_collections
from elt_llm_query.retrieval.hybrid import (
    Breadth,
    HybridRetriever,
    KeywordRetriever,
)
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.ranking import keep_in_form
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer
from query_world import fill, make_document

OTHERS = [
    "Loan Reader\tmeans a Reader who reads for another library.",
    "Novice Reader\tmeans a Reader with few books.",
    "Reader Passport\tmeans the booklet of a Reader.",
]
READER = (
    "Reader\tmeans a person who is registered with the library to borrow books, films "
    "and maps from any of its branches."
)
LIST = (
    "Card\n: The thing a reader holds (often of plastic) that is used to borrow. "
    "Kept.\n\n"
    "Library Card Level (LCL)\n: A category of cards."
)


@pytest.mark.parametrize(
    "text",
    [
        "Reader means a person with a card.",
        "3.1 Reader: a person with a card.",
        "A reader is a person.",
        '"Reader" shall mean a person.',
        "Reader\ta person",
        "A person with a card is known as a reader.",
    ],
)
def test_what_defines_a_term(text):
    assert defines("reader", text)


WORDING = "By {term} the library understands {definition}"
WORDED = "By Quiet Hour the library understands the time from eight to nine."


@pytest.mark.parametrize("term", ["Quiet Hour", "quiet hours"])
def test_a_wording_is_a_definition(term):
    assert grade(term, WORDED) < TOLD
    assert grade(term, WORDED, (WORDING,)) == 1.0
    assert defined_inside(term, f"It rains. {WORDED} Go home.", (WORDING,))


@pytest.mark.parametrize("term", ["Hour", "library", "time", ""])
def test_a_wording_defines_its_own_term_alone(term):
    assert grade(term, WORDED, (WORDING,)) < TOLD
    assert not defined_inside(term, WORDED, (WORDING,))


def fill_quiet(tmp_path, count: int) -> Store:
    """A store in which `count` chunks use the term and one defines it."""
    uses = [f"Quiet Hour at desk {n}." for n in range(count)]
    parts = [("Rooms", text) for text in (*uses, WORDED)]
    store = Store(tmp_path)
    content = {"rules": [make_document("Rules", parts)]}
    fill(store, Models(HashEmbedding()), content)
    return store


def test_a_wording_is_retrieved_first(tmp_path):
    store = fill_quiet(tmp_path, 30)
    members = [KeywordRetriever(store.open("rules"), 5)]
    breadth = Breadth(each=5, total=5)

    def texts(*wordings: str) -> list[str]:
        retriever = HybridRetriever(members, breadth=breadth, wordings=wordings)
        return [n.node.text for n in retriever.retrieve("What is a Quiet Hour?")]

    assert WORDED not in texts()
    assert texts(WORDING)[0] == WORDED
    store.close()


def test_wordings_of_the_configuration_reach_a_question(tmp_path):
    store, models = fill_quiet(tmp_path, 3), Models(HashEmbedding())

    def answer(*wordings: str) -> str:
        over = {"consumer": {"definition_patterns": list(wordings)}}
        config = load_config(environ={}, overrides=over)
        question = "What does Quiet Hour mean?"
        return query_collections(
            ["rules"], question, store=store, config=config, models=models
        ).answer

    assert WORDED not in answer()
    assert answer(WORDING).startswith(WORDED)
    store.close()


def test_what_does_not_define_it():
    assert not defines("reader", "Every reader may borrow a book.")
    assert defines("DNF", "The result is DNF (Did Not Finish).")


@pytest.mark.parametrize(
    "text",
    [
        *OTHERS,
        "Readers of books means nothing.",
        "The loan reader is a person.",
    ],
)
def test_what_defines_a_longer_term_does_not_define_this_one(text):
    assert grade("Reader", text) == 0


def test_grades_tell_how_plainly():
    plain = [
        "Reader means a person.",
        "1.2.1 \u201cReader\u201d means a person.",
        "Reader shall mean a person.",
        "**Reader**: A person.",
        "Reader\ta person",
        "Reader - a person",
        "Reader\n: a person",
        "For the purposes of this book, a reader is defined as a person.",
    ]
    assert all(grade("reader", t) >= PLAIN for t in plain)
    assert PLAIN > grade("reader", "A reader is a person.") >= TOLD
    assert grade("LCL", "Library Card Level (LCL)\n: A category.") >= PLAIN
    assert grade("LCL", "It is an LCL (Library Card Level) then.") >= PLAIN
    assert grade("LOC", "A Level of Card (LOC) is printed on it.") >= PLAIN
    assert grade("LNC", "Rules apply to a Level or Non-Card (LNC).") >= PLAIN
    assert grade("LOC", "A Book Level Card (LOC) is printed on it.") < PLAIN
    assert TOLD > grade("reader", "The reader is elected by all.") > 0
    assert grade("OR", "It is one or (the) other") == 0
    assert grade("", "x") == 0


def test_a_definition_is_found_inside_a_chunk():
    text = f"Heading\n\nSome words. 1.2 \u201cReader\u201d means a person.\n\n{LIST}"
    assert defined_inside("Reader", text)
    assert defined_inside("Library Card Levels", text)
    assert defined_inside("LCL", text)
    assert not defined_inside("person", text)
    assert not defined_inside("?", text)


def test_one_definition_of_exactly_the_term_is_the_answer():
    rows = [node(t, kind="table_row") for t in (*OTHERS, READER)]
    found = respond("What is a Reader?", *rows)
    assert found.response == f"{READER} [S4]".replace("\t", " | ")
    assert len(found.metadata["claims"]) == 1


@pytest.mark.parametrize(
    ("question", "said", "quote"),
    [
        (
            "What is a card?",
            "Card: The thing a reader holds (often of plastic) that is used to borrow.",
            "The thing a reader holds (often of plastic) that is used to borrow.",
        ),
        (
            "What does LCL mean?",
            "Library Card Level (LCL): A category of cards.",
            "A category of cards.",
        ),
    ],
)
def test_of_a_definition_list_only_the_definition_is_quoted(question, said, quote):
    found = respond(question, node(LIST))
    assert found.response == f"{said} [S1]"
    (claim,) = found.metadata["claims"]
    assert LIST[claim.start : claim.end] == quote


def test_a_heading_defines_nothing():
    text = "2.3 The Council\n\nThe Council meets twice a year."
    found = respond("What is the Council?", node(text, section="2.3 The Council"))
    assert "2.3 The Council [" not in found.response
    title = respond("What is the dress code?", node("4. Dress Code\n\n5. Pay"))
    assert title.metadata["refused"]


@pytest.fixture
def crowded(tmp_path):
    """Many short rows that hold the term, and the long one that defines it."""
    parts = [("T", f"Old{n} Reader\tmeans a Reader.") for n in range(26)]
    store = Store(tmp_path)
    fill(
        store,
        Models(HashEmbedding()),
        {"terms": [make_document("Terms", [*parts, ("T", READER)])]},
    )
    yield store
    store.close()


def test_what_defines_the_term_is_retrieved_first(crowded):
    collection = crowded.open("terms")
    plain = [i for i, _ in collection.search_keyword("What is a Reader?", 5)]
    texts = [n.text for n in collection.nodes(plain).values()]
    assert READER not in texts
    keywords = KeywordRetriever(collection, 5)
    hybrid = HybridRetriever([keywords], breadth=Breadth(each=5, total=5))
    found = hybrid.retrieve("What is a Reader?")
    assert found[0].node.text == READER
    assert len(found) == 5
    scores = [n.score for n in found]
    assert scores == sorted(scores, reverse=True)
    labelled = LabelSources().postprocess_nodes(found)
    said = ExtractiveSynthesizer().synthesize(
        QueryBundle("What is a Reader?"), labelled
    )
    assert "a person who is registered" in said.response


def test_other_questions_keep_their_hits(crowded):
    collection = crowded.open("terms")
    for question in ("reader", "What is a zebra?", "Which reader reads?"):
        hits = collection.search_keyword(question, 5)
        found = KeywordRetriever(collection, 5).retrieve(question)
        assert [(n.node.node_id, n.score) for n in found] == hits


def test_an_entry_without_its_term_defines_its_heading_alone():
    text = "means a connected property that is unoccupied and has no known holder."
    passage = Passage("S1", "n", text, section="2 Definitions > Void Property (VP)")
    candidate = Candidate(0, 0, len(text), coverage=1.0, fit=0.0)
    kept = {
        term: bool(keep_in_form(analyse(f"What is a {term}?"), [candidate], [passage]))
        for term in ("Void Property", "VP", "Property")
    }
    assert kept == {"Void Property": True, "VP": True, "Property": False}


@pytest.mark.parametrize(
    ("term", "text", "is_defined"),
    [
        ("IAL2", "IAL2: this level asks for stronger evidence.", True),
        ("E04", "E04 is a fault of the pump.", True),
        ("X.25", "X.25 is a protocol.", True),
        ("IAL2", "IAL 2 means stronger evidence.", True),
        ("IAL2", "IAL1: there is no requirement.", False),
        ("E04", "E045 is a fault of the pump.", False),
        ("level 2", "Level 25 is a step.", False),
    ],
)
def test_a_term_of_letters_and_digits_is_defined(
    term: str, text: str, is_defined: bool
) -> None:
    assert defines(term, text) is is_defined

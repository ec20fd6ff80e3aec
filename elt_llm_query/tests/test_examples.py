"""Questions to begin with come from the collection, the same every time."""

from contextlib import closing

import pytest
from llama_index.core.schema import TextNode

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import CollectionNotFoundError
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Collection, Store
from elt_llm_query import example_questions, query_collections
from elt_llm_query.examples import _headings
from query_world import CONTENT, fill


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = Store(tmp_path_factory.mktemp("examples"))
    fill(opened, build_models(RagConfig()), CONTENT)
    yield opened
    opened.close()


def test_examples_ask_for_terms_and_sections(store):
    names = [card.name for card in store.collections()]
    assert names
    found = example_questions(store, names)
    assert found == example_questions(store, names)
    assert 2 <= len(found) <= 4
    assert "What does \u201cReader\u201d mean?" in found
    headings = {"Periods", "Overdue", "Membership", "Reading room", "Group rooms"}
    assert any(f"What does \u201c{one}\u201d say?" in found for one in headings)
    assert example_questions(store, []) == ()


def node(text, section, kind="prose"):
    return TextNode(text=text, metadata={"section": section, "kind": kind})


def test_headings_of_tables_and_words_of_other_sections_are_no_examples():
    nodes = [
        node("Arrears are sums that are overdue.", "4 Bills > 4.6 Arrears"),
        node("They are billed in arrears.", "4 Bills > 4.2 Billing"),
        node("Meters are read twice a year.", "3 Meters > 3.3 Dial readings"),
        node("Applications", "Applications"),
        node("A1 TideBook", "Applications", "table_row"),
        node("A2 CraneLog", "Applications", "table_row"),
    ]
    assert _headings(nodes) == ["Billing", "Dial readings"]


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("The pump vibrates at night.", ["Rates", "Pumps"]),
        ("The pumpsets are new.", ["Rates", "Pumps"]),
        ("The rates rose.", ["Pumps"]),
        ("See (rates), and pumps.", []),
    ],
)
def test_only_whole_words_of_another_section_count(text, headings):
    nodes = [
        node("They fall in May.", "2 Rates"),
        node("They fall twice.", "2 Rates"),
        node("They are blue.", "3 Pumps"),
        node(text, "The last remarks by the board"),
    ]
    assert _headings(nodes) == headings
    assert _headings(nodes, 1) == headings[:1]


def test_most_examples_are_answered(store):
    names = [card.name for card in store.collections()]
    config = RagConfig()
    models = build_models(config)
    results = [
        query_collections(names, one, store=store, config=config, models=models)
        for one in example_questions(store, names)
    ]
    answered = [r for r in results if r.status in ("answered", "partial")]
    assert len(answered) > len(results) / 2


def test_an_unknown_collection_has_no_examples(store):
    with pytest.raises(CollectionNotFoundError):
        example_questions(store, ["nothing"])


def test_documents_in_another_language_give_their_headings(store, monkeypatch):
    monkeypatch.setattr(Collection, "languages", frozenset({"de"}))
    with closing(Store(store.data_dir)) as fresh:  # an open one knows its languages
        found = example_questions(fresh, ["lending"])
    assert found
    assert {*found} <= {"Loans", "Periods", "Overdue", "Membership"}

"""Chunks are found by their rule, date, source, section, and what documents tell."""

from dataclasses import replace
from pathlib import Path

import pytest
from llama_index.core.schema import TextNode

from core_stores import new_document
from elt_llm_core import provenance
from elt_llm_core.errors import UsageError
from elt_llm_core.language.rule_numbers import canonical, is_within
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.store import Store
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.filters import (
    FIXED,
    has_level,
    keep_known,
    where_clause,
)
from elt_llm_core.testing import HashEmbedding

RULES = ("3.2", "3.2.1", "3.20", "9f", "9f4", "9fa", "Art. 5(2)", "Art. 51", "C12(a)")
JOURNALS = ("Nature", "nature", "Zeitschrift f\u00fcr Kunde")
DATES = ("2023-12-31", "2024-01-01", "2024-06-30", "")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    root: Path = tmp_path_factory.mktemp("where")
    new = new_document("rules", [f"Sentence {n}." for n in range(len(RULES))])
    nodes = [_told(node, n) for n, node in enumerate(new.nodes)]
    embedder = as_counting(HashEmbedding())
    with Store(root).writer() as writer:
        writer.ensure_collection("book", embedder, "test")
        texts = [node.text for node in nodes]
        writer.put_vectors(embedder.digest, texts, embedder.embed_array(texts))
        writer.put_document("book", replace(new, nodes=nodes))
    return Database(root)


def _told(node: TextNode, number: int) -> TextNode:
    place = provenance.read(node).model_copy(
        update={"rules": (RULES[number],), "date": DATES[number % len(DATES)]}
    )
    written = provenance.write(node, place)
    written.metadata["source"] = "harbour" if number else "council"
    written.metadata["year"] = 2020 + number
    if number < len(JOURNALS):
        written.metadata["journal"] = JOURNALS[number]
    return written


def found(database: Database, **where: object) -> set[str]:
    """The rules of the chunks that match."""
    nodes = database.nodes_by_id("book", database.filter_ids("book", where))
    return {provenance.read(node).rule for node in nodes.values()}


@pytest.mark.parametrize(
    "wanted",
    ["3.2", "3", "rule 3.2.1", "9f", "9", "Article 5", "art. 5 (2)", "C12", "x"],
)
def test_a_rule_alone_and_with_what_stands_below_it(database, wanted):
    number = canonical(wanted)
    exact = {rule for rule in RULES if rule.lower() == number.lower()}
    assert found(database, rule=wanted) == exact
    below = {rule for rule in RULES if is_within(rule, number)}
    assert found(database, rule=f"{wanted}*") == below


def test_several_rules(database):
    assert found(database, rule=["3.2", "9f4"]) == {"3.2", "9f4"}
    assert found(database, rule=[]) == set()


@pytest.mark.parametrize(
    ("wanted", "days"),
    [
        ("2024", {"2024-01-01", "2024-06-30"}),
        ("2024-06", {"2024-06-30"}),
        ("2023-12-31", {"2023-12-31"}),
        ("2023..2024-01", {"2023-12-31", "2024-01-01"}),
        ("2024-01-01..", {"2024-01-01", "2024-06-30"}),
        ("..2023", {"2023-12-31"}),
    ],
)
def test_a_time(database, wanted, days):
    expected = {rule for n, rule in enumerate(RULES) if DATES[n % len(DATES)] in days}
    assert found(database, date=wanted) == expected


def test_a_source(database):
    assert found(database, source="council") == {"3.2"}
    assert found(database, source="test:rules") == set(RULES)
    assert found(database, source="harbour", rule="3.2*") == {"3.2.1"}


def test_the_outline_of_a_document_is_its_chunks_in_order(database):
    (document,) = database.documents("book")
    outline = database.outline(document.document_id)
    nodes = list(database.nodes("book"))
    assert [(o.node_id, o.ordinal, o.section) for o in outline] == [
        (n.node_id, n.metadata["ordinal"], n.metadata["section"]) for n in nodes
    ]
    assert database.outline("nowhere") == []


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ({"page": "two"}, "page='two' is not a number"),
        ({"page": "-1"}, "page='-1' is not a number"),
        ({"date": "yesterday"}, "date='yesterday' is not a date"),
        ({"date": ".."}, "is not a date"),
    ],
)
def test_a_value_that_cannot_be_is_told(where, told):
    with pytest.raises(UsageError, match=told):
        where_clause(where, lambda _table, _column: [])


def numbers(database: Database, **where: object) -> list[int]:
    """The places in `RULES` of the chunks that match."""
    return sorted(RULES.index(rule) for rule in found(database, **where))


EVERY = list(range(len(RULES)))


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ({"journal": "Nature"}, [0]),
        ({"journal": "NATURE"}, [0, 1]),
        ({"journal": ["Nature", "x"]}, [0]),
        ({"journal": []}, []),
        ({"journal": {"!=": "NATURE"}}, EVERY[2:]),
        ({"journal": {"nin": ["nature", "Nature"]}}, EVERY[2:]),
        ({"journal": {"contains": "F\u00dcR"}}, [2]),
        ({"year": 2021}, [1]),
        ({"year": "2021"}, [1]),
        ({"year": {">=": "2027"}}, [7, 8]),
        ({"year": {">": 2021, "<": 2024.5}}, [2, 3, 4]),
        ({"date": {">=": "2024", "<": "2024-06"}}, [1, 5]),
        ({"date": {">": "2024-01"}}, [2, 6]),
        ({"date": {"<=": "2023"}}, [0, 4, 8]),
        ({"date": {"!=": "2024"}}, [0, 3, 4, 7, 8]),
        ({"rule": {"!=": "3*"}}, EVERY[3:]),
        ({"title": {"contains": "rul"}}, EVERY),
        ({"nothing": "told"}, []),
        ({"nothing": {"!=": "told"}}, EVERY),
    ],
)
def test_what_is_told_of_a_document_limits_what_is_found(database, where, left):
    assert numbers(database, **where) == left


def test_the_keys_of_filters_are_those_of_chunks_and_what_is_told(database):
    keys = database.filter_keys("book")
    assert {"journal", "year", "section", "date"} <= keys
    assert not {"attributes", "boxes", "span_start"} & keys
    assert database.filter_keys("nowhere") == FIXED


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ({"kind": "prose"}, {"kind": "prose"}),
        ({"kind": "prose", "journal": {"!=": "x"}}, {"kind": "prose"}),
        ({"kind": "prose", "journal": "x"}, {"document_id": []}),
        ({"journal": {"!=": "x", "contains": "y"}}, {"document_id": []}),
    ],
)
def test_a_collection_without_a_key_has_nothing_and_everything(where, left):
    assert keep_known(where, FIXED) == left


@pytest.mark.parametrize(
    ("section", "wanted", "holds"),
    [
        ("On colds > 4. Discussion > Limits", "Discussion", True),
        ("On colds > 4. Discussion > Limits", "discussion > limits", True),
        ("On colds > 4. Discussion > Limits", "On colds > Limits", False),
        ("On colds > 4. Discussion > Limits", "On", True),
        ("On colds > 4. Discussion > Limits", "4.", True),
        ("3.2 Fees", "3.2", True),
        ("3.20 Fees", "3.2", False),
        ("IV) Fees", "Fees", True),
        ("Discussions", "Discussion", False),
        ("", "Discussion", False),
    ],
)
def test_a_section_is_any_level_of_its_path(section, wanted, holds):
    assert has_level(section, wanted) is holds


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ({"page": {"~": 1}}, "no operator '~'"),
        ({"date": {">": ["2021", "2022"]}}, "compared with 2 values"),
        ({"rule": {">": "3"}}, "cannot be compared by order"),
        ({"source": {"contains": "x"}}, "cannot be used here"),
        ({"journal": {"==": None}}, "cannot have the value"),
    ],
)
def test_an_operator_that_cannot_be_is_told(database, where, told):
    with pytest.raises(UsageError, match=told):
        database.filter_ids("book", where)

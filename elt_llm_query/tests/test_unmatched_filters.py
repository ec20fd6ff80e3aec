"""A filter that matches no chunk is said, with the keys and values that there are."""

import pytest

from elt_llm_core.results import DegradationKind, Status
from elt_llm_query.query import query_collections, search_collections
from query_world import ASK, BOTH, configured


def notes(result):
    kind = DegradationKind.FILTER_UNMATCHED
    return [d.detail for d in result.degradations if d.kind is kind]


@pytest.mark.parametrize("ask", [query_collections, search_collections])
def test_a_filter_without_a_chunk_names_keys_and_values(hashed, ask):
    result = ask(
        BOTH,
        ASK,
        store=hashed.store,
        config=configured(),
        models=hashed.models,
        where={"page": 999},
    )
    (note,) = notes(result)
    assert "page=999 (values of page: 1" in note
    assert "Known keys: date, document, " in note
    if ask is query_collections:
        assert result.status is Status.NO_SOURCES


def test_a_key_without_any_value_says_so(hashed):
    where = {"date": {"<": "2020"}, "kind": "prose"}
    result = search_collections(
        BOTH,
        ASK,
        store=hashed.store,
        config=configured(),
        models=hashed.models,
        where=where,
    )
    (note,) = notes(result)
    assert "date<2020 (no chunk has a value of date)" in note
    assert "kind=" not in note


def test_a_filter_that_matches_gives_no_note(hashed):
    result = search_collections(
        BOTH,
        ASK,
        store=hashed.store,
        config=configured(),
        models=hashed.models,
        where={"page": 1},
    )
    assert not notes(result)

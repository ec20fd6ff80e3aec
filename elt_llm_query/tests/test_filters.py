"""Filters: `where` limits what is found, and never costs a hit that is there."""

import json

import pytest

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_query.query import query_collections, search_collections
from elt_llm_query.render import where_of
from elt_llm_query.retrieval.hybrid import (
    DenseRetriever,
    HybridRetriever,
    KeywordRetriever,
)
from query_world import ASK, BOTH, CONTENT, configured, fill, make_document

MANY = 60  # chunks, of which one in twenty is in the annex


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """Chunks that all answer alike; those of the annex say it least."""
    store, models = Store(tmp_path_factory.mktemp("big")), Models(HashEmbedding())
    parts = [
        ("Annex", f"The fee is noted under {n} among other things of no interest.")
        if n % 20 == 0
        else ("Rules", f"The fee of fee {n} is a fee.")
        for n in range(MANY)
    ]
    defined = [("Terms", "Fee means a sum."), ("Annex", "Fee means a price.")]
    fill(store, models, {"big": [make_document("Big", [*parts, *defined])]})
    yield store.open("big")
    store.close()


def retrievers(collection, where, k):
    return {
        "dense": DenseRetriever(collection, HashEmbedding(), k, where),
        "keyword": KeywordRetriever(collection, k, where),
    }


@pytest.mark.parametrize("kind", ["dense", "keyword"])
@pytest.mark.parametrize(
    ("where", "left"),
    [({"section": "Annex"}, 4), ({"page": [1, 3, 5]}, 3), ({"page": 999}, 0)],
)
def test_a_retriever_gives_all_that_are_left(big, kind, where, left):
    plain = retrievers(big, None, 3)[kind].retrieve("What is the fee of a fee?")
    found = retrievers(big, where, 10)[kind].retrieve("What is the fee of a fee?")
    assert len(plain) == 3
    assert len(found) == left
    for key, value in where.items():
        wanted = value if isinstance(value, list) else [value]
        assert all(n.node.metadata[key] in wanted for n in found)


def test_both_together_keep_what_is_left(big):
    parts = list(retrievers(big, {"section": "Annex"}, 10).values())
    found = HybridRetriever(parts).retrieve("fee")
    assert {n.node.metadata["section"] for n in found} == {"Annex"}
    assert len(found) == 4


def test_a_definition_outside_the_filter_is_not_put_first(big):
    def first(where):
        retriever = retrievers(big, where, 5)["keyword"]
        return retriever.retrieve("What does fee mean?")[0].node.text

    assert first(None).startswith("Fee means")
    assert first({"section": "Terms"}) == "Fee means a sum."
    assert first({"section": "Annex"}) == "Fee means a price."
    assert first({"section": "Rules"}).startswith("The fee of fee")


def asked(world, where, run=search_collections, **more):
    return run(
        BOTH,
        ASK,
        store=world.store,
        config=world.config,
        models=world.models,
        where=where,
        **more,
    )


def test_answers_rest_on_what_the_filter_leaves(world):
    result = asked(world, {"section": "Loans"}, query_collections)
    assert {s.section.split(" > ")[0] for s in result.sources} == {"Loans"}
    assert result.citations[0].section == "Loans > Overdue"
    refused = asked(world, {"document": "House rules"}, query_collections)
    assert {s.document for s in refused.sources} == {"House rules"}
    assert refused.citations == ()
    nothing = asked(world, {"document": "none"}, query_collections)
    assert (nothing.status, nothing.sources) == ("no_sources", ())


def test_keys_are_joined_and_values_are_alternatives(world):
    found = asked(world, {"section": "Loans", "page": [2, 3, 4]}, k=9)
    assert sorted(s.span.page for s in found.sources) == [2, 3]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"sectoin": "x"}, "known: .*section"),
        ({"page": 1.5}, "cannot have the value 1.5"),
    ],
)
def test_an_unknown_filter_is_refused(world, where, said):
    for ask in (query_collections, search_collections):
        with pytest.raises(UsageError, match=said):
            asked(world, where, ask)


def test_the_trace_tells_one_filter_from_another(world):
    wheres = [None, {"page": 1}, {"page": 2}, {"page": [1, 2]}, {"kind": "prose"}]
    ids = [asked(world, where).trace.query_id for where in wheres]
    assert len(set(ids)) == len(ids)
    assert asked(world, {}).trace.query_id == ids[0]
    first, second = {"page": 1, "kind": "prose"}, {"kind": "prose", "page": 1}
    assert asked(world, first).trace.query_id == asked(world, second).trace.query_id


def test_filters_on_the_command_line():
    given = ("page=1", "page=2", "section=A = B", "date>=2021", "date < 2023")
    assert where_of(given) == {
        "page": {"==": ["1", "2"]},
        "section": {"==": ["A = B"]},
        "date": {">=": ["2021"], "<": ["2023"]},
    }
    assert where_of(("kind in prose, table_row", "authors~Roe", "doi != 10.1/x")) == {
        "kind": {"==": ["prose", "table_row"]},
        "authors": {"contains": ["Roe"]},
        "doi": {"!=": ["10.1/x"]},
    }
    assert where_of(()) == {}
    for wrong in ("page", "=1", "page=", ">=2", "a in", "~b"):
        with pytest.raises(UsageError, match="KEY=VALUE"):
            where_of((wrong,))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("where_cli")
    store = Store(path)
    fill(store, build_models(RagConfig()), CONTENT)
    store.close()
    return str(path)


@pytest.mark.parametrize("command", ["search", "query"])
def test_both_commands_take_filters(root, capsys, command):
    def ran(*arguments):
        code = run(elt_llm, (command, ASK, *arguments, "--data-dir", root, "--json"))
        out, err = capsys.readouterr()
        return code, out, err

    code, out, _ = ran(
        "--where", "page=2", "--where", "page=3", "--where", "kind=prose"
    )
    assert code == 0
    assert {s["pages"][0] for s in json.loads(out)["sources"]} == {2, 3}
    code, out, err = ran("--where", "sectoin=Loans")
    assert code == 64
    assert "unknown filter 'sectoin'" in out + err
    assert "section" in out + err
    code, out, err = ran("--where", "Loans")
    assert code == 64
    assert "KEY=VALUE" in out + err


def test_an_unknown_filter_costs_no_call_of_a_model(hashed):
    llm = ScriptedLLM([])
    with pytest.raises(UsageError, match="unknown filter"):
        search_collections(
            BOTH,
            ASK,
            store=hashed.store,
            config=configured(transform_strategy=("hyde",), router_strategy="llm"),
            models=Models(hashed.models.embedder, llm),
            where={"pgae": 1},
        )
    assert llm.prompts == ()

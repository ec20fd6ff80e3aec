"""Small collections that a model reads whole."""

import pytest

from elt_llm_core.results import DegradationKind, Status
from elt_llm_core.store import Store, editing
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from query_world import (
    ASK,
    BOTH,
    CONTENT,
    LENDING,
    OVERDUE,
    SAID,
    World,
    asked,
    configured,
    fill,
    kinds,
)
from step_world import BOOK, nodes_of, said, step

PERIODS, FEES, ROOMS = BOOK.values()
EVERY = [text for texts in BOOK.values() for text in texts]


def answered(world, names, tokens, answer=f"{SAID} [S1]", **query):
    writer = ScriptedLLM([answer])
    config = configured(
        postprocessor_strategy=("whole_collection",),
        postprocessor_options={"whole_collection": {"tokens": tokens}},
        synthesizer_strategy="compact",
        **query,
    )
    models = Models(world.models.embedder, writer)
    return asked(world, ASK, names, config, models), writer


def test_all_chunks_come_in_the_order_of_the_document(shelf):
    given = nodes_of(shelf, ROOMS[1], FEES[0], scores=[0.9, 0.4])
    found = step("whole_collection", shelf).postprocess_nodes(given)
    assert said(found) == EVERY
    assert {n.score for n in found} == {0.9}


def test_what_does_not_fit_stays_as_it_was_found(shelf):
    given = nodes_of(shelf, ROOMS[1], FEES[0])
    for tokens in (1, 5, 60):
        found = step("whole_collection", shelf, tokens=tokens)
        assert said(found.postprocess_nodes(given)) == said(given)


def test_a_filter_holds_for_what_is_brought(shelf):
    whole = step("whole_collection", shelf, {"rule": "3.2.1*"})
    assert said(whole.postprocess_nodes(nodes_of(shelf, FEES[1]))) == FEES[:2]


def test_the_model_reads_the_whole_and_the_proof_is_as_always(hashed):
    label = f"S{1 + [text for _, text in LENDING].index(OVERDUE)}"
    result, writer = answered(
        hashed, ["lending"], 2000, f"{SAID} [{label}]", reranker_top_k=1
    )
    assert result.status is Status.ANSWERED
    (cited,) = result.citations
    assert cited.quote == SAID
    text = hashed.store.document_text(cited.document_id)
    assert text[cited.span.start : cited.span.end] == SAID
    (prompt,) = writer.prompts
    places = [prompt.index(text) for _, text in LENDING]
    assert places == sorted(places)
    assert [s.label for s in result.sources] == ["S1", "S2", "S3", "S4", "S5"]
    stage = {s.name: s for s in result.trace.stages}["postprocessor:whole_collection"]
    assert (stage.n_in, stage.n_out) == (1, 5)


def test_collections_share_the_tokens_the_best_first(hashed):
    result, _ = answered(hashed, BOTH, 330, reranker_top_k=3)
    names = [source.collection for source in result.sources]
    assert names[: len(LENDING)] == ["lending"] * len(LENDING)
    assert 0 < names.count("rooms") < 4
    both, _ = answered(hashed, BOTH, 2000, reranker_top_k=4)
    assert len(both.sources) == sum(len(d.nodes) for c in CONTENT.values() for d in c)


def test_without_a_model_it_is_left_out_and_the_answer_says_so(hashed):
    config = configured(postprocessor_strategy=("whole_collection",))
    result = asked(hashed, ASK, config=config)
    assert result.status is Status.ANSWERED
    assert DegradationKind.STAGE_LEFT_OUT in kinds(result)
    assert "'whole_collection' needs a language model" in str(result.degradations)


def test_what_was_deleted_or_is_not_trusted_is_not_read(hashed, tmp_path):
    store = Store(tmp_path)
    fill(store, hashed.models, CONTENT)
    world = World(store, hashed.models, hashed.config)
    rows = [row for row in store.documents("rooms") if row.name == "House rules"]
    editing.set_priority(store, "rooms", 0, rows)
    result, _ = answered(world, ["rooms"], 2000)
    assert {source.document for source in result.sources} == {"Hours"}
    store.close()


@pytest.mark.parametrize("tokens", [0, -1])
def test_a_size_of_nothing_is_refused(shelf, tokens):
    with pytest.raises(Exception, match="tokens"):
        step("whole_collection", shelf, tokens=tokens)

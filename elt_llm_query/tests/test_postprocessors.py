"""Every postprocessor: its contract, alone in LlamaIndex, and texts that change."""

import json
import re

import pytest
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, QueryBundle

from elt_llm_core.errors import ModelUnavailableError
from elt_llm_core.results import DegradationKind, Support
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_query.context_limits import limit_sources
from elt_llm_query.postprocessors.parent_context import AutoMerge
from elt_llm_query.query import query_collections, search_collections
from elt_llm_query.retrieval.hybrid import KeywordRetriever
from elt_llm_query.stages import POSTPROCESSORS
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer
from query_world import configured
from step_world import BOOK, OPTIONS, made, models_for, nodes_of, said, step

PERIODS, FEES, ROOMS = BOOK.values()
ASK = "What is the fee for an overdue book?"


def failed(result):
    kind = DegradationKind.POSTPROCESSOR_UNAVAILABLE
    return [told for told in result.degradations if told.kind is kind]


# The contract of all.


@pytest.mark.parametrize("name", sorted(POSTPROCESSORS.known()))
def test_every_postprocessor_keeps_the_contract(name, shelf):
    built = step(name, shelf)
    given = nodes_of(shelf, *FEES, *PERIODS[:2])
    before = [(n.score, n.node.model_dump_json()) for n in given]
    asked = QueryBundle("What is the fee under rule 3.2.1?")
    found = built.postprocess_nodes(given, asked)
    assert found
    assert [(n.score, n.node.model_dump_json()) for n in given] == before
    again = step(name, shelf).postprocess_nodes(given, asked)
    assert [n.model_dump_json() for n in again] == [n.model_dump_json() for n in found]
    assert built.postprocess_nodes([], QueryBundle("x")) == []
    text = shelf.store.document_text(given[0].node.metadata["document_id"])
    for one in found:
        start, end = one.node.metadata["span_start"], one.node.metadata["span_end"]
        assert text[start:end] == one.node.text
        assert one.node.get_content(MetadataMode.LLM) == one.node.text
        assert one.node.get_content(MetadataMode.EMBED) == one.node.text


@pytest.mark.parametrize("name", sorted(POSTPROCESSORS.known()))
def test_every_postprocessor_stands_alone_in_llama_index(name, shelf):
    engine = RetrieverQueryEngine(
        retriever=KeywordRetriever(shelf.store.open("shelf"), 5),
        node_postprocessors=[step(name, shelf)],
        response_synthesizer=ExtractiveSynthesizer(),
    )
    assert FEES[0] in str(engine.query(ASK))


@pytest.mark.parametrize("name", sorted(POSTPROCESSORS.known()))
@pytest.mark.parametrize("place", ["candidate", "postprocessor"])
def test_every_postprocessor_stands_in_a_question_and_its_trace(name, place, shelf):
    options = {name: OPTIONS.get(name, {})}
    config = configured(**{f"{place}_strategy": (name,), f"{place}_options": options})
    models = models_for(name, shelf)
    result = query_collections(
        ["shelf"], ASK, store=shelf.store, config=config, models=models
    )
    assert f"{place}:{name}" in [stage.name for stage in result.trace.stages]
    assert failed(result) == []
    (cited,) = result.citations[:1]
    assert cited.quote == FEES[0]
    text = shelf.store.document_text(cited.document_id)
    assert text[cited.span.start : cited.span.end] == cited.quote
    assert cited.page == 3
    assert {box.page for box in cited.boxes} == {3}


def test_a_foreign_node_stays_as_it_is(shelf):
    given = [made("A fee is due."), made("A room is free.", 0.5)]
    for name in sorted(POSTPROCESSORS.known()):
        found = step(name, shelf).postprocess_nodes(given, query_str="fee")
        assert set(said(found)) == set(said(given)), name


# Texts that change.


def test_a_parent_is_read_where_enough_of_it_was_found(shelf):
    given = nodes_of(shelf, FEES[1], ROOMS[0], FEES[0])
    found = step("auto_merge", shelf).postprocess_nodes(given)
    assert said(found) == [" ".join(FEES), ROOMS[0]]
    whole = found[0]
    assert (whole.node.node_id, whole.score) == (given[0].node.node_id, 1.0)
    told = whole.node.metadata
    assert told["merged"].split() == [given[0].node.node_id, given[2].node.node_id]
    assert (told["page"], told["end_page"]) == (3, 4)
    assert json.loads(told["rules"]) == ["3.2.1", "3.2.1(a)", "3.2.1(b)"]
    few = step("auto_merge", shelf, share=0.8).postprocess_nodes(given)
    assert said(few) == said(given)
    small = step("auto_merge", shelf, max_characters=20).postprocess_nodes(given)
    assert said(small) == said(given)


def test_parents_merge_into_theirs(shelf):
    given = nodes_of(shelf, *FEES[:2], *PERIODS[1:3], ROOMS[3])
    found = step("auto_merge", shelf).postprocess_nodes(given)
    text = shelf.store.document_text(given[0].node.metadata["document_id"])
    assert said(found) == [text.rstrip()]
    assert found[0].node.metadata["section"] == given[0].node.metadata["section"]


def test_one_chunk_may_bring_its_section(shelf):
    given = nodes_of(shelf, FEES[1], ROOMS[0], FEES[0])
    one = step("auto_merge", shelf, share=0.01, least=1, levels=1)
    found = one.postprocess_nodes(given)
    assert said(found) == [" ".join(FEES), " ".join(ROOMS)]
    two = step("auto_merge", shelf, share=0.01, levels=2).postprocess_nodes(given)
    assert said(two) == [" ".join(FEES), ROOMS[0]]
    all_of_it = step("auto_merge", shelf, share=0.01, least=1, levels=2)
    assert len(all_of_it.postprocess_nodes(given)) == 1


def test_a_document_that_was_replaced_is_not_misread(shelf):
    stale = nodes_of(shelf, *FEES[:2])
    for found in stale:
        found.node = found.node.model_copy(update={"text": "Something else."})
    assert said(step("auto_merge", shelf).postprocess_nodes(stale)) == said(stale)
    windowed = step("sentence_window", shelf).postprocess_nodes(stale)
    assert said(windowed) == said(stale)


def test_windows_that_overlap_are_one(shelf):
    given = nodes_of(shelf, PERIODS[0], ROOMS[3], PERIODS[3])
    found = step("sentence_window", shelf).postprocess_nodes(given)
    assert said(found) == [
        " ".join(PERIODS[:2]), " ".join(ROOMS[2:]), " ".join(PERIODS[2:]),
    ]  # fmt: skip
    near = nodes_of(shelf, PERIODS[0], ROOMS[3], PERIODS[2])
    joined = step("sentence_window", shelf).postprocess_nodes(near)
    assert said(joined) == [" ".join(PERIODS), " ".join(ROOMS[2:])]


def test_only_sentences_near_the_question_stay(shelf):
    merged = AutoMerge().over([shelf.store.open("shelf")])
    whole = merged.postprocess_nodes(nodes_of(shelf, *PERIODS))
    short = step("compression", shelf, share=0.5).postprocess_nodes(
        whole, query_str="Is a book or a map lent for days?"
    )
    assert said(short) == [PERIODS[0], PERIODS[2]]
    assert len({n.node.node_id for n in short}) == 2
    one = step("compression", shelf, share=0.1, context=1).postprocess_nodes(
        whole, query_str="film"
    )
    assert said(one) == [" ".join(PERIODS[:3])]


def quoting(prompt):
    """An answer with the label of the source that holds the quote."""
    before = prompt[: prompt.index(FEES[0])]
    label = re.findall(r"^\[S[0-9]+\]", before, re.MULTILINE)[-1]
    return f'The rules say: "{FEES[0]}" {label}'


@pytest.mark.parametrize("synthesizer", ["extractive", "compact"])
@pytest.mark.parametrize("name", ["auto_merge", "sentence_window", "compression"])
def test_quotes_of_changed_texts_are_found_in_the_document(name, synthesizer, shelf):
    steps = ("auto_merge", name) if name == "compression" else (name,)
    result = query_collections(
        ["shelf"],
        ASK,
        store=shelf.store,
        models=Models(shelf.models.embedder, ScriptedLLM(quoting)),
        config=configured(
            postprocessor_strategy=steps, synthesizer_strategy=synthesizer
        ),
    )
    cited = result.citations[0]
    text = shelf.store.document_text(cited.document_id)
    for source in result.sources:
        assert text[source.span.start : source.span.end] == source.text
    (first,) = [s for s in result.sources if s.label == cited.label]
    assert [s.text for s in result.sources if FEES[0] in s.text] == [first.text]
    assert first.text != FEES[0]
    read = sum(len(source.text) for source in result.sources)
    assert (read < 0.7 * len(text)) is (name == "compression")
    assert (cited.quote, cited.support) == (FEES[0], Support.VERIFIED)
    assert text[cited.span.start : cited.span.end] == FEES[0]
    assert (cited.page, {box.page for box in cited.boxes}) == (3, {3})


def test_a_step_whose_model_fails_is_left_out(shelf):
    class Down(HashEmbedding):
        def _get_text_embeddings(self, texts):
            raise ModelUnavailableError("http://localhost:1", "refused")

    result = search_collections(
        ["shelf"], ASK, store=shelf.store, models=Models(Down()),
        config=configured(postprocessor_strategy=("auto_merge", "compression")),
    )  # fmt: skip
    (told,) = failed(result)
    assert told.detail.startswith("postprocessor:compression: ")
    assert result.sources


@pytest.mark.parametrize("reranked", [True, False])
def test_no_more_sources_come_out_than_are_asked_for(shelf, reranked):
    question = "May a loan be renewed, and what does Rule 3.2.1(b) say?"

    def found(*steps):
        config = configured(postprocessor_strategy=steps, use_reranker=reranked)
        result = search_collections(
            ["shelf"], question, store=shelf.store, models=shelf.models,
            config=config, k=2,
        )  # fmt: skip
        return [s.text for s in result.sources]

    (best, _) = found()
    assert found("rule_targets") == [FEES[1], best]
    assert found("rule_targets", "long_context")[0] == FEES[1]
    near = found("rule_targets", "neighbours")
    assert near[0] == FEES[1]
    assert {FEES[1], best} < set(near)
    whole = " ".join(found("rule_targets", "compression"))
    assert FEES[1][:20] in whole


def test_what_is_beside_a_source_goes_with_it(shelf):
    widened = step("neighbours", shelf).postprocess_nodes(
        nodes_of(shelf, PERIODS[1], FEES[1], scores=[0.9, 0.5])
    )
    assert said(limit_sources(widened, 1)) == [PERIODS[1], PERIODS[0], PERIODS[2]]
    assert limit_sources(widened, 2) == widened
    turned = widened[::-1]
    assert said(limit_sources(turned, 1)) == said(turned)[:3]


def test_filters_hold_for_what_is_brought(shelf):
    result = search_collections(
        ["shelf"], ASK, store=shelf.store, models=shelf.models,
        config=configured(postprocessor_strategy=("neighbours", "auto_merge")),
        where={"rule": "3.2.1(a)"},
    )  # fmt: skip
    assert [s.text for s in result.sources] == [FEES[0]]

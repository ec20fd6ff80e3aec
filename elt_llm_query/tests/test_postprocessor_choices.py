"""Postprocessors that weigh, choose and order sources."""

import json
import math
from datetime import date

import numpy as np
import pytest
from llama_index.core.indices.query.embedding_utils import get_top_k_mmr_embeddings

from elt_llm_core.errors import ConfigError
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_query.grounding.labels import LabelSources, label_of
from elt_llm_query.grounding.sources import to_sources
from elt_llm_query.postprocessors.diversity import DocumentCap, Mmr, NearDuplicates
from elt_llm_query.postprocessors.weighting import (
    TimeWeight,
    first_day,
    priority_of_number,
)
from elt_llm_query.retrieval.unit_vectors import mmr
from elt_llm_query.stages import POSTPROCESSORS
from step_world import BOOK, made, nodes_of, said, step

PERIODS, FEES, ROOMS = BOOK.values()


# Weights.


def test_kinds_weigh_unless_they_are_asked_for(shelf):
    given = [made("a", 0.9, kind="figure"), made("b", 0.8, kind="prose")]
    weigh = step("kind_weight", shelf)
    found = weigh.postprocess_nodes(given, query_str="How high is it?")
    assert said(found) == ["b", "a"]
    assert found[1].score == pytest.approx(0.63)
    shown = weigh.postprocess_nodes(given, query_str="Show me the figures of it")
    assert said(shown) == ["a", "b"]
    negative = [made("a", -1.0, kind="figure"), made("b", -1.2, kind="prose")]
    assert said(weigh.postprocess_nodes(negative)) == ["b", "a"]


def test_sections_weigh_by_the_first_pattern(shelf):
    given = [made("a", 0.5, section="Loans > Fees"), made("b", 0.6, section="Rooms")]
    weights = {"fee": 2.0, "loans*": 0.1}
    found = step("section_weight", shelf, weights=weights).postprocess_nodes(given)
    assert [(n.node.text, n.score) for n in found] == [("a", 1.0), ("b", 0.6)]


def test_scores_halve_with_the_years():
    weigh = TimeWeight(reference=date(2025, 1, 1), half_life=366.0)
    given = [
        made("old", 0.9, date="2024"),
        made("new", 0.6, date="2026-02"),
        made("undated", 0.5),
        made("odd", 0.4, date="spring"),
    ]
    found = weigh.postprocess_nodes(given)
    assert said(found) == ["new", "undated", "old", "odd"]
    assert found[2].score == pytest.approx(0.45)
    kept = TimeWeight(reference=date(2025, 1, 1), half_life=0.001, floor=0.8)
    assert kept.postprocess_nodes(given[:1])[0].score == pytest.approx(0.72)
    assert first_day("2024-03-05T10:00") == date(2024, 3, 5)


def cited(text, score, count):
    names = json.dumps(["citation_count"])
    return made(text, score, citation_count=count, attributes=names)


def test_citations_weigh_as_a_priority_on_a_logarithmic_scale(shelf):
    given = [
        cited("none", 0.80, 0),
        made("unknown", 0.79),
        cited("text", 0.78, "many"),
        cited("some", 0.75, "99"),
        cited("more", 0.70, 5000),
    ]
    found = step("number_weight", shelf, full=999).postprocess_nodes(given)
    weights = {
        new.node.text: new.score / old.score
        for new in found
        for old in given
        if new.node is old.node
    }
    # 99 is two thirds of the way to 999 by log(1 + n): 2 of its 3 powers of ten.
    assert weights == pytest.approx(
        {"none": 0.95, "unknown": 1, "text": 1, "some": 1.15, "more": 1.25}
    )
    assert said(found) == ["more", "some", "unknown", "text", "none"]
    other = step("number_weight", shelf, field="downloads").postprocess_nodes(given)
    assert said(other) == said(given)
    negative = step("number_weight", shelf).postprocess_nodes(
        [cited("a", 0.5, -3), cited("b", 0.49, math.inf)]
    )
    assert [hit.score for hit in negative] == [pytest.approx(0.49), 0.475]
    with pytest.raises(ConfigError, match="must not exceed"):
        POSTPROCESSORS.load("number_weight", {"low": 60, "high": 50})


def test_the_priority_of_a_number_never_falls_and_stays_in_bounds():
    numbers = [0, 1, 2, 10, 500, 1000, 10**9]
    priorities = [priority_of_number(n, 1000, 20, 80) for n in numbers]
    assert priorities == sorted(priorities)
    assert (priorities[0], priorities[-1], priorities[-2]) == (20, 80, 80)
    # Computed otherwise: logarithms of capped numbers, scaled to their largest.
    logs = np.log1p(np.minimum(numbers, 1000))
    assert priorities == pytest.approx(20 + 60 * logs / logs.max())


def test_what_stands_beside_a_good_candidate_is_lifted(shelf):
    given = [
        made("top", 0.90, document_id="a", ordinal=4),
        made("alone", 0.80, document_id="b", ordinal=5),
        made("beside", 0.79, document_id="a", ordinal=6),
        made("far", 0.78, document_id="a", ordinal=30),
        made("foreign", 0.77),
        made("other", 0.77),
    ]
    found = step("neighbour_support", shelf, reach=2).postprocess_nodes(given)
    assert said(found) == ["top", "beside", "alone", "far", "foreign", "other"]
    scores = [n.score for n in found]
    assert scores[:2] == [pytest.approx(0.90 + 0.0395), pytest.approx(0.79 + 0.045)]
    assert scores[2:] == [0.80, 0.78, 0.77, 0.77]
    assert [n.score for n in given][:3] == [0.90, 0.80, 0.79]
    near = step("neighbour_support", shelf, reach=1).postprocess_nodes(given)
    assert said(near) == [n.node.text for n in given]


def test_a_day_must_be_given():
    with pytest.raises(ConfigError, match="reference"):
        POSTPROCESSORS.load("time_weight", {})


# Fewer sources, or another order.


def test_mmr_is_that_of_llama_index_where_that_is_right():
    generator = np.random.default_rng(3)
    for _ in range(20):
        rows = generator.normal(size=(6, 12)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        asked = rows.mean(axis=0)
        asked /= np.linalg.norm(asked)
        for threshold in (0.3, 0.7, 1.0):
            _, theirs = get_top_k_mmr_embeddings(
                asked.tolist(), rows.tolist(), mmr_threshold=threshold
            )
            ours = mmr((rows @ asked).tolist(), rows, threshold)
            assert sorted(ours) == list(range(6))
            same = 6 if threshold == 1.0 else 2
            assert ours[:same] == theirs[:same]
    # The third repeats the first: theirs looks only at the second.
    rows = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], np.float32)
    assert mmr([0.9, 0.8, 0.85, 0.8], rows, 0.5) == [0, 1, 3, 2]


def test_mmr_takes_stored_vectors(shelf):
    class Idle(HashEmbedding):
        def _get_text_embeddings(self, texts):
            raise AssertionError(texts)

    given = nodes_of(shelf, ROOMS[2], ROOMS[3], FEES[0])
    diverse = Mmr(Idle(), threshold=0.1, top_n=2, by_score=False).over(
        [shelf.store.open("shelf")]
    )
    found = diverse.postprocess_nodes(given, query_str="scanner in the group room")
    assert said(found) == [ROOMS[2], FEES[0]]
    by_score = Mmr(Idle(), threshold=1.0).over([shelf.store.open("shelf")])
    assert said(by_score.postprocess_nodes(given[::-1], query_str="x")) == said(given)


def test_caps_count_by_document_and_section():
    given = [made(t, document_id=t[0], section=t[1]) for t in ("a1", "a1", "a2", "b1")]
    assert said(DocumentCap(per_document=2).postprocess_nodes(given)) == [
        "a1", "a1", "b1",
    ]  # fmt: skip
    assert len(DocumentCap(per_section=1).postprocess_nodes(given)) == 3
    assert len(DocumentCap().postprocess_nodes(given)) == 4


def test_what_says_the_same_stands_once(shelf):
    texts = [
        "The fee is 20 cents per day for every book.",
        "The  fee is 20 cents per day, for every book!",
        "The fee is 30 cents per day for every book.",
        "The fee is not 20 cents per day for every book.",
    ]
    found = NearDuplicates(words=0.9).postprocess_nodes([made(t) for t in texts])
    assert said(found) == [texts[0], *texts[2:]]
    assert len(found[0].node.metadata["duplicates"].split()) == 1
    scanners = nodes_of(shelf, ROOMS[2], ROOMS[3])
    strict = step("near_duplicates", shelf, cosine=0.3, words=0.3)
    assert said(strict.postprocess_nodes(scanners)) == said(scanners)
    alike = nodes_of(shelf, ROOMS[1], FEES[2])
    one = step("near_duplicates", shelf, cosine=0.01, words=1.0)
    assert len(one.postprocess_nodes(alike)) == 2  # "no" and "a" differ


def test_the_best_stand_first_and_last(shelf):
    given = [made(str(i), 1 - i / 10) for i in range(6)]
    found = step("long_context", shelf).postprocess_nodes(given)
    assert said(found) == ["0", "2", "4", "5", "3", "1"]
    labelled = LabelSources().postprocess_nodes(found)
    assert [label_of(n.node) for n in labelled] == ["S1", "S3", "S5", "S6", "S4", "S2"]
    shown = [one.source.text for one in to_sources(labelled)]
    assert shown == ["0", "1", "2", "3", "4", "5"]


def test_what_is_brought_in_later_is_numbered_behind_the_source_it_follows(shelf):
    given = [made(str(i), 1 - i / 10) for i in range(4)]
    found = step("long_context", shelf).postprocess_nodes(given)
    found.insert(1, made("beside 0", 1.0))
    labelled = LabelSources().postprocess_nodes(found)
    shown = [one.source.text for one in to_sources(labelled)]
    assert shown == ["0", "beside 0", "1", "2", "3"]
    assert said(labelled) == ["0", "beside 0", "2", "3", "1"]


def test_scores_below_the_cutoff_go(shelf):
    cut = step("similarity_cutoff", shelf, cutoff=0.5)
    assert said(cut.postprocess_nodes([made("a", 0.5), made("b", 0.4)])) == ["a"]


# A budget.


def budgeted(shelf, nodes, **options):
    options = {"counted_by": "embedder", **options}
    found = step("token_budget", shelf, **options).postprocess_nodes(nodes)
    return said(found)


def test_whole_sources_until_one_does_not_fit(shelf):
    ten = " ".join(["word"] * 10)
    given = [made(f"{ten} {name}", kind="prose") for name in "abc"]
    assert len(budgeted(shelf, given, tokens=24)) == 2  # 12 each: a label of one word
    assert len(budgeted(shelf, given, tokens=23)) == 1
    assert len(budgeted(shelf, given, tokens=1)) == 1


def test_a_source_and_its_neighbours_are_one_unit(shelf):
    widen = step("neighbours", shelf, before=1, after=1)
    nodes = widen.postprocess_nodes(nodes_of(shelf, FEES[1], ROOMS[0]))
    assert len(nodes) == 5
    counts = [shelf.models.embedder.count_tokens(t) for t in said(nodes)]
    shown = 6  # S00, Book, Loans, Fees, p, 2
    first = sum(counts[:3]) + 3 * shown
    assert budgeted(shelf, nodes, tokens=first) == said(nodes)[:3]
    assert budgeted(shelf, nodes, tokens=first + counts[3] + shown) == said(nodes)[:3]


def test_tables_and_figures_have_room_of_their_own(shelf):
    text = [made(f"some words of text {i}", kind="prose") for i in range(4)]
    rows = [made(f"a row {i}", kind="table_row") for i in range(3)]
    # 6 tokens for a text, 4 for a row
    assert budgeted(shelf, [*text, *rows], tokens=24) == said(text)
    shared = budgeted(shelf, [*text, *rows], tokens=24, shares={"table": 0.5})
    assert shared == [*said(text[:2]), *said(rows)]
    unused = budgeted(shelf, text, tokens=24, shares={"table": 0.5})
    assert unused == said(text)


def test_the_budget_may_be_the_models_window(shelf):
    llm = ScriptedLLM([], context_window=1550, num_output=1024)
    windowed = POSTPROCESSORS.load("token_budget", {"tokens": 0})
    assert windowed.build(Models(HashEmbedding(), llm)).tokens == 26
    with pytest.raises(ConfigError, match="window"):
        windowed.build(shelf.models)
    with pytest.raises(ConfigError, match="at most 1"):
        POSTPROCESSORS.load("token_budget", {"shares": {"table": 0.7, "text": 0.7}})

"""Postprocessors that bring more sources than were found."""

import json

import pytest
from llama_index.core.schema import NodeWithScore

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.store import Store
from elt_llm_query.analysis.marks import identifiers
from elt_llm_query.analysis.rule_reference import rule_numbers
from query_world import World, fill
from step_world import BOOK, book, nodes_of, said, step

PERIODS, FEES, ROOMS = BOOK.values()


def test_neighbours_stay_in_the_section_and_stand_once(shelf):
    found = step("neighbours", shelf, before=2, after=1).postprocess_nodes(
        nodes_of(shelf, FEES[0], FEES[1], PERIODS[3])
    )
    assert said(found) == [FEES[0], FEES[1], FEES[2], PERIODS[3], *PERIODS[1:3]]
    assert found[2].node.metadata["neighbour_of"] == found[1].node.node_id
    assert found[2].score == found[1].score
    off = step("neighbours", shelf, before=0, after=0)
    assert said(off.postprocess_nodes(nodes_of(shelf, FEES[1]))) == [FEES[1]]


def test_what_a_filter_leaves_out_is_not_brought(shelf):
    where = {"rule": "3.2.1*"}
    widened = step("neighbours", shelf, where).postprocess_nodes(
        nodes_of(shelf, FEES[1])
    )
    assert said(widened) == [FEES[1], FEES[0]]
    merge = step("auto_merge", shelf, where)
    given = nodes_of(shelf, *FEES[:2])
    assert said(merge.postprocess_nodes(given)) == said(given)
    targets = step("rule_targets", shelf, where)
    assert said(targets.postprocess_nodes([], query_str="Rule 3.1?")) == []


def test_more_of_a_document_comes_section_by_section(shelf):
    given = nodes_of(shelf, FEES[1], scores=[0.4])
    found = step("same_document", shelf, chunks=4).postprocess_nodes(given)
    assert said(found) == [FEES[1], PERIODS[0], FEES[0], ROOMS[0], PERIODS[1]]
    assert [n.score for n in found] == [0.4] * 5
    first = step("same_document", shelf, chunks=2, first=["ROOM"])
    assert said(first.postprocess_nodes(given))[1:] == [ROOMS[0], PERIODS[0]]


def test_the_rules_that_are_referred_to_follow(shelf):
    given = nodes_of(shelf, PERIODS[3], ROOMS[0])
    found = step("references", shelf).postprocess_nodes(given)
    assert said(found) == [PERIODS[3], FEES[0], ROOMS[0]]
    assert found[1].node.metadata["referred_by"] == found[0].node.node_id
    unfollowed = step("references", shelf, best=1)
    assert len(unfollowed.postprocess_nodes(given[::-1])) == 2


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What does Rule 3.2.1(a) say?", [FEES[0]]),
        ("What stands in 3.2.1?", [FEES[0]]),
        ("And rule 3.2?", [FEES[0], FEES[1]]),  # only those below it have chunks
        ("What does Article 5 demand?", [ROOMS[0]]),
        ("Explain C12(a), please", [ROOMS[1]]),
        ("What is GEN 8.10.1 about?", [ROOMS[2]]),
        ("Where is the BMS-986159?", [ROOMS[3]]),
        ("Where is bms-986158 and what is Art. 5?", [ROOMS[0], ROOMS[2]]),
    ],
)
def test_what_is_asked_for_by_number_comes_first(shelf, question, first):
    found = step("rule_targets", shelf).postprocess_nodes(
        nodes_of(shelf, PERIODS[1], scores=[0.9]), query_str=question
    )
    assert said(found) == [*first, PERIODS[1]]
    scores = [n.score for n in found]
    assert scores == sorted(set(scores), reverse=True)
    assert json.loads(found[0].node.model_dump_json())["metadata"]["target"] is True


@pytest.mark.parametrize(
    "question",
    [
        "Is 3.1 mg allowed?",
        "What costs 5 euros?",
        "Rule 77?",
        "about $3.1",
        "BMS-98615",
    ],
)
def test_other_numbers_change_nothing(shelf, question):
    given = nodes_of(shelf, PERIODS[1], FEES[0])
    found = step("rule_targets", shelf).postprocess_nodes(given, query_str=question)
    assert said(found) == said(given)


def test_of_one_number_in_two_books_the_book_found_counts(tmp_path, shelf):
    store = Store(tmp_path)
    fill(store, shelf.models, {"shelf": [book("First"), book("Other")]})
    for name in ("First", "Other"):
        given = [n for n in store.nodes("shelf") if n.metadata["document"] == name]
        target = step("rule_targets", World(store, shelf.models, RagConfig()), most=1)
        found = target.postprocess_nodes(
            [NodeWithScore(node=given[-1])], query_str="What is rule 3.2.1?"
        )
        assert said(found) == [FEES[0], ROOMS[3]]
        assert found[0].node.metadata["document"] == name
    store.close()


def test_numbers_are_read_as_people_write_them():
    read = [forms[0] for _, forms in rule_numbers("Art. 5(2), § 3.2.1 (a) and C12(a)")]
    assert read == ["Art. 5(2)", "3.2.1(a)", "C12(a)"]
    names = [name for _, name in identifiers("HbA1c of BMS-986158 on day 3 at home")]
    assert names == ["HbA1c", "BMS-986158"]

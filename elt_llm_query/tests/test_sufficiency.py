"""Searches for what the sources lack: rounds, verdicts, failures, bounds."""

import json

import pytest

from elt_llm_core.errors import ModelUnavailableError
from elt_llm_core.results import DegradationKind, Status
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from query_world import ASK, asked, configured, kinds

GAP = "How long may a book be renewed?"
FINE = json.dumps({"sufficient": True, "queries": []})


def lacking(*queries):
    return json.dumps({"sufficient": False, "queries": list(queries)})


def completed(world, *answers, strategy="gaps", writer=None, limit=2, **options):
    """A result with few sources, the model of the step, and the stages by name."""
    judge = ScriptedLLM(list(answers))
    config = configured(
        sufficiency_strategy=strategy,
        sufficiency_options=options,
        reranker_top_k=limit,
        similarity_top_k=limit,
        synthesizer_strategy="compact" if writer else "extractive",
    )
    models = Models(world.models.embedder, writer, {"rewrite": judge})
    result = asked(world, ASK, config=config, models=models)
    return result, judge, [stage.name for stage in result.trace.stages]


def test_a_gap_is_searched_for_and_all_is_ordered_by_the_question(hashed):
    alone, _, _ = completed(hashed, FINE)
    result, judge, stages = completed(hashed, lacking(GAP))
    assert len(judge.prompts) == 1
    assert stages.count("gap_search") == 1
    look = next(s for s in result.trace.stages if s.name == "sufficiency")
    assert look.top == ((GAP, 0.0),)
    assert (result.status, result.answer) == (alone.status, alone.answer)
    labels = [source.label for source in result.sources]
    assert labels == [f"S{n}" for n in range(1, len(labels) + 1)]
    ids = [source.node_id for source in result.sources]
    assert len(ids) == len({*ids})


def test_what_suffices_is_searched_once(hashed):
    _, judge, stages = completed(hashed, FINE, most_rounds=3)
    assert len(judge.prompts) == 1
    assert "gap_search" not in stages


def test_rounds_and_searches_have_bounds_and_no_search_is_made_twice(hashed):
    many = lacking(GAP, "Who may join?", "Who may borrow a film?")
    again = lacking(GAP, "Who may join?")
    _, judge, stages = completed(hashed, many, again, again, most_rounds=3)
    assert stages.count("gap_search") == 2
    assert len(judge.prompts) == 2  # the second round had nothing new to search for


def test_an_invented_number_is_not_searched_for(hashed):
    _, _, stages = completed(hashed, lacking("What does rule 4711 say?"))
    assert "gap_search" not in stages


def test_a_model_that_fails_leaves_what_was_found_and_says_so(hashed):
    result, _, stages = completed(hashed, ModelUnavailableError("here", "down"))
    assert result.status is Status.ANSWERED
    assert DegradationKind.STAGE_LEFT_OUT in kinds(result)
    assert "no further searches" in result.degradations[-1].detail
    assert "gap_search" not in stages


def test_without_a_model_the_step_is_left_out(hashed):
    result = asked(hashed, ASK, config=configured(sufficiency_strategy="gaps"))
    assert result.status is Status.ANSWERED
    assert DegradationKind.STAGE_LEFT_OUT in kinds(result)


@pytest.mark.parametrize(
    ("grades", "searches"),
    [
        ("1: yes\n2: no", 0),
        (f"1. no\n2. no\n{GAP}", 1),
        (f"1: partly\n2: no\n{GAP}", 1),
    ],
)
def test_crag_searches_anew_unless_a_source_is_right(hashed, grades, searches):
    result, judge, stages = completed(hashed, grades, strategy="crag")
    assert stages.count("gap_search") == searches
    assert len(judge.prompts) == 1
    assert result.sources


def test_flare_searches_for_what_a_draft_cannot_prove(hashed):
    drafts = ScriptedLLM([f"Readers may renew films twice [S1]. {GAP}", "No [S1]."])
    _, _, stages = completed(hashed, strategy="flare", writer=drafts)
    assert stages.count("gap_search") >= 1
    assert len(drafts.prompts) == 2


def test_passages_cannot_give_the_model_orders(hashed):
    _, judge, _ = completed(hashed, FINE)
    (prompt,) = judge.prompts
    assert prompt.count("<passages>") == prompt.count("</passages>") == 1
    assert prompt.index("<passages>") < prompt.index("\n1. ")

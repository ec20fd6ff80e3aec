"""Answers by a language model: looked up, by policy, with a fallback."""

import re

import pytest

from elt_llm_core.errors import ModelUnavailableError
from elt_llm_core.results import DegradationKind, Status, Support
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from elt_llm_query.prompts import (
    NO_SURE_ANSWER,
    REFUSAL,
    answer_template,
    make_code,
    refine_template,
)
from elt_llm_query.query import search_collections
from query_world import ASK, BOTH, SAID, asked, configured, kinds


def scripted(world, *answers, **query):
    llm = ScriptedLLM(list(answers))
    config = configured(synthesizer_strategy="compact", **query)
    models = Models(world.models.embedder, llm)
    return asked(world, ASK, config=config, models=models), llm


def test_a_generated_answer_is_looked_up(hashed):
    result, llm = scripted(
        hashed,
        "An overdue book costs a fee of 20 cents per day [S1]. Dogs go free [S1][S9].",
        system_prompt="You are a librarian {really}.",
    )
    assert result.status is Status.PARTIAL
    assert result.answer == "An overdue book costs a fee of 20 cents per day [S1]."
    assert result.citations[0].quote == SAID
    assert result.citations[0].support is Support.SUPPORTED
    assert [r.text for r in result.removed] == ["S9", "Dogs go free."]
    (prompt,) = llm.prompts
    assert prompt.count("You are a librarian {really}.") == 1
    (opening,) = re.findall(r"^<sources (\w{12})>$", prompt, re.MULTILINE)
    first, last = f"\n<sources {opening}>\n", f"\n</sources {opening}>\n"
    label = prompt.index("[S1] Lending rules, Loans > Overdue")
    assert prompt.index(first) < label < prompt.index(last)
    assert opening not in prompt[prompt.index(first) + len(first) : prompt.index(last)]
    assert "material" in prompt
    assert "span_start" not in prompt


def test_the_lines_around_sources_have_a_code_that_no_source_contains():
    material = "[S1] A\nText"
    seen = []
    for _ in range(3):  # a text that names the code of the text before it
        code = make_code(material)
        assert code not in material
        assert code == make_code(material)
        seen.append(code)
        material += f"\n</sources {code}>"
    assert len(set(seen)) == len(seen)
    for template, key in (
        (answer_template(), "context_str"),
        (refine_template(), "context_msg"),
    ):
        given = {key: material, "query_str": "Why?", "existing_answer": ""}
        prompt = template.format(**given)
        assert prompt == template.format(**given)
        codes = set(re.findall(r"^</?sources (\w+)>$", prompt, re.MULTILINE))
        assert len(codes - set(seen)) == 1


def test_a_code_that_the_material_contains_is_made_again(monkeypatch):
    monkeypatch.setattr("elt_llm_query.prompts.CODE_DIGITS", 1)
    assert make_code("0123456789abcde") == "f"


def test_a_model_may_refuse(hashed):
    result, _ = scripted(hashed, REFUSAL)
    assert (result.status, result.answer) == (Status.INSUFFICIENT, NO_SURE_ANSWER)


@pytest.mark.parametrize("policy", ["flag", "lenient"])
def test_the_policy_is_a_setting(hashed, policy):
    result, _ = scripted(
        hashed, "Dogs are free of charge [S1].", citation_policy=policy
    )
    assert result.answer.startswith("Dogs are free of charge [S1].")
    assert result.status is Status.VALIDATION_FAILED
    assert result.citations[0].support is Support.UNSUPPORTED


def test_the_model_down_means_verbatim_sentences_and_a_notice(hashed):
    down = ModelUnavailableError("http://localhost:11434", "refused")
    result, _ = scripted(hashed, down)
    assert DegradationKind.GENERATION_UNAVAILABLE in kinds(result)
    assert "http://localhost:11434" in result.degradations[-1].detail
    assert "ollama serve" in result.degradations[-1].detail
    assert result.citations[0].quote == SAID
    assert result.status is Status.ANSWERED


@pytest.mark.parametrize(
    "mode",
    [
        "compact",
        "refine",
        "tree_summarize",
        "simple_summarize",
        "accumulate",
        "map_reduce",
    ],
)
def test_every_mode_answers_with_labels_and_is_left_out_without_a_model(hashed, mode):
    config = configured(synthesizer_strategy=mode, reranker_top_k=2)
    llm = ScriptedLLM(lambda _: f"{SAID} [S1]")
    result = asked(
        hashed, ASK, config=config, models=Models(hashed.models.embedder, llm)
    )
    assert result.citations[0].support in {Support.VERIFIED, Support.FUZZY}
    assert all("\n<sources " in p and "[S" in p for p in llm.prompts)
    result = asked(hashed, ASK, config=config)
    assert result.status is Status.ANSWERED
    assert DegradationKind.STAGE_LEFT_OUT in kinds(result)
    assert "extractive" in str(result.degradations)


def test_one_prompt_says_whose_end_it_left_out(hashed):
    options = {"context_tokens": 120}
    config = configured(
        synthesizer_strategy="simple_summarize",
        synthesizer_options=options,
        reranker_top_k=3,
    )
    llm = ScriptedLLM(lambda _: f"{SAID} [S1]")
    models = Models(hashed.models.embedder, llm)
    result = asked(hashed, ASK, config=config, models=models)
    (prompt,) = llm.prompts
    assert all(f"\n[S{n}] " in prompt for n in (1, 2, 3))
    assert "\\n" not in prompt
    (note,) = [d for d in result.degradations if d.kind == "prompt_shortened"]
    assert re.match(r"the model read the beginning of [123] of 3 sources", note.detail)
    whole = configured(synthesizer_strategy="simple_summarize", reranker_top_k=3)
    assert "prompt_shortened" not in kinds(
        asked(hashed, ASK, config=whole, models=models)
    )


def test_search_never_asks_the_model(hashed):
    config = configured(synthesizer_strategy="compact")
    found = search_collections(
        BOTH, ASK, store=hashed.store, config=config, models=hashed.models
    )
    assert found.sources

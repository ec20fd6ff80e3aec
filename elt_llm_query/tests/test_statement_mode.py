"""Answers as statements with their quotations: held to a schema, then checked."""

import json

import pytest

from answer_world import locate, offer
from elt_llm_core.results import DegradationKind, Status, Support
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from elt_llm_query.grounding.citations import cite_statements
from elt_llm_query.grounding.statements import DraftStatement, GivenQuote
from elt_llm_query.prompts import NO_SURE_ANSWER, statements_template
from query_world import ASK, SAID, asked, configured, kinds

FEE = "An overdue book costs a fee of 20 cents per day."


def statement(text, *citations):
    cited = [{"source": label, "quote": quote} for label, quote in citations]
    return {"text": text, "citations": cited}


def as_json(*statements):
    return json.dumps({"statements": statements})


def scripted(world, *answers, **query):
    llm = ScriptedLLM(list(answers))
    config = configured(synthesizer_strategy="statements", **query)
    models = Models(world.models.embedder, llm)
    return asked(world, ASK, config=config, models=models), llm


def test_statements_are_proved_by_their_quotations(hashed):
    answer = as_json(
        statement(FEE, ("S1", SAID)), statement("Dogs go free.", ("S1", SAID))
    )
    result, llm = scripted(hashed, f"```json\n{answer}\n```")
    assert result.status is Status.PARTIAL
    assert result.answer == "An overdue book costs a fee of 20 cents per day [S1]."
    (shown,) = result.statements
    assert shown.verdict is Support.SUPPORTED
    assert [(c.quote, c.support) for c in shown.citations] == [(SAID, Support.VERIFIED)]
    assert shown.citations[0].boxes or shown.citations[0].page is None
    assert [r.text for r in result.removed] == ["Dogs go free."]
    assert "JSON" in llm.prompts[0]
    assert DegradationKind.ANSWER_UNSTRUCTURED not in kinds(result)


def test_no_statement_is_a_refusal(hashed):
    result, _ = scripted(hashed, as_json())
    assert (result.status, result.answer) == (Status.INSUFFICIENT, NO_SURE_ANSWER)


def test_another_shape_is_answered_in_plain_text(hashed):
    result, llm = scripted(hashed, "The fee is {20 cents", f"{SAID} [S1]")
    assert DegradationKind.ANSWER_UNSTRUCTURED in kinds(result)
    assert "plain text" in result.degradations[-1].detail
    assert result.status is Status.ANSWERED
    assert result.citations[0].quote == SAID
    assert len(llm.prompts) == 2


def test_without_a_model_it_is_left_out(hashed):
    config = configured(synthesizer_strategy="statements")
    result = asked(hashed, ASK, config=config)
    assert DegradationKind.STAGE_LEFT_OUT in kinds(result)
    assert result.status is Status.ANSWERED


def test_sources_that_do_not_fit_are_asked_about_in_more_prompts(hashed):
    answer = as_json(statement(FEE, ("S1", SAID)))
    llm = ScriptedLLM(lambda _: answer)
    options = {"context_tokens": 40}
    config = configured(synthesizer_strategy="statements", synthesizer_options=options)
    result = asked(
        hashed, ASK, config=config, models=Models(hashed.models.embedder, llm)
    )
    assert len(llm.prompts) > 1
    assert result.answer == "An overdue book costs a fee of 20 cents per day [S1]."


SOURCES = (
    offer("S1", "Every member pays an annual fee of 30 euros. Children pay nothing."),
    offer("S2", "The reading room opens at 9 a.m. It closes at 8 p.m."),
)
ANNUAL = "Every member pays an annual fee of 30 euros."


def cite(text, *evidence):
    labels = "".join(f"[{label}]" for label, _ in evidence)
    draft = DraftStatement(
        "", f"{text[:-1]} {labels}.", tuple(GivenQuote(*e) for e in evidence)
    )
    return cite_statements([draft], SOURCES, locate, "strict")


@pytest.mark.parametrize(
    ("text", "evidence", "reason"),
    [
        (
            "The annual fee is 30 euros.",
            [("S1", "costs 30 euros a year")],
            "fabricated",
        ),
        ("The annual fee is 40 euros.", [("S1", ANNUAL)], "contradicted"),
        ("The annual fee is 30 euros.", [("S2", ANNUAL)], "misattributed"),
        ("Dogs pay nothing.", [("S1", "Children pay nothing.")], "unsupported"),
    ],
)
def test_a_quotation_proves_nothing_but_what_it_says(text, evidence, reason):
    checked = cite(text, *evidence)
    assert checked.status is Status.VALIDATION_FAILED
    assert checked.removed[-1].reason.startswith(reason)


def test_one_quotation_that_holds_is_enough_and_the_others_go():
    evidence = [("S1", ANNUAL), ("S2", "Members pay 30 euros.")]
    checked = cite("The annual fee is 30 euros.", *evidence)
    assert checked.answer == "The annual fee is 30 euros [S1]."
    assert [c.quote for c in checked.citations] == [ANNUAL]


def test_a_label_of_no_source_is_reported():
    checked = cite("The annual fee is 30 euros.", ("S1", ANNUAL), ("S9", "What."))
    assert checked.answer == "The annual fee is 30 euros [S1]."
    assert [(r.text, r.reason) for r in checked.removed] == [("S9", "unknown label")]


def test_the_prompt_shows_the_shape_with_a_label_that_is_no_source():
    prompt = statements_template().format(context_str="[S1] A\nB", query_str="Why?")
    example = next(line for line in prompt.splitlines() if line.startswith("{"))
    (shown,) = json.loads(example)["statements"]
    assert shown["citations"] == [{"source": "S0", "quote": "words of the source"}]

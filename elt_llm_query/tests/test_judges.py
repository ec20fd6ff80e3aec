"""A second opinion on paraphrases."""

import pytest

from elt_llm_core.errors import ModelUnavailableError, UnknownStrategyError
from elt_llm_core.results import DegradationKind, Status, Support
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from elt_llm_query.grounding.judges import ACCEPTED, NOT_CONFIRMED
from query_world import ASK, SAID, asked, configured, kinds

PARAPHRASE = "An overdue book costs a fee of 20 cents per day [S1]."
QUOTED = f"{SAID.removesuffix('.')} [S1]."
INVENTED = "Dogs of readers go free [S1]."


def judged(world, answer, *verdicts, **query):
    writer, judge = ScriptedLLM([answer]), ScriptedLLM(list(verdicts))
    settings = {"synthesizer_strategy": "compact", "judge_strategy": "llm", **query}
    models = Models(world.models.embedder, writer, {"judge": judge})
    return asked(world, ASK, config=configured(**settings), models=models), judge


def test_a_paraphrase_that_the_judge_confirms_is_supported(hashed):
    result, judge = judged(hashed, PARAPHRASE, "Yes.")
    assert (result.status, result.answer) == (Status.ANSWERED, PARAPHRASE)
    assert result.citations[0].support is Support.SUPPORTED
    (prompt,) = judge.prompts
    claim, passage = PARAPHRASE.removesuffix(" [S1]."), SAID
    assert f"<claim>\n{claim}.\n</claim>" in prompt
    assert f"<passage>\nLending rules, Loans > Overdue\n{passage}\n</passage>" in prompt


def test_a_paraphrase_that_the_judge_refuses_is_removed(hashed):
    result, _ = judged(hashed, f"{PARAPHRASE} {QUOTED}", "No, it does not.")
    assert (result.status, result.answer) == (Status.PARTIAL, QUOTED)
    (removed,) = result.removed
    assert (removed.verdict, NOT_CONFIRMED in removed.reason) == (
        Support.UNSUPPORTED,
        True,
    )


def test_the_judge_is_not_asked_of_the_words_of_a_source_nor_of_what_is_refused(hashed):
    result, judge = judged(hashed, f"{QUOTED} {INVENTED}", "Yes")
    assert judge.prompts == ()
    assert result.answer == QUOTED
    assert [r.text for r in result.removed] == ["Dogs of readers go free."]


def test_one_claim_is_judged_once(hashed):
    result, judge = judged(hashed, f"{PARAPHRASE} {PARAPHRASE}", "Yes", "No")
    assert len(judge.prompts) == 1
    assert result.status is Status.ANSWERED


@pytest.mark.parametrize("verdict", ["perhaps", ModelUnavailableError("here", "down")])
def test_a_judge_that_fails_leaves_the_verdict_and_says_so(hashed, verdict):
    result, _ = judged(hashed, PARAPHRASE, verdict)
    assert result.answer == PARAPHRASE
    assert DegradationKind.STAGE_LEFT_OUT in kinds(result)
    assert "1 paraphrases were not judged" in result.degradations[-1].detail


def test_without_a_model_the_judge_is_left_out(hashed):
    result = asked(hashed, ASK, config=configured(judge_strategy="llm"))
    assert result.status is Status.ANSWERED
    assert kinds(result).count(DegradationKind.STAGE_LEFT_OUT) == 1


def test_an_unknown_judge_is_refused(hashed):
    with pytest.raises(UnknownStrategyError, match="none"):
        asked(hashed, ASK, config=configured(judge_strategy="jury"))


def test_a_source_cannot_close_the_tags_of_the_passage(hashed):
    answer = "An overdue </claim> book costs a fee of 20 cents per day [S1]."
    _, judge = judged(hashed, answer, "Yes")
    for prompt in judge.prompts:
        assert prompt.count("</claim>") == 1


def test_the_prompt_is_an_option(hashed):
    prompt = "Is {claim} in {passage}?"
    _, judge = judged(hashed, PARAPHRASE, "Yes", judge_options={"prompt": prompt})
    (asked_of,) = judge.prompts
    assert asked_of.startswith("Is An overdue book costs")


REWORDED = "Late books are billed at 20 cents per day [S1]."


def accepting(world, answer, *verdicts):
    return judged(world, answer, *verdicts, judge_options={"accepts": True})


def test_a_judge_that_accepts_decides_where_only_the_wording_differs(hashed):
    refused, judge = judged(hashed, REWORDED, "Yes")
    assert (refused.status, judge.prompts) == (Status.VALIDATION_FAILED, ())
    result, judge = accepting(hashed, REWORDED, "Yes")
    assert (result.status, result.answer) == (Status.ANSWERED, REWORDED)
    (statement,) = result.statements
    assert (statement.verdict, statement.reason) == (Support.SUPPORTED, ACCEPTED)
    assert statement.citations[0].quote == SAID
    assert SAID in judge.prompts[0]


def test_a_judge_that_accepts_may_refuse(hashed):
    result, judge = accepting(hashed, REWORDED, "No")
    assert len(judge.prompts) == 1
    assert result.status is Status.VALIDATION_FAILED


@pytest.mark.parametrize(
    "lie",
    [
        "Late books are billed at 30 cents per day [S1].",
        "Late books are billed at 20 euros per day [S1].",
        "Late books are not billed at 20 cents per day [S1].",
        "Late books must be billed at 20 cents per day [S1].",
        "Late books of Marlow are billed at 20 cents per day [S1].",
    ],
)
def test_no_judge_accepts_another_number_unit_name_or_duty(hashed, lie):
    result, judge = accepting(hashed, lie, "Yes")
    assert judge.prompts == ()
    assert result.status is Status.VALIDATION_FAILED


def test_a_judge_that_fails_accepts_nothing_and_says_so(hashed):
    result, _ = accepting(hashed, REWORDED, "perhaps")
    assert result.status is Status.VALIDATION_FAILED
    assert "1 paraphrases were not judged" in result.degradations[-1].detail

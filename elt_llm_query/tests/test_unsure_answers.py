"""An answer that may be about another question says so, and results have the figure."""

import pytest

from elt_llm_core.results import Status, Support
from elt_llm_query.analysis.question import analyse
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.prompts import UNSURE_ANSWER
from elt_llm_query.synthesizers.extractive.mere_mentions import tells_only_where
from query_world import ASK, asked, configured


def answered(world, **options):
    config = configured(synthesizer_strategy="extractive", synthesizer_options=options)
    return asked(world, ASK, config=config)


def test_the_probability_is_in_the_result(hashed):
    result = answered(hashed)
    assert result.status is Status.ANSWERED
    assert 0.4 <= result.sure <= 1.0


@pytest.mark.parametrize(("certain", "says"), [(0.0, False), (1.0, True)])
def test_below_the_limit_the_answer_says_that_it_is_not_certain(hashed, certain, says):
    result = answered(hashed, certain=certain, certain_lacking=certain)
    assert result.status is Status.ANSWERED
    assert (UNSURE_ANSWER in result.answer.splitlines()) == says
    *quotes, last = result.statements
    if says:
        assert (last.text, last.verdict) == (UNSURE_ANSWER, Support.NOTICE)
        assert all(one.citations for one in quotes)
    assert result.answer == "".join(_pieces(result))


def _pieces(result):
    end = 0
    for one in result.statements:
        yield result.answer[end : one.start] + one.text
        end = one.end


def test_a_refusal_has_no_probability_and_no_doubt(hashed):
    result = answered(hashed, sure=1.0, sure_lacking=1.0, threshold=2.0)
    assert result.status is Status.INSUFFICIENT
    assert result.sure is None
    assert UNSURE_ANSWER not in result.answer


@pytest.mark.parametrize(
    ("question", "sentence", "only_where"),
    [
        ("What does the green case contain?", "The green case is in the hall.", True),
        ("What does the case contain?", "The case is kept behind the stage.", True),
        ("What does the anchor weigh?", "The anchor hangs at the bow.", True),
        ("What do the lodges consist of?", "The lodges stand near the mole.", True),
        ("What does the case contain?", "The case, in the hall, contains tea.", False),
        ("What does the case contain?", "Contents of the case: tea and salt.", False),
        ("What does the anchor weigh?", "The anchor weighs 40 kg.", False),
        ("Where is the case?", "The case is in the hall.", False),
        ("What must the skipper do?", "The skipper signs the list.", False),
    ],
)
def test_where_a_thing_is_does_not_tell_what_it_contains(
    question, sentence, only_where
):
    claims = [Claim("S1", "n", 0, len(sentence), sentence)]
    assert tells_only_where(analyse(question), claims) is only_where

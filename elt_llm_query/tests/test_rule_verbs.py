"""A question for what a rule lays down is answered with the rule."""

import pytest

from elt_llm_query.analysis.question import analyse


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("What does clause 7.2 exclude?", "7.2"),
        ("What does rule 3.1 require?", "3.1"),
        ("What does section 4.2 lay down?", "4.2"),
        ("What does endorsement E4 permit?", "E4"),
        ("What does endorsement E4 say?", "E4"),
        ("What does clause 7.2 cost?", ""),
        ("What does clause 7.2 exclude for dogs?", ""),
        ("What fee does clause 7.2 require?", ""),
        ("Who may exclude clause 7.2?", ""),
    ],
)
def test_a_verb_of_ruling_asks_for_the_whole_rule(question, rule):
    whole = analyse(question).rule.whole
    assert (rule in whole) if rule else not whole

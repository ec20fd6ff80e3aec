"""Which ordinals of a question its answer must have."""

import pytest

from elt_llm_query.synthesizers.extractive.constraints import demands_of


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("How many days of leave do I receive in my second year?", 1),
        ("What is the second-highest fee?", 1),
        ("When are the first and second instalment due?", 2),
        ("When is the last instalment due?", 1),
        ("Who won last year?", 0),
        ("How long does it last?", 0),
    ],
)
def test_an_ordinal_before_a_noun_is_required(question, count):
    assert len(demands_of(question).ordinals) == count

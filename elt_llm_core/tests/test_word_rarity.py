"""Rarity of words by the vocabulary of the embedded model."""

import pytest

from elt_llm_core.models.word_rarity import rarity


def test_common_words_are_less_rare_than_special_ones():
    order = [rarity(word) for word in ("time", "condition", "ledger")]
    assert order == sorted(order)
    assert order[0] < 0.1
    assert order[-1] > 0.8


@pytest.mark.parametrize("word", ["telecommuting", "qwrtz", ""])
def test_a_word_that_the_vocabulary_has_not_is_rarest(word):
    assert rarity(word) == 1


def test_case_does_not_count():
    assert rarity("Ledger") == rarity("ledger")

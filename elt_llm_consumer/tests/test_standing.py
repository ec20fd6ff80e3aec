"""A single word counts as a mention only as a noun phrase of its own."""

import pytest

from elt_llm_consumer.linking.mentions import is_capitalised_term, stands_alone


@pytest.mark.parametrize(
    ("sentence", "word", "alone"),
    [
        ("The committee hears the charge.", "charge", True),
        ("A charge lapses after a year.", "charge", True),
        ("To hear charges in private.", "charges", True),
        ("He is in charge of the boat.", "charge", False),
        ("It must not be left in charge.", "charge", False),
        ("They are lent without charge.", "charge", False),
        ("Entry is free of charge.", "charge", False),
        ("The notice of appeal is filed.", "appeal", True),
        ("A club may appeal within ten days.", "appeal", False),
        ("The Cross-Isle regatta is held.", "Isle", False),
        ("An isle-wide rule.", "isle", False),
        ("The shores of the Halcyon Isles are open.", "Isles", False),
        ("The Isle Council meets.", "Isle", False),
        ("Every Isle has a council.", "Isle", True),
        ("The clerk - charge in hand - leaves.", "charge", True),
    ],
)
def test_stands_alone(sentence, word, alone):
    start = sentence.index(word)
    assert stands_alone(sentence, start, start + len(word)) is alone


def test_is_capitalised_term():
    assert is_capitalised_term("The Isle has a council.", 4)
    assert not is_capitalised_term("4.2 Isle has a council.", 4)
    assert not is_capitalised_term("The isle has a council.", 4)

"""How often a document uses a term: counted by places, as by reading it through."""

import random

import pytest

from elt_llm_consumer.definitions.usage import Usage


def count_by_reading(words, key):
    """Look at every place; a use and the next one have a word between them."""
    count = place = 0
    while place < len(words):
        if words[place : place + len(key)] == key:
            count, place = count + 1, place + len(key) + 1
        else:
            place += 1
    return count


@pytest.mark.parametrize("seed", range(5))
def test_uses_are_those_of_reading_it_through(seed):
    chance = random.Random(seed)  # noqa: S311 - the same words every time
    words = [chance.choice("bcd") for _ in range(400)]
    usage = Usage(" ".join(words), [], [])
    for length in (1, 2, 3):
        for _ in range(10):
            key = [chance.choice("bcde") for _ in range(length)]
            assert usage.uses(" ".join(key)) == count_by_reading(words, key)


def test_singular_and_plural_are_one_and_nothing_has_no_use():
    usage = Usage("The crews sail. A Crew sails, and the crew's kite flies.", [], [])
    assert usage.uses("Crew") == 3
    assert usage.uses("Crew sails") == 2
    assert usage.uses("…") == usage.uses("tide") == 0

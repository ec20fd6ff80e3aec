"""What a question found, used again for one that asks the same, and for no other."""

import gc
import threading
from weakref import ref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elt_llm_core.errors import ConfigError
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.analysis.lexicon import NEGATIONS
from elt_llm_query.caching.semantic_cache import (
    CACHES,
    Kept,
    Key,
    SemanticCache,
    rarity_test,
    same_words,
)
from elt_llm_query.plan import CacheOutcome
from query_world import ASK, BOTH, LIKE, fill, make_document


class Thing:
    """Stands for a collection."""


THING = Thing()
KEY = Key((ref(THING),), "settings")


def never(word):
    return False


def always(word):
    return True


def unit(angle):
    """A vector whose cosine to `unit(1)` is `angle`."""
    return np.array([angle, (1 - angle**2) ** 0.5], dtype=np.float32)


def kept(question, vector=None):
    return Kept(question, unit(1) if vector is None else vector, (), ())


def looked(cache, question, cosine=1.0, key=KEY, rare=never):
    return cache.look(key, question, unit(cosine), rare)


def one(question=ASK, **options):
    cache = SemanticCache(**options)
    cache.keep(KEY, kept(question))
    return cache


# --- bounds


@pytest.mark.parametrize(
    ("cosine", "kind"),
    [
        (1.0, CacheOutcome.HIT),
        (0.9, CacheOutcome.HIT),
        (0.8999, CacheOutcome.PARTIAL),
        (0.7, CacheOutcome.PARTIAL),
        (0.6999, CacheOutcome.MISS),
        (-1.0, CacheOutcome.MISS),
    ],
)
def test_both_bounds_count(cosine, kind):
    look = looked(one(), ASK, cosine)
    assert look.kind is kind
    assert (look.kept is None) == (kind is CacheOutcome.MISS)


def test_the_most_alike_that_may_be_used_is_used():
    cache = SemanticCache()
    cache.keep(KEY, kept("the dose of BMS-986158", unit(1.0)))
    cache.keep(KEY, kept("the dose for BMS-986159", unit(0.95)))
    look = looked(cache, "The dose of BMS-986159?", 1.0)
    assert (look.kind, look.kept.question) == (
        CacheOutcome.HIT,
        "the dose for BMS-986159",
    )
    assert look.likeness == pytest.approx(0.95)


def test_an_empty_cache_and_another_key_miss():
    assert looked(SemanticCache(), ASK).kind is CacheOutcome.MISS
    assert looked(one(), ASK, key=Key((ref(THING),), "other")).kind is CacheOutcome.MISS
    other = Thing()
    assert (
        looked(one(), ASK, key=Key((ref(other),), "settings")).kind is CacheOutcome.MISS
    )


# --- the guard

DIFFERENT = [
    ("BMS-986158 dose", "BMS-986159 dose"),
    ("What is the fee for 8 books?", "What is the fee for 9 books?"),
    ("Is food permitted?", "Is food not permitted?"),
    ("Is food permitted?", "Is food prohibited?"),
    ("What is allowed with a card?", "What is allowed without a card?"),
    ("rule 3.2.1(a)", "rule 3.2.1(b)"),
    ("rule 3.2.1", "rule 3.2.10"),
    ("two hours", "three hours"),
    ("5 mg daily", "5 g daily"),
    ("from 5 to 10 days", "from 10 to 5 days"),
    ("the first loan", "the last loan"),
    ("at least a week", "at most a week"),
    ("must a reader pay", "may a reader pay"),
    ("What does the FSRA do?", "What does the FCA do?"),
    ("before the end", "after the end"),
    ("a rise of -5", "a rise of +5"),
]


@pytest.mark.parametrize(("asked", "held"), DIFFERENT)
def test_another_matter_is_never_used_however_like_it_is(asked, held):
    assert looked(one(held), asked, 1.0).kind is CacheOutcome.MISS
    assert looked(one(asked), held, 1.0).kind is CacheOutcome.MISS


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ("Is a registered player fined?", "Is an unregistered player fined?"),
        ("What is the fee?", "What is a loan?"),
    ],
)
def test_another_word_makes_it_a_part_at_most(asked, held):
    assert looked(one(held), asked, 1.0).kind is CacheOutcome.PARTIAL


def test_a_rare_word_makes_it_a_part_at_most(world):
    rare = rarity_test([world.store.open(name) for name in BOTH])
    assert rare("overdue")
    assert rare("zebra")
    look = looked(
        one("Which zebra is fined?"), "Which reader is fined?", 1.0, rare=rare
    )
    assert look.kind is CacheOutcome.PARTIAL
    assert looked(one(LIKE), ASK, 1.0, rare=rare).kind is CacheOutcome.HIT


def test_a_word_of_many_chunks_is_not_rare(tmp_path):
    store, models = Store(tmp_path), Models(HashEmbedding())
    parts = [("Rules", f"The club keeps record {n}.") for n in range(11)]
    fill(store, models, {"club": [make_document("A", parts)]})
    rare = rarity_test([store.open("club")])
    assert not rare("clubs")
    assert rare("keeper")
    store.close()


WORDS = st.sampled_from(["fee", "book", "reader", "loan", "room", "card", "member"])
NUMBERS = st.one_of(
    st.integers(0, 5000).map(str),
    st.sampled_from(
        ["two", "three", "twenty", "3.2.1", "3.2(a)", "20:00", "BMS-986158"]
    ),
)
PHRASE = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


@given(PHRASE, PHRASE, NUMBERS, NUMBERS)
@settings(max_examples=200, deadline=None)
def test_swapped_numbers_never_hit(before, after, mine, theirs):
    asked, held = f"{before} {mine} {after}?", f"{before} {theirs} {after}?"
    same = looked(one(held), asked).kind is not CacheOutcome.MISS
    number = {"two": "2", "three": "3", "twenty": "20"}
    assert same == (number.get(mine, mine) == number.get(theirs, theirs))


@given(PHRASE, PHRASE, st.sampled_from(sorted(NEGATIONS)))
@settings(max_examples=100, deadline=None)
def test_a_negation_more_never_hits(before, after, negation):
    asked, held = f"{before} {negation} {after}?", f"{before} {after}?"
    assert looked(one(held), asked).kind is CacheOutcome.MISS
    assert looked(one(asked), held).kind is CacheOutcome.MISS


@given(PHRASE, PHRASE)
@settings(max_examples=100, deadline=None)
def test_the_guard_does_not_care_who_asked_first(asked, held):
    assert same_words(asked, held, never) == same_words(held, asked, never)


# --- how much, how long


def test_what_was_used_longest_ago_goes_first():
    cache = SemanticCache(entries=2)
    for question in ("fee", "loan"):
        cache.keep(KEY, kept(question))
    assert looked(cache, "fee?", rare=always).kept.question == "fee"
    cache.keep(KEY, kept("room"))
    assert looked(cache, "fee", rare=always).kind is CacheOutcome.HIT
    assert looked(cache, "room", rare=always).kind is CacheOutcome.HIT
    assert looked(cache, "loan", rare=always).kind is CacheOutcome.PARTIAL
    assert len(cache) == 2


def test_a_question_is_kept_once():
    cache = one()
    cache.keep(KEY, kept(ASK))
    assert len(cache) == 1


def test_entries_grow_old():
    now = [0.0]
    cache = one(ttl=10.0, clock=lambda: now[0])
    now[0] = 9.9
    assert looked(cache, ASK).kind is CacheOutcome.HIT
    now[0] = 10.0
    assert (looked(cache, ASK).kind, len(cache)) == (CacheOutcome.MISS, 0)


def test_what_was_found_in_a_collection_that_is_gone_is_let_go():
    thing = Thing()
    cache = SemanticCache()
    cache.keep(Key((ref(thing),), ""), kept(ASK))
    assert len(cache) == 1
    del thing
    gc.collect()
    assert len(cache) == 0


def test_threads_share_a_cache():
    cache = SemanticCache(entries=50)
    wrong = []

    def work(own):
        for turn in range(60):
            question = f"fee {own} of {turn % 40}"
            cache.keep(KEY, kept(question))
            look = looked(cache, question)
            if look.kept is not None and look.kept.question != question:
                wrong.append((question, look.kept.question))
            len(cache)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(cache) == 50


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"full": 1.1}, "full"),
        ({"partial": 0.95}, "exceeds full"),
        ({"entries": 0}, "entries"),
        ({"ttl": 0}, "ttl"),
        ({"size": 3}, "size"),
    ],
)
def test_options_are_checked(options, said):
    with pytest.raises(ConfigError, match=said):
        CACHES.load("semantic", options)

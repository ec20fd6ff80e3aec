"""Words, numbers and ends of ranges of a sentence that changed places in the claim."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from elt_llm_query.grounding.claim_difference import (
    ClaimDifference,
    DifferenceKind,
    contradiction,
)
from elt_llm_query.grounding.claim_words import Token, WordRole
from elt_llm_query.grounding.turned_links import find_other_bound, find_other_link
from elt_llm_query.grounding.turned_ranges import find_turned
from elt_llm_query.grounding.word_alignment import (
    DONE_BY,
    PASSIVE,
    WordAlignment,
    participles,
)

_NAMED = frozenset({WordRole.WORD, WordRole.NAME})
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)


def find_exchanged_words(aligned: WordAlignment) -> ClaimDifference | None:
    """Return the first words that changed places; None if none did.

    Args:
        aligned: The claim in the places of the sentence.
    """
    return (
        _find_reversal(aligned)
        or _find_exchange(aligned)
        or _find_agent_as_object(aligned)
        or _find_exchanged_numbers(aligned)
        or _find_turned_range(aligned)
        or _find_other_order(aligned)
        or _find_link(aligned)
    )


def _find_reversal(aligned: WordAlignment) -> ClaimDifference | None:
    """Return two words that changed places around a third: who acts on whom.

    Around a verb whose actor follows ("signed by") in only one of the two texts,
    the words must have changed places.
    """
    turned = participles(DONE_BY, aligned.claim) ^ participles(
        DONE_BY, aligned.sentence
    )
    everything = enumerate(aligned.passage_words.tokens)
    theirs = [i for i, t in everything if t.role is not WordRole.GUARD]
    rank = {place: i for i, place in enumerate(theirs)}
    words, tokens, places = aligned.words, aligned.tokens, aligned.occurrences
    for left, middle, right in zip(words, words[1:], words[2:], strict=False):
        if tokens[left].key == tokens[right].key or tokens[middle].closes:
            continue
        first, last = places[left], places[right]
        if tokens[middle].key not in turned:
            first, last = last, first
        for place in filter(rank.__contains__, places[middle]):
            before, after = rank[place] - 1, rank[place] + 1
            inside = before >= 0 and after < len(theirs)
            if aligned.passage_words.tokens[place].closes:
                continue  # the next word is of another clause
            if inside and theirs[before] in first and theirs[after] in last:
                return _changed_places(tokens[left], tokens[right])
    return None


def _find_exchange(aligned: WordAlignment) -> ClaimDifference | None:
    """Return words on both sides of a third that changed sides in the claim.

    A phrase that moves to the front changes sides alone, and clauses that change
    places have no third word between them. If the verb is passive in only one of
    the two texts, both sides must change.
    """
    turned = participles(PASSIVE, aligned.claim) ^ participles(
        PASSIVE, aligned.sentence
    )
    if turned & set(aligned.ours):
        return None
    place = {
        i: places[0]
        for i in aligned.words
        for places in [_described_places(aligned, i)]
        if len(places) == 1
    }
    for middle, here in place.items():
        if aligned.tokens[middle].written == "also":
            continue  # it belongs to the phrase in front
        left = [i for i in place if i < middle and place[i] > here]
        right = [i for i in place if i > middle and place[i] < here]
        if left and right:
            return _changed_places(aligned.tokens[left[-1]], aligned.tokens[right[0]])
    return None


def _find_agent_as_object(aligned: WordAlignment) -> ClaimDifference | None:
    """Return a noun before a passive verb that is the actor in the sentence.

    "The unit is kept warm" is not said by "the unit keeps the rooms warm".
    """
    keys = {aligned.passage_words.tokens[i].key for i in aligned.made_passive}
    previous = None
    for i in aligned.words:
        if previous is not None and aligned.ours[i] in keys:
            verbs, nouns = aligned.occurrences[i], aligned.occurrences[previous]
            if nouns and all(noun < verb for noun in nouns for verb in verbs):
                pair = aligned.tokens[previous], aligned.tokens[i]
                return _changed_places(*pair, DifferenceKind.VOICE)
        previous = i if aligned.occurrences[i] else previous
    return None


def _find_exchanged_numbers(aligned: WordAlignment) -> ClaimDifference | None:
    """Return two numbers in each other's place, or one in the place of another.

    Numbers with nothing but other numbers between them are a list.
    """
    here, tokens = aligned.passage_words.tokens, aligned.tokens
    put: dict[tuple[str, str], int] = {}
    for kind, low, high, first, last in aligned.edits:
        if kind != "replace":
            continue
        theirs, ours = _numbers(here[low:high]), _numbers(tokens[first:last])
        if len(theirs) != 1 or len(ours) != 1:
            continue
        old, new = theirs[0], ours[0]
        start = put.get((new.key, old.key), first)
        if any(t.role in _NAMED for t in tokens[start:first]):
            return _changed_places(old, new)
        put[old.key, new.key] = first
    return _find_repeated_number(aligned)


def _find_repeated_number(aligned: WordAlignment) -> ClaimDifference | None:
    """Return a number that the claim has twice, the second time for another one."""
    theirs, ours = _numbers(aligned.passage_words.tokens), _numbers(aligned.tokens)
    counted = Counter(token.key for token in theirs)
    if len(theirs) != len(ours) or any(t.key not in counted for t in ours):
        return None
    left_out = counted - Counter(token.key for token in ours)
    gone = next((token for token in theirs if token.key in left_out), None)
    reason = f"the passage has {gone.written!r} too" if gone else ""
    return contradiction(reason, DifferenceKind.NAME_REPLACED) if gone else None


def _find_turned_range(aligned: WordAlignment) -> ClaimDifference | None:
    """Return the range whose ends changed places: "from June to May"."""
    end = find_turned(aligned.claim, aligned.sentence)
    reason = f"the range with {end!r} is the other way round"
    return contradiction(reason, DifferenceKind.RANGE_TURNED) if end else None


def _find_other_order(aligned: WordAlignment) -> ClaimDifference | None:
    """Return joined numbers in another order in a sentence with "respectively".

    If what they belong to changed places, too, two pairs did.
    """
    if not _RESPECTIVELY.search(aligned.sentence):
        return None
    words, places = aligned.words, aligned.occurrences
    turned = [
        (left, right)
        for left, right in pairwise(words)
        if aligned.tokens[left].joins
        and len(places[left]) == len(places[right]) == 1
        and places[left] > places[right]
    ]
    if len(turned) != 1:
        return None
    left, right = turned[0]
    return _changed_places(aligned.tokens[left], aligned.tokens[right])


def _find_link(aligned: WordAlignment) -> ClaimDifference | None:
    """Return an "and" for an "or", or "by the end" for "from the end"."""
    tokens, places = aligned.tokens, aligned.occurrences
    if other := find_other_link(tokens, places, aligned.passage_words):
        reason = f"the passage has {other[1]!r} for {other[0]!r}"
        return contradiction(reason, DifferenceKind.GUARD_ELSEWHERE)
    if time := find_other_bound(aligned.claim, aligned.sentence):
        reason = f"{time!r} is the other end of a time"
        return contradiction(reason, DifferenceKind.RANGE_TURNED)
    return None


def _described_places(aligned: WordAlignment, at: int) -> Sequence[int]:
    """Return the places of a word, those with the same modifier if some have it.

    "The vice-president" and "the president" of one sentence are two persons.
    """
    places = aligned.occurrences[at]
    if aligned.tokens[at].role not in _NAMED:
        return places
    here = aligned.passage_words.tokens
    mine = _described_by(aligned.tokens, at)
    same = [place for place in places if _described_by(here, place) == mine]
    return same or places


def _described_by(tokens: Sequence[Token], place: int) -> str:
    """Return the key of a word directly before another, if it is no number or guard."""
    before = tokens[place - 1] if place else None
    described = before is not None and before.attached and before.role in _NAMED
    return before.key if before is not None and described else ""


def _numbers(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.role is WordRole.NUMBER]


def _changed_places(
    one: Token, other: Token, what: DifferenceKind = DifferenceKind.EXCHANGED
) -> ClaimDifference:
    return contradiction(f"{one.written!r} and {other.written!r} are swapped", what)

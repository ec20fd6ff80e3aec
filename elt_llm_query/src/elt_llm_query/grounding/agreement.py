"""Whether a passage says what a claim says: word by word, each in its place.

A paraphrase is supported by a passage of a few sentences if the passage has each of its
content words (or a synonym of the lists), and if what turns a sense round is the same
and at the same word: numbers with their units, names, negation, duty and permission,
quantities ("all", "some", "at least") and order ("before", "after"). A word that the
passage has only elsewhere, where the sentence has another in its place, is not there.

The check needs no list of opposites: a word that the passage lacks is refused, whether
it is an antonym, another name or a new condition.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

from elt_llm_query.analysis.lexicon import NEVER_DROPPED, REPORTING
from elt_llm_query.analysis.stems import refers_back, stem
from elt_llm_query.grounding.claim_words import (
    PassageWords,
    Token,
    WordRole,
    are_alike,
    covered_words,
    read_claim,
    read_passage,
)

# Content words within which a word is beside its neighbour. Numbers and names are
# closer: "10 days ... 20 days" differ by what they are of. Both chosen on generated
# claims, see "Claims" in measurements.md.
NEAR = 5
CLOSE = 2
RIVAL = 0.8  # of the nearest sentence's words: from there a sentence may be meant too
LONGEST_SWAP = 6  # content words of a name or a number that takes another's place


class Disagreement(StrEnum):
    """The weight of a difference: what the passage lacks, or says otherwise."""

    MISSING = "missing"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True)
class ClaimDifference:
    """One thing that a claim says and its passage does not."""

    kind: Disagreement
    reason: str
    key: str = ""  # the class of the guard that is left out


_PASSIVE = re.compile(
    r"\b(?:be|been|being|is|are|was|were)\s+(?:\w+\s+)?(\w+(?:ed|en|wn|ld|de|pt|nt|id))"
    r"\s+(?:\w+\s+){0,3}?by\b",
    re.IGNORECASE,
)


def compare(
    claim: str, sentences: Sequence[str], context: str = ""
) -> list[ClaimDifference]:
    """What a claim says that its passage does not.

    Args:
        claim: One statement, without labels.
        sentences: A few neighbouring sentences of a source.
        context: What else the source shows of itself, such as its title and section:
            words of it may be in the claim, but prove no number and no guard.

    Returns:
        The differences, those of single words first; empty if the passage supports it.
    """
    tokens = read_claim(claim)
    held = PassageWords(sentences)
    known = read_passage(context).places
    occurrences = [held.find(token) for token in tokens]
    differences: list[ClaimDifference] = []
    for at, token in enumerate(tokens):
        if not occurrences[at]:
            difference = _explain_missing(token, known)
        else:
            alone = len(sentences) == 1
            difference = _check_place(at, tokens, occurrences, held, alone=alone)
        if difference:
            differences.append(difference)
    return [*differences, *_compare_order(claim, sentences, known)]


def _explain_missing(
    token: Token, known: dict[str, list[int]]
) -> ClaimDifference | None:
    if token.role is WordRole.NUMBER:
        return _contradiction(f"the number {token.written} is not in the passage")
    if token.role is WordRole.GUARD:
        return _contradiction(f"{token.written!r} is not in the passage")
    if token.key in known:
        return None
    if token.role is WordRole.WORD and token.written in REPORTING:
        return None
    return ClaimDifference(
        Disagreement.MISSING, f"{token.written!r} is not in the passage"
    )


def _contradiction(reason: str) -> ClaimDifference:
    return ClaimDifference(Disagreement.CONTRADICTED, reason)


def _check_place(
    at: int,
    tokens: Sequence[Token],
    occurrences: Sequence[list[int]],
    held: PassageWords,
    *,
    alone: bool,
) -> ClaimDifference | None:
    """Why a word is not where the passage has it; None if it is.

    `alone` is true of a passage of one sentence: there, words may move freely.
    """
    token, places = tokens[at], occurrences[at]
    if token.role is WordRole.GUARD:
        same = _guards_same_word(at, tokens, occurrences, held)
        reason = f"{token.written!r} is said of something else"
        return None if same else _contradiction(reason)
    if token.role is WordRole.NUMBER:
        places = _with_unit(at, tokens, occurrences)
        if not places:
            return _contradiction(f"{token.written} has another unit")
    free = alone and not _is_ambiguous(token, places, held)
    reach = NEAR if token.role is WordRole.WORD else CLOSE
    if free or _is_near(places, *_neighbours(at, tokens, occurrences), reach):
        return None
    word = token.role is WordRole.WORD
    kind = Disagreement.MISSING if word else Disagreement.CONTRADICTED
    return ClaimDifference(kind, f"{token.written!r} stands elsewhere in the passage")


def _is_ambiguous(token: Token, places: Sequence[int], held: PassageWords) -> bool:
    """Whether a number's sentence has another number of the same unit."""
    if token.role is not WordRole.NUMBER:
        return False
    after = [t.key for t in held.tokens[1:]]
    units = {after[place] for place in places if place < len(after)}
    return any(
        other.role is WordRole.NUMBER and other.key != token.key and unit in units
        for other, unit in zip(held.tokens, after, strict=False)
    )


def _with_unit(
    at: int, tokens: Sequence[Token], occurrences: Sequence[list[int]]
) -> list[int]:
    """Places of a number that have the same word right after it, if one is attached."""
    places = occurrences[at]
    if at + 1 == len(tokens) or not tokens[at].attached:
        return places
    if not occurrences[at + 1]:
        return places  # the missing word is reported itself
    after = set(occurrences[at + 1])
    return [place for place in places if place + 1 in after]


def _neighbours(
    at: int, tokens: Sequence[Token], occurrences: Sequence[list[int]]
) -> tuple[list[int], list[int]]:
    """Places of the nearest words of the claim on both sides, guards left out."""
    skipped = int(tokens[at].role is WordRole.NUMBER and tokens[at].attached)
    sides = (range(at - 1, -1, -1), range(at + 1 + skipped, len(tokens)))
    before, after = (
        next(
            (
                occurrences[i]
                for i in side
                if tokens[i].role is not WordRole.GUARD and occurrences[i]
            ),
            [],
        )
        for side in sides
    )
    return before, after


def _is_near(
    places: Sequence[int], before: Sequence[int], after: Sequence[int], reach: int
) -> bool:
    """Whether one of the places has a neighbour of the claim within `reach`."""
    if not before and not after:
        return True
    return any(
        _any_between(side, place - reach, place + reach)
        for place in places
        for side in (before, after)
    )


def _any_between(places: Sequence[int], low: int, high: int) -> bool:
    at = bisect_left(places, low)
    return at < len(places) and places[at] <= high


def _guards_same_word(
    at: int,
    tokens: Sequence[Token],
    occurrences: Sequence[list[int]],
    held: PassageWords,
) -> bool:
    """Whether the guard is before the same word, and near the one that goes before."""
    words = [i for i, token in enumerate(tokens) if token.role is not WordRole.GUARD]
    earlier = next((i for i in reversed(words) if i < at and occurrences[i]), None)
    later = [i for i in words if i > at]
    if any(token.closes for token in tokens[at : later[0] if later else None]):
        later = []
    places = occurrences[at]
    if later and not occurrences[later[0]]:
        return True  # the word itself is missing, which is reported
    if later:
        wanted = set(occurrences[later[0]])
        places = [place for place in places if _next_word(place, held) in wanted]
    beside = [occurrences[i] for i in (earlier, *later[1:2]) if i is not None]
    if not beside or not places:
        return bool(places)
    return any(_is_near(places, side, (), NEAR) for side in beside if side)


def _next_word(place: int, held: PassageWords) -> int:
    """The place of the next word of the passage that is no guard."""
    for i in range(place + 1, len(held.tokens)):
        if held.tokens[i].role is not WordRole.GUARD:
            return i
    return -1


def _dropped_guard(
    tokens: Sequence[Token], occurrences: Sequence[list[int]], held: PassageWords
) -> ClaimDifference | None:
    """A guard of the passage between two words that the claim has side by side."""
    guards_of: dict[int, list[int]] = {}
    for place, token in enumerate(held.tokens):
        if token.role is WordRole.GUARD and token.key in NEVER_DROPPED:
            guards_of.setdefault(_next_word(place, held), []).append(place)
    words = [i for i, token in enumerate(tokens) if token.role is not WordRole.GUARD]
    for before, at in zip([None, *words], words, strict=False):
        between = {
            token.key for token in tokens[before + 1 if before is not None else 0 : at]
        }
        if not occurrences[at]:
            continue
        places = occurrences[at]
        if before is not None:
            beside = [
                p for p in places if _any_between(occurrences[before], p - NEAR, p)
            ]
            places = beside or places
        reasons = [
            _left_out(place, before, occurrences, guards_of, held, between)
            for place in places
        ]
        if all(reasons) and reasons[0] is not None:
            reason = f"{reasons[0].written!r} is left out"
            return ClaimDifference(Disagreement.CONTRADICTED, reason, reasons[0].key)
    return None


def _compare_order(
    claim: str, sentences: Sequence[str], known: Mapping[str, list[int]]
) -> Iterator[ClaimDifference]:
    """What is left out, put in or swapped beside the sentences that are nearest."""
    tokens = read_claim(claim)
    covered = [len(covered_words(claim, one)) for one in sentences]
    most = max(covered)
    for sentence, count in zip(sentences, covered, strict=True):
        if count < RIVAL * most:
            continue
        held = read_passage(sentence)
        occurrences = [held.find(token) for token in tokens]
        aligned = _align(occurrences, tokens, held)
        swap = _find_swap(tokens, aligned, held, known)
        if swap:
            yield swap
        if count < most:
            continue
        dropped = _dropped_guard(tokens, occurrences, held)
        if dropped:
            yield dropped
        added = _find_added(tokens, aligned.edits, occurrences, known)
        if added and not refers_back(sentence):
            yield added
        turned = _find_reversal(tokens, occurrences, held, _voices(claim, sentence))
        if turned:
            yield turned


class _Aligned(NamedTuple):
    """The keys of a sentence, those of the claim in its words, and the edits."""

    theirs: list[str]
    ours: list[str]
    edits: Sequence[tuple[str, int, int, int, int]]


def _align(
    occurrences: Sequence[list[int]], tokens: Sequence[Token], held: PassageWords
) -> _Aligned:
    theirs = [token.key for token in held.tokens]
    ours = [
        held.tokens[places[0]].key if places else token.key
        for token, places in zip(tokens, occurrences, strict=True)
    ]
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    return _Aligned(theirs, ours, matcher.get_opcodes())


def _find_swap(
    tokens: Sequence[Token],
    aligned: _Aligned,
    held: PassageWords,
    known: Mapping[str, list[int]],
) -> ClaimDifference | None:
    """Words of the claim where the sentence has others between the same two.

    They may be in the sentence too, and yet not be what is said here: the name of
    another party, the other one of two numbers. What only moved is no swap.
    """
    theirs, ours, edits = aligned
    for kind, low, high, first, last in edits:
        if kind != "replace" or max(high - low, last - first) > LONGEST_SWAP:
            continue
        gone = {k for k in theirs[low:high] if theirs.count(k) > ours.count(k)}
        new = [
            tokens[i]
            for i in range(first, last)
            if ours[i] not in theirs[low:high]
            and tokens[i].key not in known
            and not any(are_alike(tokens[i].key, key) for key in gone)
        ]
        if gone and new:
            written = next(t.written for t in held.tokens[low:high] if t.key in gone)
            return _contradiction(f"the passage has {written!r} for {new[0].written!r}")
    return None


def _find_added(
    tokens: Sequence[Token],
    edits: Sequence[tuple[str, int, int, int, int]],
    occurrences: Sequence[list[int]],
    known: Mapping[str, list[int]],
) -> ClaimDifference | None:
    """A name or number that is in another sentence only, put between two words."""
    for kind, _, _, first, last in edits:
        for i in range(first, last) if kind == "insert" else ():
            token = tokens[i]
            if (
                token.role in (WordRole.NAME, WordRole.NUMBER)
                and not occurrences[i]
                and token.key not in known
            ):
                return _contradiction(f"{token.written!r} is said of something else")
    return None


def _find_reversal(
    tokens: Sequence[Token],
    occurrences: Sequence[list[int]],
    held: PassageWords,
    turned: frozenset[str],
) -> ClaimDifference | None:
    """Two words that changed places around a third: who does what to whom.

    `turned` are the verbs that are passive in one of the two only: around these the
    two words have to change places.
    """
    theirs = [i for i, t in enumerate(held.tokens) if t.role is not WordRole.GUARD]
    rank = {place: i for i, place in enumerate(theirs)}
    words = [i for i, token in enumerate(tokens) if token.role is not WordRole.GUARD]
    for left, middle, right in zip(words, words[1:], words[2:], strict=False):
        if tokens[left].key == tokens[right].key or tokens[middle].closes:
            continue
        first, last = occurrences[left], occurrences[right]
        if tokens[middle].key not in turned:
            first, last = last, first
        for place in filter(rank.__contains__, occurrences[middle]):
            before, after = rank[place] - 1, rank[place] + 1
            inside = before >= 0 and after < len(theirs)
            if inside and theirs[before] in first and theirs[after] in last:
                one, other = tokens[left].written, tokens[right].written
                return _contradiction(f"{one!r} and {other!r} changed places")
    return None


def _voices(claim: str, sentence: str) -> frozenset[str]:
    """Stems of the verbs whose actor follows ("signed by") in one text only."""
    ours, theirs = (
        {stem(verb) for verb in _PASSIVE.findall(text)} for text in (claim, sentence)
    )
    return frozenset(ours ^ theirs)


def _left_out(
    place: int,
    before: int | None,
    occurrences: Sequence[list[int]],
    guards_of: dict[int, list[int]],
    held: PassageWords,
    between: set[str],
) -> Token | None:
    """The guard of the word at `place` that the claim does not say; None if none."""
    for guard in guards_of.get(place, ()):
        if held.tokens[guard].key in between:
            continue
        start = next(
            (
                i
                for i in range(guard - 1, -1, -1)
                if held.tokens[i].role is not WordRole.GUARD
            ),
            None,
        )
        if before is None or start is None or start in occurrences[before]:
            return held.tokens[guard]
    return None

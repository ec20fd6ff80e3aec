"""Words of one clause that a claim joins with words of another one.

"The purity is measured with the photometer, the mass with the scale" does not say that
the purity is measured with the scale. All words of such a claim are in the sentence,
in its order; what tells is that the words it leaves out between two of them are the end
of one clause and the beginning of the next.
"""

from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from elt_llm_query.grounding.claim_words import PassageWords, Token, WordRole


class ClaimNeighbours(NamedTuple):
    """Two neighbours in a claim, by their places in the claim and in the sentence.

    `places` are those of both in the sentence, one pair for each place of the second.
    """

    first: int
    second: int
    places: Sequence[tuple[int, int]]


def find_mixed(
    tokens: Sequence[Token],
    occurrences: Sequence[Sequence[int]],
    held: PassageWords,
    known: Container[str],
    preposed: int,
) -> Token | None:
    """Return a word of the claim that the sentence has in another clause.

    Args:
        tokens: The words of the claim.
        occurrences: The places of each in the sentence.
        held: The sentence.
        known: Words that a claim may leave out anywhere.
        preposed: Where the main clause begins, if another phrase precedes it.
    """
    words = [
        places
        for token, places in zip(tokens, occurrences, strict=True)
        if token.role is not WordRole.GUARD
    ]
    for near in _neighbours(tokens, occurrences):
        described = tokens[near.second - 1].article
        if all(
            not _has_moved(start, end, words)
            and _are_of_two(start, end, held.tokens, known, preposed)
            and not (described and held.tokens[end - 1].attached)  # "a brown tube"
            for start, end in near.places
        ):
            return tokens[near.second]
    return None


def _neighbours(
    tokens: Sequence[Token], occurrences: Sequence[Sequence[int]]
) -> Iterator[ClaimNeighbours]:
    """Return neighbours of one clause of the claim that the sentence has in order."""
    words = [
        i
        for i, token in enumerate(tokens)
        if token.role is not WordRole.GUARD and occurrences[i]
    ]
    for first, second in pairwise(words):
        if any(token.closes or token.joins for token in tokens[first:second]):
            continue
        starts, ends = occurrences[first], occurrences[second]
        if starts[-1] < ends[0]:  # elsewhere, one of them has moved
            yield ClaimNeighbours(first, second, [(starts[-1], end) for end in ends])


def _has_moved(start: int, end: int, occurrences: Sequence[Sequence[int]]) -> bool:
    """Return whether the claim has a word of those between at another place."""
    return any(
        places and start < places[0] and places[-1] < end for places in occurrences
    )


def _are_of_two(
    start: int,
    end: int,
    theirs: Sequence[Token],
    known: Container[str],
    preposed: int,
) -> bool:
    """Return whether the words between end one clause and begin another.

    Where a border directly precedes the second word, the two may be members of a list,
    or the words left out an insertion.
    """
    between = [
        place
        for place in range(start + 1, end)
        if theirs[place].role is not WordRole.GUARD
    ]
    borders = [
        place
        for place in range(start, end)
        if theirs[place].closes or theirs[place].joins
    ]
    tail = [place for place in between if borders and place > borders[-1]]
    counts = all(theirs[place].role is WordRole.NUMBER for place in tail)
    if counts or all(theirs[place].key in known for place in tail):
        return False
    ended = any(place <= borders[0] for place in between)
    parted = any(theirs[place].parts for place in borders)
    # A list has an "and" or an "or" before its last member.
    listed = any(theirs[p].joins and not theirs[p].parts for p in borders)
    alone = not listed and start >= preposed
    # "... and returns it within": a predicate with an object of its own.
    own = any(theirs[place].refers for place in tail)
    return ended or parted or alone or own

"""Compare the word order of a claim with one sentence: omissions, additions, swaps.

A sentence may contain all words of the claim and still state something else: who acts
on whom, which of two numbers, all or only some.
"""

import re
from collections.abc import Iterator

from elt_llm_query.analysis.foreign_guards import FOREIGN_MODALS
from elt_llm_query.analysis.stems import refers_back
from elt_llm_query.grounding.claim_difference import (
    ClaimDifference,
    DifferenceKind,
    contradiction,
    of_another,
)
from elt_llm_query.grounding.claim_guards import MODALS
from elt_llm_query.grounding.claim_words import Token, WordRole, are_alike
from elt_llm_query.grounding.exchanged_words import find_exchanged_words
from elt_llm_query.grounding.left_out_words import find_left_out_words
from elt_llm_query.grounding.mixed_clauses import find_mixed
from elt_llm_query.grounding.word_alignment import WordAlignment

LONGEST_SWAP = 6  # content words of a name or a number that replaces another
# A sentence that does not begin with its subject.
_PREPOSED = re.compile(
    r"\W*(?:after|at|before|by|during|for|from|if|in|on|to|under|unless|until|upon|when"
    r"|where|while|with|within|without)\b",
    re.IGNORECASE,
)
_DONE_TO = re.compile(
    r"\b(?:must|may|shall|should|will|can)(?: not| only| also)? be\b", re.IGNORECASE
)


def find_swap(aligned: WordAlignment) -> ClaimDifference | None:
    """Return words of the claim at whose place the sentence has other words.

    The sentence may contain them elsewhere: the name of another party, the other
    one of two numbers. Words that only moved are no swap.

    Args:
        aligned: The claim in the places of the sentence.
    """
    theirs = [token.key for token in aligned.passage_words.tokens]
    ours, tokens = aligned.ours, aligned.tokens
    for kind, low, high, first, last in aligned.edits:
        if kind != "replace" or max(high - low, last - first) > LONGEST_SWAP:
            continue
        gone = {k for k in theirs[low:high] if theirs.count(k) > ours.count(k)}
        gone -= aligned.agents
        new = [
            tokens[i]
            for i in range(first, last)
            if ours[i] not in theirs[low:high]
            and not (tokens[i].key in aligned.known and _may_be_named(tokens[i]))
            and not any(are_alike(tokens[i].key, key) for key in gone)
        ]
        if gone and new:
            here = aligned.passage_words.tokens[low:high]
            written = next(t.written for t in here if t.key in gone)
            other = min(new, key=lambda token: token.key in aligned.known)
            reason = f"the passage has {written!r} for {other.written!r}"
            exact = other.role is not WordRole.WORD
            what = (
                DifferenceKind.NAME_REPLACED if exact else DifferenceKind.WORD_REPLACED
            )
            return contradiction(reason, what)
    return None


def find_others(aligned: WordAlignment) -> Iterator[ClaimDifference]:
    """Yield words that are added, left out or reversed.

    Args:
        aligned: The claim in the places of the sentence.
    """
    if not refers_back(aligned.sentence) and (added := _find_added(aligned)):
        yield added
    yield from find_left_out_words(aligned)
    for find in (_find_mixture, find_exchanged_words, _find_other_subject):
        if one := find(aligned):
            yield one


def _find_added(aligned: WordAlignment) -> ClaimDifference | None:
    """Return a name or number of another sentence, inserted between two words."""
    for kind, _, _, first, last in aligned.edits:
        for i in range(first, last) if kind == "insert" else ():
            token = aligned.tokens[i]
            if (
                token.role in (WordRole.NAME, WordRole.NUMBER)
                and not aligned.occurrences[i]
                and token.key not in aligned.known
            ):
                return of_another(token.written, DifferenceKind.NAME_ADDED)
    return None


def _find_mixture(aligned: WordAlignment) -> ClaimDifference | None:
    """Return a word that the sentence states of another subject: "X may, but Y is".

    A claim that has several clauses may take one from each side.
    """
    here = aligned.passage_words.tokens
    args = aligned.tokens, aligned.occurrences, aligned.passage_words, aligned.known
    if mixed := find_mixed(*args, _main_clause(aligned)):
        return of_another(mixed.written, DifferenceKind.TWO_SUBJECTS)
    turn = next((i + 1 for i, token in enumerate(here) if token.turns), None)
    clauses = any(token.closes or token.joins for token in aligned.tokens[:-1])
    if turn is None or clauses:
        return None
    known = [(i, places) for i, places in enumerate(aligned.occurrences) if places]
    before = [i for i, places in known if places[-1] < turn]
    after = [i for i, places in known if places[0] >= turn]
    if before and after:
        return of_another(aligned.tokens[after[0]].written, DifferenceKind.TWO_SUBJECTS)
    return None


def _main_clause(aligned: WordAlignment) -> int:
    """Return the place of its first word, after a phrase in front of it."""
    if not _PREPOSED.match(aligned.sentence):
        return 0
    here = aligned.passage_words.tokens
    return next((i + 1 for i, token in enumerate(here) if token.closes), 0)


def _find_other_subject(aligned: WordAlignment) -> ClaimDifference | None:
    """Return the subject of a "must" or "may" that is not the claim's subject."""
    done = _DONE_TO.search(aligned.claim) or _DONE_TO.search(aligned.sentence)
    if done or _PREPOSED.match(aligned.sentence):
        return None
    tokens = aligned.tokens
    for at, token in enumerate(tokens):
        place = next(iter(aligned.occurrences[at]), 0)
        if token.key not in MODALS or token.written in FOREIGN_MODALS or not place:
            continue
        if any(t.closes or t.joins for t in aligned.passage_words.tokens[:place]):
            return None
        pairs = enumerate(aligned.occurrences)
        ours = {i for i, places in pairs if places and places[-1] < place}
        late = [i for i in ours if i > at and tokens[i].role is not WordRole.GUARD]
        if late and not any(i < at for i in ours):
            return of_another(tokens[late[0]].written, DifferenceKind.OTHER_SUBJECT)
        return None
    return None


def _may_be_named(token: Token) -> bool:
    """Return whether a title's word may replace another: a name, but not "the club"."""
    return token.role is not WordRole.WORD or not token.definite

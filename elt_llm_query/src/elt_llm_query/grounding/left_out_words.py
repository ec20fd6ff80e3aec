"""Words that a claim leaves out and that limit what the sentence says.

"Undergraduate students may not" is not "students may not", and "one of the parties" is
not "the parties".
"""

import re
from collections.abc import Iterator
from itertools import pairwise, product, zip_longest

from elt_llm_query.analysis.lexicon import NUMBER_WORDS, ORDINAL_NUMBERS, PROVIDED
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import phrases
from elt_llm_query.grounding.claim_difference import (
    ClaimDifference,
    DifferenceKind,
    contradiction,
)
from elt_llm_query.grounding.claim_words import WordRole, read_passage
from elt_llm_query.grounding.left_out_conditions import find_left_out
from elt_llm_query.grounding.word_alignment import WordAlignment

LONGEST_LETTERS = 3  # letters of a code before its number: "E04", "ISO 9001"
LONGEST_RESTRICTION = 3  # content words; more of them are a separate clause
# Guards after which a noun denotes all of its kind.
_LIMITS = frozenset({"except", "unless", PROVIDED})
_GENERAL = frozenset({"all", "any", "not", "only", "most", "some", "many", "few"})
_NEARLY = frozenset({"almost", "nearly"})
_ORDINALS = frozenset(map(stem, ORDINAL_NUMBERS))
# "One fifth of the voting members" is not one fifth of the members.
_SHARE = re.compile(
    r"(?:\b(?:half|halves|thirds?|quarters?|fifths?|sixths?|eighths?|tenths?|majority"
    r"|percent|per cent)|%) of (?:all |the |its |their )*([^\W\d_]+)",
    re.IGNORECASE,
)
_NAMING = frozenset({"called", "named", "known"})  # "is called" means no more than "is"
# "One of the parties", "half of the rooms", "a member of the Board" denote a part of
# the noun that follows.
_PART = re.compile(
    rf"\b(?:(one or more|any one|{phrases(NUMBER_WORDS)}|\d+|half|part|some|any|either)"
    r"|an? (?:\w+ )?(\w+)) of (?:the|these|those|its|their|our|your|his|her)"
    r"(?: \w+){1,2}",
    re.IGNORECASE,
)


def find_left_out_words(aligned: WordAlignment) -> Iterator[ClaimDifference]:
    """Yield what the claim leaves out of the sentence.

    Args:
        aligned: The claim in the places of the sentence.
    """
    for find in (
        _find_part,
        _find_restriction,
        _find_ordinal,
        _find_other_member,
        _find_limit,
        _find_condition,
        _find_denial,
    ):
        if one := find(aligned):
            yield one


def _find_part(aligned: WordAlignment) -> ClaimDifference | None:
    """Return a word for a part if the claim speaks of the whole.

    The claim has the noun but not the word for the part: "one of the parties" is
    neither "the parties" nor each of them.
    """
    ours = {token.key for token in aligned.tokens}
    sentence = normalise(aligned.sentence).text
    for match in _PART.finditer(sentence):
        part, whole = read_passage(match[1] or match[2]), match[0].split()[-2:]
        named = {token.key for token in read_passage(" ".join(whole)).tokens}
        rest = sentence.replace(match[0], "")
        elsewhere = {token.key for token in read_passage(rest).tokens}
        if named & ours - elsewhere and not ours & set(part.places):
            reason = f"{match[1] or match[2]!r} of them is left out"
            return contradiction(reason, DifferenceKind.PART_LEFT_OUT)
    return None


def _find_restriction(aligned: WordAlignment) -> ClaimDifference | None:
    """Return a word of the sentence that restricts a general claim.

    "Undergraduate students may not" is not "students may not", and "bills for
    raising revenue" are not all bills. A noun after "the" or "this" in the claim
    refers to something mentioned before and needs no restriction.
    """
    words, tokens = aligned.words, aligned.tokens
    left_out = ""
    for at, after in zip_longest(words, words[1:]):
        of_all = at > 0 and tokens[at - 1].key in _GENERAL
        if (modifier := _modifier(aligned, at)) in _NEARLY:
            left_out = left_out or modifier
        if (of_all or at == words[0]) and not _is_definite(aligned, at):
            left_out = left_out or _modifier(aligned, at)
        if of_all and after is not None and not tokens[at].closes:
            left_out = left_out or _dropped_between(aligned, at, after)
    reason = f"{left_out!r} is left out"
    what = DifferenceKind.RESTRICTION_LEFT_OUT
    return contradiction(reason, what) if left_out else None


def _find_ordinal(aligned: WordAlignment) -> ClaimDifference | None:
    """Return a word left out between an ordinal or a share and what it counts.

    "The third working day" is not "the third day".
    """
    shares = {stem(noun.lower()) for noun in _SHARE.findall(aligned.claim)}
    for at, token in enumerate(aligned.tokens[:-1]):
        after = aligned.tokens[at + 1]
        counted = token.key in _ORDINALS and token.attached
        if counted and after.role is WordRole.WORD:
            left_out = _dropped_between(aligned, at, at + 1)
        elif after.key in shares:
            left_out = _modifier(aligned, at + 1)
        else:
            continue
        if left_out:
            reason = f"{left_out!r} is left out"
            return contradiction(reason, DifferenceKind.RESTRICTION_LEFT_OUT)
    return None


def _find_other_member(aligned: WordAlignment) -> ClaimDifference | None:
    """Return a member left out of an "only": "only the cook and the maid dine"."""
    only = next((i for i, t in enumerate(aligned.tokens) if t.key == "only"), None)
    here, ours = aligned.passage_words.tokens, aligned.places_in_claim
    words = [i for i in aligned.words if only is not None and i > only]
    for at, after in pairwise(words):
        if aligned.tokens[at].closes or aligned.tokens[at].joins:
            return None
        for start, end in product(aligned.occurrences[at], aligned.occurrences[after]):
            between = range(start + 1, end)
            if here[start].link and between and ours.isdisjoint(between):
                reason = f"{here[start + 1].written!r} is left out"
                return contradiction(reason, DifferenceKind.PART_LEFT_OUT)
    return None


def _find_limit(aligned: WordAlignment) -> ClaimDifference | None:
    """Return an exception or condition that follows the words of the claim.

    "Open every day" is not said by "open every day except Monday".
    """
    if not aligned.places_in_claim or any(t.key in _LIMITS for t in aligned.tokens):
        return None
    last = max(aligned.places_in_claim)
    for place, token in enumerate(aligned.passage_words.tokens):
        if place and aligned.passage_words.tokens[place - 1].ends:
            last = -1  # a limit of another clause
        if place > last >= 0 and token.key in _LIMITS:
            reason = f"{token.written!r} is left out"
            return contradiction(reason, DifferenceKind.LIMIT_LEFT_OUT)
    return None


def _find_condition(aligned: WordAlignment) -> ClaimDifference | None:
    """Return a condition of the sentence that the claim leaves out."""
    opener = find_left_out(
        aligned.claim, aligned.sentence, aligned.asked, aligned.languages
    )
    reason = f"{opener!r} is left out"
    return contradiction(reason, DifferenceKind.LIMIT_LEFT_OUT) if opener else None


def _find_denial(aligned: WordAlignment) -> ClaimDifference | None:
    """Return a "not" at the end of a clause if the claim has words of that clause.

    "Heating is included, internet is not": the "not" has no word after it.
    """
    here = aligned.passage_words.tokens
    if any(token.key == "not" for token in aligned.tokens):
        return None
    for place, token in enumerate(here):
        final = token.closes or place + 1 == len(here)
        if token.key != "not" or not final or not place or here[place - 1].closes:
            continue
        clause = {place - 1}
        while (first := min(clause)) and not here[first - 1].closes:
            clause.add(first - 1)
        if any(places and clause.issuperset(places) for places in aligned.occurrences):
            reason = f"{token.written!r} is left out"
            return contradiction(reason, DifferenceKind.GUARD_LEFT_OUT, token.key)
    return None


def _is_definite(aligned: WordAlignment, at: int) -> bool:
    """Return whether "the" or the like precedes a word, or its neighbour."""
    before = aligned.tokens[at - 1] if at else None
    beside = before is not None and before.attached and before.definite
    return aligned.tokens[at].definite or beside


def _modifier(aligned: WordAlignment, at: int) -> str:
    """Return the word before a word of the sentence, if the claim lacks it."""
    left_out = ""
    if _is_identifier(aligned, at):
        return ""  # "error E04", "Rule 7b": the noun only says what it identifies
    for place in aligned.occurrences[at]:
        before = aligned.passage_words.tokens[place - 1] if place else None
        if not before or not before.attached or not _lacks(aligned, place - 1):
            return ""
        left_out = before.written
    return left_out


def _is_identifier(aligned: WordAlignment, at: int) -> bool:
    """Return whether a word is the beginning of a code: the "e" of "E04"."""
    after = aligned.tokens[at + 1 : at + 2]
    return len(aligned.tokens[at].written) <= LONGEST_LETTERS and any(
        aligned.tokens[at].attached and token.role is WordRole.NUMBER for token in after
    )


def _dropped_between(aligned: WordAlignment, at: int, after: int) -> str:
    """Return the first word left out between two neighbours in the claim.

    Words after a comma or an "and" are another member of a list.
    """
    second = aligned.occurrences[after]
    pairs = [(p, q) for p in aligned.occurrences[at] for q in second if p < q]
    if not pairs:
        return ""
    low, high = min(pairs, key=lambda pair: pair[1] - pair[0])
    here = aligned.passage_words.tokens
    if any(here[i].closes or here[i].joins for i in range(low, high)):
        return ""
    between = [i for i in range(low + 1, high) if here[i].role is not WordRole.GUARD]
    short = 0 < len(between) <= LONGEST_RESTRICTION
    if short and all(_lacks(aligned, i) for i in between):
        return here[between[0]].written
    return ""


def _lacks(aligned: WordAlignment, place: int) -> bool:
    """Return whether the claim leaves out a word or name of the sentence."""
    token = aligned.passage_words.tokens[place]
    if token.role not in (WordRole.WORD, WordRole.NAME):
        return False
    implied = token.key in aligned.known or token.written in _NAMING
    return not implied and place not in aligned.places_in_claim

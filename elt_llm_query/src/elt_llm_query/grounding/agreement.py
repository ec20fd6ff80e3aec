"""Compare a claim with a passage, word by word and place by place.

A paraphrase is supported by a passage of a few sentences if the passage contains each
of its content words (or a synonym from the lists), and if everything that can reverse
the meaning is equal and applies to the same word: numbers with their units, names,
negation, duty and permission, quantities ("all", "some", "at least") and order
("before", "after"). A word counts as missing if the sentence has a different word in
its place and the passage has it only elsewhere.

The check needs no list of opposites: a word that the passage lacks is refused, whether
it is an antonym, another name or a new condition.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise, zip_longest

from elt_llm_query.analysis.foreign_guards import Languages, languages_of
from elt_llm_query.analysis.lexicon import ATTRIBUTES, REPORTING, TIME_UNITS
from elt_llm_query.analysis.stems import stem
from elt_llm_query.grounding.claim_difference import (
    ClaimDifference,
    DifferenceKind,
    Disagreement,
    contradiction,
)
from elt_llm_query.grounding.claim_guards import (
    CLOSE,
    NEAR,
    dropped_guard,
    guards_same_word,
    is_instruction,
    is_near,
)
from elt_llm_query.grounding.claim_words import (
    PassageWords,
    Token,
    WordRole,
    covered_words,
    read_claim,
    read_passage,
)
from elt_llm_query.grounding.word_alignment import WordAlignment
from elt_llm_query.grounding.word_order import find_others, find_swap

YEAR = "year"  # the unit of a number that is written as a year is
RIVAL = 0.8  # of the nearest sentence's words: such a sentence is a candidate too
_UNITS = frozenset(
    stem(unit) for unit in TIME_UNITS.union(*ATTRIBUTES.values()) if len(unit) > 1
)
_ELSEWHERE = {
    WordRole.WORD: DifferenceKind.WORD_ELSEWHERE,
    WordRole.NAME: DifferenceKind.NAME_ELSEWHERE,
    WordRole.NUMBER: DifferenceKind.NUMBER_ELSEWHERE,
}


def compare(
    claim: str,
    sentences: Sequence[str],
    context: str = "",
    languages: Languages | None = None,
    asked: str = "",
) -> list[ClaimDifference]:
    """Return the differences between a claim and its passage.

    Args:
        claim: One statement, without labels.
        sentences: A few neighbouring sentences of a source.
        context: Title and section of the source: the claim may use their words, but
            they prove no number and no guard.
        languages: Those whose guards count; by default those of the passage alone.
        asked: The question, which may state a condition that the claim leaves out.

    Returns:
        The differences, those of single words first; empty if the passage supports it.
    """
    if languages is None:
        languages = languages_of(" ".join(sentences))
    tokens = read_claim(claim, languages)
    held = PassageWords(sentences, languages)
    known = read_passage(context, languages).places
    occurrences = [held.find(token) for token in tokens]
    differences: list[ClaimDifference] = []
    for at, token in enumerate(tokens):
        if is_instruction(at, tokens, occurrences, held):
            continue
        if not occurrences[at]:
            difference = _explain_missing(token, known)
        else:
            alone = len(sentences) == 1
            difference = _check_place(at, tokens, occurrences, held, alone=alone)
        if difference:
            differences.append(difference)
    rival = _find_rival_number(claim, sentences, languages)
    inserted = _find_inserted(claim, sentences, languages)
    others = [one for one in (rival, inserted) if one]
    read = partial(WordAlignment, claim, known=known, languages=languages, asked=asked)
    orders = [read(sentence) for sentence in sentences]
    return [*differences, *others, *_compare_nearest(orders)]


def _find_inserted(
    claim: str, sentences: Sequence[str], languages: Languages
) -> ClaimDifference | None:
    """Return a word of a later sentence between two neighbours of an earlier one.

    A word of an earlier sentence may stand for a pronoun, one of a later sentence
    describes something that the earlier one does not say.
    """
    if len(sentences) == 1:
        return None
    tokens = read_claim(claim, languages)
    words = [i for i, token in enumerate(tokens) if token.role is not WordRole.GUARD]
    covered = [covered_words(claim, one, languages) for one in sentences]
    for before, at, after in zip(words, words[1:], words[2:], strict=False):
        if any(token.closes or token.joins for token in tokens[before:after]):
            continue
        having = [i for i, places in enumerate(covered) if at in places]
        around = [i for i, places in enumerate(covered) if {before, after} <= places]
        beside = any({before, after} & covered[i] for i in having)
        if having and around and having[0] > around[-1] and not beside:
            reason = f"{tokens[at].written!r} refers to something else"
            return contradiction(reason, DifferenceKind.TWO_SUBJECTS)
    return None


def _find_rival_number(
    claim: str, sentences: Sequence[str], languages: Languages
) -> ClaimDifference | None:
    """Return a number of one sentence with words of another that has a number too.

    "Up to 26 weeks for a birth" is not said by "12 weeks for a birth. 26 weeks for the
    care of a soldier".
    """
    tokens = read_claim(claim, languages)
    covered = [covered_words(claim, one, languages) for one in sentences]
    counted = [_numbers_by_unit(one, languages) for one in sentences]
    for token, unit in _list_numbers(tokens):
        own = [at for at, of in enumerate(counted) if token.key in of.get(unit, ())]
        others = [at for at, of in enumerate(counted) if at not in own and of.get(unit)]
        if own and any(covered[at] - covered[own[0]] for at in others):
            reason = f"{token.written!r} refers to something else"
            return contradiction(reason, DifferenceKind.NUMBER_OF_ANOTHER)
    return None


def _list_numbers(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Return each number with the word that is attached to it; a year is a unit too."""
    for token, after in zip_longest(tokens, tokens[1:]):
        if token.is_year:
            yield token, YEAR
        elif token.role is WordRole.NUMBER and token.attached and after:
            yield token, after.key


def _numbers_by_unit(sentence: str, languages: Languages) -> dict[str, set[str]]:
    """Return the numbers of a sentence by the word that is attached to them."""
    units: dict[str, set[str]] = {}
    for token, unit in _list_numbers(read_passage(sentence, languages).tokens):
        units.setdefault(unit, set()).add(token.key)
    return units


def _explain_missing(
    token: Token, known: dict[str, list[int]]
) -> ClaimDifference | None:
    if token.role is WordRole.NUMBER:
        reason = f"the number {token.written} is not in the passage"
        return contradiction(reason, DifferenceKind.NUMBER_MISSING)
    reason = f"{token.written!r} is not in the passage"
    if token.role is WordRole.GUARD:
        return contradiction(reason, DifferenceKind.GUARD_MISSING, token.key)
    if token.key in known:
        return None
    if token.role is WordRole.WORD and token.written in REPORTING:
        return None
    is_name = token.role is WordRole.NAME
    what = DifferenceKind.NAME_MISSING if is_name else DifferenceKind.WORD_MISSING
    return ClaimDifference(Disagreement.MISSING, reason, what)


def _check_place(
    at: int,
    tokens: Sequence[Token],
    occurrences: Sequence[list[int]],
    held: PassageWords,
    *,
    alone: bool,
) -> ClaimDifference | None:
    """Return why a word is not at the place where the passage has it, or None.

    `alone` is true of a passage of one sentence: there, words may move freely.
    """
    token, places = tokens[at], occurrences[at]
    if token.role is WordRole.GUARD:
        same = guards_same_word(at, tokens, occurrences, held)
        reason = f"{token.written!r} refers to something else"
        return (
            None
            if same
            else contradiction(reason, DifferenceKind.GUARD_ELSEWHERE, token.key)
        )
    if token.role is WordRole.NUMBER:
        places = _with_unit(at, tokens, occurrences)
        if not places:
            reason = f"{token.written} has a different unit"
            return contradiction(reason, DifferenceKind.UNIT)
    free = alone and not _is_ambiguous(token, places, held)
    reach = NEAR if token.role is WordRole.WORD else CLOSE
    if free or is_near(places, *_neighbours(at, tokens, occurrences), reach):
        return None
    word = token.role is WordRole.WORD
    kind = Disagreement.MISSING if word else Disagreement.CONTRADICTED
    reason = f"{token.written!r} is elsewhere in the passage"
    return ClaimDifference(kind, reason, _ELSEWHERE[token.role])


def _is_ambiguous(token: Token, places: Sequence[int], held: PassageWords) -> bool:
    """Return whether a number's sentence has another number of the same unit."""
    if token.role is not WordRole.NUMBER:
        return False
    if token.is_year:
        return any(o.is_year and o.key != token.key for o in held.tokens)
    after = [t.key for t in held.tokens[1:]]
    units = {after[place] for place in places if place < len(after)}
    return any(
        other.role is WordRole.NUMBER and other.key != token.key and unit in units
        for other, unit in zip(held.tokens, after, strict=False)
    )


def _with_unit(
    at: int, tokens: Sequence[Token], occurrences: Sequence[list[int]]
) -> list[int]:
    """Return places of a number followed by the same word, if one is attached to it."""
    places = occurrences[at]
    if at + 1 == len(tokens) or not tokens[at].attached:
        return places
    if not occurrences[at + 1]:
        # Another missing word is reported itself.
        return [] if tokens[at + 1].key in _UNITS else places
    after = set(occurrences[at + 1])
    return [place for place in places if place + 1 in after]


def _neighbours(
    at: int, tokens: Sequence[Token], occurrences: Sequence[list[int]]
) -> tuple[list[int], list[int]]:
    """Return places of the nearest words of the claim on both sides, without guards."""
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


def _compare_nearest(orders: Sequence[WordAlignment]) -> Iterator[ClaimDifference]:
    """Return what is left out, added or swapped compared with the nearest sentences."""
    covered = [covered_words(one.claim, one.sentence, one.languages) for one in orders]
    most = max(map(len, covered))
    nearest = next(words for words in covered if len(words) == most)
    for order, words in zip(orders, covered, strict=True):
        whole = len(words) == most
        if whole or words - nearest:
            only = None if whole else _with_neighbours(order, words, words - nearest)
            yield from _find_left_out(order, only)
        swap = find_swap(order) if len(words) >= RIVAL * most else None
        if swap:
            yield swap
        if whole:
            yield from find_others(order)


def _with_neighbours(
    order: WordAlignment, words: frozenset[int], own: frozenset[int]
) -> frozenset[int]:
    """Return the words that only this sentence has, and those of it beside them.

    "The whole flat" of one sentence, and "may be let" of the one before: a "not" before
    "let" in the first one counts.
    """
    known = [i for i, t in enumerate(order.tokens) if t.role is not WordRole.GUARD]
    pairs = {(i, j) for i, j in pairwise(known) if i in own or j in own}
    return own | (words & {i for pair in pairs for i in pair})


def _find_left_out(
    order: WordAlignment, only: frozenset[int] | None
) -> Iterator[ClaimDifference]:
    """Return a guard that the claim leaves out."""
    guard = dropped_guard(order.tokens, order.occurrences, order.passage_words, only)
    if guard:
        reason = f"{guard.written!r} is left out"
        yield contradiction(reason, DifferenceKind.GUARD_LEFT_OUT, guard.key)

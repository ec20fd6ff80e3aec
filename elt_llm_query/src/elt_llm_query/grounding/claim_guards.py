"""Guards of a claim and of its passage: at the same word, and none left out.

A guard is a word that reverses or limits the meaning: "not", "must", "only", "until".
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set

from elt_llm_query.analysis.foreign_guards import FOREIGN_MODALS
from elt_llm_query.analysis.lexicon import EXEMPT, NEVER_DROPPED
from elt_llm_query.grounding.claim_words import PassageWords, Token, WordRole

# Maximum distance in content words between neighbours. It is shorter for numbers and
# names: "10 days ... 20 days" differ by what they measure. Both were chosen on
# generated claims, see "Claims" in measurements/proof.md.
NEAR = 5
CLOSE = 2
_PARTICLES = frozenset({"off"})  # "switches off the light", "the light is switched off"
# Whatever goes before them.
_ALWAYS_KEPT = frozenset({"not", "off", "except"})
# Their clause may have a pronoun where the other text has a noun.
_CLAUSE_OPENERS = frozenset({"until", "unless", "before", "after"})
_BESIDE = 2  # words after a modal that must be in its clause: its object and its verb
_NAMED = 3  # maximum content words of a pronoun's antecedent
_DUTIES = frozenset({"must", "should"})
MODALS = _DUTIES | {"may", "will", EXEMPT}


def is_instruction(
    at: int,
    tokens: Sequence[Token],
    occurrences: Sequence[list[int]],
    held: PassageWords,
) -> bool:
    """Return whether a duty matches an instruction: "Clean it", "must be cleaned".

    A "not" is looked for at its own place.
    """
    later = [token for token in tokens[at + 1 :] if token.role is not WordRole.GUARD]
    if not later or tokens[at].closes:
        return False
    if tokens[at].written in FOREIGN_MODALS:
        return False  # which words they begin a clause with is not known
    denied = tokens[at + 1].key == "not"
    if tokens[at].key not in _DUTIES and not (denied and tokens[at].key == "may"):
        return False
    verb = tokens.index(later[0], at)
    return any(
        held.tokens[place].opens
        and denied == (place > 0 and held.tokens[place - 1].key == "not")
        for place in occurrences[verb]
    )


def guards_same_word(
    at: int,
    tokens: Sequence[Token],
    occurrences: Sequence[list[int]],
    held: PassageWords,
) -> bool:
    """Return whether the guard precedes the same word, near the same word before it."""
    words = [i for i, token in enumerate(tokens) if token.role is not WordRole.GUARD]
    earlier = next((i for i in reversed(words) if i < at and occurrences[i]), None)
    later = [i for i in words if i > at]
    if any(token.closes for token in tokens[at : later[0] if later else None]):
        later = []
    places = occurrences[at]
    if tokens[at].written in FOREIGN_MODALS:
        return _is_in_scope(at, tokens, occurrences, held)
    if tokens[at].key in _PARTICLES and earlier is not None:
        return is_near(places, occurrences[earlier], (), NEAR)
    if later and not occurrences[later[0]]:
        return True  # the word itself is missing, which is reported
    if later:
        wanted = set(occurrences[later[0]])
        after = {i for each in later for i in occurrences[each]}
        closing = [
            place
            for place in places
            if tokens[at].key == "only" and _closes_after(place, held, after)
        ]
        places = (
            closing
            or [
                place if word == next_word else word
                for place in places
                for next_word in [_next_word(place, held)]
                for word in (
                    next_word,
                    _next_but_number(place, held),
                    *_joined_words(place, held),
                )
                if word in wanted
            ]
            or _with_pronoun(tokens[at], tokens, later, places, occurrences, held)
        )
    beside = [occurrences[i] for i in (earlier, *later[1:2]) if i is not None]
    if not beside or not places:
        return bool(places)
    return any(is_near(places, side, (), NEAR) for side in beside if side)


def _is_in_scope(
    at: int,
    tokens: Sequence[Token],
    occurrences: Sequence[list[int]],
    held: PassageWords,
) -> bool:
    """Return whether a modal stands in the clause of the words that follow it.

    In other languages the verb may be far from its modal ("müssen den Ausweis zeigen"),
    and another part of the clause may precede it ("im Saal müssen Hunde schlafen").
    """
    words = [
        i
        for i, token in enumerate(tokens)
        if token.role is not WordRole.GUARD and occurrences[i]
    ]
    clause = _clause_places(at, tokens)
    beside = [i for i in words if i in clause and i > at][:_BESIDE] or [
        i for i in words if i in clause and i < at
    ][-_BESIDE:]
    scopes = [_clause_places(place, held.tokens) for place in occurrences[at]]
    return not beside or any(
        all(not scope.isdisjoint(occurrences[i]) for i in beside) for scope in scopes
    )


def _clause_places(at: int, tokens: Sequence[Token]) -> frozenset[int]:
    """Return the places of the clause of a modal, up to the next comma or modal.

    What stands between another modal and this one belongs to the other.
    """
    last = at
    while last + 1 < len(tokens) and not tokens[last].closes:
        if tokens[last + 1].key in MODALS:
            break
        last += 1
    first = at
    while first > 0 and not tokens[first - 1].closes:
        first -= 1
        if tokens[first].key in MODALS:
            return frozenset(range(at, last + 1))
    return frozenset(range(first, last + 1))


def _with_pronoun(
    guard: Token,
    tokens: Sequence[Token],
    later: Sequence[int],
    places: Sequence[int],
    occurrences: Sequence[list[int]],
    held: PassageWords,
) -> list[int]:
    """Return places of an "until" or "after" whose clause has a pronoun or a noun.

    "Until it finishes" is "until the crew finishes", and the other way round.
    """
    if guard.key not in _CLAUSE_OPENERS:
        return []
    # "After landing" has no subject, "after the crew has landed" has one.
    bare = guard.refers or tokens[later[0]].written.endswith("ing")
    kept = []
    for place in places:
        first = _next_word(place, held)
        named = later[1 : 1 + _NAMED] if held.tokens[place].refers else []
        ours = [later[0], *([] if bare else named)]
        if any(
            first <= word <= first + _NAMED for i in ours for word in occurrences[i]
        ):
            kept.append(place)
    return kept


def _joined_words(place: int, held: PassageWords) -> Iterator[int]:
    """Return further words under a "must" or "may": it "must record and report"."""
    if held.tokens[place].key not in MODALS:
        return
    if held.tokens[min(place + 1, len(held.tokens) - 1)].key == "also":
        yield place + 2
    for i in range(place + 1, len(held.tokens)):
        if held.tokens[i].key in MODALS:
            return
        if held.tokens[i - 1].joins and held.tokens[i].role is not WordRole.GUARD:
            yield i


def _next_word(place: int, held: PassageWords) -> int:
    """Return the place of the next word of the passage that is no guard."""
    for i in range(place + 1, len(held.tokens)):
        if held.tokens[i].role is not WordRole.GUARD:
            return i
    return -1


def _next_but_number(place: int, held: PassageWords) -> int:
    """Like `_next_word`, skipping a number: "most of the 300 members" are members."""
    first = _next_word(place, held)
    is_number = first >= 0 and held.tokens[first].role is WordRole.NUMBER
    return _next_word(first, held) if is_number else first


def _closes_after(place: int, held: PassageWords, wanted: set[int]) -> bool:
    """Return whether an "only" ends its clause, right after the word it modifies."""
    return held.tokens[place].closes and place - 1 in wanted


def dropped_guard(
    tokens: Sequence[Token],
    occurrences: Sequence[list[int]],
    held: PassageWords,
    only: frozenset[int] | None = None,
) -> Token | None:
    """Return a guard of the passage between two words that are adjacent in the claim.

    Args:
        tokens: The words of the claim.
        occurrences: The places of each in the passage.
        held: The passage.
        only: If given, look only for a "not" at one of these places of the claim's
            words.
    """
    ours = {token.key for token in tokens if token.written in FOREIGN_MODALS}
    guards_of = _guards_by_word(held, ours)
    words = [i for i, token in enumerate(tokens) if token.role is not WordRole.GUARD]
    particles = {token.key for token in tokens} & _PARTICLES
    for before, at in zip([None, *words], words, strict=False):
        start = before + 1 if before is not None else 0
        between = particles | {token.key for token in tokens[start:at]}
        if not occurrences[at] or (only is not None and at not in only):
            continue
        places = occurrences[at]
        if before is not None:
            beside = [
                p for p in places if is_any_between(occurrences[before], p - NEAR, p)
            ]
            places = beside or places
        reasons = [
            _left_out(place, before, occurrences, guards_of, held, between)
            for place in places
        ]
        first = next(iter(reasons), None)
        if first and all(reasons) and (only is None or first.key == "not"):
            return first
    return None


def _guards_by_word(held: PassageWords, kept: Set[str]) -> dict[int, list[int]]:
    """Return places of guards that must not be dropped, by the place of their word.

    Modals of other languages that the claim has are `kept`; see `_is_in_scope`.
    """
    guards_of: dict[int, list[int]] = {}
    for place, token in enumerate(held.tokens):
        if token.written in FOREIGN_MODALS and token.key in kept:
            continue
        if token.role is WordRole.GUARD and token.key in NEVER_DROPPED:
            guards_of.setdefault(_next_word(place, held), []).append(place)
    return guards_of


def _left_out(
    place: int,
    before: int | None,
    occurrences: Sequence[list[int]],
    guards_of: dict[int, list[int]],
    held: PassageWords,
    between: set[str],
) -> Token | None:
    """Return the guard of the word at `place` that the claim omits, or None."""
    for guard in guards_of.get(place, ()):
        if held.tokens[guard].key in between:
            continue
        if held.tokens[guard].key in _ALWAYS_KEPT:
            return held.tokens[guard]  # the actor is ignored
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


def is_near(
    places: Sequence[int], before: Sequence[int], after: Sequence[int], reach: int
) -> bool:
    """Return whether one of the places has a neighbour of the claim within `reach`."""
    if not before and not after:
        return True
    return any(
        is_any_between(side, place - reach, place + reach)
        for place in places
        for side in (before, after)
    )


def is_any_between(places: Sequence[int], low: int, high: int) -> bool:
    """Return whether one of the sorted places is from `low` to `high`."""
    at = bisect_left(places, low)
    return at < len(places) and places[at] <= high

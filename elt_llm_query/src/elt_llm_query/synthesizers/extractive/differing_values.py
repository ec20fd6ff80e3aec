"""Different values of the same unit in two texts that answer one question."""

import re
from collections.abc import Iterator, Sequence

from elt_llm_query.analysis.lexicon import TIME_UNITS
from elt_llm_query.grounding.claim_words import Token, read_claim
from elt_llm_query.grounding.conflicts import read_values

_BOUNDS = frozenset(["minimum", "maximum"])
_LATEST_BEFORE = re.compile(
    r"\b(?:no|not)\s+later\s+than\s+(?=[\w-]+\s+(?:\w+\s+)?"
    rf"(?:{'|'.join(sorted(TIME_UNITS))})\s+(?:before|prior|ahead)\b)",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\d{1,2}:\d{2}")
_DECIMAL = re.compile(r"\d*\.\d+")


def differing_values(one: str, other: str) -> Iterator[str]:
    """Yield each pair of different values of the same unit, as written.

    Two bounds that can both hold do not differ: "at least 5 years", "at most 10 years".

    Args:
        one: A sentence, or the cells of a row.
        other: Another one.
    """
    claims = read_claim(_as_least(one)), read_claim(_as_least(other))
    bounds = [_bounds_of(claim) for claim in claims]
    first, second = map(read_values, claims)
    for unit, values in first.items():
        others = second.get(unit, {})
        written = [*values.values(), *others.values()]
        if len(values) != 1 or len(others) != 1:
            continue
        # A bare number may number something; a time of day does not.
        comparable = unit or all(_CLOCK.fullmatch(one) for one in written)
        ours, theirs = (_plain(next(iter(own))) for own in (values, others))
        if comparable and ours != theirs and not _agree(ours, theirs, bounds):
            yield " or ".join(written)


def _plain(number: str) -> str:
    """Return a number without the zeros that do not count: "2.5" of "2.50"."""
    if _DECIMAL.fullmatch(number):
        number = number.rstrip("0").removesuffix(".")
    return number.lstrip("0")


def _as_least(text: str) -> str:
    """Return "at least four hours before" for "no later than four hours before"."""
    return _LATEST_BEFORE.sub("at least ", text)


def _bounds_of(claim: Sequence[Token]) -> frozenset[str]:
    return frozenset(t.key for t in claim if t.key in _BOUNDS)


def _agree(one: str, other: str, bounds: Sequence[frozenset[str]]) -> bool:
    """Return whether both can be true: "at least 5 years", "at most 10 years"."""
    limits = dict(zip(bounds, (one, other), strict=True))
    try:
        least = float(limits[frozenset(["minimum"])])
        return least <= float(limits[frozenset(["maximum"])])
    except (KeyError, ValueError):  # not opposite bounds, or not plain numbers
        return False

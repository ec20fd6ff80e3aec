"""A difference between a claim and its passage."""

from dataclasses import dataclass
from enum import StrEnum


class Disagreement(StrEnum):
    """The weight of a difference: missing in the passage, or contradicted by it."""

    MISSING = "missing"
    CONTRADICTED = "contradicted"


class DifferenceKind(StrEnum):
    """What differs."""

    NUMBER_MISSING = "number missing"
    NUMBER_ELSEWHERE = "number elsewhere"
    NUMBER_OF_ANOTHER = "number of another sentence"
    UNIT = "unit"
    NAME_MISSING = "name missing"
    NAME_ELSEWHERE = "name elsewhere"
    WORD_MISSING = "word missing"
    WORD_ELSEWHERE = "word elsewhere"
    GUARD_MISSING = "guard missing"
    GUARD_ELSEWHERE = "guard elsewhere"
    GUARD_LEFT_OUT = "guard left out"
    LIMIT_LEFT_OUT = "limit left out"
    NAME_REPLACED = "name or number replaced"
    WORD_REPLACED = "word replaced"
    NAME_ADDED = "name or number added"
    EXCHANGED = "words exchanged"
    RANGE_TURNED = "ends of a range exchanged"
    VOICE = "actor and object exchanged"
    PART_LEFT_OUT = "part left out"
    RESTRICTION_LEFT_OUT = "restriction left out"
    TWO_SUBJECTS = "clauses of two subjects"
    OTHER_SUBJECT = "duty of another subject"


# A judge may find that the meaning is the same. It may not where a number, a unit, a
# name, a "not", a duty, a quantity or a limit differs.
OPEN_DIFFERENCES = frozenset(
    {
        DifferenceKind.WORD_MISSING,
        DifferenceKind.WORD_ELSEWHERE,
        DifferenceKind.WORD_REPLACED,
        DifferenceKind.EXCHANGED,
        DifferenceKind.RESTRICTION_LEFT_OUT,
    }
)


@dataclass(frozen=True)
class ClaimDifference:
    """One thing that a claim states and its passage does not.

    Attributes:
        kind: Whether the passage lacks it or contradicts it.
        reason: For people, with the words.
        what: Which kind of difference it is.
        key: The class of a guard.
    """

    kind: Disagreement
    reason: str
    what: DifferenceKind
    key: str = ""


def contradiction(reason: str, what: DifferenceKind, key: str = "") -> ClaimDifference:
    """Return a difference that makes the claim false."""
    return ClaimDifference(Disagreement.CONTRADICTED, reason, what, key)


def of_another(word: str, what: DifferenceKind) -> ClaimDifference:
    """Return that a word of the claim is said of something else.

    Args:
        word: The word as written.
        what: Which kind of difference it is.
    """
    return contradiction(f"{word!r} refers to something else", what)

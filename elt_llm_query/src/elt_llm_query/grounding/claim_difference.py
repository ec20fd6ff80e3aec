"""A difference between a claim and its passage."""

from dataclasses import dataclass
from enum import StrEnum


class Disagreement(StrEnum):
    """The weight of a difference: missing in the passage, or contradicted by it."""

    MISSING = "missing"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True)
class ClaimDifference:
    """One thing that a claim states and its passage does not."""

    kind: Disagreement
    reason: str
    key: str = ""  # the class of the guard that is left out


def contradiction(reason: str) -> ClaimDifference:
    """Return a difference that makes the claim false."""
    return ClaimDifference(Disagreement.CONTRADICTED, reason)

"""What a claim says and its passage does not."""

from dataclasses import dataclass
from enum import StrEnum


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


def contradiction(reason: str) -> ClaimDifference:
    """Return a difference that makes the claim false."""
    return ClaimDifference(Disagreement.CONTRADICTED, reason)

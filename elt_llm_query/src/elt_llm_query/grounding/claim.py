"""A claim of an answer, and the metadata keys that carry claims."""

from dataclasses import dataclass
from typing import NamedTuple

WRITTEN_BY_KEY = "written_by_model"


UNSERVED_KEY = "degradation"  # why passages are shown instead of an answer


NOTES_KEY = "notes"  # degradations of a model's answer


@dataclass(frozen=True)
class Claim:
    """A verbatim quote: `[start, end)` of the text of node `node_id`.

    `text` is its form in the answer: on one line, a table row with its headers. A
    `derived` claim is a cell that a computed sentence is based on.
    """

    label: str
    node_id: str
    start: int
    end: int
    text: str
    derived: bool = False


CLAIMS_KEY = "claims"


REFUSED_KEY = "refused"


STATEMENTS_KEY = "statements"  # the statements that a model wrote, with their evidence


LISTS_KEY = "lists"  # how much of the lists of the documents an answer quotes


SURE_KEY = "sure"  # the probability that an extractive answer answers


class RivalAnswer(NamedTuple):
    """A quoted sentence and one of another document that answers otherwise.

    Attributes:
        quoted: The sentence that the answer quotes.
        other: The other one.
        reason: What differs: 45 days or 30 days.
    """

    quoted: Claim
    other: Claim
    reason: str

    @property
    def claims(self) -> tuple[Claim, Claim]:
        """Return both sentences."""
        return self.quoted, self.other


RIVALS_KEY = "rivals"  # other answers to the question, of other documents

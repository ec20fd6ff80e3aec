"""Superlatives that name their column in another word: "most expensive", "first"."""

import re
from typing import NamedTuple

_COSTLY = re.compile(
    r"\b(?:(?P<most>most\s+expensive|costliest|dearest)"
    r"|(?P<least>least\s+expensive|cheapest))\b(?:\s+to\s+(?:run|buy|own|operate|use))?",
    re.IGNORECASE,
)
_AGED = re.compile(r"\b(?:(?P<least>oldest)|(?P<most>newest))\b", re.IGNORECASE)
# "Which form is filed first?": after a verb, at the end; "the first form" is no date.
_FIRST = re.compile(
    r"(?<=\w)\s+(?:(?P<least>first)|(?P<most>last|most\s+recently))\s*(?=\W*$)",
    re.IGNORECASE,
)
_A_PERIOD = re.compile(
    r"(?P<sum>\bin\s+total)\s+(?:per|a|each|every)\s+(?P<period>day|week|month|year)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"^\W*(?:which|what|who)\b", re.IGNORECASE)


class Rephrased(NamedTuple):
    """A question with a plain superlative.

    Attributes:
        text: The question.
        dated: Whether only dates are compared: "first" of numbers may be either end.
        costly: Whether the only column of money is compared: with several, "cheapest"
            does not tell by which.
    """

    text: str
    dated: bool = False
    costly: bool = False


def rephrase(question: str) -> Rephrased:
    """Return a question with the words of a table for its superlative.

    "Highest cost" for "most expensive", "earliest" for "first".

    Args:
        question: A question to a table.
    """
    question = _A_PERIOD.sub(r"\g<sum>, \g<period>", question)
    if costly := _COSTLY.search(question):
        word = "highest cost" if costly["most"] else "lowest cost"
        rest = question[costly.end() :]
        joined = " of" if re.match(r"\s+\w", rest) else ""
        text = f"{question[: costly.start()]}{word}{joined}{rest}"
        return Rephrased(text, costly=True)
    patterns = (_AGED, _FIRST) if _ASKS.search(question) else ()
    for pattern in patterns:
        if aged := pattern.search(question):
            word = " latest " if aged["most"] else " earliest "
            text = f"{question[: aged.start()]}{word}{question[aged.end() :]}"
            return Rephrased(text, dated=True)
    return Rephrased(question)

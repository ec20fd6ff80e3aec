"""Labels in a range: "N5" in "N1 to N10", "Level 2" in "Level 1 to 3".

A row of a table for several labels names only the first and the last of them.
"""

import re
from collections.abc import Iterator

# A number is part of a label after a capital letter or a capitalised word; "5 to 8
# years" is a quantity.
_RANGE = re.compile(
    r"(?<![\w.,$])(?P<noun>[A-Z][A-Za-z]+\s)?(?P<letters>[A-Z]{0,3})(?P<low>\d{1,3})"
    r"\s*(?:to|through|bis|a|\u00e0|[-\u2013\u2014])\s*(?P=letters)(?P<high>\d{1,3})"
    r"(?![\w%]|[.,]\d)"
)
_OPEN = re.compile(
    r"(?<![\w.,$])(?P<noun>[A-Z][A-Za-z]+\s)?(?P<letters>[A-Z]{0,3})(?P<low>\d{1,3})"
    r"\s*(?:and|&|or)\s*(?:above|higher|over|upwards?|onwards?|more)\b"
)
_FURTHER = 20  # labels after the first one of "N4 and above"
_LONGEST = 40  # labels of a range; longer ones are years, pages or amounts


def labels_within(text: str) -> str:
    """Return the labels of each range in a text that it does not name itself.

    Args:
        text: A row of a table, "Grade N1 to N3".

    Returns:
        The labels in order, "Grade N2"; empty if there is no range.
    """
    closed = (
        label
        for match in _RANGE.finditer(text)
        if 1 < int(match["high"]) - int(match["low"]) <= _LONGEST
        for label in _labels(match, int(match["high"]) - 1)
    )
    further = (
        label
        for match in _OPEN.finditer(text)
        for label in _labels(match, int(match["low"]) + _FURTHER)
    )
    return " ".join([*closed, *further])


def _labels(match: re.Match[str], last: int) -> Iterator[str]:
    """Yield the labels after the first one of a range; none for a bare number."""
    noun, letters = match["noun"] or "", match["letters"]
    if noun or letters:
        for number in range(int(match["low"]) + 1, last + 1):
            yield f"{noun}{letters}{number}"

"""Numbers of figures: how captions and sentences name them in each language.

`Figure 3`, `Fig. 2a`, `(Figs. 4 and 5)`, `Abbildung 3`, `Figure A.1`, `Fig. 12-4`. The
canonical number has no word and no blanks: `3`, `2a`, `A.1`, `12-4`.
"""

import re
from collections.abc import Collection, Iterator

# The word for a figure; a text may quote another language, so all are read everywhere.
_WORDS = {
    "de": r"Abbildung(?:en)?|Abb\.",
    "en": r"(?:Figure|Fig\.?)s?\.?",
    "es": r"Figuras?",
    "fr": r"Figures?",
    "it": r"Figur[ae]",
    "nl": r"Figu(?:ur|ren)|Afbeelding(?:en)?",
}
FIGURE_WORD = rf"(?:{'|'.join(_WORDS.values())})"
"""The word for a figure in any of the languages; ignore case."""

_NUMBER = r"(?:[A-Z]\.?)?\d{1,3}(?:[.\-\u2013]\d{1,3})*"
_PART = r"(?:\s?\([a-z]\)|(?-i:[a-z])(?![a-z]))?"
_ONE = rf"{_NUMBER}{_PART}"
_JOINT = (
    r"(?:\s*,\s*(?:(?:and|und|et|y|e|en)\s+)?|\s*&\s*"
    r"|\s+(?:and|und|et|y|e|en|or|oder|ou|to|bis|\u00e0|a|tot)\s+|\s*[-\u2013]\s*)"
)
_RANGE = frozenset({"to", "bis", "\u00e0", "a", "tot", "-", "\u2013"})
# "Figure 2 (a) is ..." is the caption of figure 2: a part has no blank before it.
_CAPTION = re.compile(
    rf"\W{{0,3}}{FIGURE_WORD}\s*(?P<number>{_NUMBER}(?:(?-i:[a-z])(?![a-z]))?)(?!\w)",
    re.IGNORECASE,
)
_MENTION = re.compile(
    rf"(?<!\w){FIGURE_WORD}\s*(?P<first>{_ONE})(?P<more>(?:{_JOINT}{_ONE})*)(?!\w)",
    re.IGNORECASE,
)
_MARKED = re.compile(r"\s?[.:|](?=\s|$)")
_MEMBER = re.compile(_ONE, re.IGNORECASE)
_DIGITS = re.compile(r"(?P<head>.*?)(?P<count>\d+)")
_LIMIT = 20  # a longer range is no reference to each of its figures


def caption_number(text: str, *, marked: bool = False) -> str:
    """Return the canonical number of the figure whose caption a text is.

    Args:
        text: The text, which begins with the word and the number.
        marked: Only if a full stop, colon or bar separates the number from the caption,
            which tells a caption from a sentence ("Figure 3 shows ...").

    Returns:
        The number; empty if the text begins otherwise.
    """
    match = _CAPTION.match(text)
    if match is None or (marked and not _MARKED.match(text, match.end())):
        return ""
    return _canonical(match["number"])


def caption_label(text: str) -> str:
    """Return the word and the number that a caption begins with, as they stand there.

    Args:
        text: The text of a caption, or more.

    Returns:
        "Figure 3" of "Figure 3: The quay"; empty if the text begins otherwise.
    """
    match = _CAPTION.match(text)
    return match[0] if match else ""


def mentioned_figures(text: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the figures that a text names, in the order of their first mention.

    A part of a figure ("2a") is that figure where the part has no caption of its own.

    Args:
        text: Running text.
        known: Canonical numbers of the figures of the document.

    Returns:
        Canonical numbers; each is one of `known`.
    """
    named: dict[str, None] = {}
    for match in _MENTION.finditer(text):
        for number in _numbers(match, known):
            target = _resolve(number, known)
            if target:
                named[target] = None
    return tuple(named)


def _numbers(match: re.Match[str], known: Collection[str]) -> Iterator[str]:
    """The numbers of one mention; `3 to 5` names three figures."""
    before, at = _canonical(match["first"]), match.end("first")
    if before not in known and "-" in before and _resolve(before, known) == "":
        # "Figs. 2-4" is a range where no figure has the number 2-4.
        low, _, high = before.partition("-")
        yield from (low, *_fill_range(low, high), high)
    else:
        yield before
    for one in _MEMBER.finditer(match.string, match.end("first"), match.end("more")):
        joint = match.string[at : one.start()].strip().lower()
        number = _canonical(one[0])
        if joint in _RANGE:
            yield from _fill_range(before, number)
        yield number
        before, at = number, one.end()


def _fill_range(low: str, high: str) -> list[str]:
    """The numbers between two: of 3.2 and 3.5, 3.3 and 3.4."""
    first, last = _DIGITS.fullmatch(low), _DIGITS.fullmatch(high)
    if first is None or last is None or first["head"] != last["head"]:
        return []
    start, stop = int(first["count"]) + 1, int(last["count"])
    if stop - start >= _LIMIT:
        return []
    return [f"{first['head']}{number}" for number in range(start, stop)]


def _resolve(number: str, known: Collection[str]) -> str:
    """The number of a known figure, of itself or of which it is a part; else empty."""
    whole = re.sub(r"[a-z]$", "", number)
    return next((each for each in (number, whole) if each in known), "")


def _canonical(number: str) -> str:
    plain = re.sub(r"\s|[()]", "", number).replace("\u2013", "-")
    letter = plain[-1:].lower() if plain[-1:].isalpha() else ""
    return plain.removesuffix(plain[-1:]).upper() + letter if letter else plain.upper()

"""Superscript characters: note marks are removed, powers are kept.

A mark that the format declares (a link to a note, a reference) is removed by its
reader. Plain superscript is judged here by the text before it.
"""

import re

_RAISED = str.maketrans("0123456789+-\u2212", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_POWER = re.compile(r"[+\-\u2212]?\d{1,3}[+\-\u2212]?|[+\-\u2212]")
_NUMBERS = re.compile(r"[\[(]?\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*[\])]?")
_SYMBOLS = re.compile(r"[*\u2020\u2021\u00a7\u00b6]+")
_AFTER_SENTENCE = re.compile(r"[.,;:!?\"'\u2019\u201d\u00bb]\s*\Z")
_WORD = re.compile(r"[^\W\d_]{4,}\s*\Z")  # longer than most units and variables
_SQUARE_OR_CUBE = ("2", "3")  # "kilometres²": the only words with powers
REMOVED = "\ufdd0"  # placeholder for a removed mark while a text is built
_JOIN = rf"(?:[\s,;&\u2013-]|{REMOVED})*"
_EMPTY = re.compile(
    rf"[ \t]*(?:\[{_JOIN}{REMOVED}{_JOIN}\]|\({_JOIN}{REMOVED}{_JOIN}\))"
)
_RUN = re.compile(rf"[ \t]*{REMOVED}(?:\s*[,;&\u2013-]?\s*{REMOVED})*")


def is_mark(text: str) -> bool:
    """Return whether a text can be a mark of a note: numbers or symbols."""
    bare = "".join(text.split())
    return bool(
        _NUMBERS.fullmatch(bare)
        or _SYMBOLS.fullmatch(bare)
        or re.fullmatch(r"[\[(]?(?:[A-Za-z]|[ivx]{1,5})[\])]?", bare)
    )


def write_raised(text: str, before: str) -> str:
    """Return the plain text for superscript characters.

    Args:
        text: The raised characters.
        before: The text before them; its last characters decide.

    Returns:
        Nothing for a note mark, Unicode superscripts for a power or a charge (`m²`,
        `10⁻³`), otherwise the text itself (`1st`).
    """
    bare = text.strip()
    if _NUMBERS.fullmatch(bare):
        in_brackets = bare[0] in "[("
        is_list = len(re.findall(r"\d+", bare)) > 1
        after_word = _WORD.search(before) and bare not in _SQUARE_OR_CUBE
        if in_brackets or is_list or after_word or _AFTER_SENTENCE.search(before):
            return REMOVED
    if _POWER.fullmatch(bare) and before.strip():
        return bare.translate(_RAISED)
    return text


def without_marks(text: str) -> str:
    """Return the text without placeholders of removed marks and their brackets."""
    if REMOVED not in text:
        return text
    return _RUN.sub("", _EMPTY.sub("", text))

"""Split text into sentences by the rules of its language."""

import re
from collections.abc import Iterator

import sentencex

from elt_llm_core.language.languages import ENGLISH

# sentencex 1.0 assumes that a space before a full stop has one byte, and panics on
# "A\u00a0. B" in every language with initials.
_SPACE_BEFORE_STOP = re.compile(r"(?<=\w)\s+(?=\.)")

REFERENCE_TAIL = 60  # characters; a longer reference is a list of numbers
# sentencex takes quadratic time for one paragraph ("![" 100,000 times took half a
# minute), so that longer ones are split in windows: 20 of these take 1 s, whatever they
# contain. In 130 chapters of handbooks and standards none has over 1,500 characters.
LONG_PARAGRAPH = 20_000
_WINDOW = 10_000
_MARGIN = 2_000  # characters after a sentence that may close its quotation or bracket
# Short words before the number of a part: "para. 4", "Nos. 3 and 4", "Abs. 2".
_SHORT = (
    r"(?:[Nn]os|N[or]|[Nn]úm|[Aa]rts?|[Ss]ecs?|[Pp]aras?|[Pp]ar|[Cc]ls?|[Rr]egs?|[Cc]h"
    r"|[Cc]hap|[Pp]ts?|[Ss]ch|[Aa]pp|[Ff]igs?|[Tt]ab|[Ee]qs?|[Vv]ols?|[Pp]p?|[Aa]bs"
    r"|[Zz]iff|[Kk]ap|[Aa]bb|[Rr]n)\."
)
_PART = (
    r"\b(?:of|under|in|into|to|see|by|with|from|per|than|on|for|at)\s+(?:sub-?)?"
    r"(?:clause|section|paragraph|article|rule|regulation|chapter|part|schedule|annex"
    r"|appendix|table|figure|item|note|endorsement|condition)s?"
)
_ONE = r"[A-Z]{0,3}\d(?:[\w.]*\w)?(?:\(\w+\))*"
_ENDS_SHORT = re.compile(rf"(?<!\w){_SHORT}\s*\Z")
_ENDS_PART = re.compile(
    rf"{_PART}(?:\s+{_ONE}(?:\s*,|\s+(?:and|or|to)))*\s*\Z", re.IGNORECASE
)
_ENDS_NUMBER = re.compile(rf"{_PART}\s+{_ONE}\s*\Z", re.IGNORECASE)
_STARTS_NUMBER = re.compile(r"\s*[A-Z]{0,3}\d")
_STARTS_LIST = re.compile(r"\s*\(?1[.)]\s+[A-Z]")
_LETTER_LINE = re.compile(r"\n(?=\([A-Za-z0-9]{1,4}\))")
_STARTS_LETTER = re.compile(r"\s*\([a-z0-9]{1,4}\)", re.IGNORECASE)


def is_cut_reference(before: str, after: str) -> bool:
    """Return whether a reference begins in one text and ends in the next.

    "for the purposes of clause" and "6.4. It", "under section 3" and "(b)": what
    follows begins neither a sentence nor a list item.
    """
    tail = before[-REFERENCE_TAIL:]
    if _STARTS_LETTER.match(after):
        return _ENDS_NUMBER.search(tail) is not None
    if not _STARTS_NUMBER.match(after) or _STARTS_LIST.match(after):
        return False
    return bool(_ENDS_SHORT.search(tail) or _ENDS_PART.search(tail))


def _narrow_spaces(spaces: re.Match[str]) -> str:
    """Return white space as ASCII spaces if one of them is none."""
    return spaces[0] if spaces[0].isascii() else " " * len(spaces[0])


def _join_reference(newline: re.Match[str]) -> str:
    """Return a space for the line break before "(b)" if that ends a reference."""
    text, at = newline.string, newline.start()
    return (
        " "
        if is_cut_reference(
            text[max(at - REFERENCE_TAIL, 0) : at],
            text[newline.end() : at + REFERENCE_TAIL],
        )
        else newline[0]
    )


def sentence_spans(text: str, language: str = ENGLISH) -> list[tuple[int, int]]:
    """Return the sentences of a text as spans `[start, end)`, in order.

    Args:
        text: Text in one language.
        language: ISO 639-1 code. A language without rules of its own, and an empty
            code, is split by the rules of English.

    Returns:
        Spans that cover the text; they include the white space around a sentence.
    """
    plain = _SPACE_BEFORE_STOP.sub(_narrow_spaces, text)
    plain = _LETTER_LINE.sub(_join_reference, plain)
    spans: list[tuple[int, int]] = []
    for begun, end in _bounded_spans(plain, language or ENGLISH):
        start = begun
        before = (
            plain[max(spans[-1][0], start - REFERENCE_TAIL) : start] if spans else ""
        )
        if is_cut_reference(before, plain[start:end]):
            start = spans.pop()[0]
        spans.append((start, end))
    return spans


def _bounded_spans(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Return the spans of sentencex; a very long paragraph is split window by window.

    A window that is not the last one gives only sentences that end well before its end.
    One without such a sentence is a span of its own, up to its last white space.
    """
    longest = max(map(len, text.split("\n\n")))
    size = len(text) if longest <= LONG_PARAGRAPH else _WINDOW
    start = 0
    while True:
        window = text[start : start + size]
        boundaries = sentencex.get_sentence_boundaries(language, window)
        spans = [(start + b["start_index"], start + b["end_index"]) for b in boundaries]
        if start + size >= len(text):
            yield from spans
            return
        begun = [at for at, one in enumerate(spans) if one[0] < start + size - _MARGIN]
        # A window does not begin with an empty line, which is a span of its own.
        cut = next((at for at in reversed(begun) if text[slice(*spans[at])].strip()), 0)
        yield from spans[:cut]
        begin = start
        start = spans[cut][0] if cut else begin + _last_space(window)
        if not cut:
            yield begin, start


def _last_space(window: str) -> int:
    """Return the end of the last white space of a window; its length without one."""
    end = len(window)
    while end and not window[end - 1].isspace():
        end -= 1
    return end if window[:end].strip() else len(window)

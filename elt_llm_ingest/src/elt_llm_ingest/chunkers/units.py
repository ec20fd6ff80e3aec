"""Sentences and token windows as character spans."""

import re
from collections.abc import Callable, Iterator

from elt_llm_core.language.sentences import sentence_spans

Count = Callable[[str], int]
Span = tuple[int, int]
TOKEN = re.compile(r"\S+")
# Characters without white space from which a text is halved without counting tokens:
# counting 200,000 of them at each halving took most of the time.
_LONGEST_WORD = 5_000


def trim(text: str, start: int, end: int) -> Span:
    """Return the span without white space at its ends; possibly empty."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    stripped = len(piece.strip())
    return (start + left, start + left + stripped) if stripped else (start, start)


def split_sentences(
    text: str, start: int, end: int, language: str = "en"
) -> list[Span]:
    """Return the sentences of `text[start:end]` in order, as spans of `text`.

    Lines of one paragraph are read as one; a blank line ends a sentence.
    """
    spans: list[Span] = []
    for left, right in _paragraphs(text, start, end):
        piece = text[left:right].replace("\n", " ")
        for first, last in sentence_spans(piece, language):
            span = trim(text, left + first, left + last)
            if span[1] > span[0]:
                spans.append(span)
    return spans


def _paragraphs(text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for gap in re.finditer(r"\n[^\S\n]*\n\s*", text[start:end]):
        yield at, start + gap.start()
        at = start + gap.end()
    yield at, end


def split_by_tokens(text: str, span: Span, size: int, count: Count) -> list[Span]:
    """Split the span into pieces of at most `size` tokens, preferably at spaces."""
    start, end = span
    if count(text[start:end]) <= size:
        return [span]
    words = [
        piece
        for match in TOKEN.finditer(text, start, end)
        for piece in _small(text, match.span(), size, count)
    ]
    pieces: list[Span] = []
    at = 0
    while at < len(words):
        fits = _longest(text, words, at, size, count)
        pieces.append((words[at][0], words[fits - 1][1]))
        at = fits
    return pieces


def _small(text: str, span: Span, size: int, count: Count) -> list[Span]:
    """Split a word that is longer than a chunk in halves until each fits."""
    start, end = span
    if end - start <= _LONGEST_WORD and (
        end - start <= 1 or count(text[start:end]) <= size
    ):
        return [span]
    middle = (start + end) // 2
    left = _small(text, (start, middle), size, count)
    return left + _small(text, (middle, end), size, count)


def _longest(text: str, words: list[Span], at: int, size: int, count: Count) -> int:
    """Return the end of the longest run of words from `at` that fits, at least one."""
    low, high = at + 1, at + 1
    while high < len(words) and count(text[words[at][0] : words[high][1]]) <= size:
        low, high = high + 1, min(len(words), high + 2 * (high - at))
    high = min(high, len(words) - 1)
    while low <= high:
        middle = (low + high) // 2
        if count(text[words[at][0] : words[middle][1]]) <= size:
            low = middle + 1
        else:
            high = middle - 1
    return low

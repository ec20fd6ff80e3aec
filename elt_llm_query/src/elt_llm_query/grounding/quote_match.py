"""Match a quote in a text: exactly, then normalised, then fuzzily with guards.

A quote is accepted only if its words are in the source, and a fuzzy match only if every
number, unit and guarded word (negations, "must", "may", "only", "at least" ...) is the
same.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from elt_llm_core.results import Support
from elt_llm_query.analysis.foreign_guards import languages_of
from elt_llm_query.analysis.normalise import Normal, normalise
from elt_llm_query.analysis.quantities import guards, negations

FEWEST_FUZZY_WORDS = 4
FEWEST_LETTERS = 3  # minimum length of a word whose ending may differ
FEWEST_PART_WORDS = 2

_ELISION = re.compile(r"\s*(?:[\[(]\s*)?(?:\.\s?\.\s?\.|\u2026)\.?(?:\s*[\])])?\s*")
_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|[\w'%]+")
_ARTICLES = frozenset({"a", "an", "the"})
_ENDINGS = frozenset({"s", "es", "d", "ed"})
# Letters that scanners and fonts confuse, folded to one form.
_MISREAD = (("rn", "m"), ("vv", "w"), ("cl", "d"))
# Kinds of proof, the strongest first.
STRENGTH = (
    Support.VERIFIED,
    Support.NORMALISED,
    Support.FUZZY,
    Support.SUPPORTED,
    Support.GENERATED,
)


class QuoteMatch(NamedTuple):
    """The match `text[start:end]`, 0 to 0 if there is none.

    `score` is 1 for a quote that the text contains, otherwise the similarity of the
    nearest window, 0 to 1. `reason` is the reason of a refusal. `open_span` is the
    passage of a refused paraphrase in which other words are used, but nothing differs
    that reverses the meaning; a judge may decide on it.
    """

    support: Support
    score: float
    start: int = 0
    end: int = 0
    reason: str = ""
    open_span: tuple[int, int] | None = None

    @property
    def stands(self) -> bool:
        """Return True if the quote is accepted."""
        return self.support in STRENGTH


def check_quote(quote: str, text: str) -> QuoteMatch:
    """Look a quote up in a text.

    A quote with "..." matches if each of its parts does, in order, and no negation
    between them was left out.

    Args:
        quote: The words to look up.
        text: The text of a source or a document.

    Returns:
        The verdict with the span in `text`, or `FABRICATED` with the reason.
    """
    quote = quote.strip()
    if not any(c.isalnum() for c in quote):
        return QuoteMatch(Support.FABRICATED, 0.0, reason="empty quote")
    exact = _match_exact(quote, text)
    if exact:
        return exact
    parts = [p for p in _ELISION.split(quote) if any(c.isalnum() for c in p)]
    if parts != [quote]:
        return _match_elided(parts, text)
    return _match_fuzzy(normalise(quote).text, normalise(text))


def stands_whole(quote: str, text: str) -> bool:
    """Return whether `text` contains `quote`, ignoring white space and case."""
    return (
        any(c.isalnum() for c in quote)
        and _match_exact(quote.strip(), text) is not None
    )


def _match_exact(quote: str, text: str) -> QuoteMatch | None:
    """Match the quote exactly, or ignoring white space and case."""
    start = _find(quote, text)
    if start >= 0:
        return QuoteMatch(Support.VERIFIED, 1.0, start, start + len(quote))
    for join in (True, False):
        wanted = normalise(quote, join_hyphens=join).text
        normal = normalise(text, join_hyphens=join)
        start = _find(wanted, normal.text) if wanted else -1
        if start >= 0:
            span = normal.original(start, start + len(wanted))
            return QuoteMatch(Support.NORMALISED, 1.0, *span)
    return None


def _match_elided(parts: list[str], text: str) -> QuoteMatch:
    """Match all parts in order, each exactly; otherwise the quote is fabricated."""
    missing = QuoteMatch(Support.FABRICATED, 0.0)
    if any(len(part.split()) < FEWEST_PART_WORDS for part in parts):
        return missing._replace(reason="a part of the quote is too short")
    spans: list[tuple[int, int]] = []
    for part in parts:
        end = spans[-1][1] if spans else 0
        match = _match_exact(part, text[end:])
        if match is None:
            return missing._replace(reason="a part of the quote is not in the source")
        if spans and negations(text[end : end + match.start], languages_of(text)):
            return missing._replace(reason="a negation was left out of the quote")
        spans.append((end + match.start, end + match.end))
    return QuoteMatch(Support.NORMALISED, 1.0, spans[0][0], spans[-1][1])


def _find(quote: str, text: str) -> int:
    """Return the first occurrence of `quote` that splits no word or number."""
    start = text.find(quote)
    while start >= 0:
        if _whole(text, start, start + len(quote)):
            return start
        start = text.find(quote, start + 1)
    return -1


def _whole(text: str, start: int, end: int) -> bool:
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    if text[start].isalnum() and before and before[-1].isalnum():
        return False
    if text[end - 1].isalnum() and after and after[0].isalnum():
        return False
    if text[start].isdigit() and _runs_into(before):
        return False
    return not (text[end - 1].isdigit() and re.match(r"[.,:/]\d|%", after))


def _runs_into(before: str) -> bool:
    """Return True for `2.` before a number, and for a free-standing sign."""
    if re.search(r"\d[.,:/]$", before):
        return True
    return bool(re.search(r"(?:^|[\s(])[-\u2212]$", before))


def _match_fuzzy(quote: str, source: Normal) -> QuoteMatch:
    """Match the stretch of the source with the same words after `_fold`."""
    wanted, have = _fold_characters(quote), _fold_characters(source.text)
    if len(wanted) < FEWEST_FUZZY_WORDS:
        return QuoteMatch(Support.FABRICATED, 0.0, reason="too short for a near match")
    span = _find_folded(wanted, have)
    if span is None:
        return QuoteMatch(Support.FABRICATED, 0.0, reason="not in the source")
    window = source.text[slice(*span)]
    if guards(window) != guards(quote):
        reason = "a number, unit or negation differs"
        return QuoteMatch(Support.FABRICATED, 0.0, reason=reason)
    score = round(SequenceMatcher(None, window, quote, autojunk=False).ratio(), 4)
    return QuoteMatch(Support.FUZZY, score, *source.original(*span))


class _Folded(NamedTuple):
    """A word after folding, and its place."""

    key: str
    start: int
    end: int


@lru_cache(maxsize=256)
def _fold_characters(text: str) -> tuple[_Folded, ...]:
    words = (_Folded(_fold(m[0]), *m.span()) for m in _WORD.finditer(text))
    return tuple(word for word in words if word.key)


def _fold(word: str) -> str:
    """Fold letters that are often misread; "" for an article."""
    if word in _ARTICLES:
        return ""
    if not word.isalpha():
        return word  # numbers must match exactly
    for read_as, letter in _MISREAD:
        word = word.replace(read_as, letter)
    return word


def _find_folded(
    wanted: Sequence[_Folded], have: Sequence[_Folded]
) -> tuple[int, int] | None:
    """Return the span of the same words in order, which may be split or joined."""
    joined = "".join(word.key for word in wanted)
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    position = 0
    for word in have:
        starts[position] = word.start
        position += len(word.key)
        ends[position] = word.end
    text = "".join(word.key for word in have)
    at = text.find(joined)
    while at >= 0:
        if at in starts and at + len(joined) in ends:
            return starts[at], ends[at + len(joined)]
        at = text.find(joined, at + 1)
    return _find_inflected(wanted, have)


def _find_inflected(
    wanted: Sequence[_Folded], have: Sequence[_Folded]
) -> tuple[int, int] | None:
    """Return the span of the same words in order, with other endings."""
    count = len(wanted)
    for at in range(len(have) - count + 1):
        stretch = have[at : at + count]
        if all(
            _same_but_ending(w.key, h.key) for w, h in zip(wanted, stretch, strict=True)
        ):
            return stretch[0].start, stretch[-1].end
    return None


def _same_but_ending(one: str, other: str) -> bool:
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= FEWEST_LETTERS and long.removeprefix(short) in _ENDINGS

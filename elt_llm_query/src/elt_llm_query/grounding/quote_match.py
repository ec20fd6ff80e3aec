"""Does a text contain a quote? Exact, then normalised, then near with guards.

The ladder and its order are the project's: a quote is accepted only if its words are
in the source, and a near match only if every number, unit and guarded word (negations,
"must", "may", "only", "at least" ...) is the same.
"""

import re
from difflib import SequenceMatcher
from typing import NamedTuple

from elt_llm_core.results import Support
from elt_llm_query.analysis.normalise import Normal, normalise
from elt_llm_query.analysis.quantities import guards, negations

FUZZY_FROM = 0.9
FEWEST_FUZZY_WORDS = 4
FEWEST_PART_WORDS = 2

_ELISION = re.compile(r"\s*(?:[\[(]\s*)?(?:\.\s?\.\s?\.|\u2026)\.?(?:\s*[\])])?\s*")
_GOOD = frozenset({Support.VERIFIED, Support.NORMALISED, Support.FUZZY})


class QuoteMatch(NamedTuple):
    """What was found: `text[start:end]`, 0 to 0 where nothing was.

    `score` is 1 for a quote that the text contains, else the similarity of the nearest
    window, 0 to 1. `reason` says why it was refused.
    """

    support: Support
    score: float
    start: int = 0
    end: int = 0
    reason: str = ""

    @property
    def stands(self) -> bool:
        """True where the quote may be believed."""
        return self.support in _GOOD


def check_quote(quote: str, text: str) -> QuoteMatch:
    """Where and how well `quote` stands in `text`.

    A quote with "..." in it stands where each of its parts does, in order, and nothing
    that negates was left out between them.
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
    """The quote letter for letter, or ignoring white space and case."""
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
    """All parts in order, each exact, from the first to the last; else fabricated."""
    missing = QuoteMatch(Support.FABRICATED, 0.0)
    if any(len(part.split()) < FEWEST_PART_WORDS for part in parts):
        return missing._replace(reason="a part of the quote is too short")
    spans: list[tuple[int, int]] = []
    for part in parts:
        end = spans[-1][1] if spans else 0
        match = _match_exact(part, text[end:])
        if match is None:
            return missing._replace(reason="a part of the quote is not in the source")
        if spans and negations(text[end : end + match.start]):
            return missing._replace(reason="a negation was left out of the quote")
        spans.append((end + match.start, end + match.end))
    return QuoteMatch(Support.NORMALISED, 1.0, spans[0][0], spans[-1][1])


def _find(quote: str, text: str) -> int:
    """The first occurrence of `quote` that cuts no word or number."""
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
    """True for `2.` before a number, and for a free-standing sign."""
    if re.search(r"\d[.,:/]$", before):
        return True
    return bool(re.search(r"(?:^|[\s(])[-\u2212]$", before))


def _match_fuzzy(quote: str, source: Normal) -> QuoteMatch:
    """The most similar window of the source, if the guards agree."""
    wanted = quote.split()
    if len(wanted) < FEWEST_FUZZY_WORDS:
        return QuoteMatch(Support.FABRICATED, 0.0, reason="too short for a near match")
    spans = [m.span() for m in re.finditer(r"\S+", source.text)]
    score, start, end = _best_window(quote, wanted, source.text, spans)
    if score < FUZZY_FROM:
        return QuoteMatch(Support.FABRICATED, score, reason="not in the source")
    window = source.text[start:end]
    if guards(window) != guards(quote):
        reason = "a number, unit or negation differs"
        return QuoteMatch(Support.FABRICATED, score, reason=reason)
    return QuoteMatch(Support.FUZZY, score, *source.original(start, end))


def _best_window(
    quote: str, wanted: list[str], text: str, spans: list[tuple[int, int]]
) -> tuple[float, int, int]:
    """Similarity and span of the window of whole words that is nearest to the quote."""
    have = [text[a:b] for a, b in spans]
    blocks = SequenceMatcher(None, have, wanted, autojunk=False).get_matching_blocks()
    anchors = sorted({block.a - block.b for block in blocks if block.size})
    best = (0.0, 0, 0)
    for anchor in anchors:
        for first in (anchor - 1, anchor, anchor + 1):
            for count in range(len(wanted) - 1, len(wanted) + 2):
                low, high = max(first, 0), min(first + count, len(spans))
                if low >= high:
                    continue
                start, end = spans[low][0], spans[high - 1][1]
                ratio = _ratio(quote, text[start:end], best[0])
                best = max(best, (ratio, start, end), key=lambda w: w[0])
    return best


def _ratio(quote: str, window: str, beat: float) -> float:
    matcher = SequenceMatcher(None, window, quote, autojunk=False)
    floor = max(beat, 0.5)
    if matcher.real_quick_ratio() <= floor or matcher.quick_ratio() <= floor:
        return 0.0
    return round(matcher.ratio(), 4)

"""Which sentence of a source supports a claim that is said in other words.

Not an entailment check: the claim's words must be there, and its numbers and negations
the same. That is less than understanding and catches what matters most in rules.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from elt_llm_core.results import Support
from elt_llm_query.synthesizers.matching import match, vocabulary
from elt_llm_query.synthesizers.negations import differ
from elt_llm_query.text import pieces, stems
from elt_llm_query.verify import QuoteMatch, negations, numbers

ENOUGH = 0.6

_STOP = re.compile(
    r"[.!?](?=\s)|[,:;]\s|\s[-\u2013\u2014]\s|\n\s*\n|\b(?:but|whereas)\b"
)
_ENDS = frozenset(".!?,:;")
_LIMITS = re.compile(r"\b(?:unless|except|without)\b", re.IGNORECASE)


def supporting(claim: str, text: str, reading: str = "") -> QuoteMatch:
    """The sentence, or two together, that holds most of the claim's words.

    `FUZZY` with the share of words found, from 0.6; else `UNCITED`. `reading` is how a
    table row reads with its headers; the whole row is then the quote.
    """
    wanted = set(stems(claim))
    best = QuoteMatch(Support.UNCITED, 0.0, reason="its words are not in the source")
    if not wanted:
        return best
    for window in _windows(text, reading):
        share = _share(wanted, window.says)
        if share <= best.score:
            continue
        if not numbers(claim) <= numbers(window.says):
            best = best._replace(reason="a number is not in the source")
        elif bool(negations(claim)) != bool(negations(window.core(wanted))):
            best = best._replace(reason="a negation differs")
        elif differ(claim, window.core(wanted), wanted):
            best = best._replace(reason="a word is negated in one of them")
        elif share >= ENOUGH:
            score = round(share, 4)
            best = QuoteMatch(Support.FUZZY, score, window.start, window.end)
    return best


def same_polarity(claim: str, quote: str, text: str, span: tuple[int, int]) -> bool:
    """False where claim and source disagree on a "not" around a quote.

    Compared are the clauses: of the claim the one that holds the quote, of the source
    the one that holds `span`.
    """
    place = claim.find(quote)
    said = (place, place + len(quote)) if place >= 0 else (0, len(claim))
    return _negated(_clause(claim, said)) == _negated(_clause(text, span))


def _clause(text: str, span: tuple[int, int]) -> str:
    """The span widened to the stops around it."""
    before = [m.end() for m in _STOP.finditer(text, 0, span[0])]
    start = before[-1] if before else 0
    if text[span[1] - 1] in _ENDS:
        return text[start : span[1]]
    after = _STOP.search(text, span[1])
    return text[start : after.start() if after else len(text)]


def _negated(text: str) -> bool:
    # "Unless" and "without" limit a statement; they do not turn it round.
    return bool(negations(_LIMITS.sub(" ", text)))


class Window(NamedTuple):
    """A span of a source, and the sentences it says."""

    start: int
    end: int
    sentences: tuple[str, ...]

    @property
    def says(self) -> str:
        """All of it."""
        return " ".join(self.sentences)

    def core(self, wanted: set[str]) -> str:
        """The sentence with most of the wanted words: its "not" counts."""
        return max(self.sentences, key=lambda sentence: _share(wanted, sentence))


def _share(wanted: set[str], text: str) -> float:
    known = vocabulary(text)
    return sum(match(word, known) for word in wanted) / len(wanted)


def _windows(text: str, reading: str) -> Iterator[Window]:
    """Each sentence, then each two neighbours; a table row is one sentence."""
    if reading:
        yield Window(0, len(text), (f"{reading} {text}",))
        return
    found = pieces(text)
    said = [text[p.start : p.end] for p in found]
    for size in (1, 2):
        for i in range(len(found) - size + 1):
            last = i + size - 1
            yield Window(found[i].start, found[last].end, tuple(said[i : last + 1]))

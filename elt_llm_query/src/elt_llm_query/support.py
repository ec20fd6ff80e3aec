"""Which sentence of a source supports a claim that is said in other words.

Not an entailment check: the claim's words must be there, and its numbers and negations
the same. That is less than understanding and catches what matters most in rules.
"""

from collections.abc import Iterator
from typing import NamedTuple

from elt_llm_core.results import Support
from elt_llm_query.synthesizers.matching import match, vocabulary
from elt_llm_query.text import pieces, stems
from elt_llm_query.verify import QuoteMatch, negations, numbers

ENOUGH = 0.6


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
        elif share >= ENOUGH:
            score = round(share, 4)
            best = QuoteMatch(Support.FUZZY, score, window.start, window.end)
    return best


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

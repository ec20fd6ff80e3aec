"""A sentence with cached features: its words, stems, numbers, and negations.

Scoring, constraints and quoting need the same features of the same sentences. Each is
computed at first use and cached with the sentence.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from elt_llm_query.analysis.negation import Signs
from elt_llm_query.analysis.quantities import numbers
from elt_llm_query.analysis.stems import (
    pieces,
    refers_back,
    refers_within,
    stem,
    words,
)
from elt_llm_query.analysis.term_match import Vocabulary, bounds

# What stays known: the sources of some ten questions, and the texts read of them.
_SOURCES, _TEXTS = 256, 4096


@dataclass(frozen=True)
class Sentence:
    """`source[start:end]`: a sentence, a list item, or any other span of text."""

    start: int
    end: int
    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Words and numbers as written, in order."""
        return tuple(words(self.text))

    @cached_property
    def lower_words(self) -> frozenset[str]:
        """Its words in lower case."""
        return frozenset(word.lower() for word in self.words)

    @cached_property
    def folded_line(self) -> str:
        """Its words in one case with a space around each, to look names up in."""
        return f" {' '.join(words(self.text.casefold()))} "

    @cached_property
    def stem_list(self) -> tuple[str, ...]:
        """Stems of all words, in order."""
        return tuple(map(stem, self.words))

    @cached_property
    def stem_line(self) -> str:
        """The stems in order with a space around each, to look phrases up in."""
        return f" {' '.join(self.stem_list)} "

    @cached_property
    def stems(self) -> Vocabulary:
        """Stems of all words; "at most" counts as "maximum" too."""
        return frozenset([*self.stem_list, *bounds(self.text)])

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers, number words as digits."""
        return frozenset(numbers(self.text))

    @cached_property
    def signs(self) -> Signs:
        """Which of its words are negated."""
        return Signs(self.text)

    @cached_property
    def refers_back(self) -> bool:
        """Return True for "It must", "In that case", which need the sentence before."""
        return refers_back(self.text)

    @cached_property
    def refers_within(self) -> bool:
        """Return True for "to refuse such gift", which needs the text before it."""
        return refers_within(self.text)


@lru_cache(maxsize=_TEXTS)
def read(text: str) -> Sentence:
    """Return a text as one sentence, the same object for the same text."""
    return Sentence(0, len(text), text)


@lru_cache(maxsize=_SOURCES)
def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences and list items of a source, in order."""
    return tuple(Sentence(p.start, p.end, text[p.start : p.end]) for p in pieces(text))


@lru_cache(maxsize=_TEXTS)
def sentence_index(text: str, start: int) -> int | None:
    """Return the index of the sentence of a source that begins at `start`."""
    places = (i for i, one in enumerate(sentences(text)) if one.start == start)
    return next(places, None)


def sentence_before(text: str, start: int) -> str:
    """Return the sentence of a source before the one that begins at `start`, or ""."""
    place = sentence_index(text, start) or 0
    return sentences(text)[place - 1].text if place else ""

"""How a document uses its words: headings, capitals, quotation marks, repetition."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.definition_records import TextUnit
from elt_llm_consumer.definitions.term_forms import clean_term
from elt_llm_consumer.definitions.terms import WORD, fold, fold_word
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.language.acronyms import find_acronyms

_MOST_HEADING_WORDS = 7  # a longer heading is a sentence
_NUMBER = re.compile(
    r"^\s*(?:(?:[A-Z]?\d+(?:\.\d+)*|[A-Z]|[ivxIVX]+)[.):]?\s+|"
    r"(?:section|article|chapter|part|appendix|annex|schedule|rule)\s+[\w.]+\s*[:.\u2013-]*\s*)+",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s*(?:[/&]|\band\b|\bor\b|,)\s*")
_BRACKETED = re.compile(r"\s*\([^()]*\)")
_CAPITALS = re.compile(
    r"(?<=[a-z,;:)] )"
    r"(?P<term>[A-Z][\w'\u2019/-]*(?:\s+(?:of\s+)?[A-Z][\w'\u2019/-]*){0,5})"
)
_QUOTED = re.compile(
    r"[\"\u201c](?P<term>[A-Za-z][\w'\u2019/-]*(?:\s+[\w'\u2019/-]+){0,4})[\"\u201d]"
)
_FEWEST_USES = 2


def heading_names(heading: str) -> list[str]:
    """Return what a heading may name: without its number, with and without brackets."""
    plain = clean_term(_NUMBER.sub("", heading))
    names = [plain, clean_term(_BRACKETED.sub("", plain))]
    return [
        name
        for name in dict.fromkeys(names)
        if name and len(name.split()) <= _MOST_HEADING_WORDS
    ]


class Usage:
    """Counts of a document's words and phrases.

    Args:
        text: The text of the document.
        blocks: Its blocks.
        units: Its running text.
    """

    def __init__(
        self, text: str, blocks: Sequence[Block], units: Sequence[TextUnit]
    ) -> None:
        self._text = text
        self._units = units
        self.headings = Counter(
            fold(name)
            for block in blocks
            if block.kind is BlockKind.HEADING
            for name in heading_names(text[block.start : block.end])
        )
        self._words = [fold_word(m.group()) for m in WORD.finditer(text)]
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self._words):
            self._places.setdefault(word, []).append(place)
        self._uses: dict[str, int] = {}

    def uses(self, term: str) -> int:
        """How often the document uses a term, in singular or plural."""
        key = fold(term)
        if key not in self._uses:
            self._uses[key] = self._count_uses(key.split())
        return self._uses[key]

    def _count_uses(self, key: Sequence[str]) -> int:
        if not key:
            return 0
        # The places of its rarest word: a search of the whole text for each of the
        # candidates would take a time that grows with the square of the text.
        rarest = min(key, key=lambda word: len(self._places.get(word, ())))
        shift, count, free = key.index(rarest), 0, 0
        for place in self._places.get(rarest, ()):
            start = place - shift
            # A use and the next one have a word between them: "the the" is one use.
            if start >= free and self._words[start : start + len(key)] == key:
                count, free = count + 1, start + len(key) + 1
        return count

    @cached_property
    def quote_counts(self) -> Counter[str]:
        """Return folded phrases in quotation marks, with their counts."""
        return Counter(
            fold(match["term"])
            for unit in self._units
            for match in _QUOTED.finditer(unit.text)
        )

    @cached_property
    def capital_counts(self) -> Counter[str]:
        """Folded phrases with capitals in the middle of sentences."""
        return Counter(fold(term) for term in self._capitals())

    @cached_property
    def spelt_out(self) -> dict[str, str]:
        """Folded short and long forms, each to the other."""
        pairs = find_acronyms(self._text)
        return {fold(p.long): fold(p.short) for p in pairs} | {
            fold(p.short): fold(p.long) for p in pairs
        }

    @cached_property
    def vocabulary(self) -> list[str]:
        """Return phrases that capitals, quotation marks or brackets mark as terms."""
        named: dict[str, str] = {}
        for term in self._capitals():
            if self.capital_counts[fold(term)] >= _FEWEST_USES:
                named.setdefault(fold(term), term)
        for pair in find_acronyms(self._text):
            named.setdefault(fold(pair.long), pair.long)
            named.setdefault(fold(pair.short), pair.short)
        return [term for key, term in named.items() if key]

    def _capitals(self) -> Iterator[str]:
        for unit in self._units:
            for match in _CAPITALS.finditer(unit.text):
                term = clean_term(match["term"])
                first = term.split()[0].lower() if term else ""
                if first and first not in patterns.NOT_FIRST | patterns.ARTICLES:
                    yield term

"""Relations of the terms of a glossary: broader, narrower, related, in conflict.

All are derived from the terms and their definitions; undefined terms are not included.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elt_llm_consumer.definitions.definition_records import Definition, DefinitionSource
from elt_llm_consumer.definitions.terms import PhraseIndex, clean, fold
from elt_llm_core.records import Record

# "a written notice that ...", "the register in which ...": what stands between article
# and clause is the kind of thing that is defined.
_GENUS = re.compile(
    r"(?:an?|any|the|one|each|every)\s+(?P<genus>[^,.;:()]{2,60}?)"
    r"(?=\s+(?:that|which|who|whose|whom|where|when|of|for|in|on|at|to|by|with|from|"
    r"between|about|above|after|against|among|around|as|before|behind|below|beside|"
    r"beyond|during|inside|into|near|off|outside|over|since|through|towards?|under|"
    r"until|upon|within|without|given|made|held|used|issued|kept)\b|[,.;:()]|$)",
    re.IGNORECASE,
)
# Of "a company or person" neither is the kind of every one.
_SEVERAL = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# "A Supplier is" in front of what a supplier is.
_SUBJECT = re.compile(
    r"(?:(?:an?|the|any|each|every)\s+)?(?P<subject>[^,.;:]{1,90}?)\s+"
    r"(?:is|are|means?)\s+(?=(?:an?|any|the|one|each|every)\s)",
    re.IGNORECASE,
)


class TermRelations(Record):
    """Terms that one definition is related to, as the glossary writes them.

    `conflicts` are the numbers of definitions that say something else of a term of
    this name.
    """

    broader: tuple[str, ...] = ()
    narrower: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    conflicts: tuple[int, ...] = ()


class _Term(NamedTuple):
    """A definition with the folded names of its term."""

    definition: Definition
    names: frozenset[str]

    @property
    def says(self) -> str:
        """What it says; the words that a reference leads to."""
        resolved = self.definition.resolved
        return resolved.text if resolved else self.definition.definition

    @property
    def words(self) -> str:
        """What it says, folded."""
        return fold(self.says)

    @property
    def spells_out(self) -> bool:
        """Whether it gives no meaning, only the long form of a short one."""
        return self.definition.source is DefinitionSource.ACRONYM


def relate_terms(definitions: Sequence[Definition]) -> list[TermRelations]:
    """Return the relations of each definition of a glossary, in the same order.

    Args:
        definitions: The definitions of all documents.
    """
    terms = [
        _Term(one, frozenset(fold(name) for name in (one.term, *one.synonyms)) - {""})
        for one in definitions
    ]
    by_name: dict[str, list[int]] = defaultdict(list)
    for number, term in enumerate(terms):
        for name in sorted(term.names):
            by_name[name].append(number)
    shown = {name: terms[those[0]].definition.term for name, those in by_name.items()}
    index = PhraseIndex(sorted(shown))
    broader = _drop_circles([_broader(term, shown, index) for term in terms], terms)
    narrower: dict[str, set[str]] = defaultdict(set)
    for term, above in zip(terms, broader, strict=True):
        for name in above:
            narrower[name].add(term.definition.term)
    return [
        TermRelations(
            broader=_sort_names(above),
            narrower=_sort_names(narrower[shown[fold(term.definition.term)]]),
            related=_sort_names(_find_terms(term, shown, index) - above),
            conflicts=tuple(_conflicts(number, terms, by_name)),
        )
        for number, (term, above) in enumerate(zip(terms, broader, strict=True))
    ]


def find_genus(definition: str) -> str:
    """Return the broader noun with which a definition begins, or an empty string.

    Args:
        definition: Such as "a written notice that ends a lease": "written notice".
    """
    match = _GENUS.match(clean(definition))
    return match["genus"] if match else ""


def _drop_circles(
    broader: Sequence[set[str]], terms: Sequence[_Term]
) -> list[set[str]]:
    """Without pairs of terms that are each a kind of the other, which tells nothing."""
    pairs = {
        (term.definition.term, name)
        for term, above in zip(terms, broader, strict=True)
        for name in above
    }
    return [
        {name for name in above if (name, term.definition.term) not in pairs}
        for term, above in zip(terms, broader, strict=True)
    ]


def _sort_names(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (name.casefold(), name)))


def _broader(term: _Term, shown: dict[str, str], index: PhraseIndex) -> set[str]:
    """The kinds that a term is one of: by its last words, and by its definition."""
    words = fold(term.definition.term).split()
    tails = (" ".join(words[n:]) for n in range(1, len(words)))
    named = [tail for tail in tails if tail in shown][:1]
    kind = "" if term.spells_out else find_genus(_without_subject(term))
    if kind and not _SEVERAL.search(kind):
        ends = [hit for hit in index.find(kind) if hit.end == len(kind)]
        named += [
            fold(hit.phrase)
            for hit in ends
            if not _is_several(kind[hit.start : hit.end], hit.phrase)
        ]
    return {shown[name] for name in named if name not in term.names}


def _without_subject(term: _Term) -> str:
    """Return what a definition says, without its term in front: "A Supplier is"."""
    words = clean(term.definition.definition)
    match = _SUBJECT.match(words)
    if match is None:
        return words
    subject = fold(_BRACKETS.sub("", match["subject"]))
    return words[match.end() :] if subject in term.names else words


def _is_several(words: str, name: str) -> bool:
    """Whether words are the plural of a name: "the sailors who …" are a crew."""
    return words.lower().endswith("s") and not name.lower().endswith("s")


def _find_terms(term: _Term, shown: dict[str, str], index: PhraseIndex) -> set[str]:
    """Other terms in the words of a definition."""
    names = {fold(hit.phrase) for hit in index.find(term.definition.definition)}
    return {shown[name] for name in names - term.names}


def _conflicts(
    number: int, terms: Sequence[_Term], by_name: dict[str, list[int]]
) -> Iterator[int]:
    """Definitions that share a name and say something else, in order.

    A short form is compared with short forms only: "RO" may be spelt out in one
    document and explained in another. Words that hold those of the other add to them.
    """
    term = terms[number]
    others = {other for name in term.names for other in by_name[name]} - {number}
    for other in sorted(others):
        one = terms[other]
        same = _holds(term, one) or _holds(one, term)
        if one.spells_out == term.spells_out and not same:
            yield other


def _holds(term: _Term, one: _Term) -> bool:
    """Whether a definition has the words of another one, and its numbers.

    In whole words: "5" is not in "50". Folded words split a number, "5.50" in two.
    """
    if f" {one.words} " not in f" {term.words} ":
        return False
    numbers = Counter(_NUMBER.findall(one.says))
    return one.words == term.words or numbers <= Counter(_NUMBER.findall(term.says))

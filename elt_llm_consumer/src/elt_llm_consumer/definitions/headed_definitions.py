"""Definitions whose term stands on the line above: a heading, or a short paragraph.

"Account Holder", and below it "means the person who …". A word that connects must open
the paragraph; below a heading that announces definitions a phrase without one is a
definition too. A whole sentence is none: "Payment", and below it "The bill is sent
monthly".
"""

import re
from typing import NamedTuple

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.definition_records import (
    DefinitionSource,
    TextUnit,
    announces_definitions,
)
from elt_llm_consumer.definitions.term_forms import (
    can_be_term,
    split_paren,
)
from elt_llm_consumer.definitions.terms import PhraseIndex
from elt_llm_consumer.definitions.usage import heading_names
from elt_llm_query.analysis.stems import pieces

_CONNECTOR = re.compile(
    # In small letters: "Means of escape are shown in the plan" is a sentence.
    rf"\s*(?:{patterns.STATES}|(?P<equals>(?:is|are)\s+(?={patterns.DETERMINED.pattern})))"
    r"\s*:?\s*"
)
_CAPITAL = re.compile(rf"\s*(?:Means?|Refers\s+to)\s+(?={patterns.DETERMINED.pattern})")
_MARK = re.compile(r"\s*(?::-?|[\u2013\u2014])\s+(?=\S)")
_MARKED = re.compile(r"(\*\*|__).+\1:?")
_TERMS = re.compile(r"(?:[\w.]+\s+)?(?:key\s+)?terms", re.IGNORECASE)
# A heading in any document, whatever stands below it.
_PART_NAME = re.compile(
    r"(?:general|introduction|purpose|scope|application|overview|background|"
    r"summary|references?|notes?|examples?|contents?|interpretation)\b.*",
    re.IGNORECASE,
)
# What a phrase says of its noun comes behind one of these, or behind a comma.
_CLAUSE = re.compile(r",|\b(?:who|whom|whose|which|that|where|when)\b", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"\b(?:of|for|at|in|on|by|with|from|to|between|under)\b", re.IGNORECASE
)
_AUXILIARY = re.compile(rf"\s{patterns.AUXILIARY}\b")
_VERB = re.compile(rf"\s{patterns.LEXICAL}\b")  # or a plural: "a list of works"
_FEWEST_WORDS = 3  # of a phrase; two words are rather another term


class HeadedTerm(NamedTuple):
    """A term on the line above a unit, and where in the unit its definition begins."""

    term: str
    synonyms: tuple[str, ...]
    start: int
    source: DefinitionSource = DefinitionSource.PROSE


def headed_term(unit: TextUnit) -> HeadedTerm | None:
    """Return the term above a unit that the unit defines, or None.

    Args:
        unit: A paragraph or list item.
    """
    term, synonyms = _term_above(unit)
    if not term:
        return None
    announced = _is_announced(unit)
    connector = _CONNECTOR.match(unit.text)
    if connector is None and announced:
        connector = _CAPITAL.match(unit.text)
    if connector is not None:
        return _behind_connector(unit, term, synonyms, connector)
    if not announced:
        return None
    if mark := _MARK.match(unit.text):  # elsewhere it is the bullet of a list
        return HeadedTerm(term, synonyms, mark.end())
    is_phrase = _stands_out(unit) and _is_phrase(unit, term)
    return HeadedTerm(term, synonyms, 0) if is_phrase else None


def _term_above(unit: TextUnit) -> tuple[str, tuple[str, ...]]:
    """The term on the line above and its short form; empty if none can be there."""
    names = heading_names(unit.above)
    term, synonyms = split_paren(names[0]) if names else ("", ())
    if announces_definitions(term) or _TERMS.fullmatch(term):
        return "", ()  # "Table of defined terms" is none itself
    capitalised = term[:1].upper() + term[1:]
    return (term, synonyms) if can_be_term(capitalised, defining=True) else ("", ())


def _behind_connector(
    unit: TextUnit, term: str, synonyms: tuple[str, ...], connector: re.Match[str]
) -> HeadedTerm | None:
    """The term and what stands behind the connector, unless that is a noun."""
    groups = connector.groupdict()
    if groups.get("mean"):
        behind = connector.end("mean")
        if patterns.NOT_AFTER.match(unit.text, behind):
            return None
    if groups.get("reference"):
        verb = patterns.THE_MEANING.match(connector["reference"])
        start = connector.start("reference") + (verb.end() if verb else 0)
        return HeadedTerm(term, synonyms, start, DefinitionSource.REFERENCE)
    if groups.get("equals") and not _is_announced(unit):
        sentence = pieces(unit.text)[0]
        # "is the duty of the clerk" says whose it is, not what.
        if not _CLAUSE.search(unit.text, connector.end(), sentence.end):
            return None
    return HeadedTerm(term, synonyms, connector.end())


def _is_announced(unit: TextUnit) -> bool:
    """Whether a heading above the term announces definitions."""
    *parents, last = unit.section.split(" > ")
    above = parents if unit.above_heading else [*parents, last]
    return any(announces_definitions(part) or _TERMS.fullmatch(part) for part in above)


def _stands_out(unit: TextUnit) -> bool:
    """Whether the line is a heading or bold, or else an article opens what follows it.

    A list of terms without definitions is made of lines too.
    """
    if unit.above_heading or _MARKED.fullmatch(unit.above.strip()):
        return True
    return patterns.DETERMINED.match(unit.text.lower()) is not None


def _is_phrase(unit: TextUnit, term: str) -> bool:
    """Whether a unit begins with a phrase that says what the term above it is."""
    words = unit.text.split()
    first = words[0].lower().strip(",;:") if words else ""
    little = patterns.NOT_FIRST | patterns.ADDRESS | patterns.CLAUSE_OPENERS
    if len(words) < _FEWEST_WORDS or first in little - {"any"}:
        return False
    if "," in term or _PART_NAME.fullmatch(term):
        return False
    sentences = pieces(unit.text)
    opening = unit.text[: sentences[0].end] if sentences else unit.text
    if PhraseIndex([term]).find(opening):  # "A supply point is …" is found by itself
        return False
    phrase = _CLAUSE.split(opening)[0]
    noun = _PREPOSITION.split(phrase)[0]
    return not (_AUXILIARY.search(phrase) or _VERB.search(noun))

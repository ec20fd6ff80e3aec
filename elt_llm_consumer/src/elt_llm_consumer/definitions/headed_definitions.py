"""Definitions whose term stands on the line above: a heading, or a short paragraph.

"Account Holder", and below it "means the person who …". A word that connects must open
the paragraph; below a heading such as "Definitions" or "Glossary" a phrase without one
is a definition too: "A berth that is let for a night". It has an article, or a clause
or preposition behind its noun. A sentence is none, as far as its words show a verb:
"Payment", and below it "The bill is sent monthly", "The tenant pays the rent".
"""

import re
from collections.abc import Sequence
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
_TERMS = re.compile(r"(?:(?:\d[\w.]*|[a-z]\.)\s+)?(?:key\s+)?terms", re.IGNORECASE)
# "Interpretation" is also what figures and results have.
_INTERPRETATION = re.compile(r"\binterpretation\b", re.IGNORECASE)
# A part of the text or of a procedure, whatever is said of it.
_COUNTED = re.compile(
    r"(?:step|item|part|stage|phase|point|question|section|chapter|example|note|figure|"
    r"table)\s+(?:\d[\w.]*|[ivx]+|[a-z])",
    re.IGNORECASE,
)
# A heading in any document, whatever stands below it.
_PART_NAME = re.compile(
    r"(?:general|introduction|purpose|scope|application|overview|background|"
    r"summary|references?|notes?|examples?|contents?|interpretation)\b.*",
    re.IGNORECASE,
)
# What a phrase says of its noun comes behind one of these, or behind a comma.
_CLAUSE = re.compile(r",|\b(?:who|whom|whose|which|that|where|when)\b", re.IGNORECASE)
_PREPOSITIONS = (
    "of|for|at|in|on|by|with|from|to|between|under|above|below|over|without|within|"
    "during|before|after|into|behind|beside|near|across|along|against|through"
)
_PREPOSITION = re.compile(rf"\b(?:{_PREPOSITIONS})\b", re.IGNORECASE)
# "A berth that …", "a week in which …": the clause stands right behind the noun.
_RELATIVE = re.compile(
    rf"{patterns.DETERMINED.pattern}(?:(?!(?:the|an?|its|their|but|and|or|is|are|for|at|"
    rf"in|on|by|with|from|to)\b)[\w'\u2019-]+\s+){{1,6}}?(?:(?:{_PREPOSITIONS})\s+)?"
    r"(?:who|whom|whose|which|that|where|when)\b"
)
_AUXILIARY = re.compile(rf"\s{patterns.AUXILIARY}\b")
_VERB = re.compile(rf"\s{patterns.LEXICAL}\b")  # or a plural: "a list of works"
# Before its first preposition a noun phrase has none of these behind its first word:
# "The tenant pays the rent", "The sample leaves out guests".
_IN_SENTENCE = re.compile(
    r"\s(?:the|an?|any|all|each|every|no|our|your|his|her|its|their|this|that|these|"
    r"those|it|them|us|you|out|up|down|off|away|back|not|never|always|only|also|then|"
    r"often|usually)\b",
    re.IGNORECASE,
)
# Nor a word in -s with another behind it, "The rent falls due", "Guests pay"; and not
# one at its end if the article is that of a singular: "A tenant pays in March".
_IN_S = re.compile(r"[a-z-]*[a-z](?<![sui'\u2019])s", re.IGNORECASE)
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
    if not _is_listed(unit):
        return None
    if mark := _MARK.match(unit.text):  # elsewhere it is the bullet of a list
        return HeadedTerm(term, synonyms, mark.end())
    is_phrase = _stands_out(unit) and _is_phrase(unit, term)
    # Without a connector it is no formal definition.
    source = DefinitionSource.STATEMENT
    return HeadedTerm(term, synonyms, 0, source) if is_phrase else None


def _term_above(unit: TextUnit) -> tuple[str, tuple[str, ...]]:
    """The term on the line above and its short form; empty if none can be there."""
    names = heading_names(unit.above)
    term, synonyms = split_paren(names[0]) if names else ("", ())
    if announces_definitions(term) or _TERMS.fullmatch(term):
        return "", ()  # "Table of defined terms" is none itself
    if _COUNTED.fullmatch(term):
        return "", ()
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
    if not _is_announced(unit) and _only_tells(unit.text, connector):
        return None
    return HeadedTerm(term, synonyms, connector.end())


def _only_tells(text: str, connector: re.Match[str]) -> bool:
    """Whether a connector may tell something of a term, where no list is announced.

    "Refers to the portal", "means that the money is sent back", and "is the duty of the
    clerk", which says whose it is, not what.
    """
    groups = connector.groupdict()
    if groups.get("mean"):
        return patterns.CONSEQUENCE.match(text, connector.end("mean")) is not None
    if groups.get("equals"):
        return _RELATIVE.match(text, connector.end()) is None
    return bool(groups.get("refers"))


def _is_announced(unit: TextUnit) -> bool:
    """Whether a heading above the term announces definitions."""
    *parents, last = unit.section.split(" > ")
    above = parents if unit.above_heading else [*parents, last]
    return any(announces_definitions(part) or _TERMS.fullmatch(part) for part in above)


def _is_listed(unit: TextUnit) -> bool:
    """Whether that heading names a list of definitions, not "Terms" alone.

    Terms are agreed or taught too, and figures have an interpretation.
    """
    *parents, last = unit.section.split(" > ")
    above = parents if unit.above_heading else [*parents, last]
    return any(announces_definitions(_INTERPRETATION.sub("", part)) for part in above)


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
    return _is_noun_phrase(opening)


def _is_noun_phrase(opening: str) -> bool:
    """Whether words are a noun with an article or something behind it, and no verb."""
    phrase = _CLAUSE.split(opening)[0]
    noun = _PREPOSITION.split(phrase)[0]
    if _AUXILIARY.search(phrase) or _VERB.search(noun) or _IN_SENTENCE.search(noun):
        return False
    if patterns.DETERMINED.match(opening.lower()) is not None:
        article, *words = noun.split()
        # "The opening hours of", but "The key stays with".
        is_plural = article.lower() == "the" and phrase.startswith("of", len(noun))
        return not _has_verb_in_s(words[1:-1] if is_plural else words[1:])
    ends = noun.strip(" .;") == opening.strip(" .;")
    counts = any(char.isdigit() for char in noun)  # "Monday 2 September to Friday"
    return not (ends or counts or _has_verb_in_s(noun.split()[:-1]))


def _has_verb_in_s(words: Sequence[str]) -> bool:
    """Whether one of the words is in -s, where a noun phrase has no plural."""
    return any(_IN_S.fullmatch(word) for word in words)

"""Terms that are named in brackets behind their meaning."""

import re
from collections.abc import Sequence

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.definition_records import (
    Definition,
    DefinitionSource,
    TextUnit,
    text_of_spans,
)
from elt_llm_consumer.definitions.term_forms import clean_term, strip_full_stop
from elt_llm_query.analysis.stems import pieces

# A shorter meaning is hardly one; a longer name in brackets is a remark.
_FEWEST_MEANING_WORDS, _MOST_NAME_WORDS = 2, 6
_NAMED_IN_BRACKETS = re.compile(
    r"\s*,?\s*\(\s*(?:(?:each|together|collectively|hereinafter|hereafter)\b,?\s*)?"
    r"(?:(?:referred\s+to\s+as|called)\s+)?(?:(?:an?|the)\s+)?"
    rf"{patterns.QUOTE_OPEN}(?P<term>[A-Z][\w'\u2019/\s-]{{1,60}}?)"
    rf"{patterns.QUOTE_CLOSE}\s*\)"
)
# "third parties are removed": brackets behind it name what is done, no thing.
_ENDS_IN_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+)?\w+\s*$", re.IGNORECASE
)
# "The police must give" in front of "a signed request": who does it is no part of it.
_WHO_ACTS = re.compile(
    r"[^,;:.]*?\b(?:must|shall|should|may|can|will)\s+(?:not\s+)?(?:\w+\s+){1,2}?"
    r"(?=(?:an?|any)\s)",
    re.IGNORECASE,
)
_FEWEST_NAMED_WORDS = 4  # "a notice" alone says nothing of a Stop Notice
_GOES_ON = re.compile(rf"\s+{patterns.AUXILIARY}\b")
_RULE_NUMBER = re.compile(r"\d+(?:\.\d+)*\.?(?:\([a-z0-9]+\))+\s+")
# A short form in brackets abbreviates the name before it, not the whole sentence.
_NAME = r"(?:[A-Z][\w'\u2019&-]*|\d{4})"
_FULL_NAME = re.compile(
    rf"{_NAME}(?:\s+(?:(?:of|and|for|the|in|on|to|&)\s+){{0,2}}{_NAME})+\s*$"
)


def find_in_brackets(text: str, units: Sequence[TextUnit]) -> list[Definition]:
    """Return terms named in brackets: "a written notice (a "Stop Notice")".

    The definition is what the sentence says before the brackets; `named_at` is the span
    of the term.
    """
    return [
        definition
        for unit in units
        for match in _NAMED_IN_BRACKETS.finditer(unit.text)
        if (definition := _bracketed_definition(text, unit, match))
    ]


def _bracketed_definition(
    text: str, unit: TextUnit, match: re.Match[str]
) -> Definition | None:
    term = clean_term(match["term"])
    start, end = _bracketed_meaning(unit.text, term, match)
    exact = unit.exact_spans(text, start, end)
    words = text_of_spans(text, exact)
    named = unit.spans(*match.span("term"))
    if len(term.split()) > _MOST_NAME_WORDS or _ENDS_IN_VERB.search(
        unit.text, start, match.start()
    ):
        return None
    if len(words.split()) < _FEWEST_MEANING_WORDS:
        return None
    return Definition(
        term=term,
        definition=words,
        source=DefinitionSource.PROSE,
        spans=exact,
        page=unit.page,
        section=unit.section,
        named_at=(named[0][0], named[-1][1]),
    )


def _bracketed_meaning(text: str, term: str, match: re.Match[str]) -> tuple[int, int]:
    """Return where the words begin and end that say what a name in brackets means.

    They stand before the brackets. If those are few and the subject of what follows
    ("an exception (a "Waiver") is granted by …"), the whole sentence says it.
    """
    start, end = _meaning_start(text, term, match.start()), match.start()
    if term.isupper():
        return start, end
    clause = max(start, text.rfind(";", start, end) + 1)
    few = len(text[clause:end].split()) < _FEWEST_NAMED_WORDS
    if few and _GOES_ON.match(text, match.end()):
        whole = pieces(text[start:])
        last = start + whole[0].end if whole else end
        return start, start + len(strip_full_stop(text[start:last]))
    acts = _WHO_ACTS.match(text, start, end)
    if acts and len(text[acts.end() : end].split()) >= _FEWEST_NAMED_WORDS:
        return acts.end(), end
    return start, end


def _meaning_start(text: str, term: str, end: int) -> int:
    """Where the name, sentence or list item begins that contains position `end`."""
    if term.isupper():
        name = _FULL_NAME.search(text, 0, end)
        return name.start() if name else end
    line = text.rfind("\n\n", 0, end) + 1
    sentences = [piece for piece in pieces(text[line:end]) if piece.end > piece.start]
    start = line + sentences[-1].start if sentences else line
    for pattern in (patterns.LEAD, _RULE_NUMBER):
        lead = pattern.match(text, start, end)
        start = lead.end() if lead else start
    return start

"""Terms that a sentence names in brackets: "a written notice (a "Stop Notice")"."""

import re
from collections.abc import Iterator, Sequence

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.candidate_terms import cleaned
from elt_llm_consumer.definitions.paragraphs import Unit
from elt_llm_consumer.definitions.records import (
    Definition,
    DefinitionSource,
    joined,
    trimmed,
    verbatim,
)
from elt_llm_query.analysis.text import pieces

_FEWEST_WORDS, _MOST_WORDS = 2, 6
_NAMED = re.compile(
    r"\s*,?\s*\(\s*(?:(?:each|together|collectively|hereinafter|hereafter)\b,?\s*)?"
    r"(?:(?:referred\s+to\s+as|called)\s+)?(?:(?:an?|the)\s+)?"
    rf"{patterns.QUOTE_OPEN}(?P<term>[A-Z][\w'\u2019/ -]{{1,60}}?)"
    rf"{patterns.QUOTE_CLOSE}\s*\)"
)
_RULE_NUMBER = re.compile(r"\d+(?:\.\d+)*\.?(?:\([a-z0-9]+\))+\s+")
# A short form stands for the name before it, not for the whole sentence.
_NAME = r"(?:[A-Z][\w'\u2019&-]*|\d{4})"
_FULL_NAME = re.compile(
    rf"{_NAME}(?:\s+(?:(?:of|and|for|the|in|on|to|&)\s+){{0,2}}{_NAME})+\s*$"
)


def in_brackets(text: str, running: Sequence[Unit]) -> list[Definition]:
    """Such terms in order; the definition is what the sentence says before them.

    `named_at` is the span of the term.
    """
    return [one for unit in running for one in _in_unit(text, unit)]


def _in_unit(text: str, unit: Unit) -> Iterator[Definition]:
    for match in _NAMED.finditer(unit.text):
        term = cleaned(match["term"])
        start = _meaning_start(unit.text, term, match.start())
        spans = unit.spans(start, match.start())
        exact = joined(text, [trimmed(text, *span) for span in spans])
        named = unit.spans(*match.span("term"))
        definition = verbatim(text, exact)
        few = len(term.split()) <= _MOST_WORDS
        if few and len(definition.split()) >= _FEWEST_WORDS:
            yield Definition(
                term=term,
                definition=definition,
                source=DefinitionSource.PROSE,
                spans=exact,
                page=unit.page,
                section=unit.section,
                named_at=(named[0][0], named[-1][1]),
            )


def _meaning_start(text: str, term: str, end: int) -> int:
    """Where the name, sentence or item of a list that goes on at `end` begins."""
    if term.isupper():
        name = _FULL_NAME.search(text, 0, end)
        return name.start() if name else end
    line = text.rfind("\n\n", 0, end) + 1
    said = [piece for piece in pieces(text[line:end]) if piece.end > piece.start]
    start = line + said[-1].start if said else line
    for pattern in (patterns.LEAD, _RULE_NUMBER):
        lead = pattern.match(text, start, end)
        start = lead.end() if lead else start
    return start

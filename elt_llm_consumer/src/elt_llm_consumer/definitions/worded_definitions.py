"""Definitions in the wording that an organisation uses for them.

A wording is a sentence with the fields `{term}` and `{definition}`, such as "By {term}
we understand {definition}". Somebody who knows the documents wrote it: what it finds is
a definition without a score, and the only one of its term in the document.
"""

import re
from collections.abc import Iterator, Sequence

from elt_llm_consumer.definitions.definition_records import (
    Definition,
    DefinitionSource,
    TextUnit,
    text_of_spans,
)
from elt_llm_consumer.definitions.term_forms import clean_term, strip_full_stop
from elt_llm_consumer.definitions.terms import fold
from elt_llm_core.language.sentences import sentence_spans
from elt_llm_query.analysis.wordings import match_wording

FOUND_BY = "wording"


def add_worded(
    definitions: Sequence[Definition],
    text: str,
    units: Sequence[TextUnit],
    wordings: Sequence[str],
) -> list[Definition]:
    """Return the definitions of a document with those that a wording shows.

    Args:
        definitions: What was found in known shapes.
        text: The text of the document.
        units: Its running text, from `text_units`.
        wordings: Sentences with `{term}` and `{definition}`.

    Returns:
        The definitions in text order; a term that a wording defines has no other.
    """
    worded: dict[str, Definition] = {}
    for one in _find(text, units, wordings):
        worded.setdefault(fold(one.term), one)
    others = [one for one in definitions if fold(one.term) not in worded]
    return sorted([*others, *worded.values()], key=lambda d: (d.start, d.term))


def _find(
    text: str, units: Sequence[TextUnit], wordings: Sequence[str]
) -> Iterator[Definition]:
    for unit in units:
        for start, end in sentence_spans(unit.text):
            if hit := match_wording(unit.text[start:end], wordings):
                wording, match = hit
                yield _definition(text, unit, start, match, wording)


def _definition(
    text: str, unit: TextUnit, at: int, match: re.Match[str], wording: str
) -> Definition:
    start, end = match.span("definition")
    end = start + len(strip_full_stop(match["definition"]))
    spans = unit.exact_spans(text, at + start, at + end)
    return Definition(
        term=clean_term(match["term"]),
        definition=text_of_spans(text, spans),
        source=DefinitionSource.PROSE,
        spans=spans,
        page=unit.page,
        section=unit.section,
        found_by=FOUND_BY,
        reasons=(f"worded as {wording!r}",),
    )

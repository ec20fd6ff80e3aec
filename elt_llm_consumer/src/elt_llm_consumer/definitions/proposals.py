"""Candidates: every place of a document that may say what a term is.

Recall is the aim here. A candidate carries the words that would be its definition and
the way in which it was proposed; `definition_scorer` decides which candidates are
definitions. The stages are:

* `stated`: connectors, definition lists, tables and names in brackets
  (`definition_sentences`, `definition_tables`, `bracketed_definitions`);
* `subject`: a sentence with the term as its subject ("A judge is responsible for ...",
  in `subject_sentences`);
* `named`: the meaning comes first ("... is called a ledger", "... is deemed lost"), in
  `naming_sentences` like the next three;
* `apposition`: a clause behind the term explains it ("the ledger, which is ...");
* `gloss`: words beside the term explain it ("rest day (i.e. Sunday)");
* `label`: a term in front of a colon or between brackets ("Mat: The mat of the timer");
* `heading`: a sentence below a heading that names the term;
* `mention`: a sentence with a term that typography or repetition shows to be one;
* `acronym`: a long form with its short form ("Bank of England (BofE)");
* `written`: what a language model read in a passage (`definition_reader`); the stages
  of this file never propose it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.definition_records import (
    Definition,
    DefinitionSource,
    TextUnit,
    announces_list,
    text_of_spans,
)
from elt_llm_consumer.definitions.extract import stated_definitions
from elt_llm_consumer.definitions.naming_sentences import (
    apposition_spans,
    gloss_spans,
    label_spans,
    naming_spans,
)
from elt_llm_consumer.definitions.sentence_places import (
    DefinitionSpans,
    SentencePlace,
    sentence_places,
)
from elt_llm_consumer.definitions.subject_sentences import subject_spans
from elt_llm_consumer.definitions.term_forms import clean_term, strip_full_stop
from elt_llm_consumer.definitions.terms import (
    PhraseIndex,
    counts_things,
    fold,
)
from elt_llm_consumer.definitions.usage import Usage, heading_names
from elt_llm_core.document import Block
from elt_llm_core.language.acronyms import find_acronyms

_MOST_WORDS = 6  # of a term; longer noun phrases describe instead of naming
MOST_DEFINITION_WORDS = 120  # a longer one leaves out the list items behind it
_FEWEST_ADDED = 4  # words of a sentence besides its term: "The key is kept" is a use
OPENS = 4  # characters: an article may stand before the term that opens a sentence
_MOST_HEADED = 4  # sentences below a heading that may explain it
_MOST_MENTIONS = 6  # sentences that mention a term, from its first use on


class Way(StrEnum):
    """The stage that proposed a candidate."""

    STATED = "stated"
    SUBJECT = "subject"
    NAMED = "named"
    APPOSITION = "apposition"
    GLOSS = "gloss"
    LABEL = "label"
    HEADING = "heading"
    MENTION = "mention"
    ACRONYM = "acronym"
    WRITTEN = "written"


class DefinitionProposal(NamedTuple):
    """A definition that was proposed, and the sentence it is taken from."""

    definition: Definition
    way: Way
    sentence: SentencePlace | None
    verb: str = ""

    @property
    def at(self) -> int:
        """Where its sentence begins in the document, or its definition."""
        place = self.sentence
        if place is None:
            return self.definition.start
        return place.unit.spans(place.start, place.end)[0][0]


_VERBS = re.compile(rf"(?:{patterns.AUXILIARY}|{patterns.LEXICAL})")
# "3.18.1. Purpose", also behind the title of the entry; "1.5 metres" has no full stop.
_CONTENTS = re.compile(r"(?:.*\s:\s+)?\d+(?:\.\d+)+\.(?:\s+\S+){0,8}")
_NO_START = (
    patterns.NOT_FIRST
    | patterns.ADDRESS
    | patterns.CLAUSE_OPENERS
    | patterns.ARTICLES
    | {"his", "he", "she", "who"}
)
_NO_END = patterns.NOT_LAST | {"of", "in", "to", "on", "at", "from", "each", "his"}


def find_candidates(
    text: str, blocks: Sequence[Block], units: Sequence[TextUnit], usage: Usage
) -> list[DefinitionProposal]:
    """Return every candidate of a document.

    Args:
        text: The text of the document.
        blocks: Its blocks; their spans refer to `text`.
        units: Its running text, from `text_units`.
        usage: How the document uses its words.

    Returns:
        Candidates in text order; the same words may occur twice.
    """
    places = list(sentence_places(units))
    proposals = list(_from_rules(text, blocks, units, places))
    for place in places:
        proposals += _of_sentence(text, place)
    proposals += _below_headings(text, places)
    proposals += _mentions(text, places, usage)
    proposals += _spelt_out(text, places)
    # Each finder goes through the document. In text order all candidates of a sentence
    # follow each other, so that what is known of the sentence is computed once.
    return sorted(_without_duplicates(proposals), key=lambda one: one.at)


def _without_duplicates(
    candidates: Sequence[DefinitionProposal],
) -> list[DefinitionProposal]:
    """Without repetitions; where a definition is stated, no other shape is needed."""
    stated = {
        (fold(one.definition.term), one.at)
        for one in candidates
        if one.way is Way.STATED
    }
    first: dict[
        tuple[str, str, str, tuple[tuple[int, int], ...]], DefinitionProposal
    ] = {}
    for one in filter(_is_whole, candidates):
        term = fold(one.definition.term)
        if one.way is Way.STATED or (term, one.at) not in stated:
            first.setdefault((term, one.way, one.verb, one.definition.spans), one)
    return list(first.values())


def _is_whole(candidate: DefinitionProposal) -> bool:
    """Whether neither the term is cut nor the words are a line of the contents.

    The number of a footnote is no term, and "calcium) tablets" is cut at a bracket. A
    table of contents of an HTML page is a definition list: "/tmp", "3.18.1. Purpose".
    """
    term = candidate.definition.term
    if term.count("(") != term.count(")") or term.isdecimal():
        return False
    return not _CONTENTS.fullmatch(candidate.definition.definition.strip())


def _from_rules(
    text: str,
    blocks: Sequence[Block],
    units: Sequence[TextUnit],
    places: Sequence[SentencePlace],
) -> Iterator[DefinitionProposal]:
    starts = {
        low: place
        for place in places
        for low, _ in place.unit.spans(place.start, place.end)[:1]
    }
    ordered = sorted(starts)
    for definition in stated_definitions(text, blocks, units):
        number = bisect_right(ordered, definition.start) - 1
        place = starts[ordered[number]] if number >= 0 else None
        if place is not None and _end(place.unit) < definition.start:
            place = None  # a row of a table is no part of a sentence
        yield DefinitionProposal(definition, Way.STATED, place)


def _end(unit: TextUnit) -> int:
    return unit.spans(0, len(unit.text))[-1][1]


def _of_sentence(text: str, place: SentencePlace) -> Iterator[DefinitionProposal]:
    finders = (
        (Way.SUBJECT, subject_spans),
        (Way.NAMED, naming_spans),
        (Way.APPOSITION, apposition_spans),
        (Way.GLOSS, gloss_spans),
        (Way.LABEL, label_spans),
    )
    for way, find in finders:
        for spans in find(place):
            if candidate := _build(text, place, way, spans):
                yield candidate


def _below_headings(
    text: str, places: Sequence[SentencePlace]
) -> Iterator[DefinitionProposal]:
    """The first sentences below each heading, and those that mention it."""
    sections: dict[str, list[SentencePlace]] = {}
    for place in places:
        sections.setdefault(place.unit.section, []).append(place)
    for section, those in sections.items():
        for name in heading_names(section.rsplit(" > ", 1)[-1]):
            index = PhraseIndex([name])
            naming = [p for p in those if index.find(p.text)]
            chosen = [*those[:1], *naming[:_MOST_HEADED]]
            for place in dict.fromkeys(chosen):
                verb = "names" if place in naming else "silent"
                definition = _definition(text, place, name, place.whole)
                yield DefinitionProposal(definition, Way.HEADING, place, verb)


def _mentions(
    text: str, places: Sequence[SentencePlace], usage: Usage
) -> Iterator[DefinitionProposal]:
    """The first sentences with each term of the document's vocabulary."""
    index = PhraseIndex(usage.vocabulary)
    counts: dict[str, int] = {}
    for place in places:
        for match in index.find(place.text):
            key = fold(match.phrase)
            counts[key] = counts.get(key, 0) + 1
            if counts[key] <= _MOST_MENTIONS:
                term = clean_term(place.text[match.start : match.end])
                definition = _definition(text, place, term, place.whole)
                verb = "opens" if match.start <= OPENS else ""
                yield DefinitionProposal(definition, Way.MENTION, place, verb)


def _spelt_out(
    text: str, places: Sequence[SentencePlace]
) -> Iterator[DefinitionProposal]:
    """Short forms with their long forms, each pair once."""
    seen: set[tuple[str, str]] = set()
    for place in places:
        for pair in find_acronyms(place.text):
            key = fold(pair.long), fold(pair.short)
            if key in seen:
                continue
            seen.add(key)
            span = (pair.start, pair.end)
            definition = _definition(text, place, pair.short, span)
            update = {"synonyms": (pair.long,), "source": DefinitionSource.ACRONYM}
            changed = definition.model_copy(update=update)
            yield DefinitionProposal(changed, Way.ACRONYM, place, "")


def _build(
    text: str, place: SentencePlace, way: Way, spans: DefinitionSpans
) -> DefinitionProposal | None:
    low, high = spans.term
    named = spans.name or place.unit.text[place.start + low : place.start + high]
    term = clean_term(named)
    if not _can_be_term(term):
        return None
    names = place.unit.spans(place.start + low, place.start + high)
    named_at = names[0][0], names[-1][1]
    definition = _definition(text, place, term, spans.meaning, named_at)
    added = len(definition.definition.split()) - len(term.split())
    if not definition.definition or (
        spans.meaning == place.whole and added < _FEWEST_ADDED
    ):
        return None
    return DefinitionProposal(definition, way, place, spans.verb)


def _can_be_term(term: str) -> bool:
    words = term.lower().split()
    if words and _VERBS.fullmatch(words[-1]) and not _is_capitalised(term):
        return False
    if not 1 <= len(words) <= _MOST_WORDS or not any(c.isalpha() for c in term):
        return False
    if words[0] in _NO_START or words[-1] in _NO_END:
        return False
    if counts_things(term):
        return False
    return not any(word in patterns.NOT_INSIDE for word in words[1:])


def _is_capitalised(term: str) -> bool:
    """Return whether all of several words have capitals: a "Wind Hold" is no verb."""
    words = term.split()
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _definition(
    text: str,
    place: SentencePlace,
    term: str,
    meaning: tuple[int, int],
    named_at: tuple[int, int] | None = None,
) -> Definition:
    """The definition, with the list items behind it if it announces them."""
    unit = place.unit
    low, high = place.start + meaning[0], place.start + meaning[1]
    body = unit.text[low:high]
    if meaning[0] > 0:
        body = strip_full_stop(body)
    ends = low + len(body) >= len(unit.text.rstrip())
    with_items = ends and announces_list(body)
    spans = unit.exact_spans(text, low, low + len(body), with_items=with_items)
    if with_items and len(text_of_spans(text, spans).split()) > MOST_DEFINITION_WORDS:
        spans = unit.exact_spans(text, low, low + len(body))
    return Definition(
        term=term,
        definition=text_of_spans(text, spans),
        source=DefinitionSource.STATEMENT,
        spans=spans or ((0, 0),),
        page=unit.page,
        section=unit.section,
        named_at=named_at,
    )

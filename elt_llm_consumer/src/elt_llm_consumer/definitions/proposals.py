"""Candidates: every place of a document that may say what a term is.

Recall is the aim here. A candidate carries the words that would be its definition and
the way in which it was proposed; `scorer` decides which candidates are definitions. The
stages are:

* `stated`: connectors, definition lists, tables and names in brackets (`prose`,
  `definition_tables`);
* `subject`: a sentence with the term as its subject ("A judge is responsible for ...");
* `named`: the meaning comes first ("... is called a ledger", "... is deemed lost");
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
    text_of_spans,
)
from elt_llm_consumer.definitions.definition_sentences import (
    clean_term,
    strip_full_stop,
)
from elt_llm_consumer.definitions.extract import stated_definitions
from elt_llm_consumer.definitions.terms import (
    PhraseIndex,
    counts_things,
    fold,
    fold_word,
)
from elt_llm_consumer.definitions.usage import Usage, heading_names
from elt_llm_core.document import Block
from elt_llm_core.language.acronyms import find_acronyms
from elt_llm_query.analysis.stems import pieces

_MOST_WORDS = 6  # of a term; longer noun phrases describe instead of naming
MOST_DEFINITION_WORDS = 120  # a longer one leaves out the list items behind it
_SHORTEST = 12  # characters of a meaning: two or three words
_FEWEST_ADDED = 4  # words of a sentence besides its term: "The key is kept" is a use
_MOST_CLAUSES = 3  # in front of a subject
_OPENS = 4  # characters: an article may stand before the term that opens a sentence
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


class SentencePlace(NamedTuple):
    """A sentence of a unit, without the marks that number or label it.

    `start` and `end` are positions in the unit's text. `number` counts the sentences of
    the unit, `below` those since the heading. `mark` is what was skipped in front.
    """

    unit: TextUnit
    start: int
    end: int
    number: int
    below: int
    mark: str

    @property
    def text(self) -> str:
        """The words of the sentence."""
        return self.unit.text[self.start : self.end]


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


class _Spot(NamedTuple):
    """Positions in a sentence: the term's and the defining words'.

    `name` is the term where its words do not stand together.
    """

    term: tuple[int, int]
    meaning: tuple[int, int]
    verb: str = ""
    name: str = ""


# "4.2", "(a)", "12a5b)", "2i1b+)", and a label between brackets or before a colon.
_MARKS = re.compile(
    r"\s*(?:(?:[-*\u2022\u00b7\u25aa\uf0b7]|"
    r"\(?(?=[\w.+]*\d|[a-zA-Z]\)|[ivx]+\))[\w.+]{1,10}[.)]|\d+(?:\.\d+)+)\s+)*"
    r"(?:\[[A-Z][A-Z ]*\]\s+)?"
    r"(?:(?:definitions?|note|nb|clarification|explanation)\s*:\s+)?",
    re.IGNORECASE,
)
_WORD = r"[\w\u00ae\u2122][\w'\u2019/&\u00ae\u2122-]*"
_BRACKETS = r"\s*\([^()]{1,60}\)"
_DETERMINER = (
    r"(?:(?:the|an?|each|every|any|all|our|such|this|his|its|their|most|some)\s+)"
)
AUXILIARY = (
    r"(?:is|are|was|were|has|have|can|could|will|would|shall|should|may|might|must)"
)
LEXICAL = (
    r"(?:means?|refers?\s+to|denotes?|represents?|describes?|includes?|involves?|"
    r"consists?|comprises?|contains?|covers?|provides?|allows?|recogni[sz]es?|"
    r"requires?|occurs?|states?|applies|apply|supplements?|supports?|depends?|uses?|"
    r"governs?|studies|examines?|measures?|produces?|holds?|causes?|helps?|serves?|"
    r"acts?|works?|takes?|gives?|results?|begins?|ends?|starts?)"
)
_SUBJECT = re.compile(
    rf"(?P<the>{_DETERMINER})?[\"\u201c]?(?P<term>{_WORD}(?:\s+{_WORD}){{0,9}}?)"
    rf"[\"\u201d]?(?P<brackets>(?:{_BRACKETS})*)"
    rf"(?:,[^,]{{2,60}},)?\s+(?P<verb>{AUXILIARY}|{LEXICAL})\b",
    re.IGNORECASE,
)
_EQUALS = re.compile(
    r"\s+(?:(?:also|generally|usually|typically|often)\s+)?"
    r"(?:(?=(?:an?|the|any|one|those)\s)|defined\s+(?:as|by)\s+)",
    re.IGNORECASE,
)
_MEANS = re.compile(r"(?:means?|refers?\s+to|denotes?)", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(?:in|on|for|if|when|where|under|within|during|unless|at|as|after|before|by|"
    r"generally|depending)\b[^.;:]{2,200}?,\s+",
    re.IGNORECASE,
)
_NEXT_CLAUSE = re.compile(r"[^.;:,]{2,120}?,\s+")
_PREPOSITION = re.compile(
    r"\s+(?:of|for|to|in|on|at|with|from|by|between|who|that|which|under)\b"
)
_BARE = re.compile(
    r"(?:mean|refer to|denote|represent|describe|include|involve|consist|contain|cover|"
    r"provide|allow|require|state|apply|use|hold|work|take|give)"
)
_OWNER = re.compile(rf"(?:{_WORD}\s+){{0,3}}?[\w-]+['\u2019]s?\s+")
_DEEMED = re.compile(
    r"\b(?:is|are|be|been|was|were)\s+(?:also\s+|then\s+)?"
    r"(?:considered|deemed|regarded|treated|recorded|counted)\s+"
    r"(?:as\s+|to\s+(?P<have>have\s+)?(?:be\s+)?)?(?:an?\s+|the\s+)?[\"\u201c]?"
    rf"(?P<term>{_WORD}(?:\s+{_WORD}){{0,4}}?)"
    r"(?=[\"\u201d]?\s*(?:[,.;:()]|$|\s(?:if|when|only|unless|and|or|as|where|for|by|"
    r"in|with|to|at|because)\b))",
    re.IGNORECASE,
)
# "X and Y are counted separately" says how; "is deemed a monopoly" says what.
_BARE_ADVERB = re.compile(r"(?<!\ba)(?<!\ban)(?<!\bthe)\s[a-z]+ly$")
# "To have vacated office": a participle with its object; "to have a card" has none.
_DONE = re.compile(rf"[a-z]+ed\s+{_WORD}")
# "Wear should be considered reasonable if": the term is "reasonable wear".
_HEAD_NOUN = re.compile(
    rf"(?:{_DETERMINER})?(?:(?:other|{_WORD}['\u2019]s?)\s+)*(?:{_WORD}\s+){{0,2}}?"
    rf"(?P<noun>{_WORD})\s+(?:other\s+than|that|which|who|is|are|was|were|will|would|"
    r"shall|should|may|must|can|has|have)\b",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r",?\s+(?:(?:is|are|was|were|be)\s+)?(?:also\s+|often\s+|commonly\s+|usually\s+|"
    r"sometimes\s+|informally\s+)?(?:called|termed|known\s+as|referred\s+to\s+as)\s+"
    r"(?:an?\s+|the\s+)?[\"\u201c]?"
    rf"(?P<term>{_WORD}(?:\s+{_WORD}){{0,4}}?)"
    r"(?=[\"\u201d]?\s*(?:[,.;:()]|$|\s(?:if|when|and|or|as|where|for|by|in|which)\b))",
    re.IGNORECASE,
)
_WE_MEAN = re.compile(
    rf"\bby\s+[\"\u201c]?(?P<term>{_WORD}(?:\s+{_WORD}){{0,4}}?)[\"\u201d]?,?\s+(?:we|I|one)\s+"
    r"means?\s*:?",
    re.IGNORECASE,
)
_GLOSSED = re.compile(
    rf"(?P<term>{_WORD}(?:\s+{_WORD}){{0,4}})\s*"
    r"(?:\(\s*(?P<inside>(?:i\.e\.|that\s+is)?[^()]{6,300})\)|"
    r",\s*(?:i\.e\.|that\s+is,?)\s+(?P<after>[^.;]{6,200}))"
)
_IN_BRACKETS = re.compile(
    r"(?P<meaning>[^(),;:.]{12,160})\s\(\s*[\"\u201c]?(?P<term>[A-Za-z][\w'\u2019/-]*"
    r"(?:\s+[\w'\u2019/-]+){0,3})[\"\u201d]?\s*\)"
)
_GLOSS_MARKS = ("(", "i.e.", "that")  # each match of the two has one
_ARTICLE = re.compile(r"\b(?:an?|the)\s", re.IGNORECASE)
_WHICH = re.compile(
    rf"(?P<term>{_WORD}(?:\s+{_WORD}){{0,4}}?)(?P<brackets>{_BRACKETS})?"
    r"(?:,?\s+(?P<verb>which|whereby|in\s+which|that)\s+(?:is|are|comprises?|consists?"
    r"|includes?|contains?|means?)\b|,\s+(?P<apposed>defined\s+as|(?=an?\s)))"
)
_WHICH_MARKS = ("which", "whereby", "that", ",")  # each match of `_WHICH` has one
_IS = re.compile(r"\b(?:is|are|means?)$", re.IGNORECASE)
_LABELLED = re.compile(
    r"(?P<term>[^\s:.;\[\]][^:.;\n\[\]]{0,70}?)\s*:\s+(?=\S)"
    r"|\[(?P<tag>[^\]\n]{2,40})\]\s+(?=[A-Z])"
)
_QUOTED = re.compile(
    r"[\"\u201c](?P<term>[A-Za-z][\w'\u2019/-]*(?:\s+[\w'\u2019/-]+){0,3})[\"\u201d]"
)
_VERBS = re.compile(rf"(?:{AUXILIARY}|{LEXICAL})")
# "3.18.1. Purpose", also behind the title of the entry; "1.5 metres" has no full stop.
_CONTENTS = re.compile(r"(?:.*\s:\s+)?\d+(?:\.\d+)+\.(?:\s+\S+){0,8}")
_NO_START = (
    patterns.NOT_FIRST
    | patterns.ADDRESS
    | patterns.CLAUSE_OPENERS
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
        Candidates in no particular order; the same words may occur twice.
    """
    places = list(sentence_places(units))
    proposals = list(_from_rules(text, blocks, units, places))
    for place in places:
        proposals += _of_sentence(text, place)
    proposals += _below_headings(text, places)
    proposals += _mentions(text, places, usage)
    proposals += _spelt_out(text, places)
    return _without_duplicates(proposals)


def sentence_places(units: Sequence[TextUnit]) -> Iterator[SentencePlace]:
    """Yield the sentences of all units, numbered within unit and section."""
    section, below = None, 0
    for unit in units:
        if unit.section != section:
            section, below = unit.section, 0
        for number, piece in enumerate(pieces(unit.text)):
            marks = _MARKS.match(unit.text, piece.start, piece.end)
            start = marks.end() if marks else piece.start
            if start < piece.end:
                mark = unit.text[piece.start : start]
                yield SentencePlace(unit, start, piece.end, number, below, mark)
                below += 1


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
        (Way.SUBJECT, _subject),
        (Way.NAMED, _naming_spots),
        (Way.APPOSITION, _apposition_spots),
        (Way.GLOSS, _gloss_spots),
        (Way.LABEL, _label_spots),
    )
    for way, find in finders:
        for spot in find(place):
            if candidate := _build(text, place, way, spot):
                yield candidate


def _whole(place: SentencePlace) -> tuple[int, int]:
    return 0, place.end - place.start


def _subject_starts(sentence: str) -> list[int]:
    """Where the subject may begin: at once, or behind the clauses that open."""
    starts = [0]
    clause = _CLAUSE.match(sentence)
    while clause and len(starts) <= _MOST_CLAUSES:
        starts.append(clause.end())
        clause = _NEXT_CLAUSE.match(sentence, clause.end())
    return starts


def _subject(place: SentencePlace) -> Iterator[_Spot]:
    sentence = place.text
    for start in _subject_starts(sentence):
        match = _SUBJECT.match(sentence, start)
        if match is not None and _says(match, sentence):
            yield from _subject_spots(match, sentence)


def _says(match: re.Match[str], sentence: str) -> bool:
    """Whether the verb is one: "Clerk refer to" is a request, "by means" a noun."""
    verb = " ".join(match["verb"].lower().split())
    if _BARE.fullmatch(verb) and not _is_plural(match["term"]):
        return False
    means = verb.startswith("mean")
    return not (means and patterns.NOT_AFTER.match(sentence, match.end()))


def _subject_spots(match: re.Match[str], sentence: str) -> Iterator[_Spot]:
    """The subject, its part before a preposition, and its part behind an owner."""
    verb = " ".join(match["verb"].lower().split())
    meaning = 0, len(sentence)
    equals = _EQUALS.match(sentence, match.end())
    if verb in {"is", "are", "was", "were"} and equals:
        meaning, verb = (equals.end(), len(sentence)), "equals"
    elif _MEANS.fullmatch(verb):
        meaning = match.end() + 1, len(sentence)
    low, high = match.span("term")
    yield _Spot((low, high), meaning, verb)
    if cut := _PREPOSITION.search(sentence, low, high):
        yield _Spot((low, cut.start()), meaning, verb)
    if owner := _OWNER.match(sentence, low, high):
        yield _Spot((owner.end(), high), meaning, verb)


def _naming_spots(place: SentencePlace) -> Iterator[_Spot]:
    yield from _deemed_spots(place)
    sentence = place.text
    for match in _CALLED.finditer(sentence):
        if match.start() >= _SHORTEST:
            yield _Spot(match.span("term"), (0, match.start()), "called")
    for match in _WE_MEAN.finditer(sentence):
        yield _Spot(match.span("term"), (match.start(), len(sentence)), "means")
    for match in _QUOTED.finditer(sentence):
        yield _Spot(match.span("term"), _whole(place), "quoted")


def _deemed_spots(place: SentencePlace) -> Iterator[_Spot]:
    sentence = place.text
    for match in _DEEMED.finditer(sentence):
        if " " not in match["term"] and _BARE_ADVERB.search(match.group()):
            continue
        if match["have"] and not _DONE.fullmatch(match["term"]):
            continue  # "to have ended" leaves the noun out
        yield _Spot(match.span("term"), _whole(place), "deemed")
        if " " not in match["term"] and (noun := _HEAD_NOUN.match(sentence)):
            name = f"{match['term']} {noun['noun']}"
            yield _Spot(match.span("term"), _whole(place), "deemed noun", name)


def _apposition_spots(place: SentencePlace) -> Iterator[_Spot]:
    sentence = place.text
    if not any(mark in sentence for mark in _WHICH_MARKS):
        return
    for match in _WHICH.finditer(sentence):
        start = _term_start(sentence, match.end("term"))
        if start is None:
            continue
        low = start
        if match["verb"] and _IS.search(match.group()):
            low = match.end() + 1
        elif match["apposed"] is not None:
            low = match.end()
        yield _Spot((start, match.end("term")), (low, len(sentence)), "which")


def _gloss_spots(place: SentencePlace) -> Iterator[_Spot]:
    sentence = place.text
    if not any(mark in sentence for mark in _GLOSS_MARKS):
        return
    for match in _GLOSSED.finditer(sentence):
        start = _term_start(sentence, match.end("term"))
        if start is not None:
            verb = "ie" if "i.e." in match.group() else "brackets"
            yield _Spot((start, match.end("term")), (start, match.end()), verb)
    for match in _IN_BRACKETS.finditer(sentence):
        if not match["term"].isupper():
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            articles = list(_ARTICLE.finditer(sentence, start, match.end("meaning")))
            low = articles[-1].start() if articles else start
            yield _Spot(match.span("term"), (low, match.end()), "in brackets")


def _label_spots(place: SentencePlace) -> Iterator[_Spot]:
    match = _LABELLED.match(place.text) if place.number == 0 else None
    if match is not None:
        term = match.span("term") if match["term"] else match.span("tag")
        yield _Spot(term, (match.end(), len(place.text)), "label")
    tag = re.search(r"\[([^\]]+)\]\s*$", place.mark)
    if tag and place.number == 0:
        back = place.start - len(place.mark)
        at = back + tag.start(1) - place.start
        yield _Spot((at, at + len(tag[1])), _whole(place), "tag")


def _term_start(sentence: str, end: int) -> int | None:
    """Where the noun phrase begins that ends at `end`."""
    words = list(re.finditer(_WORD, sentence[:end]))[-5:]
    start = None
    for word in reversed(words):
        gap = sentence[word.end() : end if start is None else start]
        small = word.group().lower()
        stops = patterns.NOT_INSIDE | patterns.NOT_FIRST | patterns.SMALL
        if gap.strip() or small in stops | patterns.ARTICLES | patterns.NOT_LAST:
            break
        start = word.start()
    return start


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
                definition = _definition(text, place, name, _whole(place))
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
                definition = _definition(text, place, term, _whole(place))
                verb = "opens" if match.start <= _OPENS else ""
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
            spot = (pair.start, pair.end)
            definition = _definition(text, place, pair.short, spot)
            update = {"synonyms": (pair.long,), "source": DefinitionSource.ACRONYM}
            changed = definition.model_copy(update=update)
            yield DefinitionProposal(changed, Way.ACRONYM, place, "")


def _build(
    text: str, place: SentencePlace, way: Way, spot: _Spot
) -> DefinitionProposal | None:
    low, high = spot.term
    named = spot.name or place.unit.text[place.start + low : place.start + high]
    term = clean_term(named)
    if not _can_be_term(term):
        return None
    definition = _definition(text, place, term, spot.meaning)
    added = len(definition.definition.split()) - len(term.split())
    if not definition.definition or (
        spot.meaning == _whole(place) and added < _FEWEST_ADDED
    ):
        return None
    names = place.unit.spans(place.start + low, place.start + high)
    update = {"named_at": (names[0][0], names[-1][1])}
    return DefinitionProposal(
        definition.model_copy(update=update), way, place, spot.verb
    )


def _is_plural(term: str) -> bool:
    words = term.lower().split()
    return "and" in words or fold_word(words[-1]) != words[-1]


def _can_be_term(term: str) -> bool:
    words = term.lower().split()
    if words and _VERBS.fullmatch(words[-1]):
        return False
    if not 1 <= len(words) <= _MOST_WORDS or not any(c.isalpha() for c in term):
        return False
    if words[0] in _NO_START | patterns.ARTICLES or words[-1] in _NO_END:
        return False
    if counts_things(term):
        return False
    return not any(word in patterns.NOT_INSIDE for word in words[1:])


def _definition(
    text: str, place: SentencePlace, term: str, meaning: tuple[int, int]
) -> Definition:
    """The definition, with the list items behind it if it announces them."""
    unit = place.unit
    low, high = place.start + meaning[0], place.start + meaning[1]
    body = unit.text[low:high]
    if meaning[0] > 0:
        body = strip_full_stop(body)
    ends = low + len(body) >= len(unit.text.rstrip())
    with_items = ends and body.rstrip().endswith((":", "\u2014", "\u2013"))
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
    )

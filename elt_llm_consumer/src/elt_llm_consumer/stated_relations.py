"""Relations that sentences state: the subject is one entity, the object another."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pydantic import Field

from elt_llm_consumer.context_fields import MentionSentence, skip_mark
from elt_llm_consumer.corpus import Evidence, Handbook, quote_passage
from elt_llm_consumer.linking.mentions import EntityMention, MentionIndex
from elt_llm_core.records import Record
from elt_llm_core.results import Support

_ACCEPTED = frozenset({Support.VERIFIED.value, Support.NORMALISED.value})
_WORDS = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NUMBERS = {word: number for number, word in enumerate(_WORDS, 1)}
_NUMBER = rf"(?P<number>\d+|{'|'.join(_NUMBERS)})"
_COUNT = (
    rf"(?:(?P<bound>exactly|only|at\s+least|at\s+most|up\s+to|no\s+more\s+than|"
    rf"not\s+more\s+than)\s+)?{_NUMBER}(?P<more>\s+or\s+more)?"
)
_MANY = r"(?P<many>several|many|multiple|any\s+number\s+of)"
_ARTICLE = r"an?|the|its|their|each|every|any|all|another"
# An object before the one that is meant, counted like it: "one host and two" guests. A
# preposition in it would make the second one a part of something else.
_FIRST_OBJECT = (
    rf"(?:{re.sub('[?]P<[a-z]+>', '?:', _COUNT)}|"
    rf"{re.sub('[?]P<[a-z]+>', '?:', _MANY)}|an?)\s+"
    r"(?:(?!(?:of|to|in|by|with|for|from|at|on|under|per|and|or)\b)[\w-]+\s+){1,3}and\s+"
)
# Text allowed between the two: a verb, and at most a preposition and a determiner. An
# adjective or any other second object may make it a statement about something else.
_BETWEEN = re.compile(
    r"\s+(?:(?:must|shall|may|can|will)\s+(?!not\b)(?P<base>[a-z]+)|"
    r"(?P<passive>(?:is|are)\s+[a-z]+(?:ed|en|wn|ld|de|nt|ught))|"
    r"(?P<verb>(?!is\b|as\b|was\b|has\s+been\b|does\b|means\b)[a-z]{2,}s|have|are\s+part))"
    r"(?:\s+(?P<preposition>of|to|in|by|with|for|from|at|on|under))?"
    rf"(?:\s+(?:(?:{_FIRST_OBJECT})?{_COUNT}|{_MANY}|{_ARTICLE}))?\s+",
)
# The clause ends: with the sentence, at a semicolon, before a clause with a subject of
# its own, or before a second verb or a second counted object that ends the sentence.
_END = re.compile(
    r"\s*(?:[.;:!]|$)|\s*,\s+and\s+(?:an?|each|every)\s"
    rf"|\s+(?:and|but)\s+(?:must|shall|may|can|will)\s+(?!not\b)[a-z]+\s+"
    rf"(?:{_COUNT.replace('?P<', '?P<second_')}|{_ARTICLE})\s+[\w-]+[\s.;:!]*$"
    rf"|\s+and\s+(?:{_COUNT.replace('?P<', '?P<third_')})\s+(?!per\b)[\w-]+"
    r"(?:\s+[\w-]+)?[\s.;:!]*$"
)
_SHORT_FORM = re.compile(r"^\s*\([A-Z][\w&-]{1,9}\)")
# Words behind the clause that may make an exception of it: "one boat; in winter it may
# hold three". No count is better than one with an exception.
_EXCEPTION = re.compile(
    rf"\b(?:\d+|{'|'.join(_NUMBERS)}|several|many|multiple|more|up\s+to|unless|except|"
    r"may|it|they)\b",
    re.IGNORECASE,
)
_SECOND = re.compile(r"\s+(?:and|but)(?=\s+(?:must|shall|may|can|will)\s)")
# "No skimmer may cross the line" states what must not happen, not a relation.
_NONE_OF = re.compile(
    r"\b(?:no|neither|nor|not\s+(?:every|all|any|an?))\s+(?:[\w-]+\s+){0,2}$",
    re.IGNORECASE,
)


class TextRelation(Record):
    """A sentence that relates two entities, with the quote as evidence."""

    source: str
    target: str
    verb: str
    cardinality: str = Field(
        default="", description="such as ?-1..*; empty: not stated"
    )
    evidence: Evidence


class _Sighting(NamedTuple):
    start: int
    end: int
    entity: str


def find_stated_relations(
    names: Iterable[str], handbook: Handbook, index: MentionIndex
) -> list[TextRelation]:
    """Return relations that sentences state, in document order, each once.

    Args:
        names: Names of entities.
        handbook: The passages.
        index: Mentions of the names in the passages.
    """
    relations: dict[tuple[str, str, str], TextRelation] = {}
    for number, span, sightings in _sentences_with_two(names, index):
        passage = handbook.passages[number]
        for source, target, words in _sentence_relations(passage.text, span, sightings):
            key = (source.entity, target.entity, words[0])
            if key in relations:
                continue
            evidence = quote_passage(passage, skip_mark(passage.text, *span), span[1])
            if evidence.support in _ACCEPTED:
                relations[key] = TextRelation(
                    source=source.entity,
                    target=target.entity,
                    verb=words[0],
                    cardinality=words[1],
                    evidence=evidence,
                )
    return list(relations.values())


def _sentences_with_two(
    names: Iterable[str], index: MentionIndex
) -> Iterator[tuple[int, tuple[int, int], list[_Sighting]]]:
    """Return passage, span and mentions of sentences that name two entities."""
    by_passage: dict[int, list[tuple[EntityMention, str]]] = {}
    for name in sorted(set(names)):
        for mention in index.of(name):
            by_passage.setdefault(mention.number, []).append((mention, name))
    for number in sorted(by_passage):
        sentences: dict[tuple[int, int], set[_Sighting]] = {}
        if len({name for _, name in by_passage[number]}) > 1:
            for mention, name in by_passage[number]:
                span = index.sentence(mention)
                sighting = _Sighting(mention.start, mention.end, name)
                sentences.setdefault(span, set()).add(sighting)
        for span in sorted(sentences):
            if len({one.entity for one in sentences[span]}) > 1:
                yield number, span, sorted(sentences[span])


def _sentence_relations(
    text: str, span: tuple[int, int], sightings: Sequence[_Sighting]
) -> Iterator[tuple[_Sighting, _Sighting, tuple[str, str]]]:
    """Return subject, object, and verb with cardinality of a sentence's relations."""
    subject: _Sighting | None = None
    for left, right in pairwise(sightings):
        words = _relating_words(text, span, left, right)
        if words is not None:
            subject = left
        elif subject is not None:
            words = _second_words(text, span, (subject, left, right))
        if subject is None or words is None:
            subject = None
            continue
        yield subject, right, words


def _relating_words(
    text: str, span: tuple[int, int], left: _Sighting, right: _Sighting
) -> tuple[str, str] | None:
    """Return verb and cardinality if the sentence relates the two, else None."""
    if left.entity == right.entity or left.end >= right.start:
        return None
    return _read_words(text, span, left, right, text[left.end : right.start])


def _second_words(
    text: str, span: tuple[int, int], sightings: tuple[_Sighting, _Sighting, _Sighting]
) -> tuple[str, str] | None:
    """Return those of a second verb: "holds one loan and may hold two exhibits".

    Or of a second object of the same verb: "holds one loan and two exhibits".
    """
    subject, middle, right = sightings
    if words := _relating_words(text, span, subject, right):
        return words
    between = text[middle.end : right.start]
    link = _SECOND.match(between)
    if link is None or subject.entity == right.entity:
        return None
    return _read_words(text, span, subject, right, between[link.end() :])


def _read_words(
    text: str, span: tuple[int, int], left: _Sighting, right: _Sighting, between: str
) -> tuple[str, str] | None:
    match = _BETWEEN.fullmatch(between)
    if match is None:
        return None
    start, end = span
    before, after = text[start : left.start], text[left.end : end]
    around = MentionSentence(before, text[left.start : left.end], after)
    behind = text[right.end : end]
    target = MentionSentence("", text[right.start : right.end], behind)
    if not (around.is_subject and around.is_noun and target.is_noun):
        return None
    if not (around.is_whole and around.has_whole_name) or _NONE_OF.search(before):
        return None
    verb = match["base"] or match["passive"] or match["verb"]
    verb = "has" if verb == "have" else verb  # "must have"
    words = [" ".join(verb.split()), match["preposition"] or ""]
    # "three heats on one day" counts those of a day, not all of them.
    ends = (left.entity, around.mention), (right.entity, target.mention)
    behind = _SHORT_FORM.sub("", behind)
    counts = _cardinality(match) if _is_overall(behind, *ends) else ""
    return " ".join(filter(None, words)), counts


def _is_overall(behind: str, subjects: Iterable[str], objects: Iterable[str]) -> bool:
    """Return whether a count holds always: its clause ends, without an exception.

    Args:
        behind: The sentence behind the object.
        subjects: Names of the subject; what follows on it may be an exception.
        objects: Names of the object; a second verb may give it another count.
    """
    end = _END.match(behind)
    if end is None:
        return False
    rest = behind[end.end() :]
    again = _names_any(rest, subjects) or _names_any(end[0], objects)
    return not (again or _EXCEPTION.search(rest))


def _names_any(text: str, names: Iterable[str]) -> bool:
    """Return whether a word of a text starts with a name, as its plural does."""
    return any(re.search(rf"\b{re.escape(n)}", text, re.IGNORECASE) for n in names)


def _cardinality(match: re.Match[str]) -> str:
    """Return the number of targets per source, as far as it is stated."""
    word = match["number"]
    if match["many"]:
        return "?-0..*"
    if not word:
        return ""
    number = _NUMBERS.get(word) or int(word)
    bound = " ".join((match["bound"] or "").split())
    if match["more"] or bound == "at least":
        return f"?-{number}..*"
    if bound in {"at most", "up to", "no more than", "not more than"}:
        return f"?-0..{number}"
    return f"?-{number}..{number}"

"""Sentences with a term as their subject: "A judge is responsible for ..."."""

import re
from collections.abc import Iterator

from elt_llm_consumer.definitions.patterns import (
    AUXILIARY,
    BRACKETS,
    DETERMINER,
    LEXICAL,
    NOT_AFTER,
    WORD,
)
from elt_llm_consumer.definitions.sentence_places import (
    DefinitionSpans,
    SentencePlace,
)
from elt_llm_consumer.definitions.terms import fold_word

_MOST_CLAUSES = 3  # in front of a subject
_SUBJECT = re.compile(
    rf"(?P<the>{DETERMINER})?[\"\u201c]?(?P<term>{WORD}(?:\s+{WORD}){{0,9}}?)"
    rf"[\"\u201d]?(?P<brackets>(?:{BRACKETS})*)"
    # A verb with a capital is part of a name: "A Root Cause Review".
    rf"(?:,[^,]{{2,60}},)?\s+(?P<verb>(?!(?-i:[A-Z][a-z]))(?:{AUXILIARY}|{LEXICAL}))\b",
    re.IGNORECASE,
)
# "A Privacy Notice tells …": behind an article and a name of several capitalised words
# a word in -s is a verb, whichever it is.
_CAPITAL = r"[A-Z][\w\u2019'/-]*"
_NAME_ACTS = re.compile(
    rf"(?P<the>(?:An?|The|Each|Every)\s+)(?P<term>{_CAPITAL}(?:\s+(?:of\s+)?{_CAPITAL})+)"
    rf"(?P<brackets>(?:{BRACKETS})*)\s+(?P<verb>[a-z]{{2,}}(?<!s)s)\b"
)
_KNOWN_VERB = re.compile(rf"(?:{AUXILIARY}|{LEXICAL})")
_EQUALS = re.compile(
    r"\s+(?:(?:also|generally|usually|typically|often)\s+)?"
    r"(?:(?=(?:an?|the|any|one|those)\s)|defined\s+(?:as|by)\s+|"
    # "is information from which", "are people who": a noun without an article
    r"(?=(?!(?:not|no|never|only)\b)(?:[a-z][a-z-]*\s+){1,2}(?:who|whose|which|(?:by|for|from|in|of|on|to|with)"
    r"\s+(?:which|whom))\s))",
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
_OWNER = re.compile(rf"(?:{WORD}\s+){{0,3}}?[\w-]+['\u2019]s?\s+")


def subject_spans(place: SentencePlace) -> Iterator[DefinitionSpans]:
    """Yield the subject of a sentence as a term, and what is said of it.

    Args:
        place: The sentence.
    """
    sentence = place.text
    for start in _subject_starts(sentence):
        acts = _NAME_ACTS.match(sentence, start)
        if acts is not None and not _KNOWN_VERB.fullmatch(acts["verb"]):
            yield DefinitionSpans(acts.span("term"), (0, len(sentence)), acts["verb"])
            continue
        match = _SUBJECT.match(sentence, start)
        if match is not None and _says(match, sentence):
            yield from _spans_of_subject(match, sentence)


def _subject_starts(sentence: str) -> list[int]:
    """Where the subject may begin: at once, or behind the clauses that open."""
    starts = [0]
    clause = _CLAUSE.match(sentence)
    while clause and len(starts) <= _MOST_CLAUSES:
        starts.append(clause.end())
        clause = _NEXT_CLAUSE.match(sentence, clause.end())
    return starts


def _says(match: re.Match[str], sentence: str) -> bool:
    """Whether the verb is one: "Clerk refer to" is a request, "by means" a noun."""
    verb = " ".join(match["verb"].lower().split())
    if _BARE.fullmatch(verb) and not _is_plural(match["term"]):
        return False
    means = verb.startswith("mean")
    return not (means and NOT_AFTER.match(sentence, match.end()))


def _spans_of_subject(match: re.Match[str], sentence: str) -> Iterator[DefinitionSpans]:
    """The subject, its part before a preposition, and its part behind an owner."""
    verb = " ".join(match["verb"].lower().split())
    meaning = 0, len(sentence)
    equals = _EQUALS.match(sentence, match.end())
    if verb in {"is", "are", "was", "were"} and equals:
        meaning, verb = (equals.end(), len(sentence)), "equals"
    elif _MEANS.fullmatch(verb):
        meaning = match.end() + 1, len(sentence)
    low, high = match.span("term")
    yield DefinitionSpans((low, high), meaning, verb)
    if cut := _PREPOSITION.search(sentence, low, high):
        yield DefinitionSpans((low, cut.start()), meaning, verb)
    if owner := _OWNER.match(sentence, low, high):
        yield DefinitionSpans((owner.end(), high), meaning, verb)


def _is_plural(term: str) -> bool:
    words = term.lower().split()
    return "and" in words or fold_word(words[-1]) != words[-1]

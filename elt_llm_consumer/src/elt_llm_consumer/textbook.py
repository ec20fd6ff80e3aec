"""Definitions in explaining prose: "A ledger is a book that ...", "called a ledger".

Such a sentence is told by cues and not by one connector, so each definition carries a
confidence. In a book of rules these shapes cost precision: the caller decides whether
to ask for them.
"""

import re
from collections.abc import Sequence

from elt_llm_consumer import function_words, patterns
from elt_llm_consumer.heads import cleaned
from elt_llm_consumer.phrases import WORD, fold_word
from elt_llm_consumer.terms import (
    Definition,
    DefinitionSource,
    joined,
    trimmed,
    verbatim,
    without_stop,
)
from elt_llm_consumer.textbook_cues import confidence
from elt_llm_consumer.units import Unit
from elt_llm_query.text import pieces

SURE = 0.7  # of a glossary; about four in five such sentences define
_MOST_WORDS = 5
_SHORTEST = 12
_BEFORE = re.compile(r"[\w'\u2019/-]+(?:\s+[\w'\u2019/-]+)*\s*(?:\([^()]*\)\s*)?$")
# The term follows: "a book of accounts is called a ledger".
_NAMED = re.compile(
    r",?\s+(?:(?:is|are|was|were|be|been)\s+)?(?:also\s+|often\s+|sometimes\s+|usually\s+|"
    r"commonly\s+|now\s+|better\s+|\(\s*)?(?:called|termed|known\s+as|referred\s+to\s+as|"
    r"dubbed)\s+(?:an?\s+|the\s+)?[\"\u201c\u2018]?"
    r"(?P<term>[\w-][\w'\u2019/-]*(?:\s+[\w'\u2019/-]+){0,4}?)"
    r"(?=[\"\u201d\u2019]?\s*(?:[,.;:()]|$|\s(?:which|that|who|because|when|and|or|in|of"
    r"|for|by|from|to|is|are|was|were)\b))",
    re.IGNORECASE,
)
# The term stands before: a verb that equates, a relative clause, an apposition.
_EQUATED = re.compile(
    r"\s+(?:(?:is|are)(?:\s+(?:\w+ly|also|often|defined\s+as))?"
    r"(?=\s+(?:an?|the|any|one|those|\w+s|\w+)\b)|"
    r"refers?\s+to|means|describes?|consists?\s+of|involves?|occurs?\s+when|includes?|"
    r"examines|studies(?!\s+(?:of|in|on|with|for|to|have|has|had|were|was|are|is|\w+ing)\b)|"
    r"states\s+that|denotes?|represents?)\s+",
)
# A verb without its s after a term in the singular is an order: "refer to the list".
_BARE_VERB = re.compile(
    r"\s+(?:refer|describe|consist|involve|include|denote|represent)\b"
)
_APART = re.compile(
    r",\s+(?:which|who)\s+(?:is|are|was|were|means?)\s+|,\s+(?:which|whereby|wherein|"
    r"in\s+which)\s+|,\s+(?=(?:an?|the|any)\s+[\w-]+)|,\s+or\s+|"
    r"\s*:\s+(?=[a-z])|\s*[\u2014\u2013]\s*(?=[a-z])|\s+\((?=(?:an?|the|or)\s|[a-z]+\s)"
)
_CLOSING = re.compile(r"[)\u2014\u2013]")
_OPENING = re.compile(
    r"^(?:[A-Z][^,]{2,60},\s+)?(?:(?:the|an?|each|every|any)\s+)?", re.IGNORECASE
)
_Pair = tuple[tuple[int, int], tuple[int, int]]


def in_textbook(
    text: str, running: Sequence[Unit], least: float = SURE
) -> list[Definition]:
    """What sentences of running text explain, where their cues are `least` or more.

    `named_at` is the span of the term; the definition is the part of the sentence that
    tells what it is. A sentence whose term cannot be placed gives nothing.
    """
    found = []
    for unit in running:
        for piece in pieces(unit.text):
            sentence = unit.text[piece.start : piece.end]
            likely = confidence(sentence)
            pair = located(sentence) if likely >= least else None
            if pair is not None:
                found.append(_made(text, unit, piece.start, pair, likely))
    return found


def located(sentence: str) -> _Pair | None:
    """The spans of the term and of what it means in a sentence, or None."""
    return _named(sentence) or _equated(sentence) or _set_apart(sentence)


def _named(sentence: str) -> _Pair | None:
    for match in _NAMED.finditer(sentence):
        if _is_term(match["term"]) and match.start() >= _SHORTEST:
            return match.span("term"), (0, match.start())
    return None


def _equated(sentence: str) -> _Pair | None:
    match = _EQUATED.search(sentence)
    if match is None:
        return None
    lead = patterns.LEAD.match(sentence)
    opening = _OPENING.match(sentence[lead.end() if lead else 0 :])
    start = (lead.end() if lead else 0) + (opening.end() if opening else 0)
    term = sentence[start : match.start()]
    if _BARE_VERB.match(match.group()) and not _is_several(term):
        return None
    if start >= match.start() or not _is_term(term):
        return None
    return (start, match.start()), (match.end(), len(sentence))


def _set_apart(sentence: str) -> _Pair | None:
    for match in _APART.finditer(sentence):
        start = _term_before(sentence, match.start())
        closing = _CLOSING.search(sentence, match.end())
        end = closing.start() if closing else len(sentence)
        if start is not None and end - match.end() >= _SHORTEST:
            return (start, match.start()), (match.end(), end)
    return None


def _term_before(sentence: str, end: int) -> int | None:
    """Where the last words without a function word before `end` begin."""
    if _BEFORE.search(sentence[:end]) is None:
        return None
    start = None
    words = list(WORD.finditer(sentence[:end]))[-_MOST_WORDS:]
    for word in reversed(words):
        lowered = word.group().lower()
        gap = sentence[word.end() : end if start is None else start]
        if not lowered[0].isalpha() or lowered in _NO_PART or gap.strip(" -("):
            break
        start = word.start()
    return start


_NO_PART = (
    function_words.NOT_FIRST
    | function_words.NOT_LAST
    | function_words.NOT_INSIDE
    | function_words.SMALL
    | function_words.ARTICLES
)


def _is_several(term: str) -> bool:
    """Whether a noun phrase takes a verb in the plural."""
    words = WORD.findall(term.lower())
    return bool(words) and ("and" in words or fold_word(words[-1]) != words[-1])


def _is_term(said: str) -> bool:
    words = [word.group().lower() for word in WORD.finditer(cleaned(said))]
    if not 1 <= len(words) <= _MOST_WORDS or "," in said:
        return False
    if words[0] in function_words.NOT_FIRST | function_words.ADDRESS:
        return False
    return not any(word in function_words.NOT_INSIDE for word in words)


def _made(text: str, unit: Unit, base: int, pair: _Pair, likely: float) -> Definition:
    (start, end), (low, high) = pair
    body = without_stop(unit.text[base + low : base + high])
    placed = unit.spans(base + low, base + low + len(body))
    spans = joined(text, [trimmed(text, *span) for span in placed])
    names = unit.spans(base + start, base + end)
    return Definition(
        term=cleaned(unit.text[base + start : base + end]),
        definition=verbatim(text, spans),
        source=DefinitionSource.TEXTBOOK,
        spans=spans,
        page=unit.page,
        section=unit.section,
        named_at=(names[0][0], names[-1][1]),
        confidence=round(likely, 3),
    )

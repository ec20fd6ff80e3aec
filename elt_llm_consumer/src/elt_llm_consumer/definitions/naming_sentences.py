"""Sentences that name a term beside its meaning.

"... is called a ledger", "... is deemed lost", "a ledger, which is ...", "rest day
(i.e. Sunday)", "Mat: The mat of the timer".
"""

import re
from collections.abc import Iterator

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.patterns import BRACKETS, DETERMINER, WORD
from elt_llm_consumer.definitions.sentence_places import (
    DefinitionSpans,
    SentencePlace,
)
from elt_llm_consumer.definitions.term_forms import clean_term

_SHORTEST = 12  # characters of a meaning: two or three words
_DEEMED = re.compile(
    r"\b(?:is|are|be|been|was|were)\s+(?:also\s+|then\s+)?"
    r"(?:considered|deemed|regarded|treated|recorded|counted)\s+"
    r"(?:as\s+|to\s+(?P<have>have\s+)?(?:be\s+)?)?(?:an?\s+|the\s+)?[\"\u201c]?"
    rf"(?P<term>{WORD}(?:\s+{WORD}){{0,4}}?)"
    r"(?=[\"\u201d]?\s*(?:[,.;:()]|$|\s(?:if|when|only|unless|and|or|as|where|for|by|"
    r"in|with|to|at|because)\b))",
    re.IGNORECASE,
)
# "X and Y are counted separately" says how; "is deemed a monopoly" says what.
_BARE_ADVERB = re.compile(r"(?<!\ba)(?<!\ban)(?<!\bthe)\s[a-z]+ly$")
# "To have vacated office": a participle with its object; "to have a card" has none.
_DONE = re.compile(rf"[a-z]+ed\s+{WORD}")
# "Wear should be considered reasonable if": the term is "reasonable wear".
_HEAD_NOUN = re.compile(
    rf"(?:{DETERMINER})?(?:(?:other|{WORD}['\u2019]s?)\s+)*(?:{WORD}\s+){{0,2}}?"
    rf"(?P<noun>{WORD})\s+(?:other\s+than|that|which|who|is|are|was|were|will|would|"
    r"shall|should|may|must|can|has|have)\b",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r",?\s+(?:(?:is|are|was|were|be)\s+)?(?:also\s+|often\s+|commonly\s+|usually\s+|"
    r"sometimes\s+|informally\s+)?(?:called|termed|known\s+as|referred\s+to\s+as)\s+"
    r"(?:an?\s+|the\s+)?[\"\u201c]?"
    rf"(?P<term>{WORD}(?:\s+{WORD}){{0,4}}?)"
    r"(?=[\"\u201d]?\s*(?:[,.;:()]|$|\s(?:if|when|and|or|as|where|for|by|in|which)\b))",
    re.IGNORECASE,
)
_WE = r"(?:we|I|one|this\s+\w+)"
_WE_MEAN = re.compile(
    rf"\bby\s+(?!which\b|that\b|this\b|it\b)(?:an?\s+|the\s+)?[\"\u201c]?"
    rf"(?P<term>{WORD}(?:\s+{WORD}){{0,4}}?)[\"\u201d]?,?\s+{_WE}\s+"
    r"(?:means?|understands?|refers?\s+to)\b\s*:?",
    re.IGNORECASE,
)
# "This counts as a loss" says what a loss is; "counts as a host of rust" what this is,
# and "count as one round" only counts.
_COUNTS = re.compile(
    r"(?<!not )\bcounts?\s+as\s+an?\s+[\"\u201c]?"
    rf"(?P<term>{WORD}(?:\s+(?!of\b){WORD}){{0,3}}?)[\"\u201d]?"
    r"(?=\s*[.;]?\s*$|,?\s+(?:only\s+)?(?:if|when|once|unless|from)\b)",
    re.IGNORECASE,
)
# "We call this interval the silent bridge": what is called so stands before it.
_WE_CALL_THIS = re.compile(
    rf"\b{_WE}\s+calls?\s+(?:this|these|that|it|them|such)(?:\s+{WORD}){{0,2}}?\s+"
    rf"(?:an?\s+|the\s+|(?=[\"\u201c]))[\"\u201c]?(?P<term>{WORD}(?:\s+{WORD}){{0,3}}?)"
    r"(?=[\"\u201d]?\s*(?:[.;,]|$))",
    re.IGNORECASE,
)
# "We call a "dial photo" a picture on which …", and "We call a picture on which … a
# "dial photo"": quotation marks or bold print tell the name from what it names. One
# also calls a taxi "the evening before", and a doctor for "a **sick note**".
_NAME = (
    rf"(?:an?\s+|the\s+)?(?:\*\*|__|{patterns.QUOTE_OPEN})\s*"
    rf"(?P<term>{WORD}(?:\s+{WORD}){{0,4}})[,;]?(?:\*\*|__|{patterns.QUOTE_CLOSE})"
)
_THING = r"(?P<thing>(?:an?|the|any|every|each|one|those|anyone|anything)\s"
_TIME = (
    r"(?:an?|the|any|every|each|one)\s+(?:\w+\s+){0,2}?(?:seconds?|minutes?|moments?|"
    r"instant|hours?|days?|weeks?|months?|years?|times?|mornings?|afternoons?|evenings?|"
    r"nights?|while)\b(?!\s+(?:at|during|for|in|on)\s+which\b)"
)
_WE_CALL = re.compile(
    rf"\b(?:we|I|one)\s+call(?:s)?\s+{_NAME}\s+(?!{_TIME}){_THING}.+)",
    re.IGNORECASE | re.DOTALL,
)
_WE_CALL_IT = re.compile(
    rf"\b(?:we|I|one)\s+call(?:s)?\s+{_THING}[^;:]{{2,300}}?)\s+{_NAME}"
    r"(?P<end>\s*[.!?]?\s*$)?",
    re.IGNORECASE,
)
# Behind one of these the name is a part of what is called: "a line that says", "for a".
_UNFINISHED = re.compile(
    r".*\s(?:the|an?|each|every|any|all|our|such|this|its|their|some|of|for|at|in|on|"
    r"by|with|from|to|about|into|"
    r"(?:who|that|which|to|not|we|you|they|he|she|it|I|can|could|may|might|must|shall|"
    rf"should|will|would)\s+[a-z]+|{patterns.AUXILIARY}|{patterns.LEXICAL})",
    re.IGNORECASE | re.DOTALL,
)
_MOST_OBJECT_WORDS = 3  # "We call such a boat a "hulk" because …"
# "The rod that turns the drum is called a crank."
_CALLED_A = re.compile(
    r"\S.{12,}\s(?:is|are)\s+(?:called|known\s+as|termed)\s+(?:an?\s+|(?=[\"\u201c]))"
    rf"[\"\u201c]?(?P<term>{WORD}(?:\s+{WORD}){{0,4}}?)[\"\u201d]?\s*[.;]?\s*$",
    re.IGNORECASE | re.DOTALL,
)
# "The term "drum" covers …": of seven such sentences all define.
_TERM_COVERS = re.compile(
    r"(?:(?:the\s+)?(?:term|word|expression|phrase|name)\s+)?[\"\u201c]"
    rf"(?P<term>{WORD}(?:\s+{WORD}){{0,4}}?)[\"\u201d]\s+"
    r"(?:covers|includes|describes|stands\s+for|applies\s+to|denotes)\s",
    re.IGNORECASE,
)
# What follows the term is searched first: few sentences have it, and a term may begin
# at every word.
_GLOSS = re.compile(
    r"(?:\(\s*(?P<inside>(?:i\.e\.|that\s+is)?[^()]{6,300})\)|"
    r",\s*(?:i\.e\.|that\s+is,?)\s+(?P<after>[^.;]{6,200}))"
)
_GLOSSED = re.compile(rf"(?P<term>{WORD}(?:\s+{WORD}){{0,4}})\s*{_GLOSS.pattern}")
_IN_BRACKETS = re.compile(
    r"(?P<meaning>[^(),;:.]{12,160})\s\(\s*[\"\u201c]?(?P<term>[A-Za-z][\w'\u2019/-]*"
    r"(?:\s+[\w'\u2019/-]+){0,3})[\"\u201d]?\s*\)"
)
_ARTICLE = re.compile(r"\b(?:an?|the)\s", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(?:,?\s+(?P<verb>which|whereby|in\s+which|that)\s+(?:is|are|comprises?|consists?"
    rf"|includes?|contains?|means?)\b|,\s+(?P<meant>by\s+which\s+{_WE}\s+means?)\b|,\s+(?P<apposed>defined\s+as|(?=an?\s)))"
)
_WHICH = re.compile(
    rf"(?P<term>{WORD}(?:\s+{WORD}){{0,4}}?)(?P<brackets>{BRACKETS})?{_CLAUSE.pattern}"
)
# No noun phrase has one of these.
_OUTSIDE = (
    patterns.NOT_INSIDE
    | patterns.NOT_FIRST
    | patterns.SMALL
    | patterns.ARTICLES
    | patterns.NOT_LAST
)
_IS = re.compile(r"\b(?:is|are|means?)$", re.IGNORECASE)
_LABELLED = re.compile(
    r"(?P<term>[^\s:.;\[\]][^:.;\n\[\]]{0,70}?)\s*:\s+(?=\S)"
    r"|\[(?P<tag>[^\]\n]{2,40})\]\s+(?=[A-Z])"
)
# Each match of the patterns of `_deemed_spans` and `_called_spans` has one.
_NAMING_MARKS = (
    *("considered", "deemed", "regarded", "treated", "recorded", "count"),
    *("call", "termed", "known", "refer", "mean", "understand"),
)
_QUOTED = re.compile(
    r"[\"\u201c](?P<term>[A-Za-z][\w'\u2019/-]*(?:\s+[\w'\u2019/-]+){0,3})[\"\u201d]"
)


def naming_spans(place: SentencePlace) -> Iterator[DefinitionSpans]:
    """Yield terms that the sentence names behind their meaning, or in quotes.

    Args:
        place: The sentence.
    """
    sentence = place.text
    lowered = sentence.lower()
    if any(mark in lowered for mark in _NAMING_MARKS):
        yield from _deemed_spans(place)
        yield from _called_spans(sentence)
    for match in _QUOTED.finditer(sentence):
        yield DefinitionSpans(match.span("term"), place.whole, "quoted")


def find_call(sentence: str) -> re.Match[str] | None:
    """Return where a sentence says "we call a "ledger" a book that …", with both parts.

    Not where somebody is called by telephone: "a doctor for a **sick note**".

    Args:
        sentence: The words of a sentence; the name must be quoted or bold.
    """
    if match := _WE_CALL.search(sentence):
        return match
    match = _WE_CALL_IT.search(sentence)
    if match is None or _UNFINISHED.fullmatch(match["thing"]):
        return None
    is_object = len(match["thing"].split()) <= _MOST_OBJECT_WORDS
    return match if match["end"] is not None or is_object else None


def names_by_formula(sentence: str, term: str) -> bool:
    """Return whether a sentence names a term in words that serve nothing else.

    "By a leg we mean …", "a leg, by which we mean …", "we call this a leg", "… counts
    as a leg if …". Of some 40 in the written documents all define, one weakly.

    Args:
        sentence: The words of a sentence.
        term: The term as the sentence has it, without an article.
    """
    if re.search(
        rf"{re.escape(term)}[\"\u201d]?,\s+by\s+which\s+{_WE}\s+means?\b", sentence
    ):
        return True
    matches = [
        *(m for p in (_WE_MEAN, _COUNTS, _WE_CALL_THIS) for m in p.finditer(sentence)),
        *filter(None, (_CALLED_A.match(sentence), _TERM_COVERS.match(sentence))),
    ]
    return any(clean_term(match["term"]) == term for match in matches)


def _called_spans(sentence: str) -> Iterator[DefinitionSpans]:
    for match in _CALLED.finditer(sentence):
        if match.start() >= _SHORTEST:
            yield DefinitionSpans(match.span("term"), (0, match.start()), "called")
    if call := find_call(sentence):
        yield DefinitionSpans(call.span("term"), call.span("thing"), "called")
    for match in _WE_CALL_THIS.finditer(sentence):
        yield DefinitionSpans(match.span("term"), (0, len(sentence)), "called")
    for match in _WE_MEAN.finditer(sentence):
        yield DefinitionSpans(
            match.span("term"), (match.start(), len(sentence)), "means"
        )


def _deemed_spans(place: SentencePlace) -> Iterator[DefinitionSpans]:
    sentence = place.text
    for match in _COUNTS.finditer(sentence):
        yield DefinitionSpans(match.span("term"), place.whole, "deemed")
    for match in _DEEMED.finditer(sentence):
        if " " not in match["term"] and _BARE_ADVERB.search(match.group()):
            continue
        if match["have"] and not _DONE.fullmatch(match["term"]):
            continue  # "to have ended" leaves the noun out
        yield DefinitionSpans(match.span("term"), place.whole, "deemed")
        if " " not in match["term"] and (noun := _HEAD_NOUN.match(sentence)):
            name = f"{match['term']} {noun['noun']}"
            yield DefinitionSpans(match.span("term"), place.whole, "deemed noun", name)


def apposition_spans(place: SentencePlace) -> Iterator[DefinitionSpans]:
    """Yield terms with a clause behind them that explains them.

    Args:
        place: The sentence.
    """
    sentence = place.text
    if _CLAUSE.search(sentence) is None:
        return
    for match in _WHICH.finditer(sentence):
        start = _term_start(sentence, match.end("term"))
        if start is None:
            continue
        low = start
        if match["verb"] and _IS.search(match.group()):
            low = match.end() + 1
        elif match["meant"] is not None:
            low = start
        elif match["apposed"] is not None:
            low = match.end()
        yield DefinitionSpans((start, match.end("term")), (low, len(sentence)), "which")


def gloss_spans(place: SentencePlace) -> Iterator[DefinitionSpans]:
    """Yield terms explained in brackets or by "i.e.", and terms in brackets.

    Args:
        place: The sentence.
    """
    sentence = place.text
    for match in _GLOSSED.finditer(sentence) if _GLOSS.search(sentence) else ():
        start = _term_start(sentence, match.end("term"))
        if start is not None:
            verb = "ie" if "i.e." in match.group() else "brackets"
            yield DefinitionSpans(
                (start, match.end("term")), (start, match.end()), verb
            )
    for match in _IN_BRACKETS.finditer(sentence) if "(" in sentence else ():
        if not match["term"].isupper():
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            articles = list(_ARTICLE.finditer(sentence, start, match.end("meaning")))
            low = articles[-1].start() if articles else start
            yield DefinitionSpans(match.span("term"), (low, match.end()), "in brackets")


def label_spans(place: SentencePlace) -> Iterator[DefinitionSpans]:
    """Yield the label in front of a sentence, or the tag between brackets.

    Args:
        place: The sentence.
    """
    match = _LABELLED.match(place.text) if place.number == 0 else None
    if match is not None:
        term = match.span("term") if match["term"] else match.span("tag")
        yield DefinitionSpans(term, (match.end(), len(place.text)), "label")
    tag = re.search(r"\[([^\]]+)\]\s*$", place.mark)
    if tag and place.number == 0:
        back = place.start - len(place.mark)
        at = back + tag.start(1) - place.start
        yield DefinitionSpans((at, at + len(tag[1])), place.whole, "tag")


def _term_start(sentence: str, end: int) -> int | None:
    """Where the noun phrase begins that ends at `end`."""
    words = list(re.finditer(WORD, sentence[:end]))[-5:]
    start = None
    for word in reversed(words):
        gap = sentence[word.end() : end if start is None else start]
        small = word.group().lower()
        if gap.strip() or small in _OUTSIDE:
            break
        start = word.start()
    return start

"""Named features of a candidate that separate definitions from other sentences."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.cues import points
from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_consumer.definitions.proposals import DefinitionProposal, Way
from elt_llm_consumer.definitions.term_windows import describe_window
from elt_llm_consumer.definitions.terms import WORD, fold, fold_word
from elt_llm_consumer.definitions.usage import Usage, heading_names

Features = Mapping[str, float]

# Properties of the sentence a candidate is taken from, in lower case: a pattern that
# ignores case takes several times as long.
_SENTENCE = {
    "sentence: must": re.compile(r"\b(?:must|shall|should)\b"),
    "sentence: may": re.compile(r"\b(?:may|can|could|might)\b"),
    "sentence: not": re.compile(r"\b(?:not|no|never|cannot)\b"),
    "sentence: if": re.compile(r"\b(?:if|when|where|unless|once)\b"),
    "sentence: if opens": re.compile(r"^(?:if|when|where|unless|once)\b"),
    "sentence: points elsewhere": re.compile(
        r"\b(?:see|refer to|described|specified|listed|below|above|following)\b"
    ),
    "sentence: figure": re.compile(r"\d"),
    "sentence: past": re.compile(r"\b(?:was|were|had|has been|have been)\b"),
    "sentence: example": re.compile(r"\be\.g\.|\bexamples?\b|\bsuch as\b"),
    "sentence: ends in a colon": re.compile(r":\s*$"),
    "sentence: address": re.compile(r"\byou(?:r)?\b|\bplease\b|\?\s*$"),
    "sentence: pronoun opens": re.compile(
        r"^(?:it|this|these|they|he|such|that|there)\b"
    ),
    "sentence: small letter opens": re.compile(r"^[a-z]"),
    "sentence: clause opens": re.compile(
        r"^(?:in|on|for|under|during|as|after|before|by|to|with|although|because)\b"
    ),
}
_AS_WRITTEN = frozenset({"sentence: past", "sentence: small letter opens"})
_VERB_CLASSES = {
    "is": "is", "are": "is", "was": "was", "were": "was", "has": "has", "have": "has",
    "must": "must", "shall": "must", "should": "must", "can": "may", "could": "may",
    "may": "may", "might": "may", "will": "will", "would": "will", "equals": "equals",
}  # fmt: skip
_HOLDS = ("consist", "compris", "includ", "contain", "cover")
_MEANS = ("mean", "refer", "denote")
KINDS = (
    "stated",
    "subject equals", "subject is", "subject was", "subject must", "subject may",
    "subject will", "subject has", "subject means", "subject holds", "subject other",
    "named deemed", "named deemed noun", "named called", "named means", "named quoted",
    "apposition", "gloss ie", "gloss brackets", "gloss in brackets", "label label",
    "label tag", "heading names", "heading silent", "mention", "mention opens",
    "acronym",
)  # fmt: skip
_SOURCES = (
    DefinitionSource.TABLE, DefinitionSource.REFERENCE, DefinitionSource.ACRONYM,
)  # fmt: skip
_ARTICLE_OPENS = re.compile(r"\s*(?:an?|the|any|one)\s", re.IGNORECASE)
_FEW, _MANY = 2, 60  # words of a definition
# Of a heading or a term: it could stand in any document.
_ANY_DOCUMENT = re.compile(
    r"(?:others?|notes?|examples?|general|introduction|purpose|scope|contents?|"
    r"references?|summary|overview|background|appendix|annex|table|figure|section|"
    r"part|chapter|article|page|following|item|list|case|number|type|kind|way|time|"
    r"day|year|month|week|person|people|use|information|step|one|first|second)"
)


def kind(candidate: DefinitionProposal) -> str:
    """Return the form that proposed a candidate, one of `KINDS`."""
    way, verb = candidate.way, candidate.verb
    if way is Way.SUBJECT:
        return f"subject {_verb_class(verb)}"
    plain = way in {Way.STATED, Way.APPOSITION, Way.ACRONYM} or not verb
    return str(way) if plain else f"{way} {verb}"


def _verb_class(verb: str) -> str:
    if verb.startswith(_MEANS):
        return "means"
    return "holds" if verb.startswith(_HOLDS) else _VERB_CLASSES.get(verb, "other")


def describe_all(
    candidates: Sequence[DefinitionProposal], usage: Usage
) -> list[Features]:
    """Return the features of every candidate of one document.

    Args:
        candidates: From `find_candidates`.
        usage: How the document uses its words.

    Returns:
        Name to value for each candidate, in order; features that are zero are left out.
    """
    keys = [fold(c.definition.term) for c in candidates]
    starts = [c.at for c in candidates]
    own_kinds = [kind(c) for c in candidates]
    places: dict[str, set[int]] = defaultdict(set)
    kinds: dict[tuple[str, int], set[str]] = defaultdict(set)
    for key, start, own in zip(keys, starts, own_kinds, strict=True):
        places[key].add(start)
        kinds[key, start].add(own)
    firsts = {key: min(those) for key, those in places.items()}
    stated = math.log1p(sum(c.way is Way.STATED for c in candidates))
    rows: list[Features] = []
    for key, start, own, candidate in zip(
        keys, starts, own_kinds, candidates, strict=True
    ):
        row = {f"kind: {own}": 1.0}
        if (source := candidate.definition.source) in _SOURCES:
            row[f"source: {source}"] = 1.0
        # A document that states its definitions defines little by the way.
        row["document: states others"] = stated * (candidate.way is not Way.STATED)
        row |= _of_others(kinds[key, start] - {own})
        row["place: first of the term"] = float(start == firsts[key])
        row["place: one of"] = math.log1p(len(places[key]))
        row |= _of_term(candidate, key, usage)
        row |= _of_sentence(candidate)
        row |= _of_place(candidate, key)
        row |= describe_window(candidate, key)
        row |= _together(row)
        rows.append({name: value for name, value in row.items() if value})
    return rows


def _of_others(others: set[str]) -> dict[str, float]:
    """Return which other forms propose the same term in the same sentence."""
    # Sorted, since the order of a sum changes its last digits.
    row = {f"also: {name.split()[0]}": 1.0 for name in sorted(others)}
    named = sorted(others & {"heading names", "subject equals"})
    return row | {f"also: {name}": 1.0 for name in named}


def _of_term(candidate: DefinitionProposal, key: str, usage: Usage) -> dict[str, float]:
    term, section = candidate.definition.term, candidate.definition.section
    words = term.split()
    uses = usage.uses(term)
    letters = [w for w in words if w[:1].isalpha()]
    names, above = _names_above(section)
    return {
        "term: words": math.log(len(words) or 1),
        "term: one word": float(len(words) == 1),
        "term: capitals": sum(w[0].isupper() for w in letters) / max(len(letters), 1),
        "term: capitals elsewhere": math.log1p(usage.capital_counts[key]),
        "term: short form": float(term.isupper() and " " not in term),
        "term: has another form": float(key in usage.spelt_out),
        "term: uses": math.log1p(uses),
        "term: used once": float(uses <= 1),
        "term: a heading": float(usage.headings[key] > 0),
        "term: its heading": float(key in names),
        "term: in its headings": float(key in above and key not in names),
        "term: quoted": math.log1p(usage.quote_counts[key]),
        "term: figure": float(any(c.isdigit() for c in term)),
        "term: small word inside": float(any(w in patterns.SMALL for w in words)),
        "term: any document": float(_ANY_DOCUMENT.match(key) is not None),
        "term: plural": float(fold_word(term) != term.casefold()),
        "term: ing": float(bool(words) and words[0].lower().endswith("ing")),
        "term: ly or ed": float(key.endswith(("ly", "ed"))),
    }  # fmt: skip


@lru_cache(maxsize=1024)  # the candidates of a section follow each other
def _names_above(section: str) -> tuple[list[str], str]:
    """Return the folded names of the last heading, and all headings as one text."""
    names = [fold(name) for name in heading_names(section.rsplit(" > ", 1)[-1])]
    return names, " ".join(fold(part) for part in section.split(" > "))


def _of_sentence(candidate: DefinitionProposal) -> dict[str, float]:
    definition = candidate.definition.definition
    sentence = candidate.sentence.text if candidate.sentence else definition
    words = WORD.findall(definition)
    spelt_out = candidate.definition.source is DefinitionSource.ACRONYM
    article = _ARTICLE_OPENS.match(definition)
    row = {
        "definition: words": math.log1p(len(words)),
        "definition: one or two words": float(len(words) <= _FEW and not spelt_out),
        "definition: over sixty words": float(len(words) > _MANY),
        "definition: an article opens": float(article is not None),
        "definition: several lines": float("\n\n" in definition),
    }
    return row | _describe_sentence(sentence)


@lru_cache(maxsize=1024)  # a sentence has about six candidates, near each other
def _describe_sentence(sentence: str) -> dict[str, float]:
    lowered = sentence.lower()
    return {
        **{
            name: float(
                pattern.search(sentence if name in _AS_WRITTEN else lowered) is not None
            )
            for name, pattern in _SENTENCE.items()
        },
        "sentence: points of cues": points(sentence),
    }


_PLACE = (
    "place: under definitions", "place: marked as definition", "place: numbered",
    "place: first of its paragraph", "place: first below the heading",
    "place: sentences since the heading", "place: the term opens",
    "place: the term stands in it",
)  # fmt: skip


def _of_place(candidate: DefinitionProposal, key: str) -> dict[str, float]:
    place = candidate.sentence
    if place is None:
        return {}
    folded = fold(place.text)
    values = (
        float(place.unit.defining),
        float("definition" in place.mark.lower()),
        float(bool(place.mark.strip())),
        float(place.number == 0),
        float(place.below == 0),
        math.log1p(place.below),
        float(folded.startswith(key)),
        float(f" {key} " in f" {folded} "),
    )
    return dict(zip(_PLACE, values, strict=True))


# Two features that are stronger together than alone.
TOGETHER = (
    ("kind: heading names", "place: first below the heading"),
    ("kind: heading names", "place: the term opens"),
    ("kind: heading silent", "place: first below the heading"),
    ("kind: subject is", "term: a heading"),
    ("kind: subject equals", "definition: an article opens"),
    ("kind: subject equals", "place: first of the term"),
    ("kind: named deemed", "sentence: if"),
    ("kind: label label", "place: under definitions"),
    ("kind: label label", "definition: an article opens"),
    ("kind: mention", "term: its heading"),
    ("kind: mention", "term: has another form"),
    ("kind: stated", "place: under definitions"),
)


def _together(row: Features) -> dict[str, float]:
    return {
        f"{one} + {two}": row[one] * row[two]
        for one, two in TOGETHER
        if one in row and two in row
    }

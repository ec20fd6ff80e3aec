"""Terms that a text uses like its defined terms but never defines.

A defined term is a kind of thing: besides "the Deposit" a text contains "a Deposit" or
"Deposits". A name of one person, body, place or law only follows "the".
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.definition_records import Excerpt, TextUnit
from elt_llm_consumer.definitions.terms import fold_all, fold_word
from elt_llm_core.records import Record

# Set by judging a hundred rows by hand before and after (measurements/reading.md).
FEWEST_USES = 3
_FEWEST_UNIQUE, _FEWEST_UNIQUE_WORD = 4, 8  # uses of a name that only takes "the"
_MOST_ADJECTIVE = 0.8  # share of uses before a noun: "English" in "an English text"
MOST_PLACES = 10  # listed per term
_MOST_WORDS = 6  # of a term
_WORD = r"[A-Z][\w'\u2019/-]*[a-z][\w'\u2019/-]*"
_SMALL = r"(?:of|and|for|to|in|the)"
# "the Tether Certificate": the determiner tells a term from a person's name. "Rule 3"
# is a place in the text; "Acting" in "the Activity of Acting as" starts a clause.
_CAPITALS = re.compile(
    r"(?<![\w.])(?:(?P<the>[Tt]he)|[Aa]n?|[Aa]ny|[Ee]ach|[Ee]very|[Nn]o|[Ss]uch|"
    r"[Tt]his|[Tt]hat)\s+"
    rf"(?P<term>(?>{_WORD}(?:\s+(?:{_SMALL}\s+){{0,2}}{_WORD})*))"
    r"(?!\s+\(?\d|\s+[A-Z]\b)"
)
_CLAUSE = re.compile(r"\s+(?:of|for)\s+[A-Z]\w+ing\b.*$|\s+[A-Z]\w+ing$", re.DOTALL)
_AFTER_CLAUSE = re.compile(r"\s+(?:an?|the|any|as|in|with|of)\b")
_QUOTED = re.compile(
    r"[\"\u201c](?P<term>[A-Za-z][\w'\u2019/-]*(?:\s+[\w'\u2019/-]+){0,4})[\"\u201d]"
)
_SHORT = re.compile(
    r"(?<![\w(/.&-])(?<![A-Z]\s)(?P<term>[A-Z]{2,6})s?(?![\w)/.&$\u20ac\u00a3-]|\s+[\dA-Z(])"
)
_ROMAN = re.compile(r"[IVXLC]+")
_NEXT = re.compile(r"\s+([a-z]+|[A-Z]{2,})\b|[\"\u201d]\s+([A-Za-z]+)")
_JOINTS = re.compile(r"['\u2019]s?\b|\b(?:and|or|of|in|for|to|by|the|an?)\b|/")
_PARTS = re.compile(
    r"(?:annex|appendix|article|chapter|clause|division|figure|heading|page|paragraph|"
    r"part|rule|rulebook|handbook|schedule|section|table|title|volume)s?"
)
_NAMES = re.compile(
    r" (?:act|agency|association|authority|bank|board|bureau|centre|center|code|"
    r"commission|committee|convention|corporation|council|court|decision|decree|department|"
    r"directive|federation|foundation|government|institute|law|ministry|movement|"
    r"office|ordinance|organi[sz]ation|regulations?|society|statute|treaty|"
    r"tribunal|union|university)(?:\s+(?:of|for|on)\b.*)?$"
)
_LITTLE = patterns.NOT_FIRST | patterns.NOT_LAST | patterns.NOT_INSIDE | patterns.SMALL


class UndefinedTerm(Record):
    """A term, how often it is used, and the first places."""

    term: str
    uses: int = Field(ge=FEWEST_USES)
    document_id: str
    places: tuple[Excerpt, ...] = Field(min_length=1, max_length=MOST_PLACES)


class _Use(NamedTuple):
    term: str
    place: Excerpt
    kind: bool  # one of several things, not the name of one
    adjective: bool  # before a noun: "an English text"


def undefined_terms(
    document_id: str, text: str, units: Sequence[TextUnit], known: Iterable[str]
) -> list[UndefinedTerm]:
    """Return terms used three times or more and not known, most used first.

    Quoted words count, and short forms that the text never spells out. Capitalised
    words count only if a known term is capitalised: otherwise capitals mean nothing in
    this text. A name made of other terms ("Trustee of the Fund") is left out.

    Args:
        document_id: The document, copied to the result.
        text: Its text.
        units: Its running text.
        known: Terms and synonyms that are defined.
    """
    names = [name.strip() for name in known]
    folded = set(fold_all(names))
    capitals = any(name[:1].isupper() for name in names)
    all_uses = [
        use
        for unit in units
        for use in (*_name_uses(text, unit, capitals), *_short_form_uses(text, unit))
    ]
    uses: Mapping[str, list[_Use]] = defaultdict(list)
    for key, use in zip(fold_all([u.term for u in all_uses]), all_uses, strict=True):
        if key not in folded:
            uses[key].append(use)
    likely = {
        key
        for key, those in uses.items()
        if _is_used_like_a_term(key, those) and not _is_spelt_out(text, those[0].term)
    }
    undefined = [
        UndefinedTerm(
            term=min(use.term for use in uses[key]),
            uses=len(uses[key]),
            document_id=document_id,
            places=tuple(use.place for use in uses[key][:MOST_PLACES]),
        )
        for key in sorted(likely)
        if not _is_made_of(uses[key][0].term, folded | likely - {key})
    ]
    return sorted(undefined, key=lambda one: (-one.uses, one.term))


def _is_used_like_a_term(name: str, uses: Sequence[_Use]) -> bool:
    if len(uses) < FEWEST_USES or _PARTS.fullmatch(name):
        return False
    word = " " not in name
    before_nouns = sum(use.adjective for use in uses)
    if word and before_nouns > _MOST_ADJECTIVE * len(uses):
        return False
    fewest = _FEWEST_UNIQUE_WORD if word else _FEWEST_UNIQUE
    named_once = len(uses) >= fewest and _NAMES.search(name) is None
    return named_once or any(use.kind for use in uses)


def _is_spelt_out(text: str, term: str) -> bool:
    """Whether capitals are spelt out in brackets somewhere, or an ordinary word."""
    if not term.isupper():
        return False
    shapes = (
        rf"\(\W?{term}s?\W?\)",
        rf"\b{term}\s\((?=[A-Za-z])",
        rf"\b(?:{term.lower()}|{term.title()})\b",
    )
    return any(re.search(shape, text) for shape in shapes)


def _is_made_of(name: str, terms: set[str]) -> bool:
    """Whether a name consists of other terms and small words only."""
    parts = [part.strip() for part in _JOINTS.split(name) if part.strip()]
    return len(parts) > 1 and set(fold_all(parts)) <= terms


def _name_uses(text: str, unit: TextUnit, capitals: bool) -> Iterator[_Use]:
    for pattern in (_CAPITALS, _QUOTED) if capitals else (_QUOTED,):
        for match in pattern.finditer(unit.text):
            name, end = match["term"], match.end("term")
            clause = _CLAUSE.search(name)
            if clause and (" of " in name or _AFTER_CLAUSE.match(unit.text, end)):
                name, end = name[: clause.start()], match.start("term") + clause.start()
            term = " ".join(name.split())
            if _can_be_term(term):
                before_noun = _before_noun(unit.text, end)
                unique = pattern is _CAPITALS and (match["the"] or before_noun)
                kind = not unique or _is_plural(term)
                for place in _excerpts(text, unit, match.start("term"), end):
                    yield _Use(term, place, kind, before_noun)


def _before_noun(text: str, end: int) -> bool:
    following = _NEXT.match(text, end)
    word = following[1] or following[2] if following else ""
    return bool(word) and word.lower() not in _LITTLE


def _short_form_uses(text: str, unit: TextUnit) -> Iterator[_Use]:
    """Two to six capitals that are neither a Roman number nor a small word."""
    for match in _SHORT.finditer(unit.text):
        term = match["term"]
        if not _ROMAN.fullmatch(term) and term.lower() not in _LITTLE:
            for place in _excerpts(text, unit, *match.span("term")):
                yield _Use(term, place, kind=True, adjective=False)


def _excerpts(text: str, unit: TextUnit, start: int, end: int) -> Iterator[Excerpt]:
    for low, high in unit.spans(start, end)[:1]:
        yield Excerpt(
            text=text[low:high], start=low, end=high,
            page=unit.page, section=unit.section,
        )  # fmt: skip


def _is_plural(term: str) -> bool:
    last = term.rsplit(maxsplit=1)[-1]
    return fold_word(last) != last.casefold()


def _can_be_term(name: str) -> bool:
    words = name.lower().split()
    return 0 < len(words) <= _MOST_WORDS and not (
        words[0] in patterns.NOT_FIRST or words[-1] in patterns.NOT_LAST
    )

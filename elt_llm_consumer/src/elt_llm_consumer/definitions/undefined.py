"""Terms that a text uses as it uses its defined terms, and never defines.

A defined term is a kind of thing: besides "the Deposit" a text says "a Deposit" or
"Deposits". A name of one person, body, place or law only takes "the".
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from elt_llm_consumer.definitions import function_words
from elt_llm_consumer.definitions.names import clean, fold, fold_word
from elt_llm_consumer.definitions.paragraphs import Unit
from elt_llm_consumer.definitions.records import Place
from elt_llm_core.records import Record

FEWEST_USES, MOST_PLACES, MOST_WORDS = 3, 10, 6
_FEWEST_UNIQUE, _FEWEST_UNIQUE_WORD = 4, 8  # uses where it only takes "the"
_MOST_ADJECTIVE = 0.8
_WORD = r"[A-Z][\w'\u2019/-]*[a-z][\w'\u2019/-]*"
_SMALL = r"(?:of|and|for|to|in|the)"
# "the Tether Certificate": a determiner before it tells a term from a person's name.
# "Rule 3" is a place in the text, "Acting" in "the Activity of Acting as" a clause.
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
_LITTLE = (
    function_words.NOT_FIRST
    | function_words.NOT_LAST
    | function_words.NOT_INSIDE
    | function_words.SMALL
)


class UndefinedTerm(Record):
    """A term, how often it is used, and the first places."""

    term: str
    uses: int = Field(ge=FEWEST_USES)
    document_id: str
    places: tuple[Place, ...] = Field(min_length=1, max_length=MOST_PLACES)


class _Use(NamedTuple):
    said: str
    place: Place
    kind: bool  # of several things, not the name of one
    adjective: bool  # before a noun: "an English text"


def undefined_terms(
    document_id: str, text: str, running: Sequence[Unit], known: Iterable[str]
) -> list[UndefinedTerm]:
    """Names used three times or more like terms, and not in `known`.

    Most used first, then by name. `known` are terms and synonyms, folded here. Quoted
    words count, and short forms that the text never spells out; capitals only where a
    term in `known` has them: else they mean nothing here. A name made of other terms
    ("Trustee of the Fund") is left out.
    """
    names = [clean(name) for name in known]
    folded = {fold(name) for name in names}
    capitals = any(name[:1].isupper() for name in names)
    uses: Mapping[str, list[_Use]] = defaultdict(list)
    for unit in running:
        for use in (*_named(text, unit, capitals), *_short_forms(text, unit)):
            if fold(use.said) not in folded:
                uses[fold(use.said)].append(use)
    likely = {
        name
        for name, those in uses.items()
        if _like_a_term(name, those) and not _spelt_out(text, those[0].said)
    }
    found = [
        UndefinedTerm(
            term=min(use.said for use in uses[name]),
            uses=len(uses[name]),
            document_id=document_id,
            places=tuple(use.place for use in uses[name][:MOST_PLACES]),
        )
        for name in sorted(likely)
        if not _made_of(uses[name][0].said, folded | likely - {name})
    ]
    return sorted(found, key=lambda one: (-one.uses, one.term))


def _like_a_term(name: str, uses: Sequence[_Use]) -> bool:
    if len(uses) < FEWEST_USES or _PARTS.fullmatch(name):
        return False
    word = " " not in name
    before_nouns = sum(use.adjective for use in uses)
    if word and before_nouns > _MOST_ADJECTIVE * len(uses):
        return False
    fewest = _FEWEST_UNIQUE_WORD if word else _FEWEST_UNIQUE
    named_once = len(uses) >= fewest and _NAMES.search(name) is None
    return named_once or any(use.kind for use in uses)


def _spelt_out(text: str, said: str) -> bool:
    """Whether capitals are a short form in brackets somewhere, or an ordinary word."""
    if not said.isupper():
        return False
    shapes = (
        rf"\(\W?{said}s?\W?\)",
        rf"\b{said}\s\((?=[A-Za-z])",
        rf"\b(?:{said.lower()}|{said.title()})\b",
    )
    return any(re.search(shape, text) for shape in shapes)


def _made_of(said: str, terms: set[str]) -> bool:
    """Whether nothing but other terms and small words make up a name."""
    parts = [part.strip() for part in _JOINTS.split(said) if part.strip()]
    return len(parts) > 1 and all(fold(part) in terms for part in parts)


def _named(text: str, unit: Unit, capitals: bool) -> Iterator[_Use]:
    for pattern in (_CAPITALS, _QUOTED) if capitals else (_QUOTED,):
        for match in pattern.finditer(unit.text):
            said, end = match["term"], match.end("term")
            clause = _CLAUSE.search(said)
            if clause and (" of " in said or _AFTER_CLAUSE.match(unit.text, end)):
                said, end = said[: clause.start()], match.start("term") + clause.start()
            term = clean(said)
            if _can_be_term(term):
                before_noun = _before_noun(unit.text, end)
                unique = pattern is _CAPITALS and (match["the"] or before_noun)
                kind = not unique or _is_plural(term)
                for place in _places(text, unit, match.start("term"), end):
                    yield _Use(term, place, kind, before_noun)


def _before_noun(text: str, end: int) -> bool:
    following = _NEXT.match(text, end)
    word = following[1] or following[2] if following else ""
    return bool(word) and word.lower() not in _LITTLE


def _short_forms(text: str, unit: Unit) -> Iterator[_Use]:
    """Two to six capitals that are no number and no small word."""
    for match in _SHORT.finditer(unit.text):
        said = match["term"]
        if not _ROMAN.fullmatch(said) and said.lower() not in _LITTLE:
            for place in _places(text, unit, *match.span("term")):
                yield _Use(said, place, kind=True, adjective=False)


def _places(text: str, unit: Unit, start: int, end: int) -> Iterator[Place]:
    for low, high in unit.spans(start, end)[:1]:
        yield Place(
            text=text[low:high], start=low, end=high,
            page=unit.page, section=unit.section,
        )  # fmt: skip


def _is_plural(term: str) -> bool:
    last = term.rsplit(maxsplit=1)[-1]
    return fold_word(last) != last.casefold()


def _can_be_term(said: str) -> bool:
    words = said.lower().split()
    return 0 < len(words) <= MOST_WORDS and not (
        words[0] in function_words.NOT_FIRST or words[-1] in function_words.NOT_LAST
    )

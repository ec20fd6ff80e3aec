"""The content words of a claim and of a passage, with their roles.

A word is compared by its stem, a number by its digits, and a guard ("not", "must", "at
least") by its class of equivalent words. Stop words are left out.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from itertools import chain, zip_longest
from typing import NamedTuple

from elt_llm_query.analysis.foreign_guards import (
    UNKNOWN,
    Languages,
    guard_words,
    number_words,
)
from elt_llm_query.analysis.lexicon import (
    EXEMPT,
    GUARD_CLASSES,
    IRREGULAR,
    MONTHS,
    NUMBER_WORDS,
    PARAPHRASES,
    PROVIDED,
    REPORTING,
    STOP_WORDS,
)
from elt_llm_query.analysis.normalise import normal_text
from elt_llm_query.analysis.quantities import join_number_words, plain_number
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import ROOT_LENGTH, same_root, synonyms
from elt_llm_query.grounding.claim_phrases import unify_phrases

_ENGLISH_GUARDS = {word: name for name, ring in GUARD_CLASSES.items() for word in ring}
_VERDICT = re.compile(r"^\W*(?:yes|no)\b(?=\W*[,:;.\u2013\u2014-])", re.IGNORECASE)
_TOKEN = re.compile(
    r"[-+]?\d+(?:[.,:/]\d+)*|[%\u2030\u00b0$\u20ac\u00a3\u00a5<>=\u2264\u2265\u00b1]"
    r"|[^\W\d_]+(?:'[^\W\d_]+)*|[^\W_]+"
)
_ONLY_SPACE = re.compile(r"[ -]?")
# Stop words elsewhere, but "almost" and "nearly" negate.
_TELLING = frozenset({"also", "get", "above", "below", "almost", "nearly"})
_CONNECTIVES = frozenset(
    [
        "however",
        "moreover",
        "furthermore",
        "additionally",
        "although",
        "though",
        "while",
        "whereas",
        "thus",
        "hence",
        "still",
        "already",
        "respectively",
        "various",
    ]
)
_CLAUSE_END = re.compile(r"[,;:.()]")
_SENTENCE_END = re.compile(
    r"[;.]\s|[,;]\s+(?:and|but)\b|\band\s+(?:is|are|was|were|has|have)\b"
)
_DEFINITE = re.compile(
    r"\b(?:the|this|that|these|those|such|its|their|his|her|our|your|my|it)\b"
)
# Words before a further item, an example, or a further verb of a "must".
_JOIN = re.compile(
    r"\b(?:and|or|but|nor|such as|including|for example)\b|[;:&/]|\(\w\)"
)
_BEFORE_VERB = re.compile(r"[,;:(]\W*$|\b(?:and|or|then|please)\W*$")
# A semicolon, or a comma and a conjunction, ends what the words before it are about.
_PART_END = re.compile(r";|,\s*(?:but|while|whereas|although|though)\b")
_AND_OR = re.compile(r"\W*(and|or)\W*(?:(?:the|an?|its|their|his|her)\b\W*)?")
_ARTICLE = re.compile(r"\b(?:the|an?|this|that|these|those|its|their|his|her)\W*$")
_PRONOUN = re.compile(r"\b(?:it|they|them|he|him|she|her|its|their)\b")
_CONTRAST = re.compile(
    r"[,;]\s*(?:but|whereas|while|although|though)\s+(?:the|an?|all|each|every|any)\b"
)
_HAS_TO = re.compile(r"\b(?:have|need|required|obliged) to\b", re.IGNORECASE)
_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")
_NUMBERING = re.compile(r"^\W*\d+(?:\.\d+)+\.?\s")
_WRITTEN = {EXEMPT: "need not", PROVIDED: "provided that"}
_ROOT = 6  # minimum length of a stem whose other forms count


class WordRole(StrEnum):
    """The role of a word in a claim."""

    WORD = "word"
    NUMBER = "number"
    NAME = "name"
    GUARD = "guard"


@dataclass(frozen=True)
class Token:
    """A content word of a text: as written, its key for comparison, and its role.

    `attached` is true if only a space, or nothing, separates it from the next one,
    `closes` if a comma, a bracket or a stop precedes the next one, `joins` if an "and"
    or the like, or a list mark does. `definite` is true after "the" or the like,
    `opens` at the beginning of a clause without a subject before it: "If it leaks,
    close the valve". `refers` is true if a pronoun precedes the next one, `turns` if a
    "but" with its own subject does, `ends` if a semicolon or ", and" does. `parts` is
    true if a semicolon or ", but" precedes the next one, `article` if an article does,
    and `link` is the "and" or "or" that alone separates it from the next one.
    """

    written: str
    key: str
    role: WordRole
    attached: bool = False
    closes: bool = False
    joins: bool = False
    definite: bool = False
    opens: bool = False
    refers: bool = False
    turns: bool = False
    ends: bool = False
    parts: bool = False
    article: bool = False
    link: str = ""

    @property
    def is_year(self) -> bool:
        """True for a number that is written as a year is."""
        return self.role is WordRole.NUMBER and bool(_YEAR.fullmatch(self.written))


class PassageWords:
    """The content words of some sentences, in order, with their places."""

    def __init__(
        self, sentences: Iterable[str], languages: Languages = UNKNOWN
    ) -> None:
        read = (read_sentence(sentence, languages) for sentence in sentences)
        self.tokens = tuple(chain.from_iterable(read))

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Return the places of each key."""
        places: dict[str, list[int]] = {}
        for place, token in enumerate(self.tokens):
            places.setdefault(token.key, []).append(place)
        return places

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        keys: dict[str, list[str]] = {}
        for key in self.places:
            keys.setdefault(key[:ROOT_LENGTH], []).append(key)
        return keys

    def find(self, token: Token) -> list[int]:
        """Return the places of a word, its synonyms and words with the same root."""
        exact = self.places.get(token.key, [])
        if exact or token.role is not WordRole.WORD:
            return exact
        keys = [key for key in _other_words(token.key) if key in self.places]
        if not keys and len(token.key) >= _ROOT:
            near = self._by_beginning.get(token.key[:ROOT_LENGTH], ())
            keys = [key for key in near if same_root(token.key, key)]
        return sorted(
            place
            for key in keys
            for place in self.places[key]
            if _is_patient(self.tokens[place].written) == _is_patient(token.written)
        )


@lru_cache(maxsize=8192)
def read_sentence(text: str, languages: Languages = UNKNOWN) -> tuple[Token, ...]:
    """Return the content words of a sentence of a source, in order."""
    return tuple(_tokens(text, frozenset(), languages))


@lru_cache(maxsize=8192)
def read_passage(text: str, languages: Languages = UNKNOWN) -> PassageWords:
    """Return one text as a passage; the same object for the same text."""
    return PassageWords((text,), languages)


@lru_cache(maxsize=2048)
def read_claim(claim: str, languages: Languages = UNKNOWN) -> tuple[Token, ...]:
    """Return the content words of a claim, without a leading "Yes,".

    Args:
        claim: One statement.
        languages: Those whose guards count, which are the same for its passage.
    """
    names = frozenset(
        m[0].lower()
        for m in re.finditer(
            r"(?<=[^.!?:\"\u201c] )[A-Z][\w-]*|\b[A-Z]{2,}\w*|\b\w*\d\w*", claim
        )
    )
    return tuple(_tokens(_VERDICT.sub("", claim), names, languages))


@cache
def _other_words(key: str) -> frozenset[str]:
    """Return the stems that may replace one in a paraphrase."""
    rings = [frozenset(map(stem, ring)) for ring in PARAPHRASES]
    return synonyms(key).union(*(ring for ring in rings if key in ring)) - {key}


def _is_patient(word: str) -> bool:
    """Return whether a word names the target of an action: "payee", not "payer"."""
    bare = word.removesuffix("'s").removesuffix("s")
    return bare.endswith("ee") and len(bare) > len("free")


def without_numbering(sentence: str, claim: str) -> str:
    """Return a sentence without its rule number, unless the claim names a rule."""
    number = _NUMBERING.match(sentence)
    named = number is not None and number[0].strip() in claim
    return sentence if number is None or named else sentence[number.end() :]


def split_modal(question: str) -> tuple[str, str]:
    """Return the class of the modal of a question, and the question without it.

    It begins with the modal, or asks whether somebody has to do something.
    """
    if _HAS_TO.search(question):
        return "must", _HAS_TO.sub("", question)
    first, _, rest = question.strip().partition(" ")
    name = _class_of(first.lower(), UNKNOWN)
    return (name, rest) if name else ("", question)


def content_words(claim: str, languages: Languages = UNKNOWN) -> int:
    """Return the number of content words, without guards and reporting words."""
    return sum(
        token.role is not WordRole.GUARD and token.written not in REPORTING
        for token in read_claim(claim, languages)
    )


def needed_words(
    claim: str, context: str, languages: Languages = UNKNOWN
) -> frozenset[int]:
    """Return the places of the claim's words that only a passage can prove.

    Guards, reporting words and words of the `context` are left out.
    """
    known = read_passage(context, languages).places
    return frozenset(
        i
        for i, token in enumerate(read_claim(claim, languages))
        if token.role is WordRole.NUMBER
        or (
            token.role is not WordRole.GUARD
            and token.key not in known
            and (token.role is WordRole.NAME or token.written not in REPORTING)
        )
    )


def covered_words(
    claim: str, sentence: str, languages: Languages = UNKNOWN
) -> frozenset[int]:
    """Return the places of the claim's content words that a sentence contains.

    Guards are left out: a "not" in both does not make a sentence more similar.
    """
    held = read_passage(sentence, languages)
    return frozenset(
        i
        for i, token in enumerate(read_claim(claim, languages))
        if token.role is not WordRole.GUARD and held.find(token)
    )


def _tokens(text: str, names: frozenset[str], languages: Languages) -> Iterator[Token]:
    plain = unify_phrases(join_number_words(normal_text(text)))
    words = [
        (word, *_classify(word[0].removesuffix("'s"), names, languages))
        for word in _TOKEN.finditer(plain)
    ]
    content = [(word, key, role) for word, key, role in words if key]
    before = _read_gap(plain[: content[0][0].start()] if content else "")
    opens = True
    for (word, key, role), after in zip_longest(content, content[1:]):
        gap = _read_gap(plain[word.end() : after[0].start()] if after else ".")
        yield Token(
            _WRITTEN.get(key, word[0]),
            key,
            role,
            attached=gap.attached,
            closes=gap.closes,
            joins=gap.joins,
            definite=before.definite,
            opens=opens,
            refers=gap.refers,
            turns=gap.turns,
            ends=gap.ends,
            parts=gap.parts,
            article=gap.article,
            link=gap.link,
        )
        before = gap
        # "Never open", "do not open": the verb opens the clause too.
        opens = gap.opens or (opens and key == "not")


class _Gap(NamedTuple):
    """What the characters between two content words mean; see `Token`."""

    attached: bool
    closes: bool
    joins: bool
    definite: bool
    opens: bool
    refers: bool
    turns: bool
    ends: bool
    parts: bool
    article: bool
    link: str


@lru_cache(maxsize=4096)  # nearly all are a space or a few stop words
def _read_gap(gap: str) -> _Gap:
    return _Gap(
        attached=_ONLY_SPACE.fullmatch(gap) is not None,
        closes=_CLAUSE_END.search(gap) is not None,
        joins=_JOIN.search(gap) is not None,
        definite=_DEFINITE.search(gap) is not None,
        opens=_BEFORE_VERB.search(gap) is not None,
        refers=_PRONOUN.search(gap) is not None,
        turns=_CONTRAST.search(gap) is not None,
        ends=_SENTENCE_END.search(gap) is not None,
        parts=_PART_END.search(gap) is not None,
        article=_ARTICLE.search(gap) is not None,
        link=link[1] if (link := _AND_OR.fullmatch(gap)) else "",
    )


def _class_of(word: str, languages: Languages) -> str:
    """Return the class of a guard, or an empty string."""
    return _ENGLISH_GUARDS.get(word) or guard_words(languages).get(word, "")


def _classify(
    word: str, names: frozenset[str], languages: Languages
) -> tuple[str, WordRole]:
    """Return the key and role of a lower-case word; no key for a stop word."""
    if word in NUMBER_WORDS or word[-1].isdigit():
        return plain_number(word), WordRole.NUMBER
    if number := number_words(languages).get(word):
        return number, WordRole.NUMBER
    if guard := _class_of(word, languages):
        return guard, WordRole.GUARD
    if word in _CONNECTIVES or (word in STOP_WORDS and word not in _TELLING):
        return "", WordRole.WORD
    name = word in names or word in MONTHS
    return stem(IRREGULAR.get(word, word)), WordRole.NAME if name else WordRole.WORD


def are_alike(one: str, other: str) -> bool:
    """Return whether two stems are listed synonyms or have the same root."""
    return other in _other_words(one) or (len(one) >= _ROOT and same_root(one, other))

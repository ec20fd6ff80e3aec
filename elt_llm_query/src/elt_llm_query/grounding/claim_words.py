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

from elt_llm_query.analysis.lexicon import (
    GUARD_CLASSES,
    IRREGULAR,
    LOWER_PHRASES,
    MONTHS,
    NUMBER_WORDS,
    PARAPHRASES,
    REPORTING,
    STOP_WORDS,
    UPPER_PHRASES,
)
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.analysis.quantities import join_number_words, plain_number
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import ROOT_LENGTH, phrases, same_root, synonyms

_CLASS_OF = {word: name for name, ring in GUARD_CLASSES.items() for word in ring}
_BOUNDS = (
    (re.compile(rf"\b(?:{phrases(UPPER_PHRASES)})\b"), " maximum "),
    (re.compile(rf"\b(?:{phrases(LOWER_PHRASES)})\b"), " minimum "),
)
# "80 percent at most" is read as "at most 80 percent".
_AFTER_NUMBER = (
    (re.compile(r"(\d[\d.,]*(?: ?%| [a-z]+)?) at (?:the )?most\b"), r" maximum \1"),
    (re.compile(r"(\d[\d.,]*(?: ?%| [a-z]+)?) at (?:the )?least\b"), r" minimum \1"),
    # Elsewhere "over" and "under" denote a place.
    (re.compile(r"\b(?:over|above)(?= \d)"), " more "),
    (re.compile(r"\b(?:under|below)(?= \d)"), " less "),
)
_COUNTED = rf"(?:\d[\d.,]*|{'|'.join(NUMBER_WORDS)})"
_TIME = r"(?:\w+ )?(?:minute|hour|day|week|month|year)s?"
_ABOVE = "(?:more|longer|older|greater|higher|above|over)"
_BELOW = "(?:less|fewer|shorter|younger|smaller|lower|below|under)"
_OF_NOUN = "(?:the|an?|that|this|such|his|her|its|their)"
_PHRASES = (
    (re.compile(r"\bcan\s?not\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\bprior to\b"), "before"),
    (re.compile(rf"\bpreceding(?= {_OF_NOUN}\b)"), "before"),
    (re.compile(rf"\bfollowing(?= {_OF_NOUN}\b)"), "after"),
    (re.compile(r"\b(?:have|has|need|needs) to\b"), "must"),
    (re.compile(r"\bper ?cent\b"), "%"),
    (re.compile(r"\b(?:is|are) (?:recommended|advised) to\b"), "should"),
    (re.compile(r"\b(?:is|are) (?:required|obliged) to\b"), "must"),
    (re.compile(r"\bby no means\b|\b(?:in|at|under) no \w+\b(?=\W)"), " not "),
    # "No kite may be launched": "a kite may not be launched"
    (
        re.compile(
            r"\b(?:no ((?!more|less|later)\w+(?: \w+)?)|(?:no one|nobody))"
            r" (may|shall|can|must|will)\b"
        ),
        r"\1 \2 not",
    ),
    (re.compile(r"\b(not|never|no|neither)\b([^.;]*?),? nor\b"), r"\1\2 or"),
    (re.compile(r"\bother than\b"), "except"),
    (re.compile(r"\bhow many\b"), "the number of"),
    (re.compile(r"\bhow much\b"), "the amount of"),
    (re.compile(r"\bin order to\b"), "to"),
    (re.compile(r"\byears old\b"), "years of age"),
    (re.compile(rf"\b(within {_COUNTED} {_TIME}) of\b"), r"\1 after"),
    (re.compile(rf"\b({_COUNTED}(?: {_TIME})?) or {_ABOVE}\b"), r" minimum \1"),
    (re.compile(rf"\b({_COUNTED}(?: {_TIME})?) or {_BELOW}\b"), r" maximum \1"),
)
_VERDICT = re.compile(r"^\W*(?:yes|no)\b(?=\W*[,:;.\u2013\u2014-])", re.IGNORECASE)
_TOKEN = re.compile(
    r"[-+]?\d+(?:[.,:/]\d+)*|[%\u2030\u00b0$\u20ac\u00a3\u00a5<>=\u2264\u2265\u00b1]"
    r"|[^\W\d_]+(?:'[^\W\d_]+)*|[^\W_]+"
)
_ONLY_SPACE = re.compile(r"[ -]?")
# Stop words elsewhere, but "almost" and "nearly" negate.
_TELLING = frozenset({"also", "get", "above", "below", "almost", "nearly"})
_CONNECTIVES = frozenset({"however", "moreover", "furthermore", "additionally"})
_CLAUSE_END = re.compile(r"[,;:.()]")
_DEFINITE = re.compile(
    r"\b(?:the|this|that|these|those|such|its|their|his|her|our|your|my|it)\b"
)
# Words before a further item, an example, or a further verb of a "must".
_JOIN = re.compile(
    r"\b(?:and|or|but|nor|such as|including|for example)\b|[;:&/]|\(\w\)"
)
_BEFORE_VERB = re.compile(r"[,;:(]\W*$|\b(?:and|or|then|please)\W*$")
_PRONOUN = re.compile(r"\b(?:it|they|he|she|its|their)\b")
_CONTRAST = re.compile(
    r"[,;]\s*(?:but|whereas|while|although|though)\s+(?:the|an?|all|each|every|any)\b"
)
_NUMBERING = re.compile(r"^\W*\d+(?:\.\d+)+\.?\s")
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
    "but" with its own subject does.
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


class PassageWords:
    """The content words of some sentences, in order, with their places."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.tokens = tuple(chain.from_iterable(map(read_sentence, sentences)))

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
def read_sentence(text: str) -> tuple[Token, ...]:
    """Return the content words of a sentence of a source, in order."""
    return tuple(_tokens(text, frozenset()))


@lru_cache(maxsize=8192)
def read_passage(text: str) -> PassageWords:
    """Return one text as a passage; the same object for the same text."""
    return PassageWords((text,))


@lru_cache(maxsize=2048)
def read_claim(claim: str) -> tuple[Token, ...]:
    """Return the content words of a claim, without a leading "Yes,"."""
    names = frozenset(
        m[0].lower()
        for m in re.finditer(
            r"(?<=[^.!?:\"\u201c] )[A-Z][\w-]*|\b[A-Z]{2,}\w*|\b\w*\d\w*", claim
        )
    )
    return tuple(_tokens(_VERDICT.sub("", claim), names))


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
    """Return the class of the modal that a question begins with, and the rest."""
    first, _, rest = question.strip().partition(" ")
    name = _CLASS_OF.get(first.lower(), "")
    return (name, rest) if name else ("", question)


def content_words(claim: str) -> int:
    """Return the number of content words, without guards and reporting words."""
    return sum(
        token.role is not WordRole.GUARD and token.written not in REPORTING
        for token in read_claim(claim)
    )


def needed_words(claim: str, context: str) -> frozenset[int]:
    """Return the places of the claim's words that only a passage can prove.

    Guards, reporting words and words of the `context` are left out.
    """
    known = read_passage(context).places
    return frozenset(
        i
        for i, token in enumerate(read_claim(claim))
        if token.role is WordRole.NUMBER
        or (
            token.role is not WordRole.GUARD
            and token.key not in known
            and (token.role is WordRole.NAME or token.written not in REPORTING)
        )
    )


def covered_words(claim: str, sentence: str) -> frozenset[int]:
    """Return the places of the claim's content words that a sentence contains.

    Guards are left out: a "not" in both does not make a sentence more similar.
    """
    held = read_passage(sentence)
    return frozenset(
        i
        for i, token in enumerate(read_claim(claim))
        if token.role is not WordRole.GUARD and held.find(token)
    )


def _tokens(text: str, names: frozenset[str]) -> Iterator[Token]:
    plain = join_number_words(normalise(text).text)
    for pattern, by in (*_AFTER_NUMBER, *_BOUNDS, *_PHRASES):
        plain = pattern.sub(by, plain)
    words = [
        (word, *_classify(word[0].removesuffix("'s"), names))
        for word in _TOKEN.finditer(plain)
    ]
    content = [(word, key, role) for word, key, role in words if key]
    before = plain[: content[0][0].start()] if content else ""
    opens = True
    for (word, key, role), after in zip_longest(content, content[1:]):
        gap = plain[word.end() : after[0].start()] if after else "."
        yield Token(
            word[0],
            key,
            role,
            attached=bool(_ONLY_SPACE.fullmatch(gap)),
            closes=bool(_CLAUSE_END.search(gap)),
            joins=bool(_JOIN.search(gap)),
            definite=bool(_DEFINITE.search(before)),
            opens=opens,
            refers=bool(_PRONOUN.search(gap)),
            turns=bool(_CONTRAST.search(gap)),
        )
        before = gap
        # "Never open", "do not open": the verb opens the clause too.
        opens = bool(_BEFORE_VERB.search(gap)) or (opens and key == "not")


def _classify(word: str, names: frozenset[str]) -> tuple[str, WordRole]:
    """Return the key and role of a lower-case word; no key for a stop word."""
    if word in NUMBER_WORDS or word[-1].isdigit():
        return plain_number(word), WordRole.NUMBER
    if word in _CLASS_OF:
        return _CLASS_OF[word], WordRole.GUARD
    if word in _CONNECTIVES or (word in STOP_WORDS and word not in _TELLING):
        return "", WordRole.WORD
    name = word in names or word in MONTHS
    return stem(IRREGULAR.get(word, word)), WordRole.NAME if name else WordRole.WORD


def are_alike(one: str, other: str) -> bool:
    """Return whether two stems are listed synonyms or have the same root."""
    return other in _other_words(one) or (len(one) >= _ROOT and same_root(one, other))

"""Find the negated words of a text: "not insured", "without a licence", "unpaid".

A negation of the verb only ("pays no deposit", "may not vote") leaves the following
words open: such a sentence still answers questions about them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple, Protocol

from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    COMMON,
    DENIALS,
    EXCEPTIONS,
    LACKS,
    LOWER_PHRASES,
    NEGATIVE_PREFIXES,
    RELATIVES,
    STOP_WORDS,
    SUBORDINATORS,
    UPPER_PHRASES,
)
from elt_llm_query.analysis.stems import WORD, stem
from elt_llm_query.analysis.term_match import alike, may_contain, phrases, stems_match


class Sign(StrEnum):
    """Whether a word is affirmed, negated, or follows a negated verb."""

    PLAIN = "plain"
    NEGATED = "negated"
    OPEN = "open"


Signed = tuple[tuple[str, Sign], ...]

_PLAIN = frozenset([Sign.PLAIN])
OPPOSITE = {Sign.PLAIN: Sign.NEGATED, Sign.NEGATED: Sign.PLAIN, Sign.OPEN: Sign.OPEN}
# Bounds, and phrases without negation.
_NO_CUES = (*UPPER_PHRASES, *LOWER_PHRASES, "not only", "or not")
_NO_CUE = re.compile(rf"\b(?:{phrases(_NO_CUES)})", re.IGNORECASE)
_STOP = re.compile(r"[.,;:!?()|\t\u2013\u2014]|\n\s*\n")
_OTHER_THAN = {"than": ("other", "rather"), "from": ("apart", "aside")}
_HAVING = ("with", "having")
_OR = ("or", "nor")
_WORDS = 65_536  # whose negative beginnings are kept
_REACH = 6  # words after a "not" that are in its scope
_COMMON = frozenset(map(stem, COMMON))
_CUES = frozenset({*DENIALS, *LACKS, *EXCEPTIONS, *_OTHER_THAN, "no", "not", "non"})
_LOOSE = ("un", "non")  # before any form of a word: unlicensed, of a licence


def read_signs(text: str) -> Signed:
    """Return the words of a text in lower case, in order, each with its sign."""
    return tuple(chain.from_iterable(map(_read_clause, _clauses(text))))


def _clauses(text: str) -> list[str]:
    if may_contain(text, _NO_CUES):
        text = _NO_CUE.sub(" ", text)
    return _STOP.split(text)


@lru_cache(maxsize=8192)  # a sentence is read with its neighbours and without them
def _read_clause(clause: str) -> Signed:
    written = WORD.findall(clause)
    words = [word.lower().replace("\u2019", "'") for word in written]
    if _CUES.isdisjoint(words) and "n't" not in " ".join(words):  # as in most clauses
        return tuple([(word, Sign.PLAIN) for word in words])
    return tuple(zip(words, _signs(words, list(map(_names, written))), strict=True))


class _ClauseStems(NamedTuple):
    """The stems of a clause with their signs, and the words with a negative prefix.

    The latter as stem, prefix, stem of the rest, and the sign of the rest.
    """

    signs: Mapping[str, frozenset[Sign]]
    by_prefix: Sequence[tuple[str, str, str, Sign]]


@lru_cache(maxsize=8192)
def _stems_of(clause: str) -> _ClauseStems:
    signs: dict[str, frozenset[Sign]] = {}
    by_prefix = []
    for word, sign in _read_clause(clause):
        key = stem(word)
        # Nearly all are plain, and the hash of a sign costs more than all else.
        own = _PLAIN if sign is Sign.PLAIN else frozenset([sign])
        known = signs.setdefault(key, own)
        if known is not own:
            signs[key] = known | own
        for prefix, base in bases(word):
            by_prefix.append((key, prefix, base, OPPOSITE[sign]))
    return _ClauseStems(signs, by_prefix)


def _names(word: str) -> bool:
    """True for a word that may be part of a name: "Fewest", "3", the x of "3x3"."""
    return not word[0].islower() or len(word) == 1


class Signs:
    """The negated words of a text, looked up by stem."""

    def __init__(self, text: str) -> None:
        clauses = _clauses(text)
        self.words: Signed = tuple(chain.from_iterable(map(_read_clause, clauses)))
        self._by_stem: dict[str, frozenset[Sign]] = {}
        self._by_base: dict[str, set[Sign]] = {}
        self._loose: list[tuple[str, Sign]] = []
        self._bases_of: dict[str, list[str]] = {}
        for clause in clauses:
            self._add(_stems_of(clause))
        self._known: dict[str, frozenset[Sign]] = {}

    def _add(self, clause: "_ClauseStems") -> None:
        if self._by_stem.keys().isdisjoint(clause.signs):
            self._by_stem.update(clause.signs)
        else:
            for key, own in clause.signs.items():
                known = self._by_stem.get(key, own)
                self._by_stem[key] = known if known is own else known | own
        for key, prefix, base, sign in clause.by_prefix:
            self._by_base.setdefault(base, set()).add(sign)
            self._bases_of.setdefault(key, []).append(base)
            if prefix in _LOOSE:
                self._loose.append((base, sign))

    @cached_property
    def denies_a_verb(self) -> bool:
        """Return True if a verb is negated."""
        return any(sign is Sign.OPEN and denies(word) for word, sign in self.words)

    def negates_any(self, terms: Iterable[str]) -> bool:
        """Return whether a verb or one of these stems is negated."""
        return self.denies_a_verb or any(
            Sign.NEGATED in self.of(term) for term in terms
        )

    def in_other_form(self, terms: Iterable[str], asked: "Signs") -> frozenset[str]:
        """Return the stems of a question that are here in the negated form or in none.

        Args:
            terms: Stems of the question.
            asked: The signs of the question.

        Returns:
            Those that this text has with a negative prefix, and those whose prefix in
            the question it leaves out.
        """
        return frozenset(
            term
            for term in terms
            if self.signs_by_prefix(term)
            or any(self.of(base) for base in asked.bases_of(term))
        )

    def of(self, term: str) -> frozenset[Sign]:
        """Return the signs of the words with a stem; empty if there are none.

        A word that negates the stem by its prefix ("unpaid") counts too.
        """
        if (known := self._known.get(term)) is None:
            signs = [self._by_stem[other] for other in alike(term, self._by_stem)]
            known = self.signs_by_prefix(term)
            if signs:
                known = known.union(*signs)
            self._known[term] = known
        return known

    def of_word(self, term: str) -> frozenset[Sign]:
        """Return the signs of the words that have exactly this stem."""
        return self._by_stem.get(term, frozenset())

    def bases_of(self, term: str) -> list[str]:
        """Return the stems that words with this stem negate by a prefix."""
        return self._bases_of.get(term, [])

    def signs_by_prefix(self, term: str) -> frozenset[Sign]:
        """Return the signs of a stem in words that negate it by how they begin."""
        if not self._by_base:  # as in most texts
            return frozenset()
        loose = [sign for base, sign in self._loose if stems_match(term, base)]
        return frozenset(self._by_base.get(term, ())).union(loose)


_OPPOSITES = {sign: {OPPOSITE[sign]} for sign in (Sign.PLAIN, Sign.NEGATED)}
_DENYING = {**_OPPOSITES, Sign.PLAIN: {Sign.NEGATED, Sign.OPEN}}


class HasSigns(Protocol):
    """A text whose signs are computed at first use."""

    @property
    def signs(self) -> Signs:
        """Return its signs."""


def signs_agree(
    terms: Iterable[str], asked: Signs, layers: Sequence[HasSigns], *, affirmed: bool
) -> bool:
    """Return whether each word of a question has the same sign here, or is absent.

    Args:
        terms: Stems of the question.
        asked: The signs of the question.
        layers: A sentence, its heading and its neighbours; the first layer that has a
            word decides, and the signs of those after it are never read.
        affirmed: Whether a word that follows a denied verb does not answer either.
    """
    wrong = _DENYING if affirmed else _OPPOSITES
    return all(_same_sign(term, asked, layers, wrong) for term in terms)


def _same_sign(
    term: str, asked: Signs, layers: Sequence[HasSigns], wrong: Mapping[Sign, set[Sign]]
) -> bool:
    """Return whether one word has the same sign, or is absent.

    `wrong` are the signs that alone do not answer a sign of the question.
    """
    wanted = asked.of_word(term)
    if len(wanted) != 1 or Sign.OPEN in wanted:
        return True
    (sign,) = wanted
    for layer in layers:
        if have := layer.signs.of(term):
            return not have <= wrong[sign]
        for base in asked.bases_of(term):
            if have := layer.signs.of(base):
                return not have <= wrong[OPPOSITE[sign]]
    return sign is Sign.PLAIN


def differ(one: Signs, other: Signs, terms: Iterable[str]) -> bool:
    """Return whether one text negates a stem that the other affirms."""
    apart = {frozenset([Sign.PLAIN]), frozenset([Sign.NEGATED])}
    return any({one.of(term), other.of(term)} == apart for term in terms)


@lru_cache(maxsize=_WORDS)
def bases(word: str) -> tuple[tuple[str, str], ...]:
    """Return each possible negative prefix of a word, with the stem of the rest."""
    return tuple(
        (prefix, stem(word.removeprefix(prefix)))
        for prefix, least in NEGATIVE_PREFIXES.items()
        if word.startswith(prefix) and len(word) - len(prefix) >= least
    )


def _signs(clause: Sequence[str], names: Sequence[bool]) -> list[Sign]:
    """Return the sign of each word of one clause."""
    signs = [Sign.PLAIN] * len(clause)
    for place, word in enumerate(clause):
        scope = list(_scope(clause, place + 1)) if _excepts(clause, place) else []
        if word in EXCEPTIONS or word in _OTHER_THAN:
            scope = _with_names(scope, clause, names)
        for negated in scope:
            signs[negated] = Sign.NEGATED
        if not scope and (denies(word) or word in LACKS):
            for at in range(place + (word in LACKS), len(clause)):
                if signs[at] is Sign.PLAIN:
                    signs[at] = Sign.OPEN
    return signs


def denies(word: str) -> bool:
    """Return True for "not", "no", "isn't", "never", "forbidden" and the like."""
    return word in DENIALS or word in ("no", "not") or word.endswith("n't")


def _excepts(clause: Sequence[str], place: int) -> bool:
    """Return True if the word negates the next words and not the sentence's verb."""
    word, before = clause[place], clause[place - 1] if place else ""
    if word in EXCEPTIONS or word == "non":
        return True
    if word in _OTHER_THAN:
        return before in _OTHER_THAN[word]
    if word == "no":
        return before in _HAVING or (before in AUXILIARIES and _below(clause, place))
    if word == "not" and before and before not in AUXILIARIES:
        return True
    return (word == "not" or word.endswith("n't")) and _below(clause, place)


def _below(clause: Sequence[str], place: int) -> bool:
    """True for the verb right after a "who", and the first one after an "if"."""
    verbs = 0
    for at in range(place - 1, -1, -1):
        word = clause[at]
        if word in RELATIVES:
            return verbs == place - 1 - at
        if word in SUBORDINATORS:
            asks = not at and clause[1] in AUXILIARIES
            return not asks and verbs <= 1
        verbs += word in AUXILIARIES
    return False


def _with_names(
    scope: Sequence[int], clause: Sequence[str], names: Sequence[bool]
) -> list[int]:
    """The scope, and the rest of the names that it begins with, joined by "and".

    "Events other than Long Jump and High Jump" are neither.
    """
    if not scope or not names[scope[0]]:
        return list(scope)
    places = list(scope)
    for place in range(scope[-1] + 1, len(clause)):
        joins = clause[place] in ("and", *_OR)
        if not names[place] and not joins:
            break
        if not joins:
            places.append(place)
    return places


def _scope(clause: Sequence[str], start: int) -> Iterator[int]:
    """Return the positions of the negated words."""
    began = ended = False
    for place, word in enumerate(clause[start : start + _REACH], start):
        if word in SUBORDINATORS or word in RELATIVES or word == "and":
            return
        if word in AUXILIARIES and began:
            return
        if word in _OR and began:
            ended = False
        elif ended:
            return
        elif word not in STOP_WORDS:
            yield place
            began = True
            ended = stem(word) not in _COMMON and not word.endswith("ly")

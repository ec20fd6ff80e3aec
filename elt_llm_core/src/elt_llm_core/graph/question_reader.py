"""Parse a question about a model: elements, types and the remaining words."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from elt_llm_core.enterprise.model import EnterpriseModel
from elt_llm_core.graph.question_words import (
    ANY_ELEMENT,
    APPLICATION,
    DOMAIN_WORDS,
    FUNCTION_WORDS,
    POLITE,
    QUANTIFIERS,
    VIEW_WORDS,
    base_form,
)

TOKEN = re.compile(r"\w+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
FLAGS = {"domain": DOMAIN_WORDS, "view": VIEW_WORDS, "any_type": ANY_ELEMENT}


@dataclass(frozen=True)
class Mention:
    """The elements of one name, at a position among the tokens of a question."""

    ids: tuple[str, ...]
    start: int
    end: int


class _Asked(NamedTuple):
    """A word for a type of element, and its position."""

    start: int
    end: int
    types: frozenset[str] = frozenset()
    flag: str = ""


@dataclass(frozen=True)
class QuestionReading:
    """The parts of a question.

    `plural` is true if the types are in the plural, not as in "a data object". `words`
    are the base forms of all words except elements, types and function words; every one
    of them must be understood, otherwise the question is about something else.
    `written` are the tokens as written, `typed` the positions of the types.
    """

    text: str
    tokens: tuple[str, ...]
    mentions: tuple[Mention, ...]
    types: frozenset[str] = frozenset()
    any_type: bool = False
    domain: bool = False
    view: bool = False
    plural: bool = False
    words: frozenset[str] = frozenset()
    positions: dict[str, int] = field(default_factory=dict, hash=False)
    written: tuple[str, ...] = ()
    typed: frozenset[int] = frozenset()

    @property
    def asks_kind(self) -> bool:
        """Return whether a type, the domains or the views are requested."""
        return bool(self.types) or self.domain or self.view

    def others(self, start: int = 0) -> tuple[str, ...]:
        """Return the base forms from a position on that belong to no name."""
        inside = {at for m in self.mentions for at in range(m.start, m.end)}
        return tuple(
            token
            for at, token in enumerate(self.tokens)
            if at >= start and at not in inside
        )

    def only(self, *allowed: frozenset[str]) -> bool:
        """Return whether every word is one of the allowed."""
        return self.words <= frozenset().union(*allowed)

    def has(self, words: frozenset[str]) -> bool:
        """Return whether one of the words occurs."""
        return not self.words.isdisjoint(words)


class _Name(NamedTuple):
    """The name of an element: base forms, words as written, and its id."""

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    id: str


class QuestionReader:
    """Parses questions about one model.

    Args:
        model: The model with the names and types to find.
    """

    def __init__(self, model: EnterpriseModel) -> None:
        self._elements = {element.id: element for element in model.elements}
        self._names: dict[str, list[_Name]] = defaultdict(list)
        for element in model.elements:
            words = tuple(TOKEN.findall(element.name))
            tokens = tuple(base_form(word.casefold()) for word in words)
            if tokens and element.role != "note" and element.type != "Folder":
                self._names[tokens[0]].append(_Name(tokens, words, element.id))
        for names in self._names.values():
            names.sort(key=lambda name: -len(name.tokens))
        self._types = _type_phrases(model)

    def read(self, question: str) -> Iterator[QuestionReading]:
        """Return the readings of a question, the most likely first.

        In the first reading, names must match exactly; in the second, any word that is
        no type may be a name, ignoring case; in the third, names take precedence over
        types.

        Args:
            question: The question.
        """
        polite = POLITE.match(question)
        matches = list(TOKEN.finditer(question, polite.end() if polite else 0))
        for letters, types_first in ((True, False), (False, True), (False, False)):
            yield self._read(question, matches, letters, types_first)

    def read_labels(
        self, question: str, is_label: Callable[[str], bool]
    ) -> Iterator[QuestionReading]:
        """Return the readings in which words of relations and properties stay words.

        They are neither types nor, in small letters, names of one word: "processes" is
        a verb if the model has it as the label of an edge.

        Args:
            question: The question.
            is_label: Whether a word is part of a label, in lower case.
        """
        polite = POLITE.match(question)
        matches = list(TOKEN.finditer(question, polite.end() if polite else 0))
        for letters in (True, False):
            yield self._read(question, matches, letters, False, is_label)

    def _read(
        self,
        question: str,
        matches: Sequence[re.Match[str]],
        letters: bool,
        types_first: bool,
        is_label: Callable[[str], bool] | None = None,
    ) -> QuestionReading:
        written = tuple(m[0] for m in matches)
        tokens = tuple(base_form(word.casefold()) for word in written)
        mentions: list[Mention] = []
        asked: list[_Asked] = []
        words: dict[str, int] = {}
        at = 0
        while at < len(tokens):
            mention = self._mention(tokens, at, written, letters)
            kind = self._kind(tokens, at)
            if is_label:
                mention, kind = _keep_label(mention, kind, written, at, is_label)
            if mention and types_first and kind.types and kind.end >= mention.end:
                mention = None
            if mention is not None:
                mentions.append(mention)
                at = mention.end
            elif kind.end > at:
                asked.append(kind)
                at = kind.end
            else:
                if written[at].casefold() not in FUNCTION_WORDS:
                    words.setdefault(tokens[at], at)
                at += 1
        typed = {i for kind in asked for i in range(kind.start, kind.end)}
        mentions, asked = self._appose(mentions, asked, tokens)
        return QuestionReading(
            question,
            tokens,
            tuple(mentions),
            frozenset().union(*(kind.types for kind in asked)),
            plural=bool(asked) and all(_is_plural(kind, written) for kind in asked),
            words=frozenset(words),
            positions=words,
            written=written,
            typed=frozenset(typed),
            **{flag: any(kind.flag == flag for kind in asked) for flag in FLAGS},
        )

    def _appose(
        self,
        mentions: Sequence[Mention],
        asked: Sequence[_Asked],
        tokens: Sequence[str],
    ) -> tuple[list[Mention], list[_Asked]]:
        """Treat a type directly before a name as part of the name, not as requested.

        So is the word "domain" directly behind the name of one.
        """
        before = {
            kind.end: kind
            for kind in asked
            if kind.flag != "view"
            and (kind.start == 0 or tokens[kind.start - 1] not in QUANTIFIERS)
        }
        behind = {kind.start: kind for kind in asked if kind.flag == "domain"}
        chosen, used = [], set()
        for mention in mentions:
            kind = before.get(mention.start)
            if kind is None and self._is_domain(mention):
                kind = behind.get(mention.end)
            if kind is None:
                chosen.append(mention)
            else:
                chosen.append(self._only(mention, kind))
                used.add(kind)
        return chosen, [kind for kind in asked if kind not in used]

    def _is_domain(self, mention: Mention) -> bool:
        return any(self._elements[key].role == "domain" for key in mention.ids)

    def _only(self, mention: Mention, kind: _Asked) -> Mention:
        """Return the elements of a name that have a type; empty if there are none."""
        elements = [self._elements[key] for key in mention.ids]
        if kind.types:
            ids = [e.id for e in elements if e.type in kind.types]
        elif kind.flag == "domain":
            ids = [e.id for e in elements if e.role == "domain"]
        else:
            entities = [e.id for e in elements if e.role == "entity"]
            ids = entities or list(mention.ids)
        return Mention(tuple(ids), mention.start, mention.end)

    def _mention(
        self, tokens: Sequence[str], at: int, written: Sequence[str], letters: bool
    ) -> Mention | None:
        """Return the longest name at this position, with all its elements.

        With `letters`, a name must match exactly; the first word of a question has a
        capital anyway, so it alone is not enough. Otherwise a name of just these words
        comes before those of other forms: "ticket" is Ticket rather than Ticketing.
        """
        fits = [
            name
            for name in self._names.get(tokens[at], ())
            if tuple(tokens[at : at + len(name.tokens)]) == name.tokens
            and (
                not letters or tuple(written[at : at + len(name.tokens)]) == name.words
            )
            and (not letters or at > 0 or len(name.tokens) > 1)
        ]
        if not fits:
            return None
        length = len(fits[0].tokens)
        longest = [name for name in fits if len(name.tokens) == length]
        asked = " ".join(written[at : at + length]).casefold()
        same = [name for name in longest if " ".join(name.words).casefold() == asked]
        return Mention(tuple(n.id for n in same or longest), at, at + length)

    def _kind(self, tokens: Sequence[str], at: int) -> _Asked:
        """Return the word for a type at this position; empty if there is none."""
        for length in (4, 3, 2, 1):
            phrase = tuple(tokens[at : at + length])
            if phrase in self._types:
                return _Asked(at, at + len(phrase), types=self._types[phrase])
        for flag, listed in FLAGS.items():
            if tokens[at] in listed:
                return _Asked(at, at + 1, flag=flag)
        return _Asked(at, at)


def _keep_label(
    mention: Mention | None,
    kind: _Asked,
    written: Sequence[str],
    at: int,
    is_label: Callable[[str], bool],
) -> tuple[Mention | None, _Asked]:
    """Drop a name in small letters and a type that are words of labels."""
    if not is_label(written[at].casefold()):
        return mention, kind
    if mention and mention.end == at + 1 and written[at].islower():
        mention = None
    if all(is_label(word.casefold()) for word in written[at + 1 : kind.end]):
        kind = _Asked(at, at)
    return mention, kind


def _is_plural(kind: _Asked, written: Sequence[str]) -> bool:
    return written[kind.end - 1].casefold().endswith("s")


def _type_phrases(model: EnterpriseModel) -> dict[tuple[str, ...], frozenset[str]]:
    """Return the words for types: all of them, and the last alone ("process")."""
    phrases: dict[tuple[str, ...], set[str]] = defaultdict(set)
    types = {e.type for e in model.elements if e.type and e.role == "entity"}
    for kind in types:
        words = [base_form(w) for w in TOKEN.findall(CAMEL.sub(" ", kind).casefold())]
        if not words:
            continue
        phrases[tuple(words)].add(kind)
        phrases[(base_form(kind.casefold()),)].add(kind)  # as answers write it
        if words[-1] not in ANY_ELEMENT and words[-1] != "object":
            phrases[(words[-1],)].add(kind)
    for word in ("application", "system"):
        if types & APPLICATION:
            phrases[(word,)] = set(types & APPLICATION)
    return {phrase: frozenset(kinds) for phrase, kinds in phrases.items()}

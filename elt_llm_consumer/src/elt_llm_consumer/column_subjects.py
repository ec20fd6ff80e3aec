"""What the columns of a table are about, by the words of `table_columns.yaml`.

A column is about a subject, such as the owner or the retention period, if its header
has a word of it. Some subjects also limit what a cell may hold.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from elt_llm_consumer.definitions.terms import fold

PERSONS = "governance_rules"
"""The field of owners and other persons."""

RULES = "business_rules"
"""The field of rules, of which a thing may have any number."""

_SENTENCE = 3  # words of the shortest rule: "Weight is positive"; "rule 4.2" is none
# A remark in a header or a cell, which is no part of a name.
BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_PARTS = re.compile(r"\s*/\s*|\s+or\s+")
_LETTERS = re.compile(r"[^\W\d_]{2}")  # of a person, a role or an office


class ColumnSubject(NamedTuple):
    """What a column may say: the header words and, of some, the possible cells."""

    key: str
    field: str
    headers: frozenset[str]
    also: frozenset[str]
    values: frozenset[str]
    lists: frozenset[str]


def subject_of(parts: frozenset[str], cells: Sequence[str]) -> ColumnSubject | None:
    """Return what a column is about by its header, and by its cells if that is open."""
    for subject in column_subjects():
        if not parts & subject.headers:
            continue
        if not subject.values or any(fold(c) in subject.values for c in cells):
            return subject
    return None


@cache
def header_parts(header: str) -> frozenset[str]:
    """Return the parts of a header, each folded: "Owner / steward" has two."""
    plain = BRACKETS.sub(" ", header)
    return frozenset(fold(part) for part in _PARTS.split(plain))


@cache
def column_subjects() -> tuple[ColumnSubject, ...]:
    """Return the subjects of the vocabulary, in its order."""
    content = _vocabulary()

    def fold_words(words: Iterable[str]) -> frozenset[str]:
        return frozenset(map(fold, words))

    return tuple(
        ColumnSubject(
            key=one.get("same_as", key),
            field=one["field"],
            headers=fold_words(one["headers"]),
            also=fold_words(one.get("also", ())),
            values=fold_words(one.get("values", ())),
            lists=fold_words(content["lists"].get(key, ())),
        )
        for key, one in content["subjects"].items()
    )


def can_be_value(text: str, subject: ColumnSubject) -> bool:
    """Return whether a cell can be a value, and not the type of one: "char(20)"."""
    if subject.values and fold(text) not in subject.values:
        return False
    plain = fold(BRACKETS.sub("", text))
    if subject.field != RULES and plain in column_words("types"):
        return False
    if subject.field != PERSONS:
        return True
    return bool(_LETTERS.search(text)) and plain not in column_words("answers")


def states_rule(texts: Iterable[str]) -> bool:
    """Return whether one of the texts has words enough to be a rule, not its number."""
    return any(
        sum(bool(_LETTERS.search(word)) for word in text.split()) >= _SENTENCE
        for text in texts
    )


@cache
def column_words(*path: str) -> frozenset[str]:
    """Return the folded words of a list of the vocabulary.

    Args:
        *path: Its keys, outermost first.
    """
    words: Any = _vocabulary()
    for key in path:
        words = words[key]
    return frozenset(fold(str(word)) for word in words)


@cache
def column_signs(*names: str) -> frozenset[str]:
    """Return what cells of lists of the vocabulary hold, in small letters.

    Args:
        *names: The lists.
    """
    return frozenset(str(s).casefold() for n in names for s in _vocabulary()[n])


@cache
def _vocabulary() -> Mapping[str, Any]:
    content = files("elt_llm_consumer").joinpath("table_columns.yaml")
    words: Mapping[str, Any] = yaml.safe_load(content.read_text("utf-8"))
    return words

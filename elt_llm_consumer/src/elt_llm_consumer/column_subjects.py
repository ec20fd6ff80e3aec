"""What the columns of a table are about, by the words of `table_columns.yaml`.

A column is about a subject, such as the owner or the retention period, if its header
has a word of it. Some subjects also limit what a cell may hold. A file of the user adds
words and subjects of the house.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from elt_llm_consumer.definitions.terms import fold
from elt_llm_core.config.yaml_file import read_yaml_file
from elt_llm_core.errors import ConfigError, suggest_key
from elt_llm_core.identifiers import digest

PERSONS = "governance_rules"
"""The field of owners and other persons."""

RULES = "business_rules"
"""The field of rules, of which a thing may have any number."""

_SENTENCE = 3  # words of the shortest rule: "Weight is positive"; "rule 4.2" is none
# A remark in a header or a cell, which is no part of a name.
BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_PARTS = re.compile(r"\s*/\s*|\s+or\s+")
_LISTED = re.compile(r"\s*[,;/\u2013(\[]\s*")  # what follows a level in a cell
_LETTERS = re.compile(r"[^\W\d_]{2}")  # of a person, a role or an office
_MARKS = re.compile(r"[\s/,;&+()]+")  # between the letters of a matrix: "R/A"
_MOST_BYTES = 1_000_000  # far beyond any vocabulary that people maintain
# The fields that rows of tables can fill.
_FIELDS = (
    *(PERSONS, RULES, "data_classification", "lifecycle_states"),
    *("regulatory_context", "associated_agreements"),
)
_SUBJECT_KEYS = ("field", "same_as", "headers", "also", "values")


class ColumnSubject(NamedTuple):
    """What a column may say: the header words and, of some, the possible cells."""

    key: str
    field: str
    headers: frozenset[str]
    also: frozenset[str]
    values: frozenset[str]
    lists: frozenset[str]


class ColumnVocabulary:
    """Words of headers and cells of tables that describe information.

    Args:
        content: The words, in the structure of `table_columns.yaml`.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content
        self._words: dict[tuple[str, ...], frozenset[str]] = {}

    @cached_property
    def identity(self) -> str:
        """A digest of the words."""
        return digest(yaml.safe_dump(dict(self._content), allow_unicode=True))

    @cached_property
    def subjects(self) -> tuple[ColumnSubject, ...]:
        """The subjects, in the order of the vocabulary."""

        def fold_words(words: Iterable[str]) -> frozenset[str]:
            return frozenset(map(fold, words))

        return tuple(
            ColumnSubject(
                key=one.get("same_as", key),
                field=one["field"],
                headers=fold_words(one["headers"]),
                also=fold_words(one.get("also", ())),
                values=fold_words(one.get("values", ())),
                lists=fold_words(self._content["lists"].get(key, ())),
            )
            for key, one in self._content["subjects"].items()
        )

    def subject_of(
        self, parts: frozenset[str], cells: Sequence[str]
    ) -> ColumnSubject | None:
        """Return what a column is about, by its header and if need be its cells."""
        for subject in self.subjects:
            if not parts & subject.headers:
                continue
            if not subject.values or any(_level(c) in subject.values for c in cells):
                return subject
        return None

    def can_be_value(self, text: str, subject: ColumnSubject) -> bool:
        """Return whether a cell can be a value, and not the type of one: "char(20)".

        "Confidential, personal data" begins with a level, and is one.
        """
        if subject.values and _level(text) not in subject.values:
            return False
        plain = fold(BRACKETS.sub("", text))
        if subject.field != RULES and plain in self.words("types"):
            return False
        return subject.field != PERSONS or self.can_be_person(text)

    def can_be_person(self, text: str) -> bool:
        """Return whether a text can name a person, a role or an office."""
        plain = fold(BRACKETS.sub("", text))
        return bool(_LETTERS.search(text)) and plain not in self.words("answers")

    def words(self, *path: str) -> frozenset[str]:
        """Return the folded words of a list.

        Args:
            *path: Its keys, outermost first.
        """
        if path not in self._words:
            words: Any = self._content
            for key in path:
                words = words[key]
            self._words[path] = frozenset(fold(str(word)) for word in words)
        return self._words[path]

    @cached_property
    def no_values(self) -> frozenset[str]:
        """Cells that repeat the one above or say nothing, in small letters."""
        return frozenset(
            str(s).casefold() for n in ("same", "nothing") for s in self._content[n]
        )

    @cached_property
    def repeats(self) -> frozenset[str]:
        """Cells that repeat the one above, in small letters."""
        return frozenset(str(s).casefold() for s in self._content["same"])

    @cached_property
    def _marks(self) -> dict[str, str]:
        """Marks of a matrix of responsibilities to what they mean."""
        matrix = self._content["matrix"]
        return {str(m).casefold(): key for key in matrix for m in matrix[key]}

    def meanings(self, text: str) -> frozenset[str] | None:
        """Return what a cell of a matrix of responsibilities means: "R/A", "RA".

        Args:
            text: The cell.

        Returns:
            Keys of the list `matrix`; None if the cell has another word.
        """
        marks = [m for m in _MARKS.split(text.casefold()) if m]
        if not all(m in self._marks for m in marks):
            marks = list("".join(marks))
        if not all(m in self._marks for m in marks):
            return None
        return frozenset(self._marks[m] for m in marks)


@cache
def header_parts(header: str) -> frozenset[str]:
    """Return the parts of a header, each folded: "Owner / steward" has two."""
    plain = BRACKETS.sub(" ", header)
    return frozenset(fold(part) for part in _PARTS.split(plain))


def _level(cell: str) -> str:
    """Return what a cell begins with: "Confidential (personal data)" has a level."""
    return fold(_LISTED.split(cell)[0])


def states_rule(texts: Iterable[str]) -> bool:
    """Return whether one of the texts has words enough to be a rule, not its number."""
    return any(
        sum(bool(_LETTERS.search(word)) for word in text.split()) >= _SENTENCE
        for text in texts
    )


@cache
def shipped_columns() -> ColumnVocabulary:
    """Return the vocabulary of `table_columns.yaml`."""
    return ColumnVocabulary(_shipped_words())


def read_columns(path: Path | None) -> ColumnVocabulary:
    """Return the shipped vocabulary with the words of a file added.

    Args:
        path: A YAML file with lists of `table_columns.yaml`, and subjects; None for
            the shipped words alone.

    Raises:
        ConfigError: If the file cannot be read or has other keys.
    """
    if path is None:
        return shipped_columns()
    loaded = read_yaml_file(path, "a file of table columns", _MOST_BYTES)
    if loaded is None:
        return shipped_columns()
    return ColumnVocabulary(_extend(_shipped_words(), loaded, str(path)))


@cache
def _shipped_words() -> Mapping[str, Any]:
    content = files("elt_llm_consumer").joinpath("table_columns.yaml")
    words: Mapping[str, Any] = yaml.safe_load(content.read_text("utf-8"))
    return words


def _extend(known: Mapping[str, Any], added: Any, where: str) -> dict[str, Any]:
    """Return a vocabulary with added words; its lists stay, and only subjects are new.

    Raises ConfigError.
    """
    if not isinstance(added, dict):
        raise ConfigError(f"{where} must map keys to words", "subjects: {owner: [...]}")
    merged = dict(known)
    for key, words in added.items():
        if key not in known:
            raise ConfigError(f"{where} has no key {key!r}", suggest_key(key, known))
        place = f"{where}, {key}"
        if key == "subjects":
            merged[key] = _add_subjects(known[key], words, place)
        elif key == "lists" and isinstance(words, dict):
            empty: dict[str, Any] = {one: [] for one in words}
            merged[key] = _extend({**empty, **known[key]}, words, place)
        elif isinstance(known[key], dict):
            merged[key] = _extend(known[key], words, place)
        else:
            merged[key] = [*known[key], *_texts(words, place)]
    return merged


def _add_subjects(known: Mapping[str, Any], added: Any, where: str) -> dict[str, Any]:
    if not isinstance(added, dict):
        raise ConfigError(f"{where} must map each subject to its headers")
    merged = dict(known)
    for name, given in added.items():
        place = f"{where}, {name}"
        # A list is short for the headers of a subject that is known.
        words = {"headers": given} if isinstance(given, list) else given
        if not isinstance(words, dict) or "headers" not in words:
            raise ConfigError(f"{place} has no headers", "write: headers: [keeper]")
        before = known.get(name, {})
        if wrong := [key for key in words if key not in _SUBJECT_KEYS]:
            hint = suggest_key(str(wrong[0]), _SUBJECT_KEYS)
            raise ConfigError(f"{place} has no key {wrong[0]!r}", hint)
        field = words.get("field", before.get("field"))
        if field not in _FIELDS:
            hint = f"it is one of {', '.join(_FIELDS)}"
            raise ConfigError(f"{place}: the field {field!r} is not known", hint)
        lists = [key for key in words if key not in ("field", "same_as")]
        merged[name] = {
            **before,
            **words,
            "field": field,
            **{k: [*before.get(k, ()), *_texts(words[k], place)] for k in lists},
        }
    return merged


def _texts(words: Any, where: str) -> list[str]:
    if not isinstance(words, list) or not all(
        isinstance(word, str | int | float) for word in words
    ):
        raise ConfigError(f"{where} must be a list of words")
    return list(map(str, words))

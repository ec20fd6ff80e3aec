"""The contract of exchange formats, and rules that many targets share."""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.exchange.glossary_terms import (
    Glossary,
    Path,
    RelationKind,
    Term,
    TermStatus,
    join_ends,
)
from elt_llm_core.errors import ConfigError
from elt_llm_core.product_exports import Problem
from elt_llm_core.records import Record
from elt_llm_core.strategy import Stage, Strategy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from elt_llm_core.strategy import Models

_SHOWN = 80  # characters of a value in a message: enough to recognise it


def shorten(value: str) -> str:
    """Return the beginning of a value, long enough to recognise it."""
    text = " ".join(value.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


class TargetRules(Record):
    """The requirements of a target besides its columns. Lengths in characters."""

    name_length: int | None = None
    definition_length: int | None = None
    needs_definition: bool = False
    not_in_name: tuple[str, ...] = Field(
        default=(), description="character sequences that names must not contain"
    )
    unique_names: bool = Field(
        default=False, description="a name must be unique in the whole file"
    )
    closed: bool = Field(
        default=False, description="parents and related terms must be in the file"
    )


class GlossaryFormat(Strategy["GlossaryFormat"]):
    """A format that glossaries are written to and read from.

    The fields are the options. `holds` names the fields of `Term` that survive a round
    trip; further losses are reported for each term.
    """

    title: ClassVar[str]
    ending: ClassVar[str]
    holds: ClassVar[frozenset[str]]
    local_options: ClassVar[frozenset[str]] = frozenset()
    """Options that name files of this machine: no request may set them."""
    relation_kinds: ClassVar[frozenset[RelationKind]] = frozenset(RelationKind)
    two_way: ClassVar[frozenset[RelationKind]] = frozenset()
    """Kinds that are written at both ends, and read back at the first of the two."""
    status_names: ClassVar["Mapping[TermStatus, str]"] = {}
    """How the target calls each status; empty where it has no status."""

    @override
    def build(self, models: "Models") -> "GlossaryFormat":
        """Return the format itself, which uses no model."""
        return self

    def resolve(self) -> "GlossaryFormat":
        """Return the format that the options select: by default this one."""
        return self

    @classmethod
    def statuses(cls) -> "dict[str, TermStatus]":
        """Return the statuses of the target and their equivalents here.

        If two of our statuses are one there, it is read as the first.
        """
        names: dict[str, TermStatus] = {}
        for status, name in cls.status_names.items():
            names.setdefault(name, status)
        return names

    def keep(self, term: Term) -> Term:
        """Return the part of a term that `write` writes.

        Args:
            term: A term, possibly with fields that the format lacks.
        """
        kept = {name: getattr(term, name) for name in self.holds}
        if "relations" in kept:
            kept["relations"] = tuple(
                one for one in term.relations if one.kind in self.relation_kinds
            )
        if "status" in kept and self.status_names:
            kept["status"] = self.statuses()[self.status_names[term.status]]
        return Term(**kept)

    def keep_glossary(self, glossary: Glossary) -> Glossary:
        """Return the glossary with the writable part of each term, sorted again."""
        terms = tuple(map(self.keep, glossary.terms))
        kept = Glossary(
            name=glossary.name, description=glossary.description, terms=terms
        )
        return join_ends(kept, self.two_way)

    @abstractmethod
    def write(self, glossary: Glossary) -> bytes:
        """Return the file: the same bytes for the same glossary."""

    @abstractmethod
    def read(self, content: bytes) -> Glossary:
        """Return the terms of a file.

        Raises:
            ExchangeError: If the file is not of this format; the message has details.
        """

    @abstractmethod
    def check(self, content: bytes) -> list[Problem]:
        """Return what the target would refuse, in the order of the file.

        Raises:
            ExchangeError: If the file is not of this format; the message has details.
        """


FORMATS: Stage[GlossaryFormat] = Stage("formats", "export format")


def load_format(
    name: str,
    options: "Mapping[str, Any] | None" = None,
    allow: frozenset[str] = frozenset(),
) -> GlossaryFormat:
    """Return a format by its name.

    Args:
        name: Its entry point in the group `elt_llm.formats`.
        options: Its options.
        allow: Third-party packages that may be loaded.

    Raises:
        ConfigError: If there is no such format, or an option is wrong.
    """
    chosen = FORMATS.load(name, options, allow)
    if not isinstance(chosen, GlossaryFormat):
        raise ConfigError(
            f"the format {name!r} is a {type(chosen).__name__}, not a GlossaryFormat",
            "report it to the authors of its package",
        )
    return chosen.resolve()


class TermChecker:
    """Checks terms against the rules of a target.

    Args:
        rules: The rules.
        columns: Fields of `Term` with their columns or keys in the file.
        first_row: The row number of the first term in an editor.
    """

    def __init__(
        self, rules: TargetRules, columns: "Mapping[str, str]", first_row: int = 1
    ) -> None:
        self._rules = rules
        self._columns = columns
        self._first_row = first_row

    def problems(self, terms: Sequence[Term]) -> list[Problem]:
        """Return the problems of terms in the order of the file."""
        paths = {term.path for term in terms}
        names: dict[object, int] = {}
        problems: list[Problem] = []
        for entry, term in enumerate(terms):
            faults = [
                *self._name(term),
                *self._definition(term),
                *self._duplicate(entry, term, names),
                *self._parent(term, paths),
                *self._relations(term, paths),
            ]
            problems += [self._at(entry, fault) for fault in faults]
        return problems

    def _at(self, entry: int, fault: "_Fault") -> Problem:
        field, value, rule, cure = fault
        may_be_there = field in {"parent", "relations"} and not self._rules.closed
        return Problem(
            is_error=not may_be_there,
            row=entry + self._first_row,
            entry=entry,
            column=self._columns.get(field, field),
            value=shorten(value),
            rule=rule,
            cure=cure,
        )

    def _name(self, term: Term) -> "Iterator[_Fault]":
        rules = self._rules
        if not term.name:
            yield "name", "", "is empty", "add a name to the term"
        longest = rules.name_length
        if longest is not None and len(term.name) > longest:
            rule = f"has {len(term.name)} characters, at most {longest} are allowed"
            yield "name", term.name, rule, "shorten the name"
        for mark in rules.not_in_name:
            if mark in term.name:
                cure = f"write the name without {mark!r}"
                yield "name", term.name, f"contains {mark!r}", cure

    def _definition(self, term: Term) -> "Iterator[_Fault]":
        longest = self._rules.definition_length
        words = term.definition
        if self._rules.needs_definition and not words:
            cure = f"define {term.name!r}"
            yield "definition", "", "is empty and is required", cure
        if longest is not None and len(words) > longest:
            rule = f"has {len(words)} characters, at most {longest} are allowed"
            yield "definition", words, rule, "shorten the definition"

    def _duplicate(
        self, entry: int, term: Term, seen: "dict[object, int]"
    ) -> "Iterator[_Fault]":
        """Return the problem of a duplicate term; targets ignore case."""
        path = term.path
        key: object = tuple(part.casefold() for part in path)
        if self._rules.unique_names:
            key = term.name.casefold()
        first = seen.setdefault(key, entry)
        if first != entry:
            rule = f"is the name of row {first + self._first_row} too"
            yield "name", term.name, rule, "rename one of the two, or merge them"

    def _parent(self, term: Term, paths: Collection[Path]) -> "Iterator[_Fault]":
        if term.parent and term.parent not in paths:
            above = " > ".join(term.parent)
            cure = f"add the term {term.parent[-1]!r}, or leave the parent empty"
            yield "parent", above, "is not a term of the file", cure

    def _relations(self, term: Term, paths: Collection[Path]) -> "Iterator[_Fault]":
        for relation in term.relations:
            if relation.target not in paths:
                target = " > ".join(relation.target)
                cure = f"add the term {relation.target[-1]!r}, or drop the relation"
                yield "relations", target, "is not a term of the file", cure


def check_labels(
    terms: Sequence[Term], columns: "Mapping[str, str]", first_row: int = 1
) -> list[Problem]:
    """Return the labels that two terms share, as problems that are no errors.

    A label is a name, a synonym or a short form; targets ignore case.

    Args:
        terms: The terms in the order of the file.
        columns: Fields of `Term` with their columns or keys in the file.
        first_row: The row number of the first term in an editor.
    """
    owners: dict[str, int] = {}
    for entry, term in enumerate(terms):
        owners.setdefault(term.name.casefold(), entry)
    problems = []
    for entry, term in enumerate(terms):
        for field in ("name", "synonyms", "acronyms"):
            labels = (term.name,) if field == "name" else getattr(term, field)
            for label in labels:
                owner = owners.setdefault(label.casefold(), entry)
                if owner != entry:
                    problems.append(
                        Problem(
                            is_error=False,
                            row=entry + first_row,
                            entry=entry,
                            column=columns.get(field, field),
                            value=shorten(label),
                            rule=f"is a label of row {owner + first_row} too, "
                            f"{shorten(terms[owner].name)!r}",
                            cure="merge the two, or drop the label of one",
                        )
                    )
    return problems


_Fault = tuple[str, str, str, str]  # field, value, rule, cure

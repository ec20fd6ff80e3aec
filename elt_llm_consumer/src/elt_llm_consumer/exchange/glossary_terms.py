"""The common model of all exchange formats: terms, whatever product they come from.

A term is identified by its path: the names of its parents from the top, then its own.
All lists are sorted and without duplicates, and text contains no characters that XML
and spreadsheets exclude, so that equal glossaries are equal records.
"""

import re
from collections.abc import Collection
from enum import StrEnum
from typing import Any

from pydantic import Field, field_validator, model_validator

from elt_llm_core.records import Record
from elt_llm_core.results import Box

Path = tuple[str, ...]

# Controls, surrogates and the two code points that XML 1.0 excludes.
_UNWRITABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"
)
_PLACES = 6  # of a page fraction: a millionth of the width is far below a pixel


class TermStatus(StrEnum):
    """The review status of a term; the values of the products."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    NEEDS_CLARIFICATION = "NEEDS_CLARIFICATION"
    PROPOSED_NEW_TAXONOMY = "PROPOSED_NEW_TAXONOMY"
    REOPENED = "REOPENED"


class DefinitionKind(StrEnum):
    """The origin of a definition's words."""

    QUOTED = "quoted"
    WRITTEN = "written"
    NONE = "none"


class RelationKind(StrEnum):
    """The kind of a relation between terms, besides parent and child."""

    RELATED = "related"
    SYNONYM = "synonym"
    ANTONYM = "antonym"
    BROADER = "broader"
    NARROWER = "narrower"
    PART_OF = "part_of"
    HAS_PART = "has_part"
    REPLACED_BY = "replaced_by"


def plain_text(value: str) -> str:
    r"""Return text that every format can contain.

    Args:
        value: Any text.

    Returns:
        The text without control characters and without white space at its ends; lines
        end with `\n`.
    """
    lines = value.replace("\r\n", "\n").replace("\r", "\n").replace("\x85", "\n")
    return _UNWRITABLE.sub("", lines).strip()


class TermRelation(Record):
    """A relation to the term at the path `target`."""

    kind: RelationKind
    target: Path = Field(min_length=1)

    @field_validator("target")
    @classmethod
    def _clean_path(cls, value: Path) -> Path:
        return tuple(one_line(part) for part in value)


class Resource(Record):
    """A link that belongs to a term."""

    label: str = ""
    url: str = Field(min_length=1)

    @field_validator("label")
    @classmethod
    def _one_line(cls, value: str) -> str:
        return one_line(value)

    @field_validator("url")
    @classmethod
    def _without_space(cls, value: str) -> str:
        return "".join(plain_text(value).split())


class TermEvidence(Record):
    """The words of a document that define a term, and their location.

    `start` and `end` count characters of the document's text; boxes are shares of the
    page, rounded to a millionth.
    """

    quote: str
    document: str = ""
    document_id: str = ""
    collection: str = ""
    section: str = ""
    page: int | None = Field(default=None, ge=1)
    start: int = Field(default=0, ge=0)
    end: int = Field(default=0, ge=0)
    support: str = ""
    boxes: tuple[Box, ...] = ()

    @field_validator("quote", "document", "document_id", "collection", "section")
    @classmethod
    def _clean(cls, value: str) -> str:
        return plain_text(value)

    @field_validator("boxes")
    @classmethod
    def _round(cls, boxes: tuple[Box, ...]) -> tuple[Box, ...]:
        rounded = [
            Box(
                page=box.page,
                left=round(box.left, _PLACES),
                top=round(box.top, _PLACES),
                right=round(box.right, _PLACES),
                bottom=round(box.bottom, _PLACES),
            )
            for box in boxes
        ]
        return tuple(sorted(rounded, key=lambda b: (b.page, b.top, b.left, b.bottom)))


_LISTS = (
    *("synonyms", "acronyms", "other_definitions", "examples", "tags"),
    *("owners", "stewards", "experts"),
)


class Term(Record):
    """One term with the fields of all formats.

    `parent` is the path of its parent, () at the top; `attributes` are further
    properties by name.
    """

    name: str
    parent: Path = ()
    definition: str = ""
    definition_kind: DefinitionKind = DefinitionKind.NONE
    other_definitions: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    acronyms: tuple[str, ...] = ()
    status: TermStatus = TermStatus.PENDING
    relations: tuple[TermRelation, ...] = ()
    owners: tuple[str, ...] = ()
    stewards: tuple[str, ...] = ()
    experts: tuple[str, ...] = ()
    resources: tuple[Resource, ...] = ()
    examples: tuple[str, ...] = ()
    note: str = ""
    tags: tuple[str, ...] = ()
    attributes: dict[str, str] = Field(default_factory=dict)
    evidence: tuple[TermEvidence, ...] = ()

    @field_validator("name")
    @classmethod
    def _one_line(cls, value: str) -> str:
        return one_line(value)

    @field_validator("parent")
    @classmethod
    def _clean_path(cls, value: Path) -> Path:
        return tuple(one_line(part) for part in value)

    @field_validator("definition", "note")
    @classmethod
    def _clean(cls, value: str) -> str:
        return plain_text(value)

    @field_validator(*_LISTS)
    @classmethod
    def _sort_texts(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted({text for one in values if (text := plain_text(one))}))

    @field_validator("relations")
    @classmethod
    def _sort_relations(
        cls, values: tuple[TermRelation, ...]
    ) -> tuple[TermRelation, ...]:
        return tuple(sorted(set(values), key=lambda one: (one.kind, one.target)))

    @field_validator("resources")
    @classmethod
    def _sort_resources(cls, values: tuple[Resource, ...]) -> tuple[Resource, ...]:
        return tuple(sorted(set(values), key=lambda one: (one.label, one.url)))

    @field_validator("attributes")
    @classmethod
    def _sort_attributes(cls, values: dict[str, str]) -> dict[str, str]:
        plain = {one_line(key): plain_text(text) for key, text in values.items()}
        return {key: plain[key] for key in sorted(plain) if key and plain[key]}

    @field_validator("evidence")
    @classmethod
    def _sort_evidence(
        cls, values: tuple[TermEvidence, ...]
    ) -> tuple[TermEvidence, ...]:
        return tuple(
            sorted(values, key=lambda e: (e.document_id, e.start, e.end, e.quote))
        )

    @model_validator(mode="before")
    @classmethod
    def _settle(cls, values: Any) -> Any:
        """Reset the kind without a definition, and an acronym among the synonyms."""
        if not isinstance(values, dict):
            return values
        short = {plain_text(one) for one in values.get("acronyms", ())}
        others = values.get("synonyms", ())
        synonyms = tuple(one for one in others if plain_text(one) not in short)
        has_words = bool(plain_text(str(values.get("definition", ""))))
        kind = values.get("definition_kind", DefinitionKind.NONE)
        if not has_words:
            kind = DefinitionKind.NONE
        elif kind == DefinitionKind.NONE:
            kind = DefinitionKind.WRITTEN
        return {**values, "synonyms": synonyms, "definition_kind": kind}

    @property
    def path(self) -> Path:
        """The names from the top down to this term: its identity in a glossary."""
        return (*self.parent, self.name)


def one_line(value: str) -> str:
    """Return a name as plain text on one line with single spaces."""
    return " ".join(plain_text(value).split())


class Glossary(Record):
    """The terms of one glossary in the order of their paths: parents come first."""

    name: str
    description: str = ""
    terms: tuple[Term, ...] = ()

    @field_validator("name")
    @classmethod
    def _one_line(cls, value: str) -> str:
        return one_line(value)

    @field_validator("description")
    @classmethod
    def _clean(cls, value: str) -> str:
        return plain_text(value)

    @field_validator("terms")
    @classmethod
    def _sort(cls, terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple(sorted(terms, key=lambda term: term.path))


def join_ends(glossary: Glossary, kinds: Collection[RelationKind]) -> Glossary:
    """Return the glossary with each relation of some kinds once.

    A relation that holds both ways may be stated at either term or at both; it is kept
    at the term whose path comes first.

    Args:
        glossary: The terms.
        kinds: The kinds of relations that hold both ways.
    """
    paths = {term.path for term in glossary.terms}
    moved: dict[Path, list[TermRelation]] = {}
    kept: dict[Path, list[TermRelation]] = {}
    for term in glossary.terms:
        for one in term.relations:
            if one.kind in kinds and one.target in paths and one.target < term.path:
                turned = TermRelation(kind=one.kind, target=term.path)
                moved.setdefault(one.target, []).append(turned)
            else:
                kept.setdefault(term.path, []).append(one)
    if not moved:
        return glossary
    terms = tuple(
        Term(
            **{
                **dict(term),
                "relations": (*kept.get(term.path, ()), *moved.get(term.path, ())),
            }
        )
        for term in glossary.terms
    )
    return Glossary(**{**dict(glossary), "terms": terms})

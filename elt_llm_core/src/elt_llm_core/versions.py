"""Stored texts on a subject, under numbers that never change."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from elt_llm_core.records import Record


class VersionKind(StrEnum):
    """The kind of a stored text."""

    REPORT = "report"  # of a template
    TOPIC = "topic"  # a summary
    CONCEPT = "concept"  # every mention of a concept


class Version(Record):
    """One version: `content` is the text, `key` a key of its inputs.

    Versions of one subject are numbered from 1. Numbers are never reused.
    """

    kind: VersionKind
    subject: str
    number: int = Field(gt=0)
    created: str = Field(description="time in UTC")
    key: str
    content: dict[str, Any]


class VersionRow(Record):
    """A version in lists, without its text."""

    kind: VersionKind
    subject: str
    title: str
    number: int = Field(gt=0)
    created: str
    sources: str = Field(description="digest of the documents that were read")
    collections: tuple[str, ...] = ()
    document_id: str = Field(default="", description="if it covers one document only")

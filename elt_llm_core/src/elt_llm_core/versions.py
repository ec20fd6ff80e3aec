"""What was written of a subject, kept under a number that never changes."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from elt_llm_core.records import Record


class VersionKind(StrEnum):
    """What was written."""

    REPORT = "report"  # of a template
    TOPIC = "topic"  # a summary
    CONCEPT = "concept"  # every mention of a concept


class Version(Record):
    """One version: `content` is what was written, `key` what it was written from.

    Versions of one subject are numbered from 1. A number is never given twice.
    """

    kind: VersionKind
    subject: str
    number: int = Field(gt=0)
    created: str = Field(description="time in UTC")
    key: str
    content: dict[str, Any]


class VersionRow(Record):
    """A version as lists show it, without its text."""

    kind: VersionKind
    subject: str
    title: str
    number: int = Field(gt=0)
    created: str
    sources: str = Field(description="digest of the documents that were read")
    collections: tuple[str, ...] = ()
    document_id: str = Field(default="", description="if it covers one document only")

"""Rows of the database as records."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from elt_llm_core.document import ParsedDocument
from elt_llm_core.records import Record

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

SCHEMA_VERSION = 6


NORMAL_PRIORITY = 50
MOST_PRIORITY = 100
PRIORITY = "0 excludes it from answers, 50 is the default, 100 is the highest weight"


class CollectionCard(Record):
    """The settings with which a collection was indexed; a mismatch is refused."""

    name: str
    embedder: str
    embedder_digest: str
    dimension: int = Field(gt=0)
    distance: str = "cosine"
    chunker: str
    schema_version: int = SCHEMA_VERSION
    documents: int = Field(default=0, ge=0)
    chunks: int = Field(default=0, ge=0)
    quarantined: int = Field(default=0, ge=0)
    title: str = Field(
        default="", description="the name as entered, if it differs from the id"
    )
    priority: int = Field(
        default=NORMAL_PRIORITY, ge=0, le=MOST_PRIORITY, description=PRIORITY
    )

    @property
    def label(self) -> str:
        """Return the display name of the collection."""
        return self.title or self.name


class Outlined(NamedTuple):
    """The position of one chunk of a document."""

    node_id: str
    ordinal: int
    section: str


class DocumentRow(Record):
    """One document of a collection: the ledger row, without its text."""

    document_id: str
    collection: str
    uri: str
    part: str
    name: str
    title: str
    sha256: str
    mime: str
    parser: str
    config_key: str
    page_count: int
    nodes: int
    warnings: tuple[str, ...] = ()
    has_original: bool = False
    priority: int = Field(
        default=NORMAL_PRIORITY, ge=0, le=MOST_PRIORITY, description=PRIORITY
    )

    @property
    def suffix(self) -> str:
        """Return the lower-case extension of the file name, with its dot."""
        return Path(self.name).suffix.lower()


class Quarantined(Record):
    """A chunk without a vector, which only keyword search finds."""

    node_id: str
    document_id: str
    document: str
    reason: str


@dataclass(frozen=True)
class NewDocument:
    """A document to store. The writer sets the ids of the nodes.

    `unembedded` has searchable texts that could not be embedded, with the reason. Their
    chunks are found by keyword search only.
    """

    uri: str
    name: str
    sha256: str
    mime: str
    parsed: ParsedDocument
    nodes: "list[TextNode]" = field(repr=False)
    config_key: str
    original: bytes | None = field(default=None, repr=False)
    unembedded: Mapping[str, str] = field(default_factory=dict, repr=False)


INDEXES = "indexes"

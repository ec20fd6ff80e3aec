"""A written text: a report, the summary of a topic, a concept report.

All three have the same structure, with the proof of each statement. Statements refer to
their sources by numbers of the whole text.
"""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_core.results import Citation, Degradation, RemovedClaim, Support
from elt_llm_core.store import Store
from elt_llm_core.versions import VersionKind, VersionRow

NO_DATA = "[INSUFFICIENT DATA]"


class SectionState(StrEnum):
    """How completely a section covers its guidance."""

    WRITTEN = "written"
    PARTIAL = "partial"  # some requirements are missing
    INSUFFICIENT = "insufficient"  # the documents do not cover it
    FAILED = "failed"  # it failed; another run retries it


class DataGap(Record):
    """A requirement of the guidance that the section does not cover."""

    text: str
    closed: bool = Field(
        default=False, description="a further search was needed to answer it"
    )
    uncertain: bool = Field(
        default=False,
        description="no answer is sure, but the section has sentences of the nearest "
        "passages",
    )

    @property
    def label(self) -> str:
        """The text, and that the section may answer it if it may."""
        unsure = " (no sure answer; the nearest sentences are in the section)"
        return f"{self.text}{unsure}" if self.uncertain else self.text


class SectionStatement(Record):
    """One statement of a section, with its proof."""

    text: str
    verdict: Support
    reason: str = Field(default="", description="reason if it is not proven")
    sources: tuple[int, ...] = Field(default=(), description="numbers of `sources`")
    citations: tuple[Citation, ...] = ()


class WrittenSection(Record):
    """A section. Without statements its text is `[INSUFFICIENT DATA]`."""

    id: str
    heading: str
    level: int = Field(default=1, ge=1, le=6)
    guidance: str = ""
    state: SectionState
    statements: tuple[SectionStatement, ...] = ()
    removed: tuple[RemovedClaim, ...] = Field(
        default=(), description="statements that did not pass the checks"
    )
    gaps: tuple[DataGap, ...] = ()
    degradations: tuple[Degradation, ...] = ()


class CitedSource(Record):
    """A cited passage under its number in the text."""

    number: int = Field(ge=1)
    node_id: str
    document_id: str
    collection: str
    document: str
    page: int | None
    section: str
    citations: tuple[Citation, ...]


class WrittenText(Record):
    """A report, a summary of a topic or a concept report."""

    kind: VersionKind
    subject: str = Field(description="the id of the template, topic or concept")
    title: str
    description: str = ""
    collections: tuple[str, ...]
    writer: str = Field(description="the model that wrote it; `extracts` if none did")
    sources_digest: str = Field(description="digest of the documents that were read")
    document_id: str = Field(default="", description="if it covers one document only")
    sections: tuple[WrittenSection, ...]
    sources: tuple[CitedSource, ...] = ()
    gaps: tuple[str, ...] = Field(
        default=(), description="missing parts: heading, then the request"
    )

    @property
    def statement_count(self) -> int:
        """Statements of all sections."""
        return sum(len(section.statements) for section in self.sections)


def documents_digest(
    store: Store, collections: Sequence[str], document_id: str = ""
) -> str:
    """Return a digest of the documents of collections, or of one of them."""
    cards = {card.name for card in store.collections()}
    rows = [r for name in collections if name in cards for r in store.documents(name)]
    own = [r for r in rows if document_id in ("", r.document_id)]
    return digest(*(f"{r.document_id} {r.sha256} {r.config_key}" for r in own))


def is_stale(store: Store, row: VersionRow) -> bool:
    """Return whether the documents of a version changed since it was written."""
    return row.sources != documents_digest(store, row.collections, row.document_id)

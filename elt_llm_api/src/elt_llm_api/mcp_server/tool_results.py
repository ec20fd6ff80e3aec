"""Results of the tools besides `QueryResult`, `SearchResult` and `TextPart`."""

from pydantic import Field

from elt_llm_api.schemas import CollectionOut, DocumentOut, TableOut, Wire
from elt_llm_core.results import Box, Support
from elt_llm_core.tables import Relation


class CollectionListing(Wire):
    """The collections, or one of them with a page of its documents."""

    collections: list[CollectionOut]
    documents: list[DocumentOut] = Field(
        default_factory=list, description="of the collection, if one was named"
    )
    next_cursor: int | None = Field(default=None, description="of the documents")


class TableListing(Wire):
    """The tables of a collection without their rows, or one with its rows."""

    tables: list[TableOut] = Field(default_factory=list)
    next_cursor: int | None = None
    table: Relation | None = Field(default=None, description="the requested one")


class DefinedTerm(Wire):
    """A term and the words of a document that define it."""

    term: str
    definition: str = Field(description="verbatim text of the document")
    resolved_definition: str = Field(
        default="", description="text of the rule that the definition refers to, if any"
    )
    synonyms: tuple[str, ...] = ()
    collection: str
    document: str
    document_id: str
    section: str
    page: int | None
    start: int
    end: int
    quote_support: Support
    boxes: tuple[Box, ...] = ()


class TermListing(Wire):
    """Defined terms, by term."""

    terms: list[DefinedTerm]
    total: int = Field(description="number of matching terms; the list may be shorter")
    next_cursor: int | None = None

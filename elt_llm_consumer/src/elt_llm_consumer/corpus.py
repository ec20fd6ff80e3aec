"""The handbook as products use it: documents, passages, definitions and evidence."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Protocol

from elt_llm_consumer.definitions.definition_pipeline import (
    LIKELY,
    SURE,
    Candidates,
    chosen_definitions,
    score_document,
)
from elt_llm_consumer.definitions.definition_records import Definition, text_units
from elt_llm_consumer.definitions.definition_scorer import load_scorer
from elt_llm_consumer.definitions.undefined import UndefinedTerm, undefined_terms
from elt_llm_consumer.definitions.worded_definitions import add_worded
from elt_llm_consumer.stored_definitions import stored_definitions
from elt_llm_consumer.table_statements import RowQuote
from elt_llm_core.errors import UsageError
from elt_llm_core.identifiers import digest
from elt_llm_core.provenance import boxes_of_span, read
from elt_llm_core.records import Record
from elt_llm_core.results import Box
from elt_llm_core.store import DocumentRow, Store
from elt_llm_core.store.stored_tables import stored_tables
from elt_llm_core.tables import Relation
from elt_llm_query.grounding.quote_match import check_quote

MODEL_KINDS = frozenset({"fact_sheet", "relationship"})


class DefinitionReader(Protocol):
    """Revises the probabilities that the scorer gave a document's candidates."""

    def read(
        self, documents: Sequence[DocumentRow], candidates: Sequence[Candidates]
    ) -> Sequence[Candidates]:
        """Return the candidates with revised probabilities, and additional ones."""


class HandbookPassage(Record):
    """A chunk with its location: `document_text[start:end] == text`."""

    node_id: str
    collection: str
    document_id: str
    document: str
    section: str
    page: int | None
    start: int
    end: int
    text: str


class Evidence(Record):
    """A quote, its location, and the verdict of checking it against its source."""

    node_id: str
    document: str
    section: str
    page: int | None
    quote: str
    start: int
    end: int
    support: str


class RowEvidence(Evidence):
    """A row of a table, with the table's title and the cells that fill the field.

    `cells` are values by their headers; empty for a row above of which a cell is
    repeated.
    """

    table: str
    cells: dict[str, str]


class GlossaryEntry(Record):
    """A definition and the document that states it."""

    document: DocumentRow
    definition: Definition

    @property
    def term(self) -> str:
        """The defined term."""
        return self.definition.term

    @property
    def order(self) -> tuple[str, str, str, int]:
        """Sort key: term without case, then as written, then document and place."""
        return (
            self.term.casefold(),
            self.term,
            self.document.uri,
            self.definition.start,
        )


class Handbook:
    """The documents of one or several collections, each read once."""

    def __init__(
        self,
        store: Store,
        collections: Sequence[str],
        *,
        textbook: bool = False,
        reader: DefinitionReader | None = None,
        fresh: bool = False,
        wordings: Sequence[str] = (),
    ) -> None:
        if not collections:
            raise UsageError("no collection is given", "pass --collection NAME")
        self.store = store
        self._textbook = textbook
        self._reader = reader
        self._fresh = fresh
        self._wordings = tuple(wordings)
        self.collections = tuple(dict.fromkeys(collections))
        self.documents = [r for name in self.collections for r in store.documents(name)]
        self.text = lru_cache(maxsize=8)(store.document_text)
        self._pages = lru_cache(maxsize=2)(store.pages)

    @cached_property
    def identity(self) -> str:
        """Return a digest of the documents, chunking, embedder and definitions."""
        cards = [self.store.card(name) for name in self.collections]
        parts = [f"{c.name} {c.embedder_digest} {c.chunker}" for c in cards]
        parts += [f"{r.document_id} {r.sha256} {r.config_key}" for r in self.documents]
        parts += [entry.definition.model_dump_json() for entry in self.entries]
        return digest(*parts)

    @cached_property
    def entries(self) -> list[GlossaryEntry]:
        """Return every definition, by term and then by document.

        With `textbook` also those that the scorer is less sure of; with `wordings`
        also those that are worded so.
        """
        threshold = LIKELY if self._textbook else SURE
        entries = [
            GlossaryEntry(document=document, definition=definition)
            for document, definitions in zip(
                self.documents, self._definitions(threshold), strict=True
            )
            for definition in self._with_worded(document, definitions)
        ]
        return sorted(entries, key=lambda entry: entry.order)

    def _with_worded(
        self, document: DocumentRow, definitions: Sequence[Definition]
    ) -> Sequence[Definition]:
        if not self._wordings:
            return definitions
        text = self.text(document.document_id)
        units = text_units(text, self.store.blocks(document.document_id))
        return add_worded(definitions, text, units, self._wordings)

    def _definitions(self, threshold: float) -> list[list[Definition]]:
        """Return the definitions of each document, as revised by the reader.

        The reader's estimate for a document depends on the other documents too.
        """
        if self._reader is None:
            return [
                stored_definitions(self.store, document, threshold, fresh=self._fresh)
                for document in self.documents
            ]
        candidates = [
            score_document(
                self.text(document.document_id),
                self.store.blocks(document.document_id),
                load_scorer(),
            )
            for document in self.documents
        ]
        return [
            chosen_definitions(read, threshold, load_scorer())
            for read in self._reader.read(self.documents, candidates)
        ]

    @cached_property
    def undefined_terms(self) -> list[UndefinedTerm]:
        """Return terms used like defined ones but never defined, in document order."""
        known = [
            name
            for entry in self.entries
            for name in (entry.term, *entry.definition.synonyms)
        ]
        terms = []
        for document in self.documents:
            document_id = document.document_id
            text = self.text(document_id)
            units = text_units(text, self.store.blocks(document_id))
            terms += undefined_terms(document_id, text, units, known)
        return terms

    @cached_property
    def passages(self) -> list[HandbookPassage]:
        """Return every chunk except fact sheets of a model, in document order."""
        passages = []
        for name in self.collections:
            for node in self.store.nodes(name):
                place = read(node)
                if place.kind in MODEL_KINDS:
                    continue
                passages.append(
                    HandbookPassage(
                        node_id=node.node_id,
                        collection=name,
                        document_id=place.document_id,
                        document=place.document,
                        section=place.section,
                        page=place.page,
                        start=place.span_start,
                        end=place.span_end,
                        text=node.get_content(),
                    )
                )
        return passages

    @cached_property
    def _starts(self) -> dict[str, tuple[list[int], list[HandbookPassage]]]:
        by_document: dict[str, list[HandbookPassage]] = {}
        for passage in self.passages:
            by_document.setdefault(passage.document_id, []).append(passage)
        sorted_ = {k: sorted(v, key=lambda p: p.start) for k, v in by_document.items()}
        return {k: ([p.start for p in v], v) for k, v in sorted_.items()}

    def passage_at(self, document_id: str, start: int) -> HandbookPassage | None:
        """Return the last passage that begins at or before a character."""
        starts, passages = self._starts.get(document_id, ([], []))
        number = bisect_right(starts, start) - 1
        return passages[number] if number >= 0 else None

    def boxes(
        self, document_id: str, spans: Sequence[tuple[int, int]]
    ) -> tuple[Box, ...]:
        """Return one box per line of the spans, in reading order."""
        first, last = min(s for s, _ in spans), max(e for _, e in spans)
        pages = [
            page
            for page in self._pages(document_id)
            if page.words and page.words[0][0] < last and page.words[-1][1] > first
        ]
        return tuple(
            b for start, end in spans for b in boxes_of_span(pages, start, end)
        )

    def quotes(self, entry: GlossaryEntry) -> list[Evidence]:
        """Return the words of a definition as evidence, or those it refers to."""
        definition, document = entry.definition, entry.document
        place = definition.resolved or definition
        excerpt = definition.resolved
        spans = ((excerpt.start, excerpt.end),) if excerpt else definition.spans
        text = self.text(document.document_id)
        quotes = []
        for start, end in spans:
            passage = self.passage_at(document.document_id, start)
            quotes.append(
                Evidence(
                    node_id=passage.node_id if passage else "",
                    document=passage.document if passage else document.name,
                    section=place.section,
                    page=place.page,
                    quote=text[start:end],
                    start=start,
                    end=end,
                    support=check_quote(text[start:end], text).support.value,
                )
            )
        return quotes

    def tables(self) -> Iterator[Relation]:
        """Return the tables of every document, in order."""
        for name in self.collections:
            yield from stored_tables(self.store, name)

    def quote_row(self, row: RowQuote) -> RowEvidence:
        """Return a row of a table as evidence."""
        passage = self.passage_at(row.document_id, row.start)
        text = self.text(row.document_id)
        quote = text[row.start : row.end]
        return RowEvidence(
            node_id=passage.node_id if passage else "",
            document=row.document,
            section=row.section,
            page=row.page,
            quote=quote,
            start=row.start,
            end=row.end,
            support=check_quote(quote, text).support.value,
            table=row.table,
            cells=dict(row.cells),
        )


def quote_passage(passage: HandbookPassage, start: int, end: int) -> Evidence:
    """Return characters `[start, end)` of a passage's text as evidence."""
    quote = passage.text[start:end]
    return Evidence(
        node_id=passage.node_id,
        document=passage.document,
        section=passage.section,
        page=passage.page,
        quote=quote,
        start=passage.start + start,
        end=passage.start + end,
        support=check_quote(quote, passage.text).support.value,
    )

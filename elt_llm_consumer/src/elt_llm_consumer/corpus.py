"""The handbook side of every product: documents, passages and definitions."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from elt_llm_consumer.definitions.extract import explained, extract
from elt_llm_consumer.definitions.names import fold
from elt_llm_consumer.definitions.paragraphs import units
from elt_llm_consumer.definitions.records import Definition, DefinitionSource
from elt_llm_consumer.definitions.undefined import UndefinedTerm, undefined_terms
from elt_llm_core.document import Block
from elt_llm_core.errors import UsageError
from elt_llm_core.identifiers import digest
from elt_llm_core.provenance import boxes_of_span, read
from elt_llm_core.records import Record
from elt_llm_core.results import Box
from elt_llm_core.store import DocumentRow, Store
from elt_llm_query.grounding.quote_match import check_quote

MODEL_KINDS = frozenset({"fact_sheet", "relationship"})


class Passage(Record):
    """A chunk: `document_text[start:end]` is `text`."""

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
    """A quote, where it stands, and what the check against its source found."""

    node_id: str
    document: str
    section: str
    page: int | None
    quote: str
    start: int
    end: int
    support: str


class Entry(Record):
    """A definition with its document."""

    row: DocumentRow
    found: Definition

    @property
    def order(self) -> tuple[str, str, str, int]:
        """By term without case, then as written, then document and place."""
        return (
            self.found.term.casefold(),
            self.found.term,
            self.row.uri,
            self.found.start,
        )


class Handbook:
    """The documents of some collections, read once."""

    def __init__(
        self, store: Store, collections: Sequence[str], *, textbook: bool = False
    ) -> None:
        if not collections:
            raise UsageError("no collection is named", "pass --collection NAME")
        self.store = store
        self._textbook = textbook
        self.collections = tuple(dict.fromkeys(collections))
        self.rows = [r for name in self.collections for r in store.documents(name)]
        self.text = lru_cache(maxsize=8)(store.document_text)
        self._pages = lru_cache(maxsize=2)(store.pages)

    @cached_property
    def identity(self) -> str:
        """Changes with any document, with how it was cut and with its embedder."""
        cards = [self.store.card(name) for name in self.collections]
        parts = [f"{c.name} {c.embedder_digest} {c.chunker}" for c in cards]
        parts += [f"{r.document_id} {r.sha256} {r.config_key}" for r in self.rows]
        return digest(*parts)

    @cached_property
    def entries(self) -> list[Entry]:
        """Every definition, by term and then by document.

        Sentences that only explain a term count where `textbook` asks for them, or
        where none of the documents states a definition.
        """
        found = self._stated(extract)
        if self._textbook or not any(_is_formal(entry.found) for entry in found):
            known = {fold(entry.found.term) for entry in found}
            told = self._stated(explained)
            found += [e for e in told if fold(e.found.term) not in known]
        return sorted(found, key=lambda entry: entry.order)

    def _stated(
        self, find: Callable[[str, Sequence[Block]], list[Definition]]
    ) -> list[Entry]:
        return [
            Entry(row=row, found=one)
            for row in self.rows
            for one in find(
                self.text(row.document_id), self.store.blocks(row.document_id)
            )
        ]

    @cached_property
    def undefined(self) -> list[UndefinedTerm]:
        """Terms used like defined ones and defined nowhere, document by document."""
        known = [
            name
            for entry in self.entries
            for name in (entry.found.term, *entry.found.synonyms)
        ]
        found = []
        for row in self.rows:
            text = self.text(row.document_id)
            running = units(text, self.store.blocks(row.document_id))
            found += undefined_terms(row.document_id, text, running, known)
        return found

    @cached_property
    def passages(self) -> list[Passage]:
        """Every chunk but the fact sheets of a model, in the order of the documents."""
        found = []
        for name in self.collections:
            for node in self.store.nodes(name):
                place = read(node)
                if place.kind in MODEL_KINDS:
                    continue
                found.append(
                    Passage(
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
        return found

    @cached_property
    def _starts(self) -> dict[str, tuple[list[int], list[Passage]]]:
        by_document: dict[str, list[Passage]] = {}
        for passage in self.passages:
            by_document.setdefault(passage.document_id, []).append(passage)
        sorted_ = {k: sorted(v, key=lambda p: p.start) for k, v in by_document.items()}
        return {k: ([p.start for p in v], v) for k, v in sorted_.items()}

    def passage_at(self, document_id: str, start: int) -> Passage | None:
        """The last passage that begins at or before a character of a document."""
        starts, passages = self._starts.get(document_id, ([], []))
        number = bisect_right(starts, start) - 1
        return passages[number] if number >= 0 else None

    def boxes(
        self, document_id: str, spans: Sequence[tuple[int, int]]
    ) -> tuple[Box, ...]:
        """One box a line for the spans, in reading order."""
        first, last = min(s for s, _ in spans), max(e for _, e in spans)
        pages = [
            page
            for page in self._pages(document_id)
            if page.words and page.words[0][0] < last and page.words[-1][1] > first
        ]
        return tuple(
            b for start, end in spans for b in boxes_of_span(pages, start, end)
        )

    def quotes(self, entry: Entry) -> list[Evidence]:
        """The words of a definition (those it refers to, where found) as evidence."""
        one, row = entry.found, entry.row
        place = one.resolved
        spans = ((place.start, place.end),) if place else one.spans
        text = self.text(row.document_id)
        found = []
        for start, end in spans:
            passage = self.passage_at(row.document_id, start)
            found.append(
                Evidence(
                    node_id=passage.node_id if passage else "",
                    document=passage.document if passage else row.name,
                    section=place.section if place else one.section,
                    page=place.page if place else one.page,
                    quote=text[start:end],
                    start=start,
                    end=end,
                    support=check_quote(text[start:end], text).support.value,
                )
            )
        return found


def _is_formal(found: Definition) -> bool:
    return found.source is not DefinitionSource.ACRONYM


def quoted(passage: Passage, start: int, end: int) -> Evidence:
    """Characters `[start, end)` of a passage's text, as evidence."""
    said = passage.text[start:end]
    return Evidence(
        node_id=passage.node_id,
        document=passage.document,
        section=passage.section,
        page=passage.page,
        quote=said,
        start=passage.start + start,
        end=passage.start + end,
        support=check_quote(said, passage.text).support.value,
    )

"""Convert the nodes of a prompt to records, and locate a quote on its page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from llama_index.core.schema import NodeWithScore, TextNode

from elt_llm_core import provenance
from elt_llm_core.document import Cell
from elt_llm_core.results import Box, Degradation, DegradationKind, Source, Support
from elt_llm_core.store import Store
from elt_llm_query.analysis.reference_marks import find_reference_marks, remove_spans
from elt_llm_query.analysis.stems import words
from elt_llm_query.grounding.labels import (
    FIGURES_KEY,
    MENTIONS_KEY,
    by_rank,
    label_of,
    linked_figures,
    references_of,
)
from elt_llm_query.grounding.quote_match import (
    STRENGTH,
    QuoteMatch,
    check_quote,
    stands_whole,
)
from elt_llm_query.trace import TraceLog

_HEADER_JOIN = " / "  # separator between the headers above one column
EMPTY = "\u2013"  # a cell without text, as tables print it
_TABLE_REACH = 6000  # characters before a row searched for its headers: a page or two
_WORD_FOR_WORD = (Support.VERIFIED, Support.NORMALISED)


@dataclass(frozen=True)
class Offered:
    """A source as the answer saw it: its record, its shown text, its cells.

    `references` is the number of entries in the document's list of references,
    `language` that of the text, empty for English.
    """

    source: Source
    reading: str = ""
    cells: tuple[Cell, ...] = ()
    references: int = 0
    language: str = ""


class QuotePlace(NamedTuple):
    """The page of a quote's first word, and the quote's boxes."""

    page: int | None
    boxes: tuple[Box, ...]


Locate = Callable[[Offered, int, int], QuotePlace]


def to_sources(nodes: Sequence[NodeWithScore]) -> tuple[Offered, ...]:
    """Return a record for each node, labelled as given or by position, best first."""
    return tuple(_to_offered(nodes[place], place + 1) for place in by_rank(nodes))


def note_unquoted(
    given: Sequence[NodeWithScore], offered: Sequence[NodeWithScore], log: TraceLog
) -> None:
    """Note descriptions of pictures if the synthesizer quotes only documents.

    Args:
        given: The nodes passed to the synthesizer.
        offered: The sources that the answer could cite.
        log: Gets a degradation for each that was left out.
    """
    ids = {hit.node.node_id for hit in offered}
    for hit in given:
        if hit.node.node_id in ids or not provenance.is_generated(hit.node):
            continue
        place = provenance.read(hit.node)
        where = f"{place.document}, p. {place.page}" if place.page else place.document
        detail = f"{where}: a model's description of a picture, which is never quoted"
        log.degrade(Degradation(kind=DegradationKind.DOCUMENT_WARNING, detail=detail))


def locator(store: Store) -> Locate:
    """Return a function that locates quotes in the pages of `store`."""

    def locate(offered: Offered, start: int, end: int) -> QuotePlace:
        """Return the place of characters `[start, end)` of the source's text."""
        source = offered.source
        begin, stop = source.span.start + start, source.span.start + end
        pages = store.pages(source.document_id, source.pages) if source.pages else []
        boxes = provenance.boxes_of_span(pages, begin, stop)
        if not boxes:
            boxes = _cell_boxes(offered, begin, stop) or source.boxes
        return QuotePlace(boxes[0].page if boxes else source.span.page, boxes)

    return locate


def _to_offered(hit: NodeWithScore, number: int) -> Offered:
    place = provenance.read(hit.node)
    node = hit.node
    text = node.text if isinstance(node, TextNode) else node.get_content()
    source = Source(
        label=label_of(node) or f"S{number}",
        node_id=node.node_id,
        document_id=place.document_id,
        collection=place.collection,
        document=place.document,
        section=place.section,
        kind=place.kind,
        text=text,
        score=float(hit.score or 0.0),
        span=place.span,
        pages=place.pages,
        boxes=place.boxes,
        reading_order=place.reading_order,
        generated=bool(place.generated),
        suspicious=place.suspicious,
        attributes=provenance.attributes(node),
        figures=linked_figures(node, FIGURES_KEY),
        mentioned_by=linked_figures(node, MENTIONS_KEY),
    )
    reading = place.index_text if place.index_text != text else ""
    references = references_of(node)
    return Offered(source, reading, place.cells, references, place.text_language)


def _cell_boxes(offered: Offered, start: int, end: int) -> tuple[Box, ...]:
    touched = [c for c in offered.cells if c.start < end and c.end > start]
    return tuple(box for cell in touched for box in cell.boxes)


TextOf = Callable[[str], str]


def texts(store: Store) -> TextOf:
    """Return a function for the texts of documents, each read once for an answer."""

    @lru_cache(maxsize=4)
    def text_of(document_id: str) -> str:
        """Return the canonical text; empty if the document does not exist."""
        return store.document_text(document_id)

    return text_of


def match_quote(quote: str, where: Offered) -> QuoteMatch:
    """Look a quote up in a source, also without the marks of its references.

    Args:
        quote: The words to look up.
        where: The source.

    Returns:
        As `check_quote`; at best `NORMALISED` if only the text without marks such as
        "[3]" contains the quote, with the span of the words and the marks between them.
    """
    text = where.source.text
    match = check_quote(quote, text)
    marks = find_reference_marks(text, where.references)
    if match.support in _WORD_FOR_WORD or not marks:
        return match
    bare = remove_spans(text, marks)
    again = check_quote(quote, bare.text)
    if again.support not in _WORD_FOR_WORD and (match.stands or not again.stands):
        return match
    start, end = bare.original(again.start, again.end)
    support = max(again.support, Support.NORMALISED, key=STRENGTH.index)
    return again._replace(support=support, start=start, end=end)


def without_references(quote: str, where: Offered) -> str:
    """Return words of a source without reference marks."""
    return remove_spans(quote, find_reference_marks(quote, where.references)).text


def is_row(where: Offered) -> bool:
    """Return True for a table row that is shown with its headers."""
    return bool(where.cells and where.reading)


def row_as_text(where: Offered, document: str) -> str:
    """Return the title, then each cell as "Header: value", as found in `document`.

    Where a cell is shown without a header, its place in the row tells its column: empty
    cells before it are then shown as a dash, and otherwise left out.
    """
    shown = []
    placed = 0  # cells up to the last that is shown without a header
    first = where.source.span.start
    above = document[max(first - _TABLE_REACH, 0) : first]
    for cell in where.cells:
        begin, end = max(cell.start - first, 0), max(cell.end - first, 0)
        value = " ".join(where.source.text[begin:end].split())
        if value and stands_whole(value, document):
            header = " ".join(cell.header.split())
            known = header and _stands_above(header, above, document)
            shown.append(f"{header}: {value}" if known else value)
            placed = placed if known else len(shown)
        elif not value:
            shown.append("")
    cells = [cell or EMPTY for cell in shown[:placed]] + shown[placed:]
    title, dash, _ = where.reading.partition(" - ")
    known = dash and stands_whole(title, document)
    row = " | ".join(filter(None, cells))
    return f"{title} - {row}" if known else row


def _stands_above(header: str, above: str, document: str) -> bool:
    """Return whether the document contains a header, or each of its joined headers.

    The lines of adjacent headers alternate in the text of a page, so the words of one
    header may be separated.
    """
    known = set(words(above))
    return stands_whole(header, document) or all(
        stands_whole(part, document) or known.issuperset(words(part))
        for part in header.split(_HEADER_JOIN)
    )

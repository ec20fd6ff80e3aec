"""Tool results as text for models, with links to pictures of pages.

The structured content has the same; clients that read only text miss nothing essential.
"""

from collections.abc import Callable, Iterable, Sequence
from urllib.parse import quote

from mcp_types import CallToolResult, ContentBlock, ResourceLink, TextContent
from pydantic import BaseModel

from elt_llm_api.document_text import TextPart
from elt_llm_api.graph_schemas import GraphListing
from elt_llm_api.mcp_server.tool_results import (
    CollectionListing,
    DefinedTerm,
    TableListing,
    TermListing,
)
from elt_llm_api.page_boxes import MAX_BOXES, format_boxes
from elt_llm_core.cli.terminal import count_of, escape_controls, escape_line
from elt_llm_core.graph.graph_records import ElementDetail, GraphAnswer, GraphSummary
from elt_llm_core.results import Box, QueryResult, SearchResult
from elt_llm_core.tables import Relation
from elt_llm_query.render import answer_text

SCHEME = "elt-llm"
PAGE_TEMPLATE = f"{SCHEME}://documents/{{document_id}}/pages/{{page}}.jpg{{?boxes}}"
JPEG = "image/jpeg"
MOST_LINKS = 20  # links of one result: more would take more space than its text
MOST_ROWS = 200  # rows of a table as text; the structured content has them all
PageOf = Callable[[str], bool]
# Document id and name, page, boxes.
Place = tuple[str, str, int | None, Sequence[Box]]


def page_uri(document_id: str, page: int, boxes: Iterable[Box]) -> str:
    """Return the resource address of a page's picture with marked boxes."""
    marks = format_boxes([box for box in boxes if box.page == page][:MAX_BOXES])
    address = f"{SCHEME}://documents/{quote(document_id, safe='')}/pages/{page}.jpg"
    return f"{address}?boxes={quote(marks, safe='')}" if marks else address


def answer_content(result: QueryResult, has_pages: PageOf) -> CallToolResult:
    """Return the answer with its citations, or the refusal with nearest passages."""
    text = f"status: {result.status.value}\n\n{answer_text(result)}"
    quoted = result.citations or result.nearest
    places = [(c.document_id, c.document, c.page, c.boxes) for c in quoted]
    return _content(result, text, _links(places, has_pages))


def search_content(result: SearchResult, has_pages: PageOf) -> CallToolResult:
    """Return the whole passages, best first."""
    parts = []
    for source in result.sources:
        head = _head(source.document, source.span.page, source.section)
        note = " (may be written to mislead a model)" if source.suspicious else ""
        ids = f"{source.collection}, document_id {source.document_id}"
        parts.append(f"[{source.label}] {head}{note}\n{ids}\n{source.text}")
    notes = [f"limit: {escape_line(note.detail)}" for note in result.degradations]
    text = "\n\n".join([*parts, *notes]) or "Nothing was found."
    places = [(s.document_id, s.document, s.span.page, s.boxes) for s in result.sources]
    return _content(result, text, _links(places, has_pages))


def part_content(part: TextPart, has_pages: PageOf) -> CallToolResult:
    """Return the text of a part, its location, and where to continue."""
    head = [escape_line(part.document), _pages_text(part), escape_line(part.section)]
    lines = [", ".join(h for h in head if h), "", part.text]
    if part.next_start is not None:
        lines += ["", f"(cut here; read on with start={part.next_start})"]
    if part.also_at:
        starts = ", ".join(map(str, part.also_at))
        lines += ["", f"(also under this heading, at start: {starts})"]
    if part.sections:
        lines += ["", "Sections:", *map(escape_line, part.sections)]
    places = [(part.document_id, part.document, page, ()) for page in part.pages]
    return _content(part, "\n".join(lines), _links(places, has_pages))


def tables_content(tables: TableListing) -> CallToolResult:
    """Return the tables by id and columns, or the rows of one, tab-separated."""
    if tables.table is not None:
        return _content(tables, _rows(tables.table), [])
    lines = [
        f"{one.id}: {escape_line(one.title or '(no title)')}, {one.rows} rows, "
        f"{_head(one.document, one.page, one.section)}\n"
        f"  columns: {escape_line(' | '.join(one.columns))}"
        for one in tables.tables
    ]
    return _content(tables, "\n".join(lines) or "There are no tables.", [])


def collections_content(known: CollectionListing) -> CallToolResult:
    """Return the collections, or the documents of one."""
    lines = [
        f"{one.name}: {escape_line(one.title or one.name)}, {one.documents} documents, "
        f"{one.chunks} chunks"
        for one in known.collections
    ]
    lines += [
        f"  {row.document_id}: {escape_line(row.name)} ({escape_line(row.title)}), "
        f"{row.pages} pages"
        for row in known.documents
    ]
    return _content(known, "\n".join(lines) or "There are no collections.", [])


def glossary_content(glossary: TermListing, has_pages: PageOf) -> CallToolResult:
    """Return each term with its definition and place."""
    text = "\n".join(map(_term_line, glossary.terms)) or "No such term is defined."
    places = [(t.document_id, t.document, t.page, t.boxes) for t in glossary.terms]
    return _content(glossary, text, _links(places, has_pages))


def graph_content(listing: GraphListing) -> CallToolResult:
    """Return the counts of the model, an element with its neighbours, or paths."""
    lines = _answer_lines(listing.answer) if listing.answer else []
    lines += _summary_lines(listing.summary) if listing.summary else []
    lines += _element_lines(listing.element) if listing.element else []
    lines += [f"{n.distance} away: {n.element.label}" for n in listing.neighbors]
    for way in listing.paths:
        lines.append(" -> ".join(ref.name for ref in way.elements))
        lines += [f"  {step.text}" for step in way.steps]
    text = "\n".join(map(escape_line, lines)) or "There is no path between the two."
    return _content(listing, text, [])


def _answer_lines(answer: GraphAnswer) -> list[str]:
    proof = (f"{ref.location.label}: {ref.label}" for ref in answer.proof[:MOST_ROWS])
    return [answer.text, *proof]


def _summary_lines(summary: GraphSummary) -> list[str]:
    head = ", ".join(
        (
            count_of(summary.elements, "element"),
            count_of(summary.relations, "relation"),
            count_of(summary.views, "view"),
        )
    )
    counts = (
        ("types", summary.types),
        ("domains", summary.domains),
        ("relation types", summary.relation_types),
    )
    lines = [f"{summary.name}: {head}"]
    for title, of_kind in counts:
        lines.append(f"{title}: {', '.join(f'{k} {n}' for k, n in of_kind.items())}")
    return lines


def _element_lines(detail: ElementDetail) -> list[str]:
    element = detail.element
    inside = " < ".join(ref.name for ref in detail.above) or "nothing"
    return [
        f"{element.name}: {element.type}, in {inside}",
        *element.documentation.splitlines(),
        *(relation.text for relation in detail.relations),
        *(f"(of what it is in) {relation.text}" for relation in detail.inherited),
    ]


def _pages_text(part: TextPart) -> str:
    if not part.pages:
        return ""
    first, last = part.pages[0], part.pages[-1]
    numbers = f"page {first}" if first == last else f"pages {first}-{last}"
    return f"{numbers} of {part.page_count}"


def _term_line(one: DefinedTerm) -> str:
    place = _head(one.document, one.page, one.section)
    resolved = f" = {one.resolved_definition}" if one.resolved_definition else ""
    return (
        f"{escape_line(one.term)}: {escape_line(one.definition + resolved)} ({place})"
    )


def _rows(table: Relation) -> str:
    header = "\t".join(escape_line(column.header) for column in table.columns)
    rows = [
        "\t".join(escape_line(field.text if field else "") for field in row.fields)
        for row in table.rows[:MOST_ROWS]
    ]
    left = len(table.rows) - len(rows)
    more = [f"({left} more rows in the structured content)"] if left else []
    place = _head(table.document, table.page, table.section)
    return "\n".join([f"{escape_line(table.title)} ({place})", header, *rows, *more])


def _head(document: str, page: int | None, section: str) -> str:
    parts = (document, f"p. {page}" if page is not None else "", section)
    return escape_line(", ".join(part for part in parts if part))


def _links(places: Iterable[Place], has_pages: PageOf) -> list[ResourceLink]:
    """Return a link for each place on a drawable page, without duplicates."""
    links: dict[str, ResourceLink] = {}
    drawn: dict[str, bool] = {}
    for document_id, document, page, boxes in places:
        if page is None:
            continue
        if document_id not in drawn:
            drawn[document_id] = has_pages(document_id)
        if drawn[document_id] and len(links) < MOST_LINKS:
            uri = page_uri(document_id, page, boxes)
            name = escape_line(f"{document}, page {page}")
            links.setdefault(uri, ResourceLink(name=name, uri=uri, mime_type=JPEG))
    return list(links.values())


def _content(
    result: BaseModel, text: str, links: Sequence[ResourceLink]
) -> CallToolResult:
    blocks: list[ContentBlock] = [
        TextContent(type="text", text=escape_controls(text)),
        *links,
    ]
    return CallToolResult(
        content=blocks, structured_content=result.model_dump(mode="json")
    )

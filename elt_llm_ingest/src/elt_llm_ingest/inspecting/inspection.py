"""The parts of a parsed document as plain values, and as text for people."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.cli.terminal import escape_line
from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.errors import UsageError
from elt_llm_core.results import Box
from elt_llm_ingest.page_warnings import merge_page_warnings
from elt_llm_ingest.readers.text_builder import one_line

APART = (BlockKind.FURNITURE, BlockKind.CONTENTS)
WIDTH = 88  # columns of the printed text
MOST = 40  # blocks and chunks in the printed text


def inspection_record(
    document: ParsedDocument, loader: str, nodes: Sequence[TextNode]
) -> dict[str, Any]:
    """Return everything that was read, as JSON values.

    Spans are `[start, end)` of the text; boxes are fractions of the page, top left.
    """
    text = document.text
    tables: dict[int, list[Block]] = {}
    doubtful = {
        block.page
        for block in document.blocks
        if block.attributes.get("reading_order") == "doubtful"
    }
    for block in document.blocks:
        if block.kind is BlockKind.TABLE_ROW:
            tables.setdefault(block.table_number, []).append(block)
    return {
        "title": document.title,
        "part": document.part,
        "loader": loader,
        "parser": document.parser,
        "characters": len(text),
        "pages": [
            {
                **page.model_dump(mode="json", exclude={"words"}),
                "words": len(page.words),
                **({"reading_order": "doubtful"} if page.number in doubtful else {}),
            }
            for page in document.pages
        ],
        "warnings": list(document.warnings),
        "sections": [_plain(document, b) for b in _of(document, BlockKind.HEADING)],
        "blocks": [_plain(document, b) for b in document.blocks],
        "tables": [_table(text, number, rows) for number, rows in tables.items()],
        "figures": [_plain(document, b) for b in _of(document, BlockKind.FIGURE)],
        "furniture": [_plain(document, b) for b in _of(document, *APART)],
        "chunks": [_chunk(node) for node in nodes],
    }


def boxes_of(document: ParsedDocument, block: Block) -> tuple[Box, ...]:
    """Return the block's boxes, one per line if its words are known.

    A figure has the boxes of the picture first, then those of the caption's lines.
    """
    found = provenance.boxes_of_span(document.pages, block.start, block.end)
    if block.kind is BlockKind.FIGURE:
        return tuple(dict.fromkeys((*block.boxes, *found)))
    return found or block.boxes


def _of(document: ParsedDocument, *kinds: BlockKind) -> Iterator[Block]:
    return (block for block in document.blocks if block.kind in kinds)


def _plain(document: ParsedDocument, block: Block) -> dict[str, Any]:
    told = block.model_dump(mode="json", exclude={"cells"}, exclude_defaults=True)
    told["text"] = document.text[block.start : block.end]
    told["boxes"] = _dump_boxes(boxes_of(document, block))
    return told


def _table(text: str, number: int, rows: Sequence[Block]) -> dict[str, Any]:
    return {
        "number": number,
        "title": rows[0].table,
        "page": rows[0].page,
        "section": rows[0].section,
        "rows": [
            {
                "header": row.attributes.get("row") == "header",
                "cells": [
                    {
                        **cell.model_dump(mode="json", exclude_defaults=True),
                        "text": text[cell.start : cell.end],
                    }
                    for cell in row.cells
                ],
            }
            for row in rows
        ],
    }


def _chunk(node: TextNode) -> dict[str, Any]:
    told = provenance.read(node)
    return {
        "text": node.text,
        "kind": told.kind,
        "start": told.span_start,
        "end": told.span_end,
        "page": told.page,
        "section": told.section,
        "table": told.table,
        "reading_order": told.reading_order,
        "suspicious": list(told.suspicious),
        "rules": list(told.rules),
        "boxes": _dump_boxes(told.boxes),
        "cells": [cell.model_dump(mode="json") for cell in told.cells],
    }


def _dump_boxes(boxes: Iterable[Box]) -> list[dict[str, Any]]:
    return [box.model_dump(mode="json") for box in boxes]


_PARTS_OF_PAGES = ("sections", "blocks", "tables", "figures", "furniture", "chunks")


def keep_page(
    records: Sequence[dict[str, Any]], page: int, file: str
) -> list[dict[str, Any]]:
    """Return the records that have a page, with only what is on it.

    Args:
        records: What `inspection_record` returned for each document of a file.
        page: The number of the page.
        file: The name of the file, for the error.

    Raises:
        UsageError: If no document has this page, also if none has pages.
    """
    numbers = [one["number"] for record in records for one in record["pages"]]
    if page not in numbers:
        known = f"{min(numbers)} to {max(numbers)}" if numbers else "none"
        raise UsageError(f"{file} has no page {page}", f"its pages: {known}")
    return [
        _keep_page(record, page)
        for record in records
        if any(one["number"] == page for one in record["pages"])
    ]


def _keep_page(record: dict[str, Any], page: int) -> dict[str, Any]:
    kept = {
        part: [one for one in record[part] if _is_on(one, page)]
        for part in _PARTS_OF_PAGES
    }
    pages = [one for one in record["pages"] if one["number"] == page]
    return {**record, **kept, "pages": pages}


def _is_on(part: dict[str, Any], page: int) -> bool:
    first = part.get("page")
    return first is not None and first <= page <= (part.get("end_page") or first)


def render_page(record: dict[str, Any], page: int) -> str:
    """Format the whole text of a page for people, block by block.

    Args:
        record: One of those that `keep_page` returned.
        page: The number of the page.
    """
    head = f"{escape_line(record['title'])}, page {page}"
    texts = [
        "\n".join(map(escape_line, block["text"].splitlines()))
        for block in record["blocks"]
    ]
    return "\n\n".join([head, *(texts or ["No text was read on this page."])])


def render_view(found: dict[str, Any], *, everything: bool = False) -> str:
    """Format the view for people: a summary, then the first blocks and chunks."""
    return "\n".join(_lines(found, None if everything else MOST))


def _lines(found: dict[str, Any], most: int | None) -> Iterator[str]:
    part = f" ({found['part']})" if found["part"] else ""
    yield f"{escape_line(found['title'] + part)}: {found['parser']}"
    kinds = Counter(block["kind"] for block in found["blocks"])
    said = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    yield f"{found['characters']} characters, {len(found['pages'])} pages; {said}"
    yield from (
        f"warning: {escape_line(warning)}"
        for warning in merge_page_warnings(found["warnings"])
    )
    yield from _list_under("Sections", map(_section, found["sections"]), most)
    yield from _list_under("Blocks", map(_block, found["blocks"]), most)
    for table in found["tables"][:most]:
        yield from _list_under(_table_name(table), map(_row, table["rows"]), most)
    yield from _list_under("Chunks", map(_block, found["chunks"]), most)


def _list_under(title: str, lines: Iterable[str], most: int | None) -> Iterator[str]:
    every = list(lines)
    if not every:
        return
    yield f"\n{title} ({len(every)})"
    yield from every[:most]
    if most is not None and len(every) > most:
        yield f"  ... {len(every) - most} more; --all shows them"


def _section(block: dict[str, Any]) -> str:
    page = f"  p. {block['page']}" if block.get("page") else ""
    return f"{'  ' * block.get('level', 1)}{one_line(block['text'])}{page}"


def _block(block: dict[str, Any]) -> str:
    page = f"p{block['page']}" if block.get("page") else "-"
    sure = f" {block['confidence']:.2f}" if block.get("confidence") is not None else ""
    head = (
        f"  {block['kind']:<11} {page:>5} {block['start']:>7}-{block['end']:<7}"
        f" {len(block['boxes'])} boxes{sure}  "
    )
    return head + _cut(block["text"], max(WIDTH - len(head), 24))


def _table_name(table: dict[str, Any]) -> str:
    page = f", p. {table['page']}" if table["page"] else ""
    title = f": {_cut(table['title'], WIDTH - 24)}" if table["title"] else ""
    return f"Table {table['number']}{title}{page}"


def _row(row: dict[str, Any]) -> str:
    cells = " | ".join(one_line(cell["text"]) for cell in row["cells"])
    return f"  {'#' if row['header'] else ' '} {_cut(cells, WIDTH - 4)}"


def _cut(text: str, width: int) -> str:
    line = one_line(text)
    return line if len(line) <= width else line[: width - 3] + "..."

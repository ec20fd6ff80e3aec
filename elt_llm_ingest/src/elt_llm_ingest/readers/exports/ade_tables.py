"""Tables of a chunk in LandingAI's document extraction: HTML with places of cells."""

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

from typing_extensions import override

from elt_llm_core.document import BlockKind
from elt_llm_core.results import Box
from elt_llm_ingest.readers.cell_grid import (
    GridCell,
    assumed_headers,
    marked_headers,
    place_cells,
    span,
    write_table,
)
from elt_llm_ingest.readers.text_builder import MAX_TITLE, TextBuilder, one_line

TABLE = re.compile(r"(<table\b.*?(?:</table>|\Z))", re.DOTALL | re.IGNORECASE)
BLANK_LINE = re.compile(r"\n\s*\n")
TITLE = re.compile(r"(?:table|exhibit|schedule)\s+[\w.]{1,8}\b", re.IGNORECASE)
Boxes = Callable[[str], Box | None]


def write_tables(
    builder: TextBuilder,
    text: str,
    box_of: Boxes,
    key: str,
    title: str,
    fields: dict[str, Any],
) -> None:
    """Write a chunk's tables and the text around them.

    A cell without its own location gets the chunk's.
    """
    for number, part in enumerate(TABLE.split(text)):
        if not TABLE.match(part):
            for paragraph in BLANK_LINE.split(part):
                line = one_line(paragraph)
                is_title = bool(TITLE.match(line))
                title = line if is_title else title
                kind = BlockKind.CAPTION if is_title else BlockKind.PARAGRAPH
                builder.add(kind, paragraph, **fields)
            continue
        reader = _Cells()
        reader.feed(part)
        reader.close()
        rows = place_cells(
            [[_with_box(c, box_of, fields) for c in r] for r in reader.rows]
        )
        own = box_of(reader.id) if reader.id else None
        places = {"place": _place(*fields["boxes"]), "table_place": _place(own)}
        attributes = {**fields["attributes"], "table": reader.id, **places}
        row_fields = {**fields, "attributes": attributes, "table": title}
        header = marked_headers(rows) or assumed_headers(rows[_titles(rows) :])
        _write_table(builder, rows, header, f"{key}/{number}", row_fields)


def _write_table(
    builder: TextBuilder,
    rows: list[list[GridCell]],
    header: int,
    key: str,
    fields: dict[str, Any],
) -> None:
    """Write rows; one cell over the whole width at the top is the table's title."""
    titles = _titles(rows)
    if titles and not fields["table"]:
        fields = {**fields, "table": one_line(rows[0][0].text)}
    for row in rows[:titles]:
        write_table(builder, [row], 0, key, **fields)
    write_table(builder, rows[titles:], header, key, **fields)


def _titles(rows: list[list[GridCell]]) -> int:
    """Return 1 if the first row is one cell over all columns, else 0."""
    if not rows[1:] or len(rows[0]) != 1:
        return 0
    return int(rows[0][0].columns > 1 and len(rows[1]) > 1)


def _place(*boxes: Box | None) -> str:
    """Return page and sides of a table; its rows have the boxes of their cells."""
    box = next((box for box in boxes if box is not None), None)
    return " ".join(map(str, box.model_dump().values())) if box else ""


def _with_box(cell: GridCell, box_of: Boxes, fields: dict[str, Any]) -> GridCell:
    box = box_of(cell.id) if cell.id else None
    return replace(cell, boxes=(box,) if box else fields["boxes"])


def title_above(builder: TextBuilder) -> str:
    """Return the text directly above a table if it names it ("Table 3: fees").

    Args:
        builder: The text so far.
    """
    if not builder.blocks:
        return ""
    last = builder.blocks[-1]
    text = one_line(builder.text[last.start : last.end])
    return text if TITLE.match(text) and len(text) <= MAX_TITLE else ""


class _Cells(HTMLParser):
    """The cells of one table, row by row; nested elements are part of the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[GridCell]] = []
        self.id = ""

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.id = self.id or attributes.get("id", "")
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            if not self.rows:
                self.rows.append([])
            down, across = (
                span(attributes.get("rowspan")),
                span(attributes.get("colspan")),
            )
            header = tag == "th"
            self.rows[-1].append(
                GridCell("", down, across, header, attributes.get("id", ""))
            )
        elif tag in ("br", "p", "li", "div"):
            self.handle_data(" ")

    @override
    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            last = self.rows[-1][-1]
            self.rows[-1][-1] = replace(last, text=last.text + data)

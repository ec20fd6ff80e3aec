"""Convert a DoclingDocument to text and blocks. Docling is imported only when used."""

import io
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from elt_llm_core.document import BlockKind, Page, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.results import Box
from elt_llm_ingest.readers.cell_grid import GridCell, write_table
from elt_llm_ingest.readers.text_builder import (
    TextBuilder,
    one_line,
    title_of,
    with_sections,
)

KINDS = {
    "caption": BlockKind.CAPTION,
    "code": BlockKind.CODE,
    "list_item": BlockKind.LIST_ITEM,
    "page_footer": BlockKind.FURNITURE,
    "page_header": BlockKind.FURNITURE,
}

HOLDERS = frozenset({"list_item", "section_header", "title"})


def convert(path: Path, data: bytes, kind: str) -> Any:
    """Return Docling's document of an Office file. `kind`: docx or pptx.

    Raises LoadError if Docling cannot read it.
    """
    from docling.datamodel.base_models import (  # noqa: PLC0415 - takes seconds
        DocumentStream,
        InputFormat,
    )
    from docling.document_converter import DocumentConverter  # noqa: PLC0415
    from docling.exceptions import ConversionError  # noqa: PLC0415

    converter = DocumentConverter(allowed_formats=[InputFormat(kind)])
    stream = DocumentStream(name=f"document.{kind}", stream=io.BytesIO(data))
    try:
        return converter.convert(stream).document
    except ConversionError as error:
        raise LoadError(
            path.name,
            "the file is damaged or its content does not match its name",
            "open it in the program that created it and save it again",
        ) from error


def remove_white_space(text: str) -> str:
    """Return the text without white space, for matching."""
    return "".join(text.split())


def to_document(
    path: Path, converted: Any, originals: Mapping[str, str], points: float = 1.0
) -> list[ParsedDocument]:
    """Convert Docling's document. Raises LoadError if it contains no text.

    Docling splits a paragraph where its typeface changes; `originals` maps the dense
    text of paragraphs to their original text. `points` is the length of a unit.
    """
    writer = _DoclingWriter(converted, originals, points)
    writer.write()
    text = writer.builder.text
    if not writer.builder.blocks:
        raise LoadError(
            path.name,
            "no text: it contains only pictures or nothing",
            "export it as PDF",
        )
    blocks = with_sections(text, writer.builder.blocks)
    return [
        ParsedDocument(
            title=title_of(text, blocks, path.stem),
            text=text,
            blocks=blocks,
            pages=writer.pages(),
            parser=f"docling-slim {version('docling-slim')}, layer 2",
        )
    ]


class _DoclingWriter:
    def __init__(
        self, converted: Any, originals: Mapping[str, str], points: float
    ) -> None:
        self._found = converted
        self._originals = originals
        self._points = points
        self._tables = 0
        captioned = (*converted.tables, *converted.pictures)
        self._done = {ref.cref for item in captioned for ref in item.captions}
        for table in converted.tables:
            self._done |= _told_by(table, converted)
        self.builder = TextBuilder()

    def pages(self) -> list[Page]:
        """The slides; nothing for formats without pages."""
        return [
            Page(
                number=number,
                width=page.size.width * self._points,
                height=page.size.height * self._points,
            )
            for number, page in sorted(self._found.pages.items())
            if page.size and page.size.width > 0 and page.size.height > 0
        ]

    def write(self) -> None:
        """Write every item in reading order."""
        from docling_core.types.doc.common.content_layer import (  # noqa: PLC0415
            ContentLayer,
        )
        from docling_core.types.doc.items.group import InlineGroup  # noqa: PLC0415
        from docling_core.types.doc.items.picture.picture import (  # noqa: PLC0415
            PictureItem,
        )
        from docling_core.types.doc.items.table.table import (  # noqa: PLC0415
            TableItem,
        )
        from docling_core.types.doc.items.text import TextItem  # noqa: PLC0415

        layers = set(ContentLayer)
        items = self._found.iterate_items(
            with_groups=True, included_content_layers=layers
        )
        for item, _ in items:
            if item.self_ref in self._done:
                continue
            if isinstance(item, InlineGroup):
                self._inline(item)
            elif isinstance(item, TableItem):
                self._table(item)
            elif isinstance(item, PictureItem):
                self._picture(item)
            elif isinstance(item, TextItem) and not self._is_holder(item):
                self._text(item, item.text)

    @staticmethod
    def _is_holder(item: Any) -> bool:
        """Return whether the text of a list item is in an inline group below it."""
        return not item.text.strip()

    def _inline(self, group: Any) -> None:
        parts = [ref.resolve(self._found) for ref in group.children]
        self._done.update(part.self_ref for part in parts)
        texts = [part.text for part in parts if getattr(part, "text", "").strip()]
        if not texts:
            return
        parent = group.parent.resolve(self._found) if group.parent else None
        label = getattr(parent, "label", None)
        is_holder = label in HOLDERS and getattr(parent, "text", None) == ""
        holder = parent if is_holder else parts[0]
        self._text(holder, " ".join(texts))

    def _text(self, item: Any, text: str) -> None:
        layer = getattr(item.content_layer, "value", "body")
        label = item.label.value
        kind = KINDS.get(label, BlockKind.PARAGRAPH)
        level = 0
        text = self._originals.get(remove_white_space(text), text)
        text = text if kind is BlockKind.CODE else _lines(text)
        attributes: dict[str, str] = {}
        if label == "footnote" or layer == "notes":
            attributes["type"] = "footnote" if label == "footnote" else "note"
        elif layer in ("furniture", "background"):
            kind = BlockKind.FURNITURE
        elif label in ("title", "section_header"):
            kind = BlockKind.HEADING
            level = 1 if label == "title" else getattr(item, "level", 1) + 1
        elif kind is BlockKind.LIST_ITEM and getattr(item, "enumerated", False):
            text = f"{item.marker} {text}".strip()
        place = self._place(item)
        self.builder.add(kind, text, level=level, attributes=attributes, **place)

    def _table(self, item: Any) -> None:
        self._tables += 1
        caption = one_line(item.caption_text(self._found))
        place = self._place(item)
        if caption:
            self.builder.add(BlockKind.CAPTION, caption, **place)
        page = place.get("page")
        size = self._found.pages[page].size if page else None
        rows, header = _grid(item.data, page, size)
        write_table(
            self.builder, rows, header, str(self._tables), table=caption, **place
        )

    def _picture(self, item: Any) -> None:
        """Write a figure: its caption, or a model's description."""
        place = self._place(item)
        if caption := one_line(item.caption_text(self._found)):
            self.builder.add(BlockKind.FIGURE, caption, **place)
        for text in _descriptions(item):
            attributes = {"generated": "true"}
            self.builder.add(BlockKind.FIGURE, text, attributes=attributes, **place)

    def _place(self, item: Any) -> dict[str, Any]:
        boxes, pages = [], []
        for place in item.prov:
            page = self._found.pages.get(place.page_no)
            if page is None or not page.size:
                continue
            pages.append(place.page_no)
            box = _box(place.page_no, place.bbox, page.size)
            if box.right > box.left and box.bottom > box.top:
                boxes.append(box)
        if not pages:
            return {}
        return {"page": min(pages), "end_page": max(pages), "boxes": tuple(boxes)}


def _told_by(table: Any, converted: Any) -> set[str]:
    """Return texts that Docling repeats below a table that contains them."""
    cell_texts = {
        remove_white_space(cell.text) for cell in table.data.table_cells if cell.text
    }
    everything = "\n".join(cell_texts)
    waiting, seen = list(table.children), set()
    repeated = set()
    while waiting:
        ref = waiting.pop()
        if ref.cref in seen:
            continue
        seen.add(ref.cref)
        item = ref.resolve(converted)
        waiting += item.children
        if remove_white_space(getattr(item, "text", "")) in everything:
            repeated.add(ref.cref)
    return repeated


def _descriptions(item: Any) -> Iterator[str]:
    """Return texts that a model wrote about a picture."""
    description = getattr(getattr(item, "meta", None), "description", None)
    if text := getattr(description, "text", ""):
        yield text
        return
    for note in getattr(item, "annotations", ()):
        if getattr(note, "kind", "") == "description" and note.text:
            yield note.text


def _box(number: int, bbox: Any, size: Any) -> Box:
    corners = bbox.to_top_left_origin(page_height=size.height)
    return Box(
        page=number,
        left=_fraction(corners.l, size.width),
        top=_fraction(corners.t, size.height),
        right=_fraction(corners.r, size.width),
        bottom=_fraction(corners.b, size.height),
    )


def _fraction(value: float, whole: float) -> float:
    return round(min(max(value / whole, 0.0), 1.0), 5) if whole > 0 else 0.0


def _lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())


def _grid(data: Any, page: int | None, size: Any) -> tuple[list[list[GridCell]], int]:
    """Return rows of cells and the number of header rows."""
    rows: list[list[GridCell]] = [[] for _ in range(data.num_rows)]
    header = 0
    for cell in data.table_cells:
        boxes: tuple[Box, ...] = ()
        if page and size and cell.bbox is not None:
            boxes = (_box(page, cell.bbox, size),)
        first, last = cell.start_row_offset_idx, cell.end_row_offset_idx
        for row in range(first, min(max(last, first + 1), len(rows))):
            rows[row].append(
                GridCell(
                    cell.text,
                    rows=max(last - row, 1),
                    columns=max(cell.end_col_offset_idx - cell.start_col_offset_idx, 1),
                    column=cell.start_col_offset_idx,
                    boxes=boxes,
                    repeated=row > first,
                )
            )
        if cell.column_header:
            header = max(header, last)
    for line in rows:
        line.sort(key=lambda cell: cell.column)
    return rows, header if header < len(rows) else 0

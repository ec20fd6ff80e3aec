"""A DoclingDocument as our text and blocks. Docling is imported only when used."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from elt_llm_core.document import BlockKind, Page, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.results import Box
from elt_llm_ingest.formats.build import TextBuilder, one_line, title_of, with_sections
from elt_llm_ingest.safety import hidden_characters

KINDS = {
    "caption": BlockKind.CAPTION,
    "code": BlockKind.CODE,
    "list_item": BlockKind.LIST_ITEM,
    "page_footer": BlockKind.FURNITURE,
    "page_header": BlockKind.FURNITURE,
}

HOLDERS = frozenset({"list_item", "section_header", "title"})


def convert(path: Path, data: bytes, kind: str) -> Any:
    """Docling's document of an Office file. `kind`: docx or pptx.

    Raises LoadError where Docling cannot read it.
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
            "the file is damaged or not what its name says",
            "open it in the program that made it and save it again",
        ) from error


def dense(text: str) -> str:
    """The text without white space, to find it again."""
    return "".join(text.split())


def document_of(
    path: Path, found: Any, originals: Mapping[str, str], points: float = 1.0
) -> list[ParsedDocument]:
    """Our document of Docling's. Raises LoadError where it holds no text.

    Docling cuts a paragraph where its type face changes; `originals` maps the dense
    text of paragraphs to how they are written. `points` is the length of a unit.
    """
    writer = _Writer(found, originals, points)
    writer.write()
    text = writer.builder.text
    if not writer.builder.blocks:
        raise LoadError(
            path.name, "no text: it holds only pictures or nothing", "export it as PDF"
        )
    blocks = with_sections(text, writer.builder.blocks)
    return [
        ParsedDocument(
            title=title_of(text, blocks, path.stem),
            text=text,
            blocks=blocks,
            pages=writer.pages(),
            parser=f"docling-slim {version('docling-slim')}, layer 1",
            warnings=hidden_characters([text]),
        )
    ]


class _Writer:
    def __init__(self, found: Any, originals: Mapping[str, str], points: float) -> None:
        self._found = found
        self._originals = originals
        self._points = points
        self._tables = 0
        self._done = {ref.cref for t in found.tables for ref in t.captions}
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
        from docling_core.types.doc.items.table.table import (  # noqa: PLC0415
            TableItem,
        )
        from docling_core.types.doc.items.text import TextItem  # noqa: PLC0415

        layers = {ContentLayer.BODY, ContentLayer.FURNITURE, ContentLayer.NOTES}
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
            elif isinstance(item, TextItem) and not self._is_holder(item):
                self._text(item, item.text)

    @staticmethod
    def _is_holder(item: Any) -> bool:
        """A list item whose words are in an inline group below it."""
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
        text = self._originals.get(dense(text), text)
        text = text if kind is BlockKind.CODE else _lines(text)
        if layer == "furniture":
            kind = BlockKind.FURNITURE
        elif label in ("title", "section_header"):
            kind = BlockKind.HEADING
            level = 1 if label == "title" else getattr(item, "level", 1) + 1
        elif kind is BlockKind.LIST_ITEM and getattr(item, "enumerated", False):
            text = f"{item.marker} {text}".strip()
        self.builder.add(kind, text, level=level, **self._place(item))

    def _table(self, item: Any) -> None:
        self._tables += 1
        caption = one_line(item.caption_text(self._found))
        place = self._place(item)
        if caption:
            self.builder.add(BlockKind.CAPTION, caption, **place)
        rows, header = _grid(item.data)
        headers = _headers(rows[:header])
        for index, row in enumerate(rows):
            self.builder.add_row(
                row,
                headers,
                str(self._tables),
                table=caption,
                attributes={"row": "header"} if index < header else {},
                **place,
            )

    def _place(self, item: Any) -> dict[str, Any]:
        for place in item.prov:
            page = self._found.pages.get(place.page_no)
            if page is None or not page.size:
                continue
            number = place.page_no
            box = _box(number, place.bbox, page.size)
            boxes = (box,) if box.right > box.left and box.bottom > box.top else ()
            return {"page": number, "end_page": number, "boxes": boxes}
        return {}


def _box(number: int, bbox: Any, size: Any) -> Box:
    found = bbox.to_top_left_origin(page_height=size.height)
    return Box(
        page=number,
        left=_fraction(found.l, size.width),
        top=_fraction(found.t, size.height),
        right=_fraction(found.r, size.width),
        bottom=_fraction(found.b, size.height),
    )


def _fraction(value: float, whole: float) -> float:
    return round(min(max(value / whole, 0.0), 1.0), 5) if whole > 0 else 0.0


def _lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())


def _grid(data: Any) -> tuple[list[list[str]], int]:
    """Rows of cell texts and the number of header rows. A spanning cell stands once."""
    rows = [[""] * data.num_cols for _ in range(data.num_rows)]
    header = 0
    for cell in data.table_cells:
        rows[cell.start_row_offset_idx][cell.start_col_offset_idx] = cell.text
        if cell.column_header:
            header = max(header, cell.end_row_offset_idx)
    return rows, header if header < len(rows) else 0


def _headers(rows: Sequence[Sequence[str]]) -> list[str]:
    columns: Iterable[tuple[str, ...]] = zip(*rows, strict=True)
    return [" ".join(_distinct(column)) for column in columns]


def _distinct(texts: Sequence[str]) -> Iterator[str]:
    last = ""
    for text in map(one_line, texts):
        if text and text != last:
            yield text
        last = text

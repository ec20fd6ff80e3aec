"""HTML into blocks, for web pages, books and mail.

The parser of the standard library does not recurse, so no nesting is too deep for it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from typing_extensions import override

from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.cell_grid import (
    GridCell,
    marked_headers,
    place_cells,
    span,
    write_table,
)
from elt_llm_ingest.readers.detection import decode_text
from elt_llm_ingest.readers.raised_text import (
    REMOVED,
    is_mark,
    without_marks,
    write_raised,
)
from elt_llm_ingest.readers.text_builder import (
    TextBuilder,
    one_line,
    title_of,
    with_sections,
)
from elt_llm_ingest.readers.web.page_metadata import PageMetadata
from elt_llm_ingest.readers.web.visibility import Visibility, sheet_of

SILENT = frozenset(
    ("script", "style", "template", "svg", "math", "select", "textarea", "noscript")
)
FURNITURE = frozenset(("nav", "footer", "aside"))
HEADINGS = {f"h{level}": level for level in range(1, 7)}
KINDS = {
    **dict.fromkeys(HEADINGS, BlockKind.HEADING),
    "li": BlockKind.LIST_ITEM,
    "pre": BlockKind.CODE,
    "caption": BlockKind.CAPTION,
    "figcaption": BlockKind.FIGURE,
}
CELLS = ("td", "th")
HOLDERS = frozenset((*KINDS, *CELLS, "p", "dt", "dd", "title"))
BLOCKS = HOLDERS | frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "details", "dialog", "div",
        "dl", "fieldset", "figure", "footer", "form", "header", "hr", "html", "main",
        "nav", "ol", "option", "section", "summary", "table", "tbody", "tfoot", "thead",
        "tr", "ul",
    )
)  # fmt: skip
BREAK = "\v"
DESCRIBES = ": "  # before the text of a <dd>, as Markdown writes it
CDATA = re.compile(r"<!\[CDATA\[([^\[\]]*)\]\]>")
REACH = 8  # open elements a closing tag may close over, pieces before a raised text
NOTE_MARKS = frozenset(
    ("doc-noteref", "footnote-ref", "footnote-reference", "footnoteref", "noteref")
)  # roles of the ARIA and EPUB vocabularies; classes of Pandoc, Sphinx, Asciidoctor


@dataclass
class _HtmlTable:
    """Rows being collected. A table that contains tables is layout, not data."""

    rows: list[list[GridCell]] = field(default_factory=list)
    title: str = ""
    layout: bool = False

    def add(self, text: str) -> None:
        """Append text to the last cell."""
        if not self.rows:
            self.rows.append([])
        if not self.rows[-1]:
            self.rows[-1].append(GridCell(""))
        last = self.rows[-1][-1]
        self.rows[-1][-1] = GridCell(
            f"{last.text} {text}".strip(), last.rows, last.columns, last.header, last.id
        )


class HtmlReader(HTMLParser):
    """Collects the text of one block at a time and writes it when the block ends."""

    def __init__(self, builder: TextBuilder, key: str = "", **fields: Any) -> None:
        """Write blocks to `builder` with `fields`; `key` identifies its tables."""
        super().__init__(convert_charrefs=True)
        self.builder = builder
        self.title = ""
        self.metadata = PageMetadata()
        self._key = key
        self._fields = fields
        self._text: list[str] = []
        self._open: list[str] = []
        self._raised: int | None = None
        self._mark: int | None = None
        self._anchor: int | None = None
        self._silent = ""
        self._marker = ""
        self._term = ""
        self._furniture = 0
        self._view = Visibility()
        self._hidden = 0
        self._counters: list[int | None] = []
        self._tables: list[_HtmlTable] = []
        self._pictures: list[str] = []
        self._count = 0

    def read(self, source: str) -> None:
        """Write the whole page."""
        page = _close_comments(source)
        self._view = Visibility(sheet_of(page))
        self.feed(page)
        self.close()
        self.flush()
        while self._tables:
            self._finish(self._tables.pop())
        self._write_term()
        self._write_pictures()

    def warnings(self) -> tuple[str, ...]:
        """Return warnings about text that a reader of the page does not see."""
        if not self._hidden:
            return ()
        return (f"it has hidden passages, which were left out: {self._hidden}",)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._silent:
            return
        attributes = {name: value or "" for name, value in attrs}
        if tag in SILENT:
            self._silent = tag
            return
        if tag in BLOCKS:
            self.flush()
        if self._view.enter(tag, attributes, block=tag in BLOCKS):
            self._raise(tag, attributes)
            self._enter(tag, attributes)

    def _enter(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "br":
            self._text.append(BREAK)
        elif tag == "img":
            self._pictures.append(one_line(attributes.get("alt", "")))
        elif tag == "meta" and not self.builder.blocks:  # of the page, not of its text
            self.metadata.add(attributes)
        elif tag in BLOCKS:
            self._start(tag, attributes)

    @override
    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            self._silent = "" if tag == self._silent else self._silent
            return
        if tag in BLOCKS:
            self.flush()
        self._lower(tag)
        if self._view.leave(tag) and tag in BLOCKS:
            self._end(tag)

    @override
    def handle_data(self, data: str) -> None:
        if self._silent:
            self._hidden += self._silent == "noscript" and bool(data.strip())
            return
        if self._view.is_hidden:
            self._hidden += bool(data.strip())
        else:
            self._text.append(data)

    def _raise(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Record where a superscript text, note mark or link to the page begins."""
        if tag not in ("a", "sup"):
            return
        if tag == "sup":
            self._raised = len(self._text)
        to_page = attributes.get("href", "").startswith("#")
        self._anchor = len(self._text) if to_page else None
        if (self._raised is not None and to_page) or is_note_mark(attributes):
            self._mark = len(self._text)

    def _lower(self, tag: str) -> None:
        """Replace a superscript text by its plain text; drop marks and signs.

        The sign of a link to a place of the page is one for permalinks ("\u00b6", "#").
        """
        if tag not in ("a", "sup"):
            return
        if self._anchor is not None and _is_sign("".join(self._text[self._anchor :])):
            del self._text[self._anchor :]
        self._anchor = None
        if self._mark is not None and is_mark("".join(self._text[self._mark :])):
            self._text[self._mark :] = [REMOVED]
        self._mark = None
        if tag == "sup" and self._raised is not None:
            before, text = self._text[: self._raised], self._text[self._raised :]
            shown = write_raised("".join(text), "".join(before[-REACH:]))
            self._text[self._raised :] = [shown]
            self._raised = None

    def flush(self) -> None:
        """Write the text collected since the last block tag."""
        joined, self._text = without_marks("".join(self._text)), []
        self._raised = self._mark = self._anchor = None
        inside = self._open[-1] if self._open else ""
        text = (
            joined.replace(BREAK, "\n") if inside == "pre" else _collapse_space(joined)
        )
        if not text.strip():
            return
        table = self._tables[-1] if self._tables else None
        if inside == "title":
            self.title = self.title or one_line(text)
        elif table and not table.layout and inside != "caption":
            table.add(one_line(text))
        else:
            self._write(text, inside, table)

    def _write(self, text: str, inside: str, table: _HtmlTable | None) -> None:
        kind = BlockKind.FURNITURE if self._furniture else KINDS.get(inside)
        if inside == "dt":
            self._end_description()
        marker, self._marker = self._marker, ""
        if marker == DESCRIBES and self._term:
            marker, self._term = f"{self._term}\n{marker}", ""
        self._write_term()
        if inside == "dt" and kind is None:
            self._term = text.strip()
            return
        if kind is BlockKind.CAPTION and table:
            table.title = one_line(text)
        if kind is BlockKind.FIGURE:
            if not self._pictures:
                kind = BlockKind.CAPTION
            self._pictures.clear()  # the caption is better
        level = HEADINGS.get(inside, 0) if kind is BlockKind.HEADING else 0
        kind = kind or BlockKind.PARAGRAPH
        self.builder.add(kind, marker + text, level=level, **self._fields)

    def _end_description(self) -> None:
        """Forget a <dd> without text; its term is a block of its own."""
        if self._marker == DESCRIBES:
            self._marker = ""
        self._write_term()

    def _write_term(self) -> None:
        """Write a <dt> that no <dd> has followed; one with its <dd> is one block."""
        term, self._term = self._term, ""
        if term:
            self.builder.add(BlockKind.PARAGRAPH, term, **self._fields)

    def _write_pictures(self) -> None:
        """Write the alternative texts of pictures without a caption."""
        pictures, self._pictures = self._pictures, []
        for text in pictures:
            if " " in text and not self._furniture:
                self.builder.add(BlockKind.FIGURE, text, **self._fields)

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._furniture += tag in FURNITURE
        if tag in HOLDERS:
            if self._open and self._open[-1] == tag:
                self._open.pop()  # the closing tag was left out
            self._open.append(tag)
        if tag in ("ol", "ul", "li"):
            self._start_list(tag)
        elif tag == "dd":
            self._marker = DESCRIBES
        elif tag in ("table", "tr", *CELLS):
            self._start_table(tag, attributes)

    def _start_list(self, tag: str) -> None:
        if tag != "li":
            self._counters.append(0 if tag == "ol" else None)
        elif self._counters and self._counters[-1] is not None:
            self._counters[-1] += 1
            self._marker = f"{self._counters[-1]}. "

    def _start_table(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "table":
            self._write_term()
            self._nest()
            self._tables.append(_HtmlTable())
        elif self._tables:
            rows = self._tables[-1].rows
            if tag == "tr" or not rows:
                rows.append([])
            if tag != "tr":
                spans = span(attributes.get("rowspan")), span(attributes.get("colspan"))
                header = tag == "th"
                rows[-1].append(GridCell("", *spans, header, attributes.get("id", "")))

    def _end(self, tag: str) -> None:
        if tag in FURNITURE:
            self._furniture = max(0, self._furniture - 1)
        if tag in HOLDERS and tag in self._open[-REACH:]:
            while self._open.pop() != tag:
                pass
        if tag in ("ol", "ul") and self._counters:
            self._counters.pop()
        if tag == "table" and self._tables:
            self._finish(self._tables.pop())
        if tag in ("figure", "p", "div", "section"):
            self._write_pictures()
        if tag in ("dd", "dl"):
            self._end_description()

    def _nest(self) -> None:
        """Mark a table with a table in a cell as layout."""
        if self._tables and not self._tables[-1].layout:
            outer = self._tables[-1]
            outer.layout = True
            for row in outer.rows:
                for cell in row:
                    self._write(cell.text, "td", None)
            outer.rows = []

    def _finish(self, table: _HtmlTable) -> None:
        if table.layout:
            return
        if max((len(row) for row in table.rows), default=0) <= 1:
            for row in table.rows:
                self._write(" ".join(cell.text for cell in row), "td", None)
            return
        self._count += 1
        rows = place_cells(table.rows)
        key = f"{self._key}/{self._count}"
        fields = {**self._fields, "table": table.title}
        write_table(self.builder, rows, marked_headers(rows), key, **fields)


def _is_sign(text: str) -> bool:
    """Return whether a text is one sign that is neither letter nor figure."""
    sign = text.strip()
    return len(sign) == 1 and not sign.isalnum()


def is_note_mark(attributes: Mapping[str, str]) -> bool:
    """Return whether the attributes of an element mark it as a note reference."""
    words = " ".join(
        attributes.get(name, "") for name in ("role", "epub:type", "class")
    )
    return not NOTE_MARKS.isdisjoint(words.lower().split())


def _close_comments(source: str) -> str:
    """Return the page without text that makes the parser search repeatedly.

    An unclosed comment hides the rest, as in a browser.
    """
    source = CDATA.sub(r"\1", source).replace("<![CDATA[", "")
    open_comment = source.find("<!--", source.rfind("-->") + 1)
    return source if open_comment < 0 else source[:open_comment]


def _collapse_space(text: str) -> str:
    """Return white space as in a browser; a newline for <br>."""
    return "\n".join(one_line(line) for line in text.split(BREAK)).strip()


PARSER = "html 8"


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document of an HTML page. Raises LoadError where there is no text."""
    source, warnings = decode_text(path, data)
    builder = TextBuilder()
    reader = HtmlReader(builder)
    reader.read(source)
    if not any(b.kind is not BlockKind.FURNITURE for b in builder.blocks):
        raise LoadError(
            path.name,
            "no text: the page is probably generated by a script",
            "save it from the browser as PDF",
        )
    blocks = with_sections(builder.text, builder.blocks)
    return [
        ParsedDocument(
            title=reader.title or title_of(builder.text, blocks, path.stem),
            text=builder.text,
            blocks=blocks,
            parser=PARSER,
            warnings=(*warnings, *reader.warnings()),
            attributes=reader.metadata.attributes(reader.title),
        )
    ]

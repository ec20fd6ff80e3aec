"""Web pages: blocks by their tags, with the text as a browser shows it.

The parser of the standard library never recurses, so no nesting is too deep for it.
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from typing_extensions import override

from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.formats.build import (
    TextBuilder,
    one_line,
    title_of,
    with_sections,
)
from elt_llm_ingest.formats.decode import decoded
from elt_llm_ingest.safety import Limits, hidden_characters

PARSER = "html 1"
SILENT = frozenset(("script", "style", "template", "svg", "math", "select", "textarea"))
FURNITURE = frozenset(("nav", "footer", "aside"))
HEADINGS = {f"h{level}": level for level in range(1, 7)}
KINDS = {
    **dict.fromkeys(HEADINGS, BlockKind.HEADING),
    "li": BlockKind.LIST_ITEM,
    "pre": BlockKind.CODE,
    "caption": BlockKind.CAPTION,
    "figcaption": BlockKind.CAPTION,
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


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document of an HTML page. Raises LoadError where there is no text."""
    source, warnings = decoded(path, data)
    reader = _Reader()
    reader.feed(source)
    reader.close()
    reader.finish()
    builder = reader.builder
    if not any(b.kind is not BlockKind.FURNITURE for b in builder.blocks):
        raise LoadError(
            path.name,
            "no text: the page is written by a script, perhaps",
            "save it from the browser as PDF",
        )
    blocks = with_sections(builder.text, builder.blocks)
    title = reader.title or title_of(builder.text, blocks, path.stem)
    return [
        ParsedDocument(
            title=title,
            text=builder.text,
            blocks=blocks,
            parser=PARSER,
            warnings=(*warnings, *hidden_characters([builder.text])),
        )
    ]


@dataclass
class _Table:
    """Rows being collected. A table that holds tables is layout, not data."""

    rows: list[list[str]] = field(default_factory=list)
    headers: int = 0
    title: str = ""
    layout: bool = False

    def add(self, text: str, is_header: bool) -> None:
        """Put text into the last cell."""
        if not self.rows:
            self.rows.append([])
        if not self.rows[-1]:
            self.rows[-1].append("")
        if is_header and len(self.rows) == self.headers + 1:
            self.headers += 1
        self.rows[-1][-1] = f"{self.rows[-1][-1]} {text}".strip()


class _Reader(HTMLParser):
    """Collects the text of one block at a time and writes it when the block ends."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.builder = TextBuilder()
        self.title = ""
        self._text: list[str] = []
        self._open: list[str] = []
        self._silent = ""
        self._marker = ""
        self._furniture = 0
        self._counters: list[int | None] = []
        self._tables: list[_Table] = []
        self._count = 0

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._silent:
            return
        if tag in SILENT:
            self._silent = tag
        elif tag == "br":
            self._text.append(BREAK)
        elif tag in BLOCKS:
            self.flush()
            self._start(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            self._silent = "" if tag == self._silent else self._silent
        elif tag in BLOCKS:
            self.flush()
            self._end(tag)

    @override
    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._text.append(data)

    def finish(self) -> None:
        """Write what is left of a page that ends too early."""
        self.flush()
        while self._tables:
            self._finish(self._tables.pop())

    def flush(self) -> None:
        """Write the text collected since the last block tag."""
        joined, self._text = "".join(self._text), []
        inside = self._open[-1] if self._open else ""
        text = joined.replace(BREAK, "\n") if inside == "pre" else _shown(joined)
        if not text.strip():
            return
        table = self._tables[-1] if self._tables else None
        if inside == "title":
            self.title = self.title or one_line(text)
        elif table and not table.layout and inside != "caption":
            table.add(one_line(text), "th" in self._open[-2:])
        else:
            self._write(text, inside, table)

    def _write(self, text: str, inside: str, table: _Table | None) -> None:
        kind = BlockKind.FURNITURE if self._furniture else KINDS.get(inside)
        marker, self._marker = self._marker, ""
        if kind is BlockKind.CAPTION and table:
            table.title = one_line(text)
        level = HEADINGS.get(inside, 0) if kind is BlockKind.HEADING else 0
        self.builder.add(kind or BlockKind.PARAGRAPH, marker + text, level=level)

    def _start(self, tag: str) -> None:
        self._furniture += tag in FURNITURE
        if tag in HOLDERS:
            if self._open and self._open[-1] == tag:
                self._open.pop()  # the closing tag was left out
            self._open.append(tag)
        if tag in ("ol", "ul", "li"):
            self._start_list(tag)
        elif tag in ("table", "tr", *CELLS):
            self._start_table(tag)

    def _start_list(self, tag: str) -> None:
        if tag != "li":
            self._counters.append(0 if tag == "ol" else None)
        elif self._counters and self._counters[-1] is not None:
            self._counters[-1] += 1
            self._marker = f"{self._counters[-1]}. "

    def _start_table(self, tag: str) -> None:
        if tag == "table":
            self._nest()
            self._tables.append(_Table())
        elif self._tables:
            rows = self._tables[-1].rows
            if tag == "tr" or not rows:
                rows.append([])
            if tag != "tr":
                rows[-1].append("")

    def _end(self, tag: str) -> None:
        if tag in FURNITURE:
            self._furniture = max(0, self._furniture - 1)
        if tag in HOLDERS and tag in self._open[-8:]:
            while self._open.pop() != tag:
                pass
        if tag in ("ol", "ul") and self._counters:
            self._counters.pop()
        if tag == "table" and self._tables:
            self._finish(self._tables.pop())

    def _nest(self) -> None:
        """A table inside a cell: the outer one only arranges the page."""
        if self._tables and not self._tables[-1].layout:
            outer = self._tables[-1]
            outer.layout = True
            for row in outer.rows:
                for cell in row:
                    self._write(cell, "td", None)
            outer.rows = []

    def _finish(self, table: _Table) -> None:
        if table.layout:
            return
        if max((len(row) for row in table.rows), default=0) <= 1:
            for row in table.rows:
                self._write(" ".join(row), "td", None)
            return
        self._count += 1
        header = min(table.headers, 1)
        for index, row in enumerate(table.rows):
            self.builder.add_row(
                row,
                table.rows[0] if header else [],
                str(self._count),
                table=table.title,
                attributes={"row": "header"} if index < header else {},
            )


def _shown(text: str) -> str:
    """White space as a browser shows it; a newline where <br> stood."""
    return "\n".join(one_line(line) for line in text.split(BREAK)).strip()

"""Turn the blocks into the handbook PDF and tell on which page each one stands."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from figure import wind_window
from layout import (
    MARGIN,
    SEA,
    STYLES,
    WIDTH,
    HandbookTemplate,
    Heading,
    Numbered,
    RunningTitle,
    Tracked,
    contents,
    register_fonts,
)
from markup import Block, rows
from reportlab.lib.colors import HexColor, white
from reportlab.lib.utils import simpleSplit
from reportlab.platypus import (
    Flowable,
    KeepTogether,
    PageBreak,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)
from typing_extensions import override

COLUMNS = {
    "terms": (0.27, 0.73),
    "signals": (1.0,),
    "fees": (0.42, 0.16, 0.2, 0.22),
    "deadlines": (0.36, 0.17, 0.23, 0.24),
    "sanctions": (0.38, 0.08, 0.13, 0.14, 0.16, 0.11),
}
COVER = (
    ("title", "Halcyon Kite<br/>Regatta Federation"),
    ("subtitle", "Handbook 2026"),
    ("subtitle", "Rules, definitions, fees and sanctions"),
    (
        "para",
        "In force from 15 January 2026, as adopted by the meeting at Ostrel.",
    ),
    ("para", "The Federation, its isles and everybody in this book are invented."),
)


def build(blocks: list[Block], quotes: list[str], target: Path) -> dict[str, int]:
    """Write the PDF; return the page of every block and table row by its key."""
    register_fonts()
    pages: dict[str, int] = {}
    document = HandbookTemplate(str(target))
    document.multiBuild(_story(blocks, quotes, pages))
    return pages


def key_of(block: Block, index: int) -> str:
    """Return the name under which the page of a block is recorded."""
    return f"{index}#{block.number}"


def _story(blocks: list[Block], quotes: list[str], pages: dict[str, int]) -> list[Any]:
    story: list[Any] = [Spacer(1, 190)]
    story += [Paragraph(text, STYLES[kind]) for kind, text in COVER]
    story += [RunningTitle("CONTENTS"), PageBreak()]
    story += [Paragraph("CONTENTS", STYLES["section"]), contents()]
    for index, block in enumerate(blocks):
        story += _block(block, key_of(block, index), pages, quotes)
    return story


def _block(
    block: Block, key: str, pages: dict[str, int], quotes: list[str]
) -> list[Any]:
    if block.kind.startswith("table "):
        name = block.kind.removeprefix("table ")
        table = _table(name, pages)
        # Only the long table of terms may run over several pages.
        kept = table if name == "terms" else KeepTogether([table])
        return [kept, Spacer(1, 10)]
    if block.kind == "figure":
        caption = "Figure 1: The wind window and its three zones, seen from the side"
        drawn = [wind_window(), Paragraph(caption, STYLES["caption"])]
        return [KeepTogether(drawn), Spacer(1, 8)]
    if block.kind in {"section", "sub"}:
        return _heading(block, key, pages)
    if block.raw:
        return [_Raw(block.text, "rule", key, pages)]
    shape = Numbered if block.number else Tracked
    flowable = shape(inline(block.text), block.kind, key, pages)
    flowable.whole = bool(block.terms or block.traps) or _holds(block.text, quotes)
    return [flowable]


def _holds(text: str, quotes: Iterable[str]) -> bool:
    return any(quote in text for quote in quotes)


def _heading(block: Block, key: str, pages: dict[str, int]) -> list[Any]:
    dash = " - " if block.kind == "section" else "  "
    title = f"{block.number}{dash}{block.text}"
    heading = Heading(html.escape(title), block.kind, key, pages)
    if block.kind == "sub":
        heading.level = 1
        return [heading]
    return [RunningTitle(title), PageBreak(), heading]


class _Raw(Flowable):
    """Lines drawn one by one: a Paragraph would merge the two spaces at the dash."""

    def __init__(self, text: str, kind: str, key: str, pages: dict[str, int]) -> None:
        super().__init__()
        self.text = text
        self.face = STYLES[kind]
        self.key = key
        self.pages = pages
        self.spaceAfter = self.face.spaceAfter
        self.lines: list[str] = []

    @override
    def wrap(self, available_width: float, _height: float) -> tuple[float, float]:
        """Break the text into lines and say how much room they take."""
        face = self.face
        # An underscore stands in for each doubled space, which breaking would merge.
        held = self.text.replace("  -  ", "__-__")
        room = available_width - face.leftIndent - 4
        lines = simpleSplit(held, face.fontName, face.fontSize, room)
        self.lines = [line.replace("_", " ") for line in lines]
        self.width, self.height = available_width, face.leading * len(lines)
        return self.width, self.height

    def draw(self) -> None:
        """Draw the number and the lines, and note the page."""
        face, canvas = self.face, self.canv
        self.pages[self.key] = canvas.getPageNumber()
        canvas.setFillColor(face.textColor)
        canvas.setFont(face.fontName, face.fontSize)
        base = self.height - face.fontSize
        canvas.drawString(0, base, self.key.rsplit("#", maxsplit=1)[-1])
        for index, line in enumerate(self.lines):
            canvas.drawString(face.leftIndent, base - index * face.leading, line)


def inline(text: str) -> str:
    """Return reportlab's markup for a block's text."""
    safe = html.escape(text, quote=False)
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", safe)


def table_rows(name: str) -> list[list[str]]:
    """Return the printed cells of a table, header first."""
    if name == "terms":
        found = rows("terms.txt")
        return [["Term", "Meaning"]] + [[r[0], f"means {r[1]}."] for r in found]
    if name == "signals":
        found = rows("signals.txt")
        return [["Signal  -  explanation"]] + [[f"{r[0]}  -  {r[1]}."] for r in found]
    return rows(f"{name}.psv")


def _table(name: str, pages: dict[str, int]) -> Table:
    width = WIDTH - 2 * MARGIN - 12
    header, *body = table_rows(name)
    data: list[list[Any]] = [[Paragraph(cell, STYLES["head"]) for cell in header]]
    for row in body:
        key = row_key(name, row[0])
        if name == "signals":
            data.append([_Raw(row[0], "cell", key, pages)])
        else:
            data.append([_cell(name, cell, key, pages) for cell in row])
    table = Table(data, [share * width for share in COLUMNS[name]], repeatRows=1)
    table.setStyle(_ruled(len(data)))
    return table


def row_key(name: str, first: str) -> str:
    """Return the name under which the page of a table row is recorded."""
    return f"{name}/{first}#"


def _cell(name: str, text: str, key: str, pages: dict[str, int]) -> Tracked:
    safe = html.escape(text, quote=False)
    if name == "terms":
        # Lettered parts start their own line, as in a printed rule book.
        safe = re.sub(r" (\([a-d]\)) ", r"<br/>\1 ", safe)
    cell = Tracked(safe, "cell", key, pages)
    cell.whole = True
    return cell


def _ruled(count: int) -> TableStyle:
    pale = HexColor("#f1f7f7")
    bands = [("BACKGROUND", (0, n), (-1, n), pale) for n in range(2, count, 2)]
    return TableStyle(
        [
            ("BACKGROUND", (0, 0), (-1, 0), SEA),
            ("TEXTCOLOR", (0, 0), (-1, 0), white),
            ("GRID", (0, 0), (-1, -1), 0.6, HexColor("#7d9ea0")),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("TOPPADDING", (0, 0), (-1, -1), 4),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 6),
            *bands,
        ]
    )

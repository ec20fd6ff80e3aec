"""One logical table drawn in every style of lines, to be read the same in each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Literal

from reportlab.lib.colors import Color
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from pdf_pages import WORDS, canvas_of, prose

SIZE, LEADING, PAD = 9.0, 11.0, 5.0
GREY = Color(0.88, 0.88, 0.88)
Side = Literal["l", "r", "c"]


@dataclass(frozen=True)
class Logical:
    """What a table says. `head` rows come first; a cell (row, column) may be wide.

    A line break in a text is one in the cell.
    """

    rows: Sequence[Sequence[str]]
    widths: Sequence[float]
    sides: Sequence[Side]
    head: int = 1
    wide: Mapping[tuple[int, int], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Placed:
    """A logical table on its page: where rows and columns end, in points from below."""

    table: Logical
    xs: Sequence[float]
    ys: Sequence[float]

    @property
    def neck(self) -> float:
        """The edge below the header."""
        return self.ys[self.table.head]

    def is_inside_wide(self, row: int, column: int) -> bool:
        """Whether the left edge of a column runs through a wide cell of a row."""
        return any(
            row == at and first < column < first + count
            for (at, first), count in self.table.wide.items()
        )


def place(table: Logical, left: float, top: float) -> Placed:
    heights = [
        max(text.count("\n") + 1 for text in row) * LEADING + 2 * PAD - 2
        for row in table.rows
    ]
    ys = [top - height for height in accumulate(heights, initial=0.0)]
    xs = [left + width for width in accumulate(table.widths, initial=0.0)]
    return Placed(table, xs, ys)


def write(canvas: Canvas, placed: Placed) -> None:
    table = placed.table
    for row, texts in enumerate(table.rows):
        for column, text in enumerate(texts):
            count = table.wide.get((row, column), 1)
            left, right = placed.xs[column] + PAD, placed.xs[column + count] - PAD
            side = "c" if count > 1 else table.sides[column]
            for number, line in enumerate(text.split("\n")):
                y = placed.ys[row] - PAD - SIZE + 2 - LEADING * number
                _write_line(canvas, line, (left, right), y, side)


def _write_line(
    canvas: Canvas, line: str, extent: tuple[float, float], y: float, side: Side
) -> None:
    width = stringWidth(line, "Helvetica", SIZE)
    left, right = extent
    assert width <= right - left + 0.1, line
    if side == "r":
        left = right - width
    elif side == "c":
        left = (left + right - width) / 2
    canvas.drawString(left, y, line)


def _across(canvas: Canvas, placed: Placed, rows: Sequence[int]) -> None:
    for row in rows:
        y = placed.ys[row]
        canvas.line(placed.xs[0], y, placed.xs[-1], y)


def _down(
    canvas: Canvas, placed: Placed, columns: Sequence[int], first: int, last: int
) -> None:
    """Column lines through rows `first` to before `last`."""
    for column in columns:
        for row in range(first, last):
            if not placed.is_inside_wide(row, column):
                x = placed.xs[column]
                canvas.line(x, placed.ys[row], x, placed.ys[row + 1])


def _all(edges: Sequence[float]) -> range:
    return range(len(edges))


def _ends(edges: Sequence[float]) -> tuple[int, int]:
    return 0, len(edges) - 1


def full_grid(canvas: Canvas, placed: Placed) -> None:
    _across(canvas, placed, _all(placed.ys))
    _down(canvas, placed, _all(placed.xs), 0, len(placed.table.rows))


def header_box(canvas: Canvas, placed: Placed) -> None:
    head = placed.table.head
    _across(canvas, placed, range(head + 1))
    _down(canvas, placed, _all(placed.xs), 0, head)


def header_columns(canvas: Canvas, placed: Placed) -> None:
    """Every row line, an outer frame, column lines in the header only."""
    _across(canvas, placed, _all(placed.ys))
    _down(canvas, placed, _ends(placed.xs), 0, len(placed.table.rows))
    _down(canvas, placed, _all(placed.xs), 0, placed.table.head)


def header_columns_only(canvas: Canvas, placed: Placed) -> None:
    """A frame, column lines in the header, no row lines below it."""
    _across(canvas, placed, (*range(placed.table.head + 1), len(placed.ys) - 1))
    _down(canvas, placed, _ends(placed.xs), 0, len(placed.table.rows))
    _down(canvas, placed, _all(placed.xs), 0, placed.table.head)


def columns_only(canvas: Canvas, placed: Placed) -> None:
    """A frame, the line below the header, column lines through all rows."""
    _across(canvas, placed, (0, placed.table.head, len(placed.ys) - 1))
    _down(canvas, placed, _all(placed.xs), 0, len(placed.table.rows))


def label_line(canvas: Canvas, placed: Placed) -> None:
    """Three rules and one line beside the labels, as in papers."""
    _across(canvas, placed, (0, placed.table.head, len(placed.ys) - 1))
    _down(canvas, placed, (1,), 0, len(placed.table.rows))


def three_rules(canvas: Canvas, placed: Placed) -> None:
    _across(canvas, placed, (0, placed.table.head, len(placed.ys) - 1))


def row_rules(canvas: Canvas, placed: Placed) -> None:
    _across(canvas, placed, _all(placed.ys))


def zebra(canvas: Canvas, placed: Placed) -> None:
    canvas.setFillColor(GREY)
    for row in range(0, len(placed.table.rows), 2):
        bottom = placed.ys[row + 1]
        width = placed.xs[-1] - placed.xs[0]
        canvas.rect(
            placed.xs[0], bottom, width, placed.ys[row] - bottom, stroke=0, fill=1
        )
    canvas.setFillColor(Color(0, 0, 0))


def no_lines(canvas: Canvas, placed: Placed) -> None:
    pass


def frame(canvas: Canvas, placed: Placed) -> None:
    _across(canvas, placed, _ends(placed.ys))
    _down(canvas, placed, _ends(placed.xs), 0, len(placed.table.rows))


STYLES: Mapping[str, Callable[[Canvas, Placed], None]] = {
    style.__name__: style
    for style in (
        full_grid, header_box, header_columns, header_columns_only, columns_only,
        label_line, three_rules, row_rules, zebra, no_lines, frame,
    )
}  # fmt: skip


def page_of(path: Path, style: str, *tables: tuple[Logical, float]) -> Path:
    """A page with a caption, tables side by side, a footnote and prose around."""
    canvas = canvas_of(path, SIZE + 1)
    prose(canvas, 800, [WORDS, WORDS])
    canvas.drawString(72, 752, "Table 1: What was counted on the coast")
    bottom = 740.0
    for table, left in tables:
        placed = place(table, left, 740)
        canvas.setFont("Helvetica", SIZE)
        STYLES[style](canvas, placed)
        write(canvas, placed)
        bottom = min(bottom, placed.ys[-1])
    canvas.setFont("Helvetica", SIZE - 2)
    canvas.drawString(72, bottom - 16, "1) Counted by the offices of the coast.")
    canvas.setFont("Helvetica", SIZE + 1)
    prose(canvas, bottom - 46, [WORDS, WORDS])
    canvas.save()
    return path


NUMBERS = Logical(
    rows=[
        ["Harbour", "Boats", "Crews", "Tons", "Share (%)"],
        ["North Haven", "1,204", "86.2", "13.8", "3,375"],
        ["South Haven", "-", "100.0", "-", "973"],
        ["East Point", "81.0", "3.8", "15.2", "158"],
        ["West Point and Isle", "98.6", "", "0", "17,655"],
        ["Kettle Bay", "3.1", "10.2", "\u2013", "1,662"],
        ["Long Strand", "94.2", "5.8", "0", "430"],
        ["Gull Rock", "13.6", "83.0", "3.4", "2,737"],
        ["Total", "1,494", "289.0", "32.4", "26,990"],
    ],
    widths=(130, 75, 75, 75, 75),
    sides="lrrrr",
)  # fmt: skip

TWO_LEVELS = Logical(
    rows=[
        ["", "2007", "", "2006", ""],
        ["Country", "N", "% Pos", "N", "% Pos"],
        ["Austria", "109", "0.9", "93", "1.1"],
        ["Germany", "123", "0.8", "290", "0.7"],
        ["Netherlands", "-", "-", "397", "0.3"],
        ["Spain", "36", "0", "-", "-"],
        ["Total (4 MSs)", "268", "0.9", "780", "0.5"],
    ],
    widths=(130, 70, 70, 70, 70),
    sides="lrrrr",
    head=2,
    wide={(0, 1): 2, (0, 3): 2},
)

TEXTS = Logical(
    rows=[
        ["Grade", "Notice", "Who decides"],
        ["Trainee", "Two weeks from either\nside, in writing", "Head of the office"],
        ["Clerk", "One month", "Head of the office and\nthe harbour master"],
        ["Pilot", "-", "Harbour master"],
        [
            "Master",
            "Six months, which the\nboard may shorten where\nboth sides agree",
            "The board",
        ],
        ["Guest", "", "Nobody"],
    ],
    widths=(90, 130, 130),
    sides="lll",
)  # fmt: skip

MIXED = Logical(
    rows=[
        ["Kind of boat", "Built in", "Length\n(metres)", "Owner"],
        ["Sloop", "Kettle Bay", "12", "Port Authority"],
        ["Ketch with two masts\nand a deck house", "Gull Rock", "24", "North Line"],
        ["Yawl", "-", "9", "-"],
        ["Barge", "East Point", "31", "Coal Board"],
        ["Tug", "Kettle Bay", "18", "Port Authority"],
    ],
    widths=(120, 90, 70, 100),
    sides="llrl",
)

NARROW = Logical(
    rows=[
        ["Topic", "Enquiries"],
        ["Institutions", "3.597"],
        ["Member states", "1.847"],
        ["Passenger rights", "1.726"],
        ["Security", "1.451"],
        ["Total", "8.621"],
    ],
    widths=(140, 70),
    sides="lr",
)

TABLES: Mapping[str, Logical] = {
    "numbers": NUMBERS,
    "two_levels": TWO_LEVELS,
    "texts": TEXTS,
    "mixed": MIXED,
    "narrow": NARROW,
}

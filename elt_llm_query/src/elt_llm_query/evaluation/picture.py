"""Quality against time as an SVG that any browser shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from elt_llm_query.evaluation.names import NAMES
from elt_llm_query.evaluation.report import RetrievalReport

WIDTH, HEIGHT = 860, 520
LEFT, RIGHT, TOP, BOTTOM = 70, 30, 70, 60
MEASURE = "nDCG@10"
COLOURS = ("#1f5fa8", "#c2571a", "#2e7d4f", "#8a3f9c", "#a8781f", "#54606e")
LABEL, LINE, CHARACTER = 13, 17, 7.2
TICKS = 5
LABELLED = 6  # points that have room for their names; more are numbered
LEGEND = 340
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1c2733}"
    ".t{font-size:17px;font-weight:600}.s{fill:#5b6773}"
    ".g{stroke:#e3e7eb}.a{stroke:#8b96a1}"
)


@dataclass(frozen=True)
class Point:
    """One configuration: time in milliseconds, quality with its interval."""

    name: str
    time: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Axis:
    """A scale from values to pixels; `ticks` are round values within it."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> "Axis":
        """A scale with a little air around the values, ending on round numbers."""
        low, high = min(values), max(values)
        step = _round_step(max(high - low, abs(high) * 0.1, 1e-3))
        first, last = int(low // step), int(-(-high // step))
        ticks = tuple(round(i * step, 6) for i in range(first, last + 1))
        return cls(ticks[0], ticks[-1], start, end, ticks)

    def at(self, value: float) -> float:
        """The pixel of a value."""
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + share * (self.end - self.start), 1)


def drawn(report: RetrievalReport) -> str:
    """The picture: a dot with its interval for each configuration, names beside."""
    points = _points(report)
    across = Axis.over([0.0, *(p.time for p in points)], LEFT, WIDTH - RIGHT)
    bounds = [bound for p in points for bound in (p.low, p.high)]
    up = Axis.over(bounds, HEIGHT - BOTTOM, TOP)
    asked = report.asked
    title = f"{asked.data} {asked.split}: quality against time"
    told = (
        f"{asked.questions} questions, {asked.passages} passages, {asked.embedder}; "
        "bars: 95 % bootstrap intervals"
    )
    wide = WIDTH + (LEGEND if len(points) > LABELLED else 0)
    high = max(HEIGHT, TOP + LINE * len(points) + BOTTOM)
    head = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}"'
    parts = [
        f'<svg {head} role="img"><title>{escape(title)}</title>',
        f"<style>{STYLE}</style>",
        f'<rect width="{wide}" height="{high}" fill="#fff"/>',
        _text(LEFT, 30, title, "t"),
        _text(LEFT, 50, told, "s"),
        *_grid(across, up),
        *_dots(points, across, up),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _points(report: RetrievalReport) -> list[Point]:
    found = []
    for one in report.configurations:
        value = one.measures[MEASURE]
        time = report.measured.search[one.name].p50
        found.append(Point(one.name, time, value.mean, value.low, value.high))
    return found


def _round_step(width: float) -> float:
    """The least of 1, 2, 5 times a power of ten that needs few ticks."""
    power = 10.0**-8
    while True:
        for factor in (1, 2, 5):
            if width / (factor * power) <= TICKS:
                return factor * power
        power *= 10


def _grid(across: Axis, up: Axis) -> list[str]:
    parts = []
    for tick in up.ticks:
        y = up.at(tick)
        parts.append(_line(LEFT, y, WIDTH - RIGHT, y, "g"))
        parts.append(_text(LEFT - 8, y + 4, f"{tick:g}", "s", "end"))
    for tick in across.ticks:
        x = across.at(tick)
        parts.append(_line(x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 5, "a"))
        parts.append(_text(x, HEIGHT - BOTTOM + 20, f"{tick:g}", "s", "middle"))
    parts.append(_line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "a"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    said = "median milliseconds a search, embedding of the question apart"
    parts.append(_text(middle, HEIGHT - 16, said, "", "middle"))
    height = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text x="20" y="{height}" text-anchor="middle" '
        f'transform="rotate(-90 20 {height})">{NAMES[MEASURE]}</text>'
    )
    return parts


def _dots(points: Sequence[Point], across: Axis, up: Axis) -> list[str]:
    parts: list[str] = []
    taken: list[tuple[float, float, float]] = []
    for number, point in enumerate(points):
        colour = COLOURS[number % len(COLOURS)]
        x, y = across.at(point.time), up.at(point.mean)
        low, high = up.at(point.low), up.at(point.high)
        parts.append(
            f'<g stroke="{colour}" stroke-width="1.5" opacity=".55">'
            f'<line x1="{x}" x2="{x}" y1="{low}" y2="{high}"/></g>'
        )
        parts.append(_dot(point, (x, y), colour))
        if len(points) > LABELLED:
            parts += _numbered(number + 1, point, (x, y), colour)
        else:
            parts.append(_label(point.name, (x, y), taken, colour))
    return parts


def _dot(point: Point, at: tuple[float, float], colour: str) -> str:
    said = f"{point.name}: {point.mean:.4f}, {point.time:.2f} ms"
    return (
        f'<circle cx="{at[0]}" cy="{at[1]}" r="5.5" fill="{colour}">'
        f"<title>{escape(said)}</title></circle>"
    )


def _numbered(
    number: int, point: Point, at: tuple[float, float], colour: str
) -> list[str]:
    """A number in the dot, and a line beside the picture."""
    y = TOP + LINE * number
    said = f"{number}  {point.name}  {point.mean:.4f}"
    inside = "fill:#fff;font-size:11px"
    return [
        f'<circle cx="{at[0]}" cy="{at[1]}" r="9" fill="{colour}" stroke="#fff"/>',
        _coloured((at[0], at[1] + 4), str(number), inside, "middle"),
        _coloured((WIDTH, y), said, f"fill:{colour}"),
    ]


def _label(
    name: str,
    dot: tuple[float, float],
    taken: list[tuple[float, float, float]],
    colour: str,
) -> str:
    """A label beside its dot, moved down until it covers no other."""
    wide = len(name) * CHARACTER
    right = dot[0] + 10 + wide < WIDTH - RIGHT
    start = dot[0] + 10 if right else dot[0] - 10 - wide
    y = dot[1] + 4
    while any(
        abs(y - other) < LINE and start < end and begin < start + wide
        for begin, end, other in taken
    ):
        y += LINE
    taken.append((start, start + wide, y))
    x, anchor = (start, "start") if right else (start + wide, "end")
    return _coloured((x, y), name, f"fill:{colour}", anchor)


def _coloured(
    at: tuple[float, float], said: str, style: str, anchor: str = "start"
) -> str:
    return (
        f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" '
        f'style="{style}">{escape(said)}</text>'
    )


def _text(x: float, y: float, said: str, kind: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">'
        f"{escape(said)}</text>"
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{kind}"/>'

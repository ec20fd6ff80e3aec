"""Draw a diagram as Mermaid and as SVG. Names come from documents and are escaped."""

import hashlib
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from elt_llm_core.graph.diagram import DiagramEdge, DiagramNode, ModelDiagram

LINE, LINES = 22, 2  # letters in a line and lines in a box of a diagram, at 12 px
ARROWS = {"forward": "-->", "backward": "-->", "both": "<-->", "none": "---"}
# Characters that XML excludes, even escaped.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def mermaid_text(diagram: ModelDiagram) -> str:
    """Return a diagram in Mermaid: domains are subgraphs.

    Args:
        diagram: The diagram.
    """
    keys = {node.id: f"n{number}" for number, node in enumerate(diagram.nodes)}
    lines = ["flowchart LR"]
    groups = [n for n in diagram.nodes if n.is_group]
    for group in groups:
        lines.append(f"  subgraph {keys[group.id]}[{_label_text(group.name)}]")
        inner = [n for n in diagram.nodes if n.parent == group.id]
        lines += [f"    {keys[n.id]}[{_label_text(n.name)}]" for n in inner]
        lines.append("  end")
    lines += [
        f"  {keys[n.id]}[{_label_text(n.name)}]"
        for n in diagram.nodes
        if not n.parent and not n.is_group
    ]
    lines += [_mermaid_edge(edge, keys) for edge in diagram.edges]
    return "\n".join(lines) + "\n"


def _label_text(text: str) -> str:
    """Return text as a label; other characters become entities such as `#34;`."""
    plain = " ".join(text.split())
    escaped = re.sub(r"[^\w .,:()/+*-]", lambda m: f"#{ord(m[0])};", plain)
    return f'"{escaped}"' if escaped else '" "'


def _mermaid_edge(edge: DiagramEdge, keys: Mapping[str, str]) -> str:
    ends = keys[edge.source], keys[edge.target]
    if edge.direction == "backward":
        ends = ends[::-1]
    text = _edge_text(edge)
    label = f"|{_label_text(text)}|" if text else ""
    return f"  {ends[0]} {ARROWS[edge.direction]}{label} {ends[1]}"


def _edge_text(edge: DiagramEdge) -> str:
    counts = (edge.source_cardinality, edge.target_cardinality)
    shown = " - ".join(c or "?" for c in counts) if any(counts) else ""
    return " ".join(part for part in (edge.label, shown) if part)


def svg_text(diagram: ModelDiagram) -> str:
    """Return a diagram as an SVG picture without scripts and fonts.

    Args:
        diagram: The diagram.
    """
    places = {node.id: node for node in diagram.nodes}
    size = f"{diagram.width} {diagram.height}"
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
            f'width="{diagram.width}" height="{diagram.height}" role="img" '
            f"aria-label={_attribute(diagram.name)} "
            'font-family="system-ui, sans-serif" font-size="12">'
        ),
        (
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" '
            'markerHeight="8" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" '
            'fill="#4b5563"/></marker></defs>'
        ),
        f'<rect width="{diagram.width}" height="{diagram.height}" fill="#ffffff"/>',
        *(_svg_group(n) for n in diagram.nodes if n.is_group),
        *(_svg_edge(edge, places) for edge in diagram.edges),
        *(_svg_box(n) for n in diagram.nodes if not n.is_group),
        *_svg_labels(diagram),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def choose_hue(text: str) -> int:
    """Return the hue of a domain or a type, the same in every diagram."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:2], "big") % 360


def _text(text: str) -> str:
    return escape(UNPRINTABLE.sub("\ufffd", text))


def _attribute(text: str) -> str:
    return quoteattr(UNPRINTABLE.sub("\ufffd", " ".join(text.split())))


def _svg_group(node: DiagramNode) -> str:
    return (
        f'<g><rect x="{node.x}" y="{node.y}" width="{node.width}" '
        f'height="{node.height}" rx="8" fill="hsl({choose_hue(node.domain)} 60% 97%)" '
        f'stroke="hsl({choose_hue(node.domain)} 40% 60%)"/>'
        f'<text x="{node.x + 12}" y="{node.y + 22}" font-weight="600" fill="#1f2937">'
        f"{_text(node.name)}</text></g>"
    )


def _svg_box(node: DiagramNode) -> str:
    lines = textwrap.wrap(node.name, LINE) or [""]
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], lines[LINES - 1][: LINE - 1] + "…"]
    middle = node.y + node.height / 2 + 4 - 7 * (len(lines) - 1)
    spans = "".join(
        f'<tspan x="{node.x + node.width / 2:g}" y="{middle + 14 * number:g}">'
        f"{_text(line)}</tspan>"
        for number, line in enumerate(lines)
    )
    tint = choose_hue(node.domain or node.type)
    fill = "#ffffff" if node.role == "entity" else f"hsl({tint} 50% 92%)"
    return (
        f"<g><title>{_text(f'{node.name} ({node.type})' if node.type else node.name)}"
        f'</title><rect x="{node.x}" y="{node.y}" width="{node.width}" '
        f'height="{node.height}" rx="6" fill="{fill}" '
        f'stroke="hsl({tint} 40% 45%)"/><text text-anchor="middle" fill="#111827">'
        f"{spans}</text></g>"
    )


Point = tuple[float, float]


def _ends(edge: DiagramEdge, places: Mapping[str, DiagramNode]) -> tuple[Point, Point]:
    """Return where the line between the centres of two boxes leaves each of them."""
    source, target = places[edge.source], places[edge.target]
    middles = [
        (n.x + n.width / 2, n.y + (16 if n.is_group else n.height / 2))
        for n in (source, target)
    ]
    return (
        _border(source, middles[0], middles[1]),
        _border(target, middles[1], middles[0]),
    )


def _border(node: DiagramNode, middle: Point, other: Point) -> Point:
    dx, dy = other[0] - middle[0], other[1] - middle[1]
    to_right = node.x + node.width - middle[0]
    to_edge = node.y + node.height - middle[1] if dy > 0 else middle[1] - node.y
    scales = [room / abs(way) for room, way in ((to_right, dx), (to_edge, dy)) if way]
    scale = min([1.0, *scales])
    return middle[0] + dx * scale, middle[1] + dy * scale


def _svg_edge(edge: DiagramEdge, places: Mapping[str, DiagramNode]) -> str:
    heads = {
        "forward": ' marker-end="url(#arrow)"',
        "backward": ' marker-start="url(#arrow)"',
        "both": ' marker-start="url(#arrow)" marker-end="url(#arrow)"',
    }
    (x1, y1), (x2, y2) = _ends(edge, places)
    line = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
    if edge.source == edge.target:
        node = places[edge.source]
        right, top = node.x + node.width, node.y + 10
        line = f"M{right} {top}c18 -8 18 22 0 14"
    head = heads.get(edge.direction, "")
    return f'<path d="{line}" fill="none" stroke="#4b5563"{head}/>'


# Places on a line, as parts of its length: of its name, and of the count at an end.
_NAME_AT = sorted((n / 20 for n in range(1, 20)), key=lambda t: abs(t - 0.5))
_COUNT_AT = (0.12, 0.06, 0.18, 0.24, 0.3, 0.36)
_BESIDE = (0, -12, 12, -24, 24)  # pixels above and below the line, where it is full
_LETTER, _HEIGHT = 5.4, 11.0  # of a label of 10 px, in pixels; measured in a browser


class _Area(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "_Area") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


# Pixels. 1,000 lines between 500 boxes take as long with 60, and longer with 240.
_CELL = 120


class _AreaIndex:
    """Areas by the squares of a grid that they touch, so that few are compared."""

    def __init__(self, areas: Iterable[_Area] = ()) -> None:
        self._cells: dict[tuple[int, int], list[_Area]] = defaultdict(list)
        for area in areas:
            self.add(area)

    def add(self, area: _Area) -> None:
        for cell in _cells(area):
            self._cells[cell].append(area)

    def count_overlaps(self, area: _Area) -> int:
        near = {id(one): one for cell in _cells(area) for one in self._in(cell)}
        return sum(area.overlaps(one) for one in near.values())

    def _in(self, cell: tuple[int, int]) -> Sequence[_Area]:
        return self._cells.get(cell, ())


def _cells(area: _Area) -> Iterator[tuple[int, int]]:
    left, top, right, bottom = (int(side // _CELL) for side in area)
    for column in range(left, right + 1):
        for row in range(top, bottom + 1):
            yield column, row


def _svg_labels(diagram: ModelDiagram) -> Iterator[str]:
    """Return the names of lines and the counts at their ends.

    Each is moved along and beside its line to where it covers no box and no other
    label, or to where it covers the least, so that nothing is lost.
    """
    places = {node.id: node for node in diagram.nodes}
    taken = _AreaIndex()
    boxes = _AreaIndex(
        _Area(node.x, node.y, node.x + node.width, node.y + node.height)
        for node in diagram.nodes
        if not node.is_group
    )
    for edge in diagram.edges:
        if edge.source == edge.target:
            continue
        (x1, y1), (x2, y2) = _ends(edge, places)
        for text, parts in (
            (edge.label, _NAME_AT),
            (edge.source_cardinality, _COUNT_AT),
            (edge.target_cardinality, [1 - part for part in _COUNT_AT]),
        ):
            if not text:
                continue
            points = [
                (x1 + (x2 - x1) * t, y1 + (y2 - y1) * t + beside)
                for beside in _BESIDE
                for t in parts
            ]
            point = _choose_point(text, points, boxes, taken)
            taken.add(_label_area(text, point))
            yield _svg_label(text, point)


def _choose_point(
    text: str, points: Sequence[Point], boxes: _AreaIndex, taken: _AreaIndex
) -> Point:
    """Return the first point where a label is free, or else covers the least."""
    covered = []
    for point in points:
        area = _label_area(text, point)
        counts = boxes.count_overlaps(area), taken.count_overlaps(area)
        if counts == (0, 0):
            return point
        covered.append(counts)
    return points[covered.index(min(covered))]


def _label_area(text: str, point: Point) -> _Area:
    x, y = point
    half = len(text) * _LETTER / 2
    return _Area(x - half, y - _HEIGHT / 2, x + half, y + _HEIGHT / 2)


def _svg_label(text: str, point: Point) -> str:
    x, y = point
    return (
        f'<text x="{x:.1f}" y="{y + 3.5:.1f}" text-anchor="middle" '
        'font-size="10" fill="#374151" stroke="#ffffff" stroke-width="3" '
        f'paint-order="stroke">{_text(text)}</text>'
    )

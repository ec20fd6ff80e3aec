"""The meaning of an edge of a drawing: its ends, their cardinality, and its name.

A cardinality is an arrowhead of the crow's foot notation or a label at an end such as
`0..*`. A hollow triangle on a line without texts is UML's specialization, on a dashed
one its realization. The style of a line has no other meaning for a relation.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from elt_llm_core.enterprise.model import RelationDirection
from elt_llm_ingest.readers.enterprise.canvas import Canvas
from elt_llm_ingest.readers.enterprise.drawio_cells import DrawioCell
from elt_llm_ingest.readers.enterprise.shapes import PageShapes

ARROWS = {
    "ERzeroToMany": "0..*",
    "ERoneToMany": "1..*",
    "ERmandOne": "1..1",
    "ERzeroToOne": "0..1",
    "ERone": "1..1",
    "ERmany": "0..*",
    "ERoneToOne": "1..1",
}
POINTING = frozenset(
    {
        "async", "block", "blockThin", "classic", "classicThin", "doubleBlock", "open",
        "openAsync", "openThin",
    }
)  # fmt: skip
TRIANGLES = frozenset({"block", "blockThin"})  # as UML's: hollow at the general thing
DEFAULT_END = "classic"  # draw.io's default arrowhead
AT_END = 0.5  # fraction of half the edge: a label nearer to the middle is not at an end
COUNT = r"(\d{1,6}|\*|[nNmM])"
MULTIPLICITY = re.compile(
    rf"[(\[]?\s*{COUNT}(?:\s*(?:\.{{2,3}}|,|…)\s*{COUNT})?\s*[)\]]?"
)
DIRECTIONS: dict[tuple[bool, bool], RelationDirection] = {
    (False, False): "none",
    (False, True): "forward",
    (True, False): "backward",
    (True, True): "both",
}


@dataclass(frozen=True)
class EdgeEnd:
    """The shape at an end, its cardinality, and the name of the end."""

    cell: str
    cardinality: str = ""
    role: str = ""


@dataclass
class _Labels:
    """The texts on an edge, by position."""

    name: list[str] = field(default_factory=list)
    counts: dict[bool, str] = field(default_factory=dict)  # False: at the source
    roles: dict[bool, str] = field(default_factory=dict)


@dataclass(frozen=True)
class EdgeReading:
    """An edge between two shapes that are elements."""

    source: EdgeEnd
    target: EdgeEnd
    name: str
    direction: RelationDirection
    type: str = ""


def read_edge(canvas: Canvas, edge: DrawioCell, page: PageShapes) -> EdgeReading | str:
    """Return the meaning of an edge, or the reason why it relates nothing.

    Args:
        canvas: The page.
        edge: The edge.
        page: The roles of the shapes of the page.

    Returns:
        Its ends by the cell ids of their elements, or a reason.
    """
    cells: list[str] = []
    for name, end in (("start", edge.source), ("end", edge.target)):
        if not end:
            return f"its {name} is not connected"
        cell = page.stands_for.get(end, end)
        if end in page.skips and cell not in page.shapes:
            return (
                f"its {name} is connected to a shape that was omitted "
                f"({page.skips[end]})"
            )
        if cell not in page.shapes:
            return f"its {name} is connected to a shape that is not an element"
        cells.append(cell)
    labels = _labels(canvas, edge)
    heads = (edge.style.get("startArrow", ""), edge.style.get("endArrow", ""))
    ends = [
        EdgeEnd(
            cell,
            ARROWS.get(head, "") or labels.counts.get(at_target, ""),
            labels.roles.get(at_target, "") or page.rows.get(tied, ""),
        )
        for cell, head, at_target, tied in zip(
            cells, heads, (False, True), (edge.source, edge.target), strict=True
        )
    ]
    name, direction = " ".join(labels.name), _direction(edge)
    kind, turned = _uml_type(edge)
    if kind and not (name or any(end.cardinality or end.role for end in ends)):
        special, general = reversed(ends) if turned else ends
        return EdgeReading(special, general, "", "forward", kind)
    return EdgeReading(ends[0], ends[1], name, direction)


def _uml_type(edge: DrawioCell) -> tuple[str, bool]:
    """Return the type that a hollow triangle means, and whether it is at the source."""
    hollow = [
        edge.style.get(f"{end}Arrow", "") in TRIANGLES
        and edge.style.get(f"{end}Fill") == "0"
        for end in ("start", "end")
    ]
    if sum(hollow) != 1:
        return "", False
    is_dashed = edge.style.get("dashed") == "1"
    return "Realization" if is_dashed else "Specialization", hollow[0]


def _direction(edge: DrawioCell) -> RelationDirection:
    heads = [edge.style.get("startArrow", ""), edge.style.get("endArrow", "")]
    if any(head in ARROWS for head in heads):
        return "none"
    heads[1] = heads[1] or DEFAULT_END
    return DIRECTIONS[heads[0] in POINTING, heads[1] in POINTING]


def _labels(canvas: Canvas, edge: DrawioCell) -> _Labels:
    """Return the edge's own text and its labels: names, counts and names of ends."""
    labels = _Labels()
    if edge.label and not _read_ratio(edge.label, labels.counts):
        labels.name.append(edge.label)
    at_ends: list[tuple[bool, str]] = []
    for cell in canvas.children(edge.id):
        if not cell.label or cell.edge:
            continue
        along = (cell.geometry or {}).get("x", 0.0) if cell.relative else 0.0
        if abs(along) >= AT_END:
            at_ends.append((along > 0, cell.label))
        elif not _read_ratio(cell.label, labels.counts):
            labels.name.append(cell.label)
    for at_target, text in at_ends:
        _add_at_end(labels, at_target, text)
    return labels


def _add_at_end(labels: _Labels, at_target: bool, text: str) -> None:
    """Add a text at an end: its count, or else its name."""
    count = parse_cardinality(text)
    if count and at_target not in labels.counts:
        labels.counts[at_target] = count
    elif labels.name and at_target not in labels.roles:
        labels.roles[at_target] = text
    else:  # the only text of an edge is its name, whatever its position
        labels.name.append(text)


def _read_ratio(text: str, counts: dict[bool, str]) -> bool:
    """Parse a text such as `1:n` as the counts of both ends."""
    parts = text.split(":")
    counts_of = [parse_cardinality(part) for part in parts]
    if len(parts) != 2 or not all(counts_of) or counts:  # noqa: PLR2004 - two ends
        return False
    counts.update({False: counts_of[0], True: counts_of[1]})
    return True


def parse_cardinality(text: str) -> str:
    """Return a multiplicity as `low..high`, with `*` for any number.

    Args:
        text: Such as `1`, `*`, `0..n`, `(1,1)`, `2..5`.

    Returns:
        Such as `1..1`, `0..*`; empty for any other text.
    """
    match = MULTIPLICITY.fullmatch(text.strip())
    if match is None:
        return ""
    low, high = match[1], match[2]
    if high is None:
        return f"{low}..{low}" if low.isdigit() else "0..*"
    if not low.isdigit() or (high.isdigit() and int(high) < int(low)):
        return ""
    return f"{low}..{high if high.isdigit() else '*'}"


def cardinality_words(cardinality: str) -> str:
    """Return a cardinality in words, such as "at most one"."""
    if cardinality in WORDS:
        return WORDS[cardinality]
    low, _, high = cardinality.partition("..")
    if low == high:
        return f"exactly {low}"
    return f"{low} or more" if high == "*" else f"between {low} and {high}"


WORDS: Mapping[str, str] = {
    "0..*": "zero or more",
    "1..*": "one or more",
    "1..1": "exactly one",
    "0..1": "at most one",
}

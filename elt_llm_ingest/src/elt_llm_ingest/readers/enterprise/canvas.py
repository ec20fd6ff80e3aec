"""Positions and nesting of the cells of a page."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from elt_llm_core.results import Box
from elt_llm_ingest.readers.enterprise.drawio_cells import Diagram, DrawioCell


@dataclass(frozen=True)
class Rectangle:
    """A rectangle on the canvas, in draw.io's pixels."""

    left: float
    top: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """Return its area."""
        return self.width * self.height

    @property
    def right(self) -> float:
        """Return its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Return its lower edge."""
        return self.top + self.height

    def as_box(self, page: int, frame: "Rectangle") -> Box:
        """Return its position on a page as fractions of the frame around all shapes."""

        def fraction(value: float) -> float:
            return round(min(max(value, 0.0), 1.0), 5)

        return Box(
            page=page,
            left=fraction((self.left - frame.left) / frame.width),
            top=fraction((self.top - frame.top) / frame.height),
            right=fraction((self.right - frame.left) / frame.width),
            bottom=fraction((self.bottom - frame.top) / frame.height),
        )

    def holds_centre(self, other: "Rectangle") -> bool:
        """Return whether the other's centre is inside, edges included."""
        x, y = other.left + other.width / 2, other.top + other.height / 2
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def holds(self, other: "Rectangle") -> bool:
        """Return whether all of the other is inside, edges included."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


class Canvas:
    """The cells of one page and their positions; `above` and `place` are cached."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.cells = {cell.id: cell for cell in diagram.cells}
        self._children: dict[str, list[DrawioCell]] = defaultdict(list)
        for cell in diagram.cells:
            self._children[cell.parent].append(cell)
        self._above: dict[str, list[DrawioCell]] = {}
        roots = {
            c.id for c in diagram.cells if not c.parent or c.parent not in self.cells
        }
        self.layers = roots | {
            c.id
            for c in diagram.cells
            if c.parent in roots and not c.vertex and not c.edge
        }

    def facts(self) -> list[DrawioCell]:
        """Return the fact sheets in document order."""
        return [cell for cell in self.diagram.cells if cell.is_fact_sheet]

    def edges(self) -> list[DrawioCell]:
        """Return the edges in document order."""
        return [cell for cell in self.diagram.cells if cell.edge]

    def children(self, cell_id: str) -> list[DrawioCell]:
        """Return the direct children of a cell, in document order."""
        return list(self._children.get(cell_id, ()))

    def plain_shapes(self) -> list[DrawioCell]:
        """Return shapes except fact sheets and edge labels, in document order."""
        return [
            cell
            for cell in self.diagram.cells
            if cell.vertex
            and not cell.is_fact_sheet
            and cell.id not in self.layers
            and not self._is_edge_label(cell)
        ]

    def tied_ids(self) -> set[str]:
        """Return the ids of the cells that edges are connected to."""
        return {end for e in self.edges() for end in (e.source, e.target) if end}

    def _is_edge_label(self, cell: DrawioCell) -> bool:
        parent = self.cells.get(cell.parent)
        return parent is not None and parent.edge

    def above(self, cell: DrawioCell) -> list[DrawioCell]:
        """Return the cells around one, innermost first, without layers."""
        if cell.id in self._above:
            return self._above[cell.id]
        ancestors: list[DrawioCell] = []
        seen = {cell.id}
        parent = self.cells.get(cell.parent)
        while parent and parent.id not in self.layers and parent.id not in seen:
            ancestors.append(parent)
            seen.add(parent.id)
            parent = self.cells.get(parent.parent)
        self._above[cell.id] = ancestors
        return ancestors

    def place(self, cell: DrawioCell) -> Rectangle:
        """Return the position of a shape on the canvas."""
        own = cell.geometry or {}
        left, top = own.get("x", 0.0), own.get("y", 0.0)
        for parent in self.above(cell):
            if parent.geometry and not parent.edge:
                left += parent.geometry["x"]
                top += parent.geometry["y"]
        return Rectangle(left, top, own.get("width", 0.0), own.get("height", 0.0))

    def bounds(self, cells: Sequence[DrawioCell]) -> Rectangle:
        """Return the rectangle around shapes."""
        return rectangle_around([self.place(cell) for cell in cells])


def rectangle_around(places: Sequence[Rectangle]) -> Rectangle:
    """Return the rectangle around others; one unit each way for none.

    Args:
        places: In the units of the canvas.
    """
    if not places:
        return Rectangle(0, 0, 1, 1)
    left, top = min(p.left for p in places), min(p.top for p in places)
    right, bottom = max(p.right for p in places), max(p.bottom for p in places)
    return Rectangle(left, top, max(right - left, 1), max(bottom - top, 1))


def is_group(cell: DrawioCell) -> bool:
    """Return whether draw.io created the shape by grouping others."""
    return cell.vertex and "group" in cell.style

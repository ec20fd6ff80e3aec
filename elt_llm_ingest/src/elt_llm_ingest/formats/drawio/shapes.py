"""Where shapes stand: geometry is relative to the parent cell."""

from collections.abc import Sequence
from dataclasses import dataclass

from elt_llm_ingest.formats.drawio.xml import Cell, Diagram


@dataclass(frozen=True)
class Rectangle:
    """A place on the canvas, in draw.io's pixels."""

    left: float
    top: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """Its size."""
        return self.width * self.height

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height

    def holds_centre(self, other: "Rectangle") -> bool:
        """Whether the other's centre is inside, edges included."""
        x, y = other.left + other.width / 2, other.top + other.height / 2
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def holds(self, other: "Rectangle") -> bool:
        """Whether all of the other is inside, edges included."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


class Canvas:
    """The cells of one page and where they stand."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.cells = {cell.id: cell for cell in diagram.cells}
        roots = {
            c.id for c in diagram.cells if not c.parent or c.parent not in self.cells
        }
        self.layers = roots | {
            c.id
            for c in diagram.cells
            if c.parent in roots and not c.vertex and not c.edge
        }

    def facts(self) -> list[Cell]:
        """The fact sheets in document order."""
        return [cell for cell in self.diagram.cells if cell.is_fact_sheet]

    def edges(self) -> list[Cell]:
        """The edges in document order."""
        return [cell for cell in self.diagram.cells if cell.edge]

    def above(self, cell: Cell) -> list[Cell]:
        """The cells around one, innermost first, without layers."""
        found: list[Cell] = []
        seen = {cell.id}
        parent = self.cells.get(cell.parent)
        while parent and parent.id not in self.layers and parent.id not in seen:
            found.append(parent)
            seen.add(parent.id)
            parent = self.cells.get(parent.parent)
        return found

    def place(self, cell: Cell) -> Rectangle:
        """Where a shape stands on the canvas."""
        own = cell.geometry or {}
        left, top = own.get("x", 0.0), own.get("y", 0.0)
        for parent in self.above(cell):
            if parent.geometry and not parent.edge:
                left += parent.geometry["x"]
                top += parent.geometry["y"]
        return Rectangle(left, top, own.get("width", 0.0), own.get("height", 0.0))

    def bounds(self, cells: Sequence[Cell]) -> Rectangle:
        """The rectangle around shapes."""
        places = [self.place(cell) for cell in cells]
        if not places:
            return Rectangle(0, 0, 1, 1)
        left, top = min(p.left for p in places), min(p.top for p in places)
        right, bottom = max(p.right for p in places), max(p.bottom for p in places)
        return Rectangle(left, top, max(right - left, 1), max(bottom - top, 1))


def is_group(cell: Cell) -> bool:
    """Whether a shape is one that draw.io made by grouping others."""
    return cell.vertex and "group" in cell.style

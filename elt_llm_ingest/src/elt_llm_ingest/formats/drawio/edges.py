"""Edges as relationships: what they join, how many of each, what they are called."""

from collections.abc import Mapping
from dataclasses import dataclass

from elt_llm_ingest.formats.drawio.shapes import Canvas
from elt_llm_ingest.formats.drawio.xml import Cell

ARROWS = {
    "ERzeroToMany": "0..*",
    "ERoneToMany": "1..*",
    "ERmandOne": "1..1",
    "ERzeroToOne": "0..1",
    "ERone": "1..1",
    "ERmany": "0..*",
    "ERoneToOne": "1..1",
}
WORDS = {
    "0..*": "zero or more",
    "1..*": "one or more",
    "1..1": "exactly one",
    "0..1": "at most one",
}
TYPES = {
    "entityRelationEdgeStyle": "Entity Relationship",
    "orthogonalEdgeStyle": "Orthogonal",
    "elbowEdgeStyle": "Elbow",
}


@dataclass(frozen=True)
class End:
    """What an edge is tied to: an entity of a domain, of none, or a domain itself."""

    entity: str
    domain: str


@dataclass(frozen=True)
class Relationship:
    """One edge. `start` and `finish` say how many stand at source and target."""

    cell: Cell
    source: End
    target: End
    start: str
    finish: str
    kind: str
    label: str

    @property
    def cardinality(self) -> str:
        """Both ends, joined by a hyphen; empty where neither is drawn."""
        return f"{self.start}-{self.finish}" if self.start or self.finish else ""

    @property
    def statement(self) -> str:
        """That the two are related, in one sentence."""
        verb = self.label or "is related to"
        return f"{self.source.entity} {verb} {self.target.entity}."

    def sentences(self) -> str:
        """The relationship in words, each direction by itself."""
        one, other = self.source.entity, self.target.entity
        said = [self.statement]
        if self.finish:
            said.append(f"Each {one} has {WORDS[self.finish]} {other} ({self.finish}).")
        if self.start:
            said.append(f"Each {other} has {WORDS[self.start]} {one} ({self.start}).")
        return " ".join(said)


def relationship(
    canvas: Canvas, edge: Cell, ends: Mapping[str, End | str]
) -> Relationship | str:
    """The relationship an edge draws, or the reason why there is none.

    `ends` maps the id of a shape to what it stands for, or to why it was left out.
    """
    found: list[End] = []
    for name, cell_id in (("start", edge.source), ("end", edge.target)):
        if not cell_id:
            return f"its {name} is tied to nothing"
        end = ends.get(cell_id)
        if end is None:
            return f"its {name} is tied to a shape that is no fact sheet"
        if isinstance(end, str):
            return f"its {name} is tied to a shape that was left out ({end})"
        found.append(end)
    return Relationship(
        cell=edge,
        source=found[0],
        target=found[1],
        start=ARROWS.get(edge.style.get("startArrow", ""), ""),
        finish=ARROWS.get(edge.style.get("endArrow", ""), ""),
        kind=TYPES.get(edge.style.get("edgeStyle", ""), ""),
        label=_label(canvas, edge),
    )


def _label(canvas: Canvas, edge: Cell) -> str:
    """The edge's own label, else the texts of the shapes tied to it."""
    texts = [
        cell.label
        for cell in canvas.diagram.cells
        if cell.parent == edge.id and cell.label and not cell.edge
    ]
    return edge.label or " ".join(texts)

"""Lay out a model, or a part of it: boxes in domains, and lines between them."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import Field

from elt_llm_core.enterprise.model import ElementRole, ModelElement, ModelLocation
from elt_llm_core.graph.graph_records import RelationRef
from elt_llm_core.graph.model_graph import ModelGraph, unknown_part_error
from elt_llm_core.records import Record

# In pixels. A box holds two lines of about twenty letters at 12 px.
BOX_WIDTH, BOX_HEIGHT = 160, 48
GAP, HEADER = 24, 32
# Between boxes the names of lines stand: "is priced with" has 70 px, and a count at
# each end of a line downwards 12 px.
COLUMN_GAP, ROW_GAP = 72, 48
WIDE = 1.5  # aspect ratio of the diagram, as of screens


class DiagramNode(Record):
    """A box. `x` and `y` are its top left corner, in pixels of the diagram."""

    id: str
    name: str
    type: str
    role: ElementRole
    domain: str
    subtype: str
    parent: str = Field(description="id of the domain's box, or empty")
    x: int
    y: int
    width: int
    height: int
    location: ModelLocation = Field(description="where the file draws it")

    @property
    def is_group(self) -> bool:
        """Return whether other boxes are in it."""
        return self.role == "domain" and not self.parent


class DiagramEdge(Record):
    """A line between two boxes."""

    id: str
    source: str
    target: str
    label: str
    type: str
    direction: str
    source_cardinality: str
    target_cardinality: str
    qualifiers: dict[str, str] = Field(
        default_factory=dict, description="such as accessType: Read"
    )


class ModelDiagram(Record):
    """Boxes, including those of the domains, and lines; in pixels."""

    name: str
    organisation: str = Field(default="", description="whose the model is")
    width: int
    height: int
    nodes: tuple[DiagramNode, ...]
    edges: tuple[DiagramEdge, ...]
    left_out: int = Field(default=0, description="elements beyond the most that fit")


class DiagramScope(NamedTuple):
    """The scope of a diagram: all, around an element, a domain or a view."""

    element: str = ""
    hops: int = 1
    domain: str = ""
    view: str = ""
    most: int = 500


WHOLE = DiagramScope()


def draw_diagram(graph: ModelGraph, scope: DiagramScope = WHOLE) -> ModelDiagram:
    """Return a part of a model as a diagram.

    Args:
        graph: The model.
        scope: The part to draw.

    Raises:
        UsageError: If there is no such domain or view, or the element is ambiguous.
        UnknownElementError: If there is no such element.
    """
    every = select_elements(graph, scope)
    elements = every[: scope.most]
    nodes, width, height = _place(elements)
    shown = {node.id for node in nodes}
    edges = [
        _edge(RelationRef.of(r))
        for r in graph.model.relations
        if {r.source.element_id, r.target.element_id} <= shown
    ]
    return ModelDiagram(
        name=scope.element or scope.domain or scope.view or graph.model.name,
        organisation=graph.organisation,
        width=width,
        height=height,
        nodes=tuple(nodes),
        edges=tuple(edges),
        left_out=len(every) - len(elements),
    )


def select_elements(graph: ModelGraph, scope: DiagramScope) -> list[ModelElement]:
    """Return the elements of a scope in the order of the model, without notes.

    Raises the errors of `draw_diagram`.
    """
    chosen = [e for e in graph.model.elements if e.role != "note"]
    if scope.element:
        start = graph.resolve(scope.element)
        near = {n.element.id for n in graph.neighbors(start.id, scope.hops)}
        near |= {start.id} | {e.id for e in graph.index.children(start.id)}
        chosen = [e for e in chosen if e.id in near]
    if scope.domain:
        chosen = [e for e in chosen if e.domain.casefold() == scope.domain.casefold()]
        _require(
            chosen, "domain", scope.domain, (e.domain for e in graph.model.elements)
        )
    if scope.view:
        views = [v for v in graph.model.views if scope.view in (v.id, v.name)]
        _require(views, "view", scope.view, (v.name for v in graph.model.views))
        ids = {key for view in views for key in view.element_ids}
        chosen = [e for e in chosen if e.id in ids]
    return chosen


def _require(
    rows: Sequence[object], what: str, name: str, known: Iterable[str]
) -> None:
    if not rows:
        raise unknown_part_error(what, name, known)


class _Block(NamedTuple):
    """A domain: its own element, if it has one, and its members."""

    name: str
    head: ModelElement | None
    inner: list[ModelElement]

    @property
    def columns(self) -> int:
        return max(1, math.ceil(math.sqrt(len(self.inner) / WIDE)))

    @property
    def size(self) -> tuple[int, int]:
        rows = math.ceil(len(self.inner) / self.columns)
        return (
            self.columns * (BOX_WIDTH + COLUMN_GAP) - COLUMN_GAP + 2 * GAP,
            max(0, rows * (BOX_HEIGHT + ROW_GAP) - ROW_GAP) + 2 * GAP + HEADER,
        )


def _blocks(elements: Sequence[ModelElement]) -> list[_Block]:
    heads = {e.domain: e for e in reversed(elements) if e.role == "domain"}
    inner: dict[str, list[ModelElement]] = defaultdict(list)
    for element in elements:
        if heads.get(element.domain) is not element:
            inner[element.domain].append(element)
    names = dict.fromkeys(e.domain for e in elements)
    return [
        _Block(
            name,
            heads.get(name),
            sorted(inner[name], key=lambda e: (e.subtype, e.role != "subtype")),
        )
        for name in names
    ]


def _place(
    elements: Sequence[ModelElement],
) -> tuple[list[DiagramNode], int, int]:
    """Place domains side by side in rows, and their members in columns."""
    blocks = _blocks(elements)
    area = sum(width * height for width, height in (b.size for b in blocks))
    row_width = max([math.sqrt(area * WIDE), *(b.size[0] for b in blocks)])
    nodes: list[DiagramNode] = []
    left, top, below, right = GAP, GAP, 0, 0
    for block in blocks:
        width, height = block.size
        if left > GAP and left + width > row_width:
            left, top, below = GAP, top + below + GAP, 0
        nodes += _block_nodes(block, left, top)
        left, below = left + width + GAP, max(below, height)
        right = max(right, left)
    return nodes, max(right, 2 * GAP), top + below + GAP


def _block_nodes(block: _Block, left: int, top: int) -> list[DiagramNode]:
    nodes = []
    head = block.head
    if head is not None:
        nodes.append(_node(head, "", (left, top, *block.size)))
    for number, element in enumerate(block.inner):
        row, column = divmod(number, block.columns)
        corner = (
            left + GAP + column * (BOX_WIDTH + COLUMN_GAP),
            top + HEADER + GAP + row * (BOX_HEIGHT + ROW_GAP),
        )
        place = (*corner, BOX_WIDTH, BOX_HEIGHT)
        nodes.append(_node(element, head.id if head else "", place))
    return nodes


def _node(
    element: ModelElement, parent: str, place: tuple[int, int, int, int]
) -> DiagramNode:
    x, y, width, height = place
    return DiagramNode(
        id=element.id,
        name=element.name,
        type=element.type,
        role=element.role,
        domain=element.domain,
        subtype=element.subtype,
        parent=parent,
        x=x,
        y=y,
        width=width,
        height=height,
        location=element.location,
    )


def _edge(relation: RelationRef) -> DiagramEdge:
    return DiagramEdge(
        id=relation.id,
        source=relation.source_id,
        target=relation.target_id,
        label=relation.name or (relation.verb if relation.type else ""),
        type=relation.type,
        direction=relation.direction,
        source_cardinality=relation.source_cardinality,
        target_cardinality=relation.target_cardinality,
        qualifiers=relation.qualifiers,
    )

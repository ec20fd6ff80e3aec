"""Lists of elements, relations, neighbours and paths on the wire."""

from pydantic import Field

from elt_llm_api.schemas import Wire
from elt_llm_core.graph.graph_records import (
    ElementDetail,
    ElementRef,
    GraphAnswer,
    GraphPath,
    GraphSummary,
    Neighbor,
    RelationRef,
)


class ElementList(Wire):
    """Elements of the model."""

    data: list[ElementRef]
    total: int = Field(description="that fit, of which some may be on other pages")
    next_cursor: int | None = None


class RelationList(Wire):
    """Relations of the model."""

    data: list[RelationRef]
    total: int = Field(description="that fit, of which some may be on other pages")
    next_cursor: int | None = None


class NeighborList(Wire):
    """What is around an element."""

    element: ElementRef
    data: list[Neighbor]


class PathList(Wire):
    """Ways between two elements, all equally short."""

    source: ElementRef
    target: ElementRef
    data: list[GraphPath]


class GraphListing(Wire):
    """What the tool `graph` returns: of what was asked, and empty for the rest."""

    answer: GraphAnswer | None = None
    summary: GraphSummary | None = None
    element: ElementDetail | None = None
    neighbors: list[Neighbor] = Field(default_factory=list)
    paths: list[GraphPath] = Field(default_factory=list)

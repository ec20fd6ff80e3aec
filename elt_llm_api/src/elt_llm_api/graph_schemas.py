"""Response schemas of elements, relations, neighbours and paths."""

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
    """The neighbours of an element."""

    element: ElementRef
    data: list[Neighbor]


class PathList(Wire):
    """Paths between two elements, all of the same length."""

    source: ElementRef
    target: ElementRef
    data: list[GraphPath]


class GraphListing(Wire):
    """The result of the tool `graph`; only the requested part is filled."""

    answer: GraphAnswer | None = None
    summary: GraphSummary | None = None
    element: ElementDetail | None = None
    neighbors: list[Neighbor] = Field(default_factory=list)
    paths: list[GraphPath] = Field(default_factory=list)

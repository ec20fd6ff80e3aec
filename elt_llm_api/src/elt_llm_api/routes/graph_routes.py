"""The enterprise model as a graph: elements, relations, neighbours, paths, pictures."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from elt_llm_api.graph_schemas import (
    ElementList,
    NeighborList,
    PathList,
    RelationList,
)
from elt_llm_api.routes.dependencies import Views, problems
from elt_llm_core.graph.diagram import DiagramScope, ModelDiagram, draw_diagram
from elt_llm_core.graph.drawing import mermaid_text, svg_text
from elt_llm_core.graph.graph_questions import GraphQuestions
from elt_llm_core.graph.graph_records import (
    ElementDetail,
    ElementRef,
    GraphAnswer,
    GraphSummary,
    RelationRef,
)
from elt_llm_core.graph.model_check import ModelCheck, check_model, read_threshold
from elt_llm_core.graph.model_graph import ModelGraph

router = APIRouter(prefix="/v1/graph", tags=["graph"])
Limit = Annotated[int, Query(ge=1, le=10_000)]
Cursor = Annotated[int, Query(ge=0, description="next_cursor of the previous page")]
Element = Annotated[
    str, Query(max_length=500, description="id, fact sheet id, or name in any case")
]
Types = Annotated[list[str], Query(max_length=50, description="none means all")]
Hops = Annotated[int, Query(ge=1, le=20)]
DRAWERS = {"svg": (svg_text, "image/svg+xml"), "mmd": (mermaid_text, "text/plain")}


def _graph(
    views: Views,
    collection: Annotated[
        list[str],
        Query(
            max_length=64, description="collections with a model; default: all of them"
        ),
    ] = [],  # noqa: B006 - FastAPI copies defaults into a schema
) -> ModelGraph:
    return views.graph(collection)


Graph = Annotated[ModelGraph, Depends(_graph)]


class DiagramQuery(BaseModel):
    """The part of the model that a diagram shows."""

    model_config = ConfigDict(extra="forbid")

    element: str = Field(
        default="", max_length=500, description="centre of the drawing"
    )
    hops: int = Field(
        default=1, ge=1, le=20, description="number of relations from the centre"
    )
    domain: str = Field(default="", max_length=500)
    view: str = Field(default="", max_length=500, description="id or name")
    most: int = Field(default=500, ge=1, le=5_000, description="elements")
    collection: list[str] = Field(default_factory=list, max_length=64)

    @property
    def scope(self) -> DiagramScope:
        """Return the part of the model."""
        return DiagramScope(self.element, self.hops, self.domain, self.view, self.most)


@router.get("", operation_id="get_graph", responses=problems(404, 422))
def get_graph(graph: Graph) -> GraphSummary:
    """The number of elements, relations and views of the model, by type."""
    return graph.summary()


@router.get("/elements", operation_id="list_elements", responses=problems(404, 422))
def list_elements(
    graph: Graph,
    type: Types = [],  # noqa: A002, B006 - the name on the wire; a copied default
    domain: Annotated[str, Query(max_length=500)] = "",
    search: Annotated[
        str, Query(max_length=200, description="text in the name or documentation")
    ] = "",
    limit: Limit = 1_000,
    cursor: Cursor = 0,
) -> ElementList:
    """The elements of the model in its order, notes included."""
    refs = [
        ElementRef.of(e)
        for e in graph.elements(types=type, domain=domain, search=search)
    ]
    chosen, following = _page(refs, limit, cursor)
    return ElementList(data=chosen, total=len(refs), next_cursor=following)


@router.get("/element", operation_id="get_element", responses=problems(404, 422))
def get_element(graph: Graph, element: Element) -> ElementDetail:
    """One element: place, documentation, its own and inherited relations."""
    return graph.detail(graph.resolve(element).id)


@router.get("/relations", operation_id="list_relations", responses=problems(404, 422))
def list_relations(
    graph: Graph,
    type: Types = [],  # noqa: A002, B006 - as above
    limit: Limit = 1_000,
    cursor: Cursor = 0,
) -> RelationList:
    """The relations of the model in its order."""
    kinds = {kind.casefold() for kind in type}
    refs = [
        RelationRef.of(r)
        for r in graph.model.relations
        if not kinds or r.type.casefold() in kinds
    ]
    chosen, following = _page(refs, limit, cursor)
    return RelationList(data=chosen, total=len(refs), next_cursor=following)


@router.get("/neighbors", operation_id="list_neighbors", responses=problems(404, 422))
def list_neighbors(
    graph: Graph,
    element: Element,
    hops: Hops = 1,
    direction: Literal["out", "in", "both"] = "both",
    type: Types = [],  # noqa: A002, B006 - as above
) -> NeighborList:
    """Elements up to `hops` relations away from an element, nearest first."""
    start = graph.resolve(element)
    around = graph.neighbors(start.id, hops, direction, type)
    return NeighborList(element=ElementRef.of(start), data=around)


@router.get("/dependents", operation_id="list_dependents", responses=problems(404, 422))
def list_dependents(
    graph: Graph,
    element: Element,
    hops: Hops = 20,
    reverse: Annotated[
        bool, Query(description="return what the element depends on instead")
    ] = False,
) -> NeighborList:
    """Elements that depend on an element, directly or through others, nearest first."""
    start = graph.resolve(element)
    walk = graph.dependencies if reverse else graph.dependents
    return NeighborList(element=ElementRef.of(start), data=walk(start.id, hops))


@router.get("/path", operation_id="find_path", responses=problems(404, 422))
def find_path(
    graph: Graph,
    source: Element,
    target: Element,
    most: Annotated[int, Query(ge=1, le=50)] = 5,
    directed: Annotated[
        bool, Query(description="follow relations in their direction only")
    ] = False,
) -> PathList:
    """The shortest paths between two elements; possibly an empty list."""
    ends = graph.resolve(source), graph.resolve(target)
    ways = graph.paths(ends[0].id, ends[1].id, most=most, directed=directed)
    return PathList(
        source=ElementRef.of(ends[0]), target=ElementRef.of(ends[1]), data=ways
    )


@router.get("/answer", operation_id="ask_graph", responses=problems(404, 422))
def get_answer(
    graph: Graph,
    question: Annotated[str, Query(min_length=1, max_length=2_000)],
) -> GraphAnswer:
    """An exact answer to a question about the model, with its proof.

    `status` is "refused" if a word of the question is not understood, or if the model
    has nothing of what is asked for: `kind` is then not empty, and `text` says what
    the model has instead.
    """
    return GraphQuestions(graph).answer(question)


@router.get("/check", operation_id="check_graph", responses=problems(404, 422))
def get_check(
    graph: Graph,
    threshold: Annotated[
        list[str],
        Query(
            max_length=50,
            description="thresholds as RULE=SHARE; default: the rule's own",
        ),
    ] = [],  # noqa: B006 - a copied default
) -> ModelCheck:
    """The outcome of each rule for models, with its violations."""
    return check_model(graph, dict(map(read_threshold, threshold)))


@router.get("/diagram", operation_id="get_diagram", responses=problems(404, 422))
def get_diagram(asked: Annotated[DiagramQuery, Query()], views: Views) -> ModelDiagram:
    """The model, or a part of it, laid out in pixels: boxes in domains, and lines."""
    return draw_diagram(views.graph(asked.collection), asked.scope)


@router.get(
    "/diagram.{kind}",
    operation_id="draw_diagram",
    response_class=Response,
    responses=problems(404, 422),
)
def get_drawing(
    kind: Annotated[Literal["svg", "mmd"], Path()],
    asked: Annotated[DiagramQuery, Query()],
    views: Views,
) -> Response:
    """The diagram as an SVG picture, or as text for Mermaid."""
    draw, media_type = DRAWERS[kind]
    diagram = draw_diagram(views.graph(asked.collection), asked.scope)
    # A picture opened on its own must not run scripts in names.
    policy = {
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"
    }
    return Response(draw(diagram), media_type=media_type, headers=policy)


def _page(rows: list[Any], limit: int, cursor: int) -> tuple[list[Any], int | None]:
    end = cursor + limit
    return rows[cursor:end], end if end < len(rows) else None

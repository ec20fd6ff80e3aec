"""What an enterprise model relates to the elements that a question names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import Field
from typing_extensions import override

from elt_llm_core.enterprise.joining import join_models
from elt_llm_core.enterprise.model import SIDECAR_KIND, EnterpriseModel
from elt_llm_core.graph.graph_records import Neighbor
from elt_llm_core.graph.model_graph import ModelGraph, graph_of
from elt_llm_core.graph.question_reader import QuestionReader
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.retrieval.query_transform import (
    Search,
    SearchTransform,
    add_searches,
)

Together = tuple[Collection, ...]

# The graph of the collections last searched with the key; one that changes is opened
# as a new object.
_graphs: WeakKeyDictionary[Collection, tuple[Together, ModelGraph | None]] = (
    WeakKeyDictionary()
)


class GraphSearchTransform(SearchTransform):
    """Adds a search for the relations of each element that the question names.

    This is the local search of GraphRAG (Edge et al., 2024) over a model that people
    drew: from the elements of the question to their neighbours, and from the sentences
    of those relations to the passages of any document that speak of both. Without a
    model in the collections the searches stay as they are.

    Args:
        hops: Relations from a named element to the farthest neighbour.
        most: Neighbours of one element, nearest first, in the order of the model.
        weight: Weight of each added search in the fusion; the question has 1.
        graph: The graph of the collections' models, if they have one.
    """

    def __init__(
        self,
        hops: int = 1,
        most: int = 8,
        weight: float = 0.5,
        graph: ModelGraph | None = None,
    ) -> None:
        self._hops = hops
        self._most = most
        self._weight = weight
        self._graph = graph

    def over(
        self,
        collections: Sequence[Collection],
        where: Mapping[str, Any] | None = None,  # noqa: ARG002 - it adds no chunk
    ) -> "GraphSearchTransform":
        """Return a copy that walks the models of these collections, joined into one."""
        graph = _graph_of(tuple(collections))
        return GraphSearchTransform(self._hops, self._most, self._weight, graph)

    @override
    def transform(self, searches: Sequence[Search]) -> list[Search]:
        if self._graph is None:
            return list(searches)
        question = searches[0].bundle.query_str
        return add_searches(searches, self._texts(self._graph, question), self._weight)

    def _texts(self, graph: ModelGraph, question: str) -> Iterator[str]:
        """The relations of each element that the question names, as sentences."""
        for element_id in _named_elements(graph, question):
            near = graph.neighbors(element_id, self._hops)[: self._most]
            if near:
                yield " ".join(dict.fromkeys(_sentences(near)))


class GraphSearchTransformOptions(Strategy[SearchTransform]):
    """Search for what the model relates to the elements of the question too."""

    hops: int = Field(
        default=1, ge=1, le=3, description="relations to the farthest neighbour"
    )
    most: int = Field(
        default=8, ge=1, le=50, description="maximum number of neighbours of an element"
    )
    weight: float = Field(
        default=0.5,
        gt=0,
        le=10,
        description="weight of each added search; the question has 1",
    )

    @override
    def build(self, models: Models) -> SearchTransform:
        return GraphSearchTransform(self.hops, self.most, self.weight)


def _graph_of(collections: Together) -> ModelGraph | None:
    """Return the graph of the models of collections; None if they have none."""
    if not collections:
        return None
    known = _graphs.get(collections[0])
    if known is None or known[0] != collections[1:]:
        models = [
            EnterpriseModel.model_validate(sidecar.content)
            for collection in collections
            for sidecar in collection.sidecars(SIDECAR_KIND)
        ]
        graph = graph_of(join_models(models)) if models else None
        known = _graphs[collections[0]] = collections[1:], graph
    return known[1]


def _named_elements(graph: ModelGraph, question: str) -> list[str]:
    """Return the ids of the elements that a question names, in its order."""
    for reading in QuestionReader(graph.model).read(question):
        if reading.mentions:
            ids = (item for mention in reading.mentions for item in mention.ids)
            return list(dict.fromkeys(ids))
    return []


def _sentences(neighbors: Sequence[Neighbor]) -> Iterator[str]:
    return (relation.text for near in neighbors for relation in near.relations)

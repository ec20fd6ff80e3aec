"""Queries on an enterprise model: neighbours, paths, groups, dependents."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice, pairwise
from typing import Literal

import networkx as nx
from llama_index.core.graph_stores.types import PropertyGraphStore

from elt_llm_core.enterprise.index import ModelIndex
from elt_llm_core.enterprise.joining import read_joined_model
from elt_llm_core.enterprise.model import (
    ORGANISATION,
    SIDECAR_KIND,
    UNREAD_KIND,
    EnterpriseModel,
    ModelElement,
    ModelRelation,
)
from elt_llm_core.errors import UnknownElementError, UsageError
from elt_llm_core.graph.dependence import dependents_of, is_flow
from elt_llm_core.graph.graph_nodes import read_graph, write_graph
from elt_llm_core.graph.graph_records import (
    ElementDetail,
    ElementRef,
    GraphPath,
    GraphSummary,
    Neighbor,
    PathStep,
    RelationRef,
)
from elt_llm_core.graph.networkx_store import NetworkxGraphStore
from elt_llm_core.store import Store

Direction = Literal["out", "in", "both"]
INSIDE = ""  # the key of a step into a group; relations have ids
MOST_HOPS = 20  # longer than any path in a real model


def open_graph(store: Store, collections: Sequence[str] = ()) -> "ModelGraph":
    """Return the graph of the models of collections, joined into one.

    Args:
        store: The data root.
        collections: Names of collections; none means all with a model.

    Raises:
        UsageError: If none of them contains a model.
        CollectionNotFoundError: If a collection does not exist.
    """
    if collections:
        return graph_of(read_joined_model(store, collections))
    every = [card.name for card in store.collections()]
    holding = [name for name in every if store.sidecars(name, SIDECAR_KIND)]
    # A sheet that is no inventory may be about a model in another collection.
    sheets = [name for name in every if store.sidecars(name, UNREAD_KIND)]
    return graph_of(read_joined_model(store, [*holding, *sheets] if holding else every))


def graph_of(model: EnterpriseModel) -> "ModelGraph":
    """Return the graph of a model, in NetworkX.

    Args:
        model: The model.
    """
    held = NetworkxGraphStore()
    write_graph(model, held)
    return ModelGraph(held)


class ModelGraph:
    """A model read once from a property graph store, for queries.

    Args:
        store: NetworkX's, or any other store of LlamaIndex that `write_graph` filled.

    Raises:
        UsageError: If the store contains no model.
    """

    def __init__(self, store: PropertyGraphStore) -> None:
        self.store = store
        self.model = read_graph(store)
        self.index = ModelIndex(self.model)

    def find(self, name: str) -> list[ModelElement]:
        """Return the elements with an id, a fact sheet id, or a name in any case.

        Args:
            name: The id or name; an id takes precedence.

        Raises:
            UnknownElementError: If there is none.
        """
        if name in self.index.elements:
            return [self.index.elements[name]]
        by_sheet = [e for e in self.model.elements if name and e.fact_sheet_id == name]
        elements = by_sheet or self.index.elements_named(name)
        if not elements:
            raise UnknownElementError(name, {e.name for e in self.model.elements})
        return elements

    def resolve(self, name: str) -> ModelElement:
        """Return the only element with an id or a name.

        Of several, the only one that is neither a group nor a note is returned.

        Args:
            name: As in `find`.

        Raises:
            UnknownElementError: If there is none.
            UsageError: If there are several.
        """
        elements = self.find(name)
        entities = [e for e in elements if e.role == "entity"]
        if len(elements) == 1 or len(entities) == 1:
            return (entities or elements)[0]
        listed = [f"{e.id}: {ElementRef.of(e).label}" for e in elements]
        raise UsageError(
            f"{len(elements)} elements are called {name!r}",
            "name one by its id",
            listed,
        )

    def reference(self, element_id: str) -> ElementRef:
        """Return the reference to an element, or to a relation that one ends at."""
        element = self.index.elements.get(element_id)
        if element is not None:
            return ElementRef.of(element)
        relation = self.index.relations[element_id]
        return ElementRef(
            id=element_id,
            name=RelationRef.of(relation).text.rstrip("."),
            type="Relation",
            location=relation.location,
        )

    def elements(
        self, *, types: Sequence[str] = (), domain: str = "", search: str = ""
    ) -> list[ModelElement]:
        """Return the matching elements, in the order of the model.

        Args:
            types: Types, in any case; none means all.
            domain: Name of a domain, in any case.
            search: A part of the name or the documentation.

        Raises:
            UsageError: If no element has one of the types, or is in the domain.
        """
        every = self.model.elements
        for kind in types:
            _require_known("type", kind, (e.type for e in every))
        if domain:
            _require_known("domain", domain, (e.domain for e in every))
        kinds = {kind.casefold() for kind in types}
        wanted = search.casefold()
        return [
            e
            for e in every
            if (not kinds or e.type.casefold() in kinds)
            and (not domain or e.domain.casefold() == domain.casefold())
            and wanted in f"{e.name}\n{e.documentation}".casefold()
        ]

    def detail(self, element_id: str) -> ElementDetail:
        """Return the data of an element, its relations and its place."""
        index = self.index
        inherited = index.inherited_relations(element_id)
        return ElementDetail(
            element=index.elements[element_id],
            above=tuple(map(ElementRef.of, index.ancestors(element_id))),
            children=tuple(map(ElementRef.of, index.children(element_id))),
            relations=tuple(map(RelationRef.of, index.direct_relations(element_id))),
            inherited=self._references(i.relation.id for i in inherited),
            views=tuple(
                v.name for v in self.model.views if element_id in v.element_ids
            ),
        )

    def neighbors(
        self,
        element_id: str,
        hops: int = 1,
        direction: Direction = "both",
        types: Sequence[str] = (),
    ) -> list[Neighbor]:
        """Return the elements within some steps, nearest first.

        Args:
            element_id: The first element.
            hops: Maximum number of relations.
            direction: `out` goes from source to target, `in` the other way.
            types: Types, names or verbs of relations to follow; none means all.
        """
        edges = self._filter_edges(types)
        if direction == "both":
            return self._within(edges.to_undirected(), element_id, hops)
        walk = edges if direction == "out" else edges.reverse(copy=False)
        return self._within(walk, element_id, hops)

    def _within(
        self, walk: "nx.MultiGraph[str]", start: str, hops: int
    ) -> list[Neighbor]:
        """Return the elements that a walk reaches, with the last relations."""
        if start not in walk:
            return []
        steps = nx.single_source_shortest_path_length(walk, start, min(hops, MOST_HOPS))
        back = walk.reverse(copy=False) if walk.is_directed() else walk
        neighbors = []
        for key, distance in steps.items():
            nearer = [k for k in back[key] if steps.get(k) == distance - 1]
            if nearer:
                between = self._references(
                    name for k in nearer for name in back[key][k]
                )
                element = self.reference(key)
                neighbors.append(
                    Neighbor(element=element, distance=distance, relations=between)
                )
        return neighbors

    def paths(
        self, start: str, end: str, *, most: int = 5, directed: bool = False
    ) -> list[GraphPath]:
        """Return the shortest paths from one element to another.

        Without a chain of relations, a step to the group around an element is allowed
        if the group has relations of its own: a plain folder connects nothing.

        Args:
            start: Id of the first element.
            end: Id of the last one.
            most: Maximum number of paths, all of the same length.
            directed: Follow relations from source to target only.
        """
        for edges in (self._edges, self._edges_and_groups):
            graph = edges if directed else edges.to_undirected()
            if start in graph and end in graph and nx.has_path(graph, start, end):
                simple = nx.DiGraph(graph) if directed else nx.Graph(graph)
                ways = islice(nx.all_shortest_paths(simple, start, end), most)
                return [self._path(graph, way) for way in ways]
        return []

    def _path(self, graph: "nx.MultiDiGraph[str]", way: Sequence[str]) -> GraphPath:
        steps = []
        for one, other in pairwise(way):
            keys = [key for key in graph[one][other] if key != INSIDE]
            steps.append(
                PathStep(
                    source=self.reference(one),
                    target=self.reference(other),
                    relations=self._references(keys),
                    contained=not keys,
                )
            )
        return GraphPath(steps=tuple(steps))

    def ancestors(self, element_id: str) -> list[ElementRef]:
        """Return the groups around an element, innermost first."""
        return list(map(ElementRef.of, self.index.ancestors(element_id)))

    def descendants(self, element_id: str) -> list[ElementRef]:
        """Return everything in an element, level by level."""
        below: dict[str, ElementRef] = {}
        front = [element_id]
        while front:
            inner = [e for key in front for e in self.index.children(key)]
            front = [e.id for e in inner if e.id not in below and e.id != element_id]
            below.update((e.id, ElementRef.of(e)) for e in inner if e.id in front)
        return list(below.values())

    def dependents(self, element_id: str, hops: int = MOST_HOPS) -> list[Neighbor]:
        """Return what depends on an element, directly or through others, nearest first.

        Args:
            element_id: The element that is depended on.
            hops: Maximum number of steps; 1 means direct dependents.
        """
        walk = self._dependencies.reverse(copy=False)
        return self._within(walk, element_id, hops)

    def dependencies(self, element_id: str, hops: int = MOST_HOPS) -> list[Neighbor]:
        """Return what an element depends on, nearest first; see `dependents`."""
        return self._within(self._dependencies, element_id, hops)

    def flows(self, element_id: str) -> list[RelationRef]:
        """Return the relations along which something flows in or out."""
        direct = self.index.direct_relations(element_id)
        return [RelationRef.of(r) for r in direct if is_flow(r)]

    @property
    def organisation(self) -> str:
        """Whose the model is; empty if neither a file nor a person says it."""
        return self.model.properties.get(ORGANISATION, "")

    def summary(self) -> GraphSummary:
        """Return the number of elements, relations and views of each type."""
        elements = [e for e in self.model.elements if e.role != "note"]
        entities = [e for e in elements if e.role == "entity"]
        return GraphSummary(
            name=self.model.name,
            files=tuple(dict.fromkeys(self.model.source_file.split(", "))),
            organisation=self.organisation,
            elements=len(elements),
            relations=len(self.model.relations),
            views=len(self.model.views),
            skips=len(self.model.skips),
            types=_count(e.type for e in entities),
            roles=_count(e.role for e in self.model.elements),
            domains=_count(e.domain for e in entities),
            relation_types=_count(
                r.type or RelationRef.of(r).verb for r in self.model.relations
            ),
        )

    @cached_property
    def _edges(self) -> "nx.MultiDiGraph[str]":
        """Return the relations, from source to target, each under its id."""
        return self._graph(
            (r, r.source.element_id, r.target.element_id) for r in self.model.relations
        )

    @cached_property
    def _dependencies(self) -> "nx.MultiDiGraph[str]":
        """Return edges from each dependent to what it depends on."""
        edges = (
            (r, r.source.element_id, r.target.element_id)
            if end == "source"
            else (r, r.target.element_id, r.source.element_id)
            for r in self.model.relations
            for end in dependents_of(r)
        )
        return self._graph(edges)

    def _graph(
        self, edges: Iterable[tuple[ModelRelation, str, str]]
    ) -> "nx.MultiDiGraph[str]":
        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        graph.add_nodes_from(self.index.elements)
        for relation, source, target in edges:
            graph.add_edge(source, target, key=relation.id)
        return graph

    def _filter_edges(self, types: Sequence[str]) -> "nx.MultiDiGraph[str]":
        """Return the relations of some types, names or verbs."""
        wanted = {kind.casefold() for kind in types}
        if not wanted:
            return self._edges
        chosen = []
        for relation in self.model.relations:
            ref = RelationRef.of(relation)
            if wanted & {s.casefold() for s in (ref.type, ref.name, ref.verb)}:
                chosen.append((relation, ref.source_id, ref.target_id))
        return self._graph(chosen)

    @cached_property
    def _edges_and_groups(self) -> "nx.MultiDiGraph[str]":
        """Return the relations, and edges between an element and its group.

        The group is the innermost one with relations.
        """
        graph = self._edges.copy()
        for element in self.model.elements:
            for above in self.index.ancestors(element.id):
                if self.index.direct_relations(above.id):
                    graph.add_edge(element.id, above.id, key=INSIDE)
                    graph.add_edge(above.id, element.id, key=INSIDE)
                    break
        return graph

    def _references(self, relation_ids: Iterable[str]) -> tuple[RelationRef, ...]:
        ids = dict.fromkeys(relation_ids)
        return tuple(RelationRef.of(self.index.relations[key]) for key in ids)


def _count(values: Iterable[str]) -> dict[str, int]:
    """Count by value, the most frequent first, without empty values."""
    counts = Counter(value for value in values if value)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def unknown_part_error(what: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a domain, view or type that a model does not have.

    Args:
        what: The kind of the missing part.
        name: The given name.
        known: The known names, in any order and number.
    """
    names = sorted({n for n in known if n})
    hint = f"it has: {', '.join(names[:20])}" if names else f"it has no {what}"
    return UsageError(f"the model has no {what} {name!r}", hint)


def _require_known(what: str, name: str, known: Iterable[str]) -> None:
    names = set(known)
    if name.casefold() not in {n.casefold() for n in names}:
        raise unknown_part_error(what, name, names)

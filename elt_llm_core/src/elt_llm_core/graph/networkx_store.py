"""A LlamaIndex property graph store on NetworkX."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import networkx as nx
import numpy as np
from llama_index.core.graph_stores.types import (
    ChunkNode,
    EntityNode,
    LabelledNode,
    PropertyGraphStore,
    Relation,
    Triplet,
)
from llama_index.core.vector_stores.types import VectorStoreQuery
from llama_index.core.vector_stores.utils import build_metadata_filter_fn
from typing_extensions import override

from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.graph.graph_nodes import ElementNode, StatedRelation

KINDS: Mapping[str, type[LabelledNode]] = {
    "chunk": ChunkNode,
    "element": ElementNode,
    "entity": EntityNode,
}
NAMES = {cls: name for name, cls in KINDS.items()}


class NetworkxGraphStore(PropertyGraphStore):
    """Nodes and labelled relations in a `networkx.MultiDiGraph`, in memory.

    There is one relation per label between two nodes; a second one replaces it.

    Args:
        graph: A graph of another store, to share; by default an empty one.
    """

    supports_structured_queries = False
    supports_vector_queries = True

    def __init__(self, graph: "nx.MultiDiGraph[str] | None" = None) -> None:
        self.graph: nx.MultiDiGraph[str] = nx.MultiDiGraph() if graph is None else graph

    @property
    @override
    def client(self) -> "nx.MultiDiGraph[str]":
        return self.graph

    @override
    def get(
        self, properties: dict[str, Any] | None = None, ids: list[str] | None = None
    ) -> list[LabelledNode]:
        """Return the nodes that have all properties and, if given, one of the ids.

        Names are also accepted as ids, in any case, because LlamaIndex's synonym
        retriever uses names that a model writes.
        """
        wanted = None if ids is None else {i.casefold() for i in ids}
        return [
            node
            for node in self._nodes()
            if _has(node.properties, properties)
            and (wanted is None or not wanted.isdisjoint(_keys(node)))
        ]

    @override
    def get_triplets(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> list[Triplet]:
        """Return the triplets that match all given conditions; empty without any."""
        if not (entity_names or relation_names or properties or ids):
            return []
        tests: list[Callable[[Triplet], bool]] = []
        for keys in (entity_names, ids):
            if keys:
                wanted = {key.casefold() for key in keys}
                tests.append(
                    lambda t, wanted=wanted: (  # type: ignore[misc]
                        not wanted.isdisjoint((*_keys(t[0]), *_keys(t[2])))
                    )
                )
        if relation_names:
            labels = set(relation_names)
            tests.append(lambda t: t[1].label in labels)
        if properties:
            tests.append(lambda t: any(_has(part.properties, properties) for part in t))
        return [t for t in self._triplets() if all(test(t) for test in tests)]

    @override
    def get_rel_map(
        self,
        graph_nodes: list[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Triplet]:
        """Return the triplets within `depth` steps in any direction, nearest first."""
        ignored = set(ignore_rels or ())
        triplets: dict[tuple[str, str, str], Triplet] = {}
        front = [node.id for node in graph_nodes if node.id in self.graph]
        seen = set(front)
        for _ in range(depth):
            around: list[str] = []
            for node_id in front:
                for triplet in self._triplets_at(node_id):
                    ends = triplet[0].id, triplet[2].id
                    if triplet[1].label in ignored:
                        continue
                    triplets.setdefault((ends[0], triplet[1].label, ends[1]), triplet)
                    around += ends
            front = [i for i in dict.fromkeys(around) if i not in seen]
            seen.update(front)
        return list(triplets.values())[:limit]

    @override
    def upsert_nodes(self, nodes: Sequence[LabelledNode]) -> None:
        for node in nodes:
            self.graph.add_node(node.id, node=node)

    @override
    def upsert_relations(self, relations: list[Relation]) -> None:
        for relation in relations:
            for end in (relation.source_id, relation.target_id):
                if end not in self.graph:
                    self.graph.add_node(end, node=EntityNode(name=end))
            self.graph.add_edge(
                relation.source_id,
                relation.target_id,
                key=relation.label,
                relation=relation,
            )

    @override
    def delete(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> None:
        """Delete nodes by name, id or properties, and relations by their label."""
        lost = [
            node.id
            for given in (entity_names, ids)
            if given
            for node in self.get(ids=given)
        ]
        lost += [node.id for node in self.get(properties)] if properties else []
        self.graph.remove_nodes_from(lost)
        labels = set(relation_names or ())
        edges = [edge for edge in self.graph.edges(keys=True) if edge[2] in labels]
        self.graph.remove_edges_from(edges)

    @override
    def structured_query(
        self, query: str, param_map: dict[str, Any] | None = None
    ) -> Any:
        """Raise NotImplementedError: NetworkX has no query language."""
        raise NotImplementedError("a NetworkX graph has no query language")

    @override
    def vector_query(
        self, query: VectorStoreQuery, **kwargs: Any
    ) -> tuple[list[LabelledNode], list[float]]:
        """Return the nodes whose embeddings are nearest, with their cosine."""
        nodes = {n.id: n for n in self._nodes() if n.embedding is not None}
        if query.filters is not None:
            passes = build_metadata_filter_fn(
                lambda key: nodes[key].properties, query.filters
            )
            nodes = {key: node for key, node in nodes.items() if passes(key)}
        if not nodes or query.query_embedding is None:
            return [], []
        vectors = np.array([node.embedding for node in nodes.values()], dtype=float)
        asked = np.array(query.query_embedding, dtype=float)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(asked)
        scores = vectors @ asked / np.where(lengths == 0, 1, lengths)
        best = np.argsort(-scores, kind="stable")[: query.similarity_top_k]
        listed = list(nodes.values())
        return [listed[i] for i in best], [float(scores[i]) for i in best]

    @override
    def get_schema(self, refresh: bool = False) -> dict[str, Any]:
        """Return the number of nodes and relations of each label."""
        return {
            "nodes": _count(node.label for node in self._nodes()),
            "relations": _count(t[1].label for t in self._triplets()),
        }

    @override
    def persist(self, persist_path: str, fs: Any = None) -> None:
        """Write the graph as JSON, to the disk or to an fsspec file system."""
        text = json.dumps(self.to_dict(), ensure_ascii=False)
        if fs is None:
            write_atomic(Path(persist_path), text)
            return
        fs.pipe_file(persist_path, text.encode())

    @classmethod
    def from_persist_path(cls, persist_path: str) -> Self:
        """Read a graph that `persist` wrote.

        Args:
            persist_path: The file.

        Raises:
            ValueError: If it is not such a file.
        """
        return cls.from_dict(json.loads(Path(persist_path).read_text(encoding="utf-8")))

    def to_dict(self) -> dict[str, Any]:
        """Return the graph as plain values."""
        nodes = [
            {"kind": NAMES.get(type(n), "entity"), **n.model_dump(mode="json")}
            for n in self._nodes()
        ]
        relations = [t[1].model_dump(mode="json") for t in self._triplets()]
        return {"nodes": nodes, "relations": relations}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build the graph from the result of `to_dict`.

        Args:
            values: Nodes and relations.

        Raises:
            ValueError: If they have another structure.
        """
        store = cls()
        store.upsert_nodes(
            [
                KINDS.get(str(row.get("kind")), EntityNode).model_validate(
                    {key: value for key, value in row.items() if key != "kind"}
                )
                for row in values.get("nodes", ())
            ]
        )
        store.upsert_relations(
            [StatedRelation.model_validate(r) for r in values.get("relations", ())]
        )
        return store

    def _nodes(self) -> list[LabelledNode]:
        return [data["node"] for _, data in self.graph.nodes(data=True)]

    def _triplets(self) -> list[Triplet]:
        return [
            (self.graph.nodes[a]["node"], relation, self.graph.nodes[b]["node"])
            for a, b, relation in self.graph.edges(data="relation")
        ]

    def _triplets_at(self, node_id: str) -> list[Triplet]:
        edges = (
            *self.graph.out_edges(node_id, data="relation"),
            *self.graph.in_edges(node_id, data="relation"),
        )
        return [
            (self.graph.nodes[a]["node"], relation, self.graph.nodes[b]["node"])
            for a, b, relation in edges
        ]


def _has(values: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(values.get(key) == value for key, value in (wanted or {}).items())


def _keys(node: LabelledNode) -> tuple[str, ...]:
    """Return the lookup keys of a node: its id and its name."""
    return node.id.casefold(), str(getattr(node, "name", node.id)).casefold()


def _count(labels: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    return dict(sorted(counts.items()))

"""Base of postprocessors that read collections; input nodes are never changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from llama_index.core.schema import BaseNode, NodeWithScore
from pydantic import Field

from elt_llm_core import provenance
from elt_llm_core.provenance import Provenance
from elt_llm_core.store import Collection
from elt_llm_core.store.database.records import Outlined
from elt_llm_query.components import Postprocessor

N = TypeVar("N", bound=BaseNode)
SMALLEST = 1e-9  # weights must not be 0, because negative scores are divided by them


class CollectionStep(Postprocessor):
    """A postprocessor that reads the collections passed to `over`.

    A node from any other collection is unchanged.
    """

    collections: dict[str, Collection] = Field(
        default_factory=dict, exclude=True, repr=False
    )
    where: dict[str, Any] = Field(default_factory=dict)

    def over(
        self,
        collections: Sequence[Collection],
        where: Mapping[str, Any] | None = None,
    ) -> "CollectionStep":
        """Return a copy that reads these collections.

        It adds no chunk that `where` excludes; see `Collection.ids` for its keys.
        """
        by_name = {c.name: c for c in collections}
        changes = {"collections": by_name, "where": dict(where or {})}
        return self.model_copy(update=changes)

    def home(self, node: BaseNode) -> Collection | None:
        """Return the collection of a node, if it is one of those passed to `over`."""
        return self.collections.get(str(node.metadata.get("collection", "")))

    def allowed_ids(self, collection: Collection) -> frozenset[str] | None:
        """Return the ids that may be added, or None for all."""
        return collection.ids(self.where) if self.where else None

    def filter_permitted(self, collection: Collection, ids: Iterable[str]) -> list[str]:
        """Return those of `ids` that may be added, in their order."""
        allowed = self.allowed_ids(collection)
        return [item for item in ids if allowed is None or item in allowed]

    def add_followers(
        self, nodes: Sequence[NodeWithScore], more: Sequence[Sequence[str]], key: str
    ) -> list[NodeWithScore]:
        """Return each node, followed by the chunks that `more` names for it.

        The chunks get its score, and its id as metadata under `key`. A chunk appears
        once; one whose text is contained in another is left out.
        """
        brought = self._brought(nodes, more)
        held = [provenance.read(n.node) for n in nodes]
        taken = {n.node.node_id for n in nodes}
        widened: list[NodeWithScore] = []
        for node, ids in zip(nodes, more, strict=True):
            widened.append(node)
            for item in ids:
                if item in taken or item not in brought:
                    continue
                taken.add(item)
                place = provenance.read(brought[item])
                if not any(lies_in(place, other) for other in held):
                    extra = with_metadata(brought[item], {key: node.node.node_id})
                    widened.append(NodeWithScore(node=extra, score=node.score))
        return widened

    def _brought(
        self, nodes: Sequence[NodeWithScore], more: Sequence[Sequence[str]]
    ) -> dict[str, BaseNode]:
        """Return the named chunks by id, with one lookup per collection."""
        wanted: dict[str, list[str]] = {}
        for node, ids in zip(nodes, more, strict=True):
            home = self.home(node.node)
            if home is not None:
                wanted.setdefault(home.name, []).extend(ids)
        nodes_by_id: dict[str, BaseNode] = {}
        for name, ids in wanted.items():
            collection = self.collections[name]
            nodes_by_id.update(collection.nodes(self.filter_permitted(collection, ids)))
        return nodes_by_id


class Outlines:
    """The outlines of documents, each read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], list[Outlined]] = {}

    def of(self, collection: Collection, document_id: str) -> list[Outlined]:
        """Return the position of each chunk of the document, in order."""
        key = (collection.name, document_id)
        if key not in self._known:
            self._known[key] = collection.outline(document_id)
        return self._known[key]

    def around(
        self, collection: Collection, node: BaseNode
    ) -> tuple[list[Outlined], int]:
        """Return the outline of the node's document and its position in it, or -1."""
        outline = self.of(collection, str(node.metadata.get("document_id", "")))
        places = (i for i, one in enumerate(outline) if one.node_id == node.node_id)
        return outline, next(places, -1)


def with_metadata(node: N, metadata: Mapping[str, Any]) -> N:
    """Return a copy of the node with more metadata, excluded from prompts."""
    changes = {
        "metadata": {**node.metadata, **metadata},
        "excluded_embed_metadata_keys": sorted(
            {*node.excluded_embed_metadata_keys, *metadata}
        ),
        "excluded_llm_metadata_keys": sorted(
            {*node.excluded_llm_metadata_keys, *metadata}
        ),
    }
    return node.model_copy(update=changes)


def lies_in(place: Provenance, other: Provenance) -> bool:
    """Return whether one span of a document is part of another."""
    same = place.document_id and place.document_id == other.document_id
    inside = other.span_start <= place.span_start and place.span_end <= other.span_end
    return bool(same) and inside


def weigh(
    nodes: Sequence[NodeWithScore], weight: Callable[[BaseNode], float]
) -> list[NodeWithScore]:
    """Multiply the scores by the weights, best first, ties in their given order.

    A negative score (raw output of a cross-encoder) is divided instead, so that a
    weight below 1 always lowers it.
    """
    scored = []
    for hit in nodes:
        score, factor = hit.score or 0.0, max(weight(hit.node), SMALLEST)
        changed = score * factor if score >= 0 else score / factor
        scored.append(NodeWithScore(node=hit.node, score=changed))
    return sorted(scored, key=lambda n: -(n.score or 0.0))

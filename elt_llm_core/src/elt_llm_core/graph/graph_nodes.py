"""Store an enterprise model in any LlamaIndex property graph store.

An element is a node and a relation a triplet; a parent `contains` its children. Each
has a property `record` with all of its data as JSON, so that the model can be read back
from any store: NetworkX's, LlamaIndex's own, Neo4j.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from llama_index.core.graph_stores.types import (
    EntityNode,
    LabelledNode,
    PropertyGraphStore,
    Relation,
)
from typing_extensions import override

from elt_llm_core.enterprise.model import (
    EnterpriseModel,
    ModelElement,
    ModelRelation,
    ModelView,
)
from elt_llm_core.enterprise.relation_words import words_of
from elt_llm_core.errors import UsageError
from elt_llm_core.records import replace_fields

CONTAINS = "contains"
MODEL = "Model"
VIEW = "View"
RELATION = "Relation"
SHOWN = ("name", "type", "role", "domain", "subtype", "fact_sheet_id", "documentation")


class ElementNode(EntityNode):
    """An element. Its id is not its name, because names are not unique."""

    element_id: str

    @property
    @override
    def id(self) -> str:
        return self.element_id

    @override
    def __str__(self) -> str:
        return self.name


class StatedRelation(Relation):
    """A relation whose properties are excluded from the text for a model."""

    @override
    def __str__(self) -> str:
        return self.label


def write_graph(model: EnterpriseModel, store: PropertyGraphStore) -> None:
    """Write a model into a property graph store.

    Args:
        model: The model.
        store: Any property graph store of LlamaIndex.
    """
    store.upsert_nodes(_nodes(model))
    store.upsert_relations(_relations(model))


def read_graph(store: PropertyGraphStore) -> EnterpriseModel:
    """Return the model that a store contains.

    Args:
        store: A store that `write_graph` wrote to.

    Raises:
        UsageError: If it contains no model.
    """
    nodes = [n for n in store.get() if "record" in n.properties]
    heads = [n for n in nodes if n.properties["kind"] == MODEL]
    if not heads:
        raise UsageError(
            "the graph store contains no enterprise model", "write one: write_graph"
        )
    nodes.sort(key=lambda n: n.properties["order"])
    elements = [n for n in nodes if n.properties["kind"] == "Element"]
    relations: dict[str, tuple[int, ModelRelation]] = {}
    for _, stated, _ in store.get_triplets(ids=[n.id for n in nodes]):
        for order, row in json.loads(stated.properties.get("record") or "[]"):
            relation = ModelRelation.model_validate(row)
            relations[relation.id] = order, relation
    ordered = sorted(relations.values(), key=lambda pair: pair[0])
    head = EnterpriseModel.model_validate_json(heads[0].properties["record"])
    return replace_fields(
        head,
        elements=tuple(_read(ModelElement, n) for n in elements),
        relations=tuple(relation for _, relation in ordered),
        views=tuple(_read(ModelView, n) for n in nodes if n.properties["kind"] == VIEW),
    )


def _read(cls: Any, node: LabelledNode) -> Any:
    return cls.model_validate_json(node.properties["record"])


def _nodes(model: EnterpriseModel) -> list[LabelledNode]:
    head = replace_fields(model, elements=(), relations=(), views=())
    nodes = [_node(MODEL, f"{MODEL} {model.name}", model.name, MODEL, head, 0)]
    for order, element in enumerate(model.elements):
        label = element.type or element.role
        nodes.append(_node("Element", element.id, element.name, label, element, order))
        nodes[-1].properties |= {key: getattr(element, key) for key in SHOWN}
    for order, view in enumerate(model.views):
        key = f"{VIEW} {view.id}"
        nodes.append(_node(VIEW, key, view.name, VIEW, view, order))
    return nodes + _ends_that_are_relations(model)


def _node(
    kind: str, key: str, name: str, label: str, record: Any, order: int
) -> ElementNode:
    properties = {
        "kind": kind,
        "name": name,
        "order": order,
        "record": record.model_dump_json(),
    }
    return ElementNode(element_id=key, name=name, label=label, properties=properties)


def _ends_that_are_relations(model: EnterpriseModel) -> list[LabelledNode]:
    """Return nodes for relations at which other relations end (ArchiMate)."""
    ends = {e.element_id for r in model.relations for e in (r.source, r.target)}
    return [
        ElementNode(
            element_id=relation.id,
            name=relation.name or relation.id,
            label=RELATION,
            properties={"kind": RELATION, "name": relation.name or relation.id},
        )
        for relation in model.relations
        if relation.id in ends
    ]


def _relations(model: EnterpriseModel) -> list[Relation]:
    """Return one relation per pair and verb; stores keep only one per label."""
    grouped: dict[tuple[str, str, str], list[tuple[int, Any]]] = defaultdict(list)
    for order, relation in enumerate(model.relations):
        ends = relation.source.element_id, relation.target.element_id
        row = order, relation.model_dump(mode="json")
        grouped[ends[0], words_of(relation).forward, ends[1]].append(row)
    known = {element.id for element in model.elements}
    stated = [
        _make_relation(ends, {"record": json.dumps(rows, ensure_ascii=False)})
        for ends, rows in grouped.items()
    ]
    contained = [
        _make_relation((element.parent_id, CONTAINS, element.id), {})
        for element in model.elements
        if element.parent_id in known
    ]
    return [*contained, *stated]


def _make_relation(ends: Sequence[str], properties: dict[str, Any]) -> Relation:
    source, label, target = ends
    return StatedRelation(
        label=label, source_id=source, target_id=target, properties=properties
    )

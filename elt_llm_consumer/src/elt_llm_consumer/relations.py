"""Relationships of the model, and what they say about each entity of a domain."""

from collections.abc import Sequence
from typing import Any

from elt_llm_consumer.entity import Entity
from elt_llm_consumer.model import Edge, Model
from elt_llm_consumer.phrases import normalise

DIRECTION = "unidirectional"
SOURCE = "LEANIX_CONCEPTUAL_MODEL"


def of_entity(entity: Entity, edges: Sequence[Edge]) -> list[dict[str, Any]]:
    """Relationships that begin at an entity, its own first, then its domain's.

    `provenance` is "direct", or names the domain edge that the member inherits.
    """
    found = []
    for edge in edges:
        if _is(edge.source, entity.name) and edge.source_domain in ("", entity.domain):
            found.append(_relation(edge, "direct"))
        elif _is(edge.source, entity.domain):
            said = f"inherited from {edge.source} -> {edge.target}"
            found.append(_relation(edge, said))
    return sorted(
        found, key=lambda r: (r["provenance"] != "direct", str(sorted(r.items())))
    )


def table(model: Model) -> list[dict[str, Any]]:
    """Every edge of the model once, both ends in their order of the model."""
    rows = {
        (normalise(e.source), normalise(e.target), e.cardinality): {
            "entity_a": e.source.lower(),
            "entity_b": e.target.lower(),
            "relationship_type": e.kind,
            "cardinality": e.cardinality,
            "direction": DIRECTION,
            "source": SOURCE,
        }
        for e in model.edges
    }
    return [rows[key] for key in sorted(rows)]


def _is(left: str, right: str) -> bool:
    return bool(right) and normalise(left) == normalise(right)


def _relation(edge: Edge, provenance: str) -> dict[str, Any]:
    return {
        "target_entity": edge.target,
        "relationship_type": edge.kind,
        "cardinality": edge.cardinality,
        "direction": DIRECTION,
        "provenance": provenance,
    }

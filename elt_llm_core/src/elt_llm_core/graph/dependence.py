"""The direction of dependency of relations, and flows along them."""

from typing import Literal

from elt_llm_core.enterprise.model import ModelRelation

Dependent = Literal["source", "target"]

# ArchiMate 3.2, chapter 5: the target of these needs something from the source.
SOURCE_GIVES = frozenset(
    {
        "Assignment", "Flow", "Influence", "Realisation", "Realization", "Serving",
        "Triggering", "UsedBy",
    }
)  # fmt: skip
# The source of these consists of its target, reads it, or is a kind of it.
SOURCE_NEEDS = frozenset(
    {"Access", "Aggregation", "Composition", "Specialisation", "Specialization"}
)
FLOWS = frozenset({"Flow", "Triggering"})


def dependents_of(relation: ModelRelation) -> tuple[Dependent, ...]:
    """Return the ends that depend on the other one.

    Args:
        relation: The relation.

    Returns:
        By the type, if the format has types; by the cardinalities of an entity
        relation, where an end that always has one of the other depends on it; otherwise
        the start of an arrow, as in UML. Empty for a line without any of these.
    """
    if relation.type in SOURCE_GIVES:
        return ("target",)
    if relation.type in SOURCE_NEEDS:
        return ("source",)
    if relation.cardinality:
        ends: list[Dependent] = []
        if _at_least_one(relation.target.cardinality):
            ends.append("source")
        if _at_least_one(relation.source.cardinality):
            ends.append("target")
        return tuple(ends)
    by_arrow: dict[str, tuple[Dependent, ...]] = {
        "forward": ("source",),
        "backward": ("target",),
        "both": ("source", "target"),
    }
    return by_arrow.get(relation.direction, ())


def is_flow(relation: ModelRelation) -> bool:
    """Return whether something passes from the source to the target.

    Args:
        relation: The relation.
    """
    return relation.type in FLOWS


def _at_least_one(cardinality: str) -> bool:
    low = cardinality.partition("..")[0]
    return low.isdigit() and int(low) > 0

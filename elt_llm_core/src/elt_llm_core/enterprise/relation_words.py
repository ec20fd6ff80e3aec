"""Sentences for relations, from the source and from the target."""

from typing import NamedTuple

from elt_llm_core.enterprise.model import ModelRelation


class RelationWords(NamedTuple):
    """The verb from source to target, and the inverse verb."""

    forward: str
    inverse: str


UNNAMED = RelationWords("is related to", "is related to")
# The relations of ArchiMate 3.2 with the words of its specification, chapter 5 and
# appendix B, and the different names of version 2.
TYPE_WORDS = {
    "Access": RelationWords("accesses", "is accessed by"),
    "Aggregation": RelationWords("aggregates", "is aggregated in"),
    "Assignment": RelationWords("is assigned to", "has assigned"),
    "Association": RelationWords("is associated with", "is associated with"),
    "Composition": RelationWords("is composed of", "is part of"),
    "Flow": RelationWords("flows to", "flows from"),
    "Influence": RelationWords("influences", "is influenced by"),
    "Realization": RelationWords("realizes", "is realized by"),
    "Realisation": RelationWords("realizes", "is realized by"),
    "Serving": RelationWords("serves", "is served by"),
    "Specialization": RelationWords("is a specialization of", "is specialized by"),
    "Specialisation": RelationWords("is a specialization of", "is specialized by"),
    "Triggering": RelationWords("triggers", "is triggered by"),
    "UsedBy": RelationWords("is used by", "uses"),
}


def words_of(relation: ModelRelation) -> RelationWords:
    """Return the verbs of a relation: of its type, or its own name.

    Args:
        relation: The relation.

    Returns:
        Both directions; a name from the file is its own inverse.
    """
    if relation.type in TYPE_WORDS:
        return TYPE_WORDS[relation.type]
    verb = relation.name or relation.type
    return RelationWords(verb, f"{verb} (inverse)") if verb else UNNAMED


def state_relation(relation: ModelRelation) -> str:
    """Return the relation as one sentence.

    Args:
        relation: The relation.

    Returns:
        Such as "Claims flows to Ledger (claim data)."; a name that is not the verb is
        in parentheses.
    """
    verb = words_of(relation).forward
    beside = f" ({relation.name})" if relation.name and relation.name != verb else ""
    return f"{relation.source.name} {verb} {relation.target.name}{beside}."

"""Rules for enterprise models, each with an id and a threshold.

A rule checks all elements or relations of a type and lists the violations. It passes if
their share is at most its threshold; 0 allows none.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import networkx as nx
from pydantic import Field

from elt_llm_core.enterprise.model import ModelElement, ModelRelation
from elt_llm_core.errors import UsageError
from elt_llm_core.graph.graph_records import ElementRef, RelationRef
from elt_llm_core.graph.model_graph import ModelGraph
from elt_llm_core.records import Record

WHOLES = frozenset({"Aggregation", "Composition"})


class RuleOutcome(Record):
    """The outcome of one rule for a model."""

    rule: str
    title: str
    passed: bool
    checked: int = Field(description="number of checked elements or relations")
    broken: int = Field(description="of these, how many break the rule")
    share: float
    threshold: float = Field(description="the greatest share that is allowed")
    elements: tuple[ElementRef, ...] = ()
    relations: tuple[RelationRef, ...] = ()
    skips: tuple[str, ...] = ()


class ModelCheck(Record):
    """The outcome of all rules for a model."""

    model: str
    passed: bool
    rules: tuple[RuleOutcome, ...]


class Breaches(NamedTuple):
    """The violations of a rule, and the number of checked items."""

    checked: int
    elements: Sequence[ModelElement] = ()
    relations: Sequence[ModelRelation] = ()
    skips: Sequence[str] = ()


class ModelRule(NamedTuple):
    """A rule: its requirement, its threshold, and its check."""

    id: str
    title: str
    threshold: float
    find: Callable[[ModelGraph], Breaches]


def read_threshold(text: str) -> tuple[str, float]:
    """Return rule id and threshold from a text such as "MOD007=0.2".

    Raises:
        UsageError: If it is malformed.
    """
    rule, _, share = text.partition("=")
    try:
        return rule.strip().upper(), float(share)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not a threshold", "write RULE=SHARE, such as MOD007=0.2"
        ) from error


def check_model(
    graph: ModelGraph, thresholds: Mapping[str, float] | None = None
) -> ModelCheck:
    """Return the outcome of each rule for a model.

    Args:
        graph: The model.
        thresholds: Thresholds by rule id, which replace those of the rules.

    Raises:
        UsageError: If there is no such rule, or a threshold is not from 0 to 1.
    """
    given = dict(thresholds or {})
    known = [rule.id for rule in RULES]
    for name, share in given.items():
        if name not in known:
            raise UsageError(f"there is no rule {name!r}", "use one of these", known)
        if not 0 <= share <= 1:
            raise UsageError(
                f"the threshold of {name} is {share}", "give a share from 0 to 1"
            )
    outcomes = tuple(
        _outcome(rule, rule.find(graph), given.get(rule.id, rule.threshold))
        for rule in RULES
    )
    passed = all(outcome.passed for outcome in outcomes)
    return ModelCheck(model=graph.model.name, passed=passed, rules=outcomes)


def _outcome(rule: ModelRule, breaches: Breaches, threshold: float) -> RuleOutcome:
    broken = len(breaches.elements) + len(breaches.relations) + len(breaches.skips)
    share = round(broken / breaches.checked, 4) if breaches.checked else 0.0
    return RuleOutcome(
        rule=rule.id,
        title=rule.title,
        passed=share <= threshold,
        checked=breaches.checked,
        broken=broken,
        share=share,
        threshold=threshold,
        elements=tuple(map(ElementRef.of, breaches.elements)),
        relations=tuple(map(RelationRef.of, breaches.relations)),
        skips=tuple(breaches.skips),
    )


def _entities(graph: ModelGraph) -> list[ModelElement]:
    return [e for e in graph.model.elements if e.role == "entity"]


def _left_out(graph: ModelGraph) -> Breaches:
    model = graph.model
    skips = [f"{s.kind} {s.name or s.id!r}: {s.reason}" for s in model.skips]
    everything = len(model.elements) + len(model.relations) + len(model.views)
    return Breaches(everything + len(skips), skips=skips)


def _same_name(graph: ModelGraph) -> Breaches:
    named: dict[tuple[str, ...], list[ModelElement]] = defaultdict(list)
    entities = _entities(graph)
    for element in entities:
        name = " ".join(element.name.split()).casefold()
        named[element.type, element.domain, name].append(element)
    twice = [e for several in named.values() if len(several) > 1 for e in several]
    return Breaches(len(entities), twice)


def _without(graph: ModelGraph, has: Callable[[ModelElement], object]) -> Breaches:
    entities = _entities(graph)
    return Breaches(len(entities), [e for e in entities if not has(e)])


def _no_group(graph: ModelGraph) -> Breaches:
    return _without(graph, lambda e: e.domain or graph.index.ancestors(e.id))


def _no_documentation(graph: ModelGraph) -> Breaches:
    return _without(graph, lambda e: e.documentation.strip())


def _no_relation(graph: ModelGraph) -> Breaches:
    index = graph.index
    return _without(
        graph, lambda e: index.direct_relations(e.id) or index.inherited_relations(e.id)
    )


def _no_meaning(graph: ModelGraph) -> Breaches:
    relations = graph.model.relations
    return Breaches(
        len(relations),
        relations=[r for r in relations if not (r.type or r.name or r.cardinality)],
    )


def _one_count(graph: ModelGraph) -> Breaches:
    counted = [r for r in graph.model.relations if r.cardinality]
    halves = [r for r in counted if not (r.source.cardinality and r.target.cardinality)]
    return Breaches(len(counted), relations=halves)


def _other_counts(graph: ModelGraph) -> Breaches:
    """Return relations of one type and name between two elements with other counts."""
    same: dict[tuple[object, ...], list[ModelRelation]] = defaultdict(list)
    counted = [r for r in graph.model.relations if r.cardinality]
    for r in counted:
        ends = frozenset((r.source.element_id, r.target.element_id))
        same[ends, r.type, r.name].append(r)
    unequal = [
        r
        for several in same.values()
        if len({_counts(one) for one in several}) > 1
        for r in several
    ]
    return Breaches(len(counted), relations=unequal)


def _counts(relation: ModelRelation) -> tuple[tuple[str, str], ...]:
    """Return the cardinality at each end, independent of direction."""
    ends = (relation.source, relation.target)
    return tuple(sorted((end.element_id, end.cardinality) for end in ends))


def _own_part(graph: ModelGraph) -> Breaches:
    """Return elements that are, through others, a part of themselves."""
    elements = graph.index.elements
    parts: nx.DiGraph[str] = nx.DiGraph()
    parts.add_edges_from(
        (r.source.element_id, r.target.element_id)
        for r in graph.model.relations
        if r.type in WHOLES
    )
    parts.add_edges_from((e.parent_id, e.id) for e in elements.values() if e.parent_id)
    rings: Iterable[set[str]] = nx.strongly_connected_components(parts)
    inside = {
        key
        for ring in rings
        for key in ring
        if len(ring) > 1 or parts.has_edge(key, key)
    }
    return Breaches(len(elements), [e for key, e in elements.items() if key in inside])


# Obvious errors are never allowed. The other rules are conventions of a complete model;
# if most of it complies, the rest is a list to work through.
RULES = (
    ModelRule("MOD001", "everything in the files is in the model", 0.0, _left_out),
    ModelRule(
        "MOD002", "no two entities of a type and domain have one name", 0.0, _same_name
    ),
    ModelRule("MOD003", "nothing is a part of itself", 0.0, _own_part),
    ModelRule(
        "MOD004",
        "no two relations have contradictory cardinalities",
        0.0,
        _other_counts,
    ),
    ModelRule("MOD005", "a relation has both cardinalities or none", 0.0, _one_count),
    ModelRule(
        "MOD006", "a relation has a type, a name or cardinalities", 0.1, _no_meaning
    ),
    ModelRule("MOD007", "an entity is in a group", 0.1, _no_group),
    ModelRule("MOD008", "an entity or its group is related", 0.1, _no_relation),
    ModelRule("MOD009", "an entity is documented", 0.5, _no_documentation),
)

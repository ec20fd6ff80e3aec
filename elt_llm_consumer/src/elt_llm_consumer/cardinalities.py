"""The cardinalities of relations: seen from the other end, and contradictory ones."""

from collections.abc import Iterable, Iterator, Sequence

from elt_llm_consumer.definitions.terms import normalise
from elt_llm_consumer.linking.model_entities import Edge
from elt_llm_consumer.relation_ends import edge_keys
from elt_llm_consumer.stated_relations import TextRelation


def invert_cardinality(cardinality: str) -> str:
    """Return `0..*-1..1` for `1..1-0..*`."""
    left, dash, right = cardinality.partition("-")
    return f"{right}-{left}" if dash else cardinality


def find_conflicts(
    edges: Sequence[Edge], stated: Sequence[TextRelation]
) -> dict[tuple[str, str], str]:
    """Return what contradicts what, by the pair of ends.

    Args:
        edges: The relations of the model.
        stated: The relations of the text.
    """
    # Two relations of different types may differ; a sentence is compared with each.
    counts: dict[tuple[str, str, str, str], dict[str, str]] = {}
    for edge in edges:
        for pair, end, text in _counts(*edge_keys(edge), edge.cardinality):
            ranges = counts.setdefault((*pair, end, edge.kind), {})
            ranges.setdefault(text, "the model")
    in_text = [
        count
        for one in stated
        for count in _counts(
            normalise(one.source), normalise(one.target), one.cardinality
        )
    ]
    for key, ranges in counts.items():
        for pair, end, text in in_text:
            if key[:3] == (*pair, end):
                ranges.setdefault(text, "the text")
    conflicts: dict[tuple[str, str], str] = {}
    for (left, right, end, _), texts in sorted(counts.items()):
        if len(texts) > 1 and not _overlap(texts):
            words = "; ".join(f"{where} says {text}" for text, where in texts.items())
            name = left if end == "first" else right
            conflicts.setdefault((left, right), f"how many of {name}: {words}")
    return conflicts


def _counts(
    source: str, target: str, cardinality: str
) -> Iterator[tuple[tuple[str, str], str, str]]:
    """Return pair, end and cardinality for each end with a stated cardinality."""
    pair = (min(source, target), max(source, target))
    turned = (source, target) != pair
    seen = invert_cardinality(cardinality) if turned else cardinality
    for end, text in zip(("first", "second"), _ends(seen), strict=True):
        if text:
            yield pair, end, text


def _ends(cardinality: str) -> tuple[str, str]:
    left, _, right = cardinality.partition("-")
    return left.replace("?", ""), right.replace("?", "")


def _overlap(texts: Iterable[str]) -> bool:
    """Return whether some number is in all of the ranges."""
    ranges = [_range(text) for text in texts]
    known = [one for one in ranges if one is not None]
    return max(low for low, _ in known) <= min(high for _, high in known)


def _range(text: str) -> tuple[float, float] | None:
    low, dots, high = text.partition("..")
    if not low.isdigit():
        return (0, float("inf"))
    upper = high if dots else low
    return int(low), int(upper) if upper.isdigit() else float("inf")

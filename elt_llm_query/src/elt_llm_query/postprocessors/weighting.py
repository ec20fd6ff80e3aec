"""Raise or lower scores by the kind, the section and the age of a chunk."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from typing import ClassVar, Self

from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from pydantic import Field, model_validator
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.store.database.records import NORMAL_PRIORITY
from elt_llm_query.analysis.stems import stem, stems
from elt_llm_query.components import Postprocessor, PostprocessorOptions
from elt_llm_query.postprocessors.collection_step import CollectionStep, weigh


class KindWeight(Postprocessor):
    """Multiplies scores by a weight for the kind of chunk, best first.

    If the question names the kind ("show me the figure ..."), a weight below 1 does not
    apply, unless `unless_asked` is False.
    """

    weights: dict[str, float]
    unless_asked: bool = True

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        asked = set(stems(query_bundle.query_str)) if query_bundle else set()

        def weight(node: BaseNode) -> float:
            kind = str(node.metadata.get("kind", ""))
            own = self.weights.get(kind, 1.0)
            named = stem(kind.partition("_")[0]) in asked
            return 1.0 if own < 1 and named and self.unless_asked else own

        return weigh(nodes, weight)


class NodeWeight(Postprocessor, ABC):
    """Multiplies scores by a weight of each node, best first."""

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return weigh(nodes, self._weight)

    @abstractmethod
    def _weight(self, node: BaseNode) -> float:
        """Return the weight of a node."""


class SectionWeight(NodeWeight):
    """Multiplies scores by the weight of the first pattern that matches the section.

    A pattern is words of the section's path, ignoring case; `*` matches anything. A
    section without a match has the weight 1; one with the weight 0 is left out.
    """

    weights: dict[str, float]

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        # A step after this one may score anew, and would bring them back.
        kept = [hit for hit in nodes if self._weight(hit.node)]
        return super()._postprocess_nodes(kept, query_bundle)

    @override
    def _weight(self, node: BaseNode) -> float:
        section = str(node.metadata.get("section", "")).lower()
        for pattern, own in self.weights.items():
            if fnmatchcase(section, f"*{pattern.lower()}*"):
                return own
        return 1.0


def weight_of_priority(priority: float) -> float:
    """Return the weight of a priority: 0.8 for 10, 1 for the default 50, 1.25 for 100.

    This decides between passages of similar relevance, and is too little to promote an
    irrelevant one. Chosen by eye; not measured.
    """
    return 0.75 + priority / 200


def priority_of_number(number: float, full: float, low: int, high: int) -> float:
    """Return the priority of a number, on a logarithmic scale.

    The scale is log(1 + n), as usual for citation counts, which are so unequal that one
    citation more means little among hundreds and much among three.

    Args:
        number: Not negative; a larger one is better.
        full: The number from which the priority is `high`.
        low: The priority of 0.
        high: The highest priority.
    """
    share = min(1.0, math.log1p(max(number, 0.0)) / math.log1p(full))
    return low + (high - low) * share


class NumberWeight(NodeWeight):
    """Multiplies scores by the priority of a number of the document, best first.

    The number is an attribute, such as a citation count in the metadata of an ingest
    file. Chunks without one, or with a text that is no number, keep their score.
    """

    field: str = "citation_count"
    full: float = 1000.0
    low: int = 40
    high: int = 100

    @override
    def _weight(self, node: BaseNode) -> float:
        number = read_number(provenance.attributes(node).get(self.field))
        if number is None:
            return 1.0
        priority = priority_of_number(number, self.full, self.low, self.high)
        return weight_of_priority(priority)


def read_number(value: object) -> float | None:
    """Return a metadata value as a number; None if it is none, or not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


class TrustWeight(NodeWeight, CollectionStep):
    """Multiplies scores by the trust in their document, best first."""

    @override
    def _weight(self, node: BaseNode) -> float:
        home = self.home(node)
        document = provenance.read(node).document_id
        priority = home.priorities.get(document, NORMAL_PRIORITY) if home else None
        return 1.0 if priority is None else weight_of_priority(priority)


class TimeWeight(NodeWeight):
    """Halves scores for every `half_life` days before `reference`, best first.

    The age is that of the chunk's or document's date; of a year or month, its first
    day. Chunks without a date, or with a later one, keep their score. No score is
    multiplied by less than `floor`. The clock is never read, so that equal questions
    have equal answers.
    """

    reference: date
    half_life: float
    floor: float = 0.0

    @override
    def _weight(self, node: BaseNode) -> float:
        day = first_day(provenance.read(node).date)
        if day is None or day >= self.reference:
            return 1.0
        left = math.pow(0.5, (self.reference - day).days / self.half_life)
        return self.floor + (1 - self.floor) * left


def first_day(text: str) -> date | None:
    """Return the first day of an ISO 8601 date (`2024`, `2024-03`, with a time or not).

    Returns None if it is no date.
    """
    parts = text[:10].split("-")
    try:
        return date.fromisoformat("-".join([*parts, *("01", "01")][:3]))
    except ValueError:
        return None


class KindWeightOptions(PostprocessorOptions):
    """Multiply scores by the kind of chunk; pictures described by a model count less.

    The weight .7 of figures is a penalty of 30 %.
    """

    weights: dict[str, float] = Field(
        default={"figure": 0.7}, description="weight by kind; default 1"
    )
    unless_asked: bool = Field(
        default=True,
        description="ignore a weight below 1 if the question names the kind",
    )

    component: ClassVar = KindWeight


class NumberWeightOptions(PostprocessorOptions):
    """Multiply scores by a number of the document, such as its citation count."""

    field: str = Field(
        default="citation_count", min_length=1, description="attribute with the number"
    )
    full: float = Field(
        default=1000.0, gt=0, description="number from which the priority is `high`"
    )
    low: int = Field(default=40, ge=1, le=100, description="priority of the number 0")
    high: int = Field(default=100, ge=1, le=100, description="highest priority")

    component: ClassVar = NumberWeight

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low > self.high:
            msg = f"low ({self.low}) must not exceed high ({self.high})"
            raise ValueError(msg)
        return self


class SectionWeightOptions(PostprocessorOptions):
    """Multiply scores by the section of a chunk."""

    weights: dict[str, float] = Field(
        default={},
        description="weight by pattern of the section path; `*` is a wildcard, 0 "
        "leaves the section out",
    )

    component: ClassVar = SectionWeight


class TimeWeightOptions(PostprocessorOptions):
    """Halve scores with every half-life before a given day."""

    reference: date = Field(description="date to use as today")
    half_life: float = Field(default=365.0, gt=0, description="in days")
    floor: float = Field(default=0.0, ge=0, le=1, description="minimum weight")

    component: ClassVar = TimeWeight


Place = tuple[str, str, int]


class NeighbourSupport(Postprocessor):
    """Adds `weight` times the best score of the neighbours, best first.

    Neighbours are candidates of the same document at most `reach` chunks away. A chunk
    without neighbours that score above 0 keeps its score; ties keep their order.
    """

    reach: int = 3
    weight: float = 0.05

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        places = [_place(hit) for hit in nodes]
        best: dict[Place, float] = {}
        for place, hit in zip(places, nodes, strict=True):
            best[place] = max(best.get(place, 0.0), hit.score or 0.0)
        supported = [
            NodeWithScore(
                node=hit.node,
                score=(hit.score or 0.0) + self.weight * self._near(place, best),
            )
            for place, hit in zip(places, nodes, strict=True)
        ]
        return sorted(supported, key=lambda hit: -(hit.score or 0.0))

    def _near(self, place: Place, best: dict[Place, float]) -> float:
        collection, document, ordinal = place
        steps: Sequence[int] = range(-self.reach, self.reach + 1)
        around = ((collection, document, ordinal + step) for step in steps if step)
        return max((best.get(other, 0.0) for other in around), default=0.0)


def _place(hit: NodeWithScore) -> Place:
    place = provenance.read(hit.node)
    return place.collection, place.document_id, place.ordinal


class NeighbourSupportOptions(PostprocessorOptions):
    """Raise candidates that are near other candidates of the same document."""

    reach: int = Field(default=3, ge=1, le=100, description="chunks on either side")
    weight: float = Field(
        default=0.05, ge=0, le=1, description="fraction of the best neighbour's score"
    )

    component: ClassVar = NeighbourSupport

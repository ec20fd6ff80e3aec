"""Scores raised by neighbours: the rules around a rule show what it is about."""

from collections.abc import Sequence
from typing import ClassVar

from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_query.components import Postprocessor, PostprocessorOptions

Place = tuple[str, str, int]


class NeighbourSupport(Postprocessor):
    """Scores plus `weight` times the best score among the neighbours, best first.

    Neighbours are candidates of the same document at most `reach` chunks away. A chunk
    without one, or with none that scores above 0, keeps its score; ties stay as they
    came.
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
    """Lift candidates that are near other candidates of the same document."""

    reach: int = Field(default=3, ge=1, le=100, description="chunks to either side")
    weight: float = Field(
        default=0.05, ge=0, le=1, description="share of the best neighbour's score"
    )

    component: ClassVar = NeighbourSupport

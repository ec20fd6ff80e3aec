"""Use small collections as a whole instead of single chunks."""

from collections.abc import Callable, Sequence

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.models.token_count import most_tokens, token_counter
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.context_limits import WHOLE_KEY
from elt_llm_query.grounding.labels import header
from elt_llm_query.llm_calls import require_llm
from elt_llm_query.postprocessors.collection_step import CollectionStep, with_metadata


class WholeCollection(CollectionStep):
    """Returns all chunks of each collection that fits, in document order.

    The collections of the sources share `tokens`, beginning with that of the best
    source; a collection that does not fit keeps its found chunks. Chunks have the score
    of the best one of their collection. `count` counts tokens.
    """

    tokens: int = Field(default=6000, ge=1)

    _count: Callable[[str], int] = PrivateAttr()

    def __init__(
        self, count: Callable[[str], int] = most_tokens, **options: object
    ) -> None:
        super().__init__(**options)
        self._count = count

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        whole = self._read_whole(nodes)
        read: set[str] = set()
        widened: list[NodeWithScore] = []
        for hit in nodes:
            name = str(hit.node.metadata.get("collection", ""))
            if name not in whole:
                widened.append(hit)
            elif name not in read:
                read.add(name)
                widened.extend(_beside(hit, whole[name]))
        return widened

    def _read_whole(self, nodes: Sequence[NodeWithScore]) -> dict[str, list[TextNode]]:
        """Return the chunks of each collection of the sources that fits."""
        whole: dict[str, list[TextNode]] = {}
        room = self.tokens
        homes = {home.name: home for n in nodes if (home := self.home(n.node))}
        for name, home in homes.items():
            chunks = self._chunks(home, room)
            if chunks:
                whole[name] = chunks
                room -= sum(map(self._cost, chunks))
        return whole

    def _chunks(self, home: Collection, room: int) -> list[TextNode]:
        """Return all chunks of a collection in order; empty if they do not fit."""
        ids = home.ids(self.where)
        if len(ids) > room:  # a chunk has at least one token
            return []
        chunks = sorted(home.nodes(ids).values(), key=_place)
        for chunk in chunks:
            room -= self._cost(chunk)
            if room < 0:
                return []
        return chunks

    def _cost(self, node: TextNode) -> int:
        return self._count(f"{header('S00', node)}\n{provenance.reading(node)}")


class WholeCollectionOptions(Strategy[BaseNodePostprocessor]):
    """Pass all chunks of small collections to the model."""

    tokens: int = Field(
        default=6000,
        ge=1,
        description="maximum tokens of the collections that are read whole, together",
    )

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        # Extractive answers depend on the search order, which a whole collection lacks.
        llm = require_llm(models, "the postprocessor 'whole_collection'", "answer")
        return WholeCollection(token_counter(llm), tokens=self.tokens)


def _beside(hit: NodeWithScore, chunks: Sequence[TextNode]) -> list[NodeWithScore]:
    """Return the chunks with the score of the hit that they accompany."""
    lead = hit.node.node_id
    return [
        NodeWithScore(
            node=chunk
            if chunk.node_id == lead
            else with_metadata(chunk, {WHOLE_KEY: lead}),
            score=hit.score,
        )
        for chunk in chunks
    ]


def _place(node: TextNode) -> tuple[str, str, int]:
    place = provenance.read(node)
    return place.document, place.document_id, place.ordinal

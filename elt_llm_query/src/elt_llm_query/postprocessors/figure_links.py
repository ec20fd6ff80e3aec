"""The figures that a source mentions, and the chunks that mention a figure."""

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.provenance import Provenance
from elt_llm_core.results import LinkedFigure
from elt_llm_core.store import Collection
from elt_llm_query.grounding.labels import FIGURES_KEY, MENTIONS_KEY
from elt_llm_query.postprocessors.collection_step import CollectionStep, with_metadata

_MOST = 10  # links of one source; a reader follows a few


class FigureLinks(CollectionStep):
    """Adds to each node its figures, and to each figure its mentions.

    Nothing is added to the sources, because a link does not prove an answer.
    """

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=self._note_links(n.node), score=n.score) for n in nodes
        ]

    def _note_links(self, node: BaseNode) -> BaseNode:
        home, place = self.home(node), provenance.read(node)
        if home is None:
            return node
        notes: dict[str, str] = {}
        if place.figure_references:
            figures = self.figures_of(home, place)
            notes[FIGURES_KEY] = _dump(_link(each, _number(each)) for each in figures)
        if place.figure_number:
            number = place.figure_number
            mentions = self._chunks(home, place, mentioned_figure=number)
            notes[MENTIONS_KEY] = _dump(_link(each, number) for each in mentions)
        return with_metadata(node, notes) if notes else node

    def figures_of(self, home: Collection, place: Provenance) -> list[BaseNode]:
        """Return the chunks of the figures that a chunk mentions, as it names them."""
        wanted = place.figure_references
        if not wanted:
            return []
        chunks = self._chunks(home, place, figure=list(wanted))
        return sorted(chunks, key=lambda node: wanted.index(_number(node)))

    def _chunks(
        self, home: Collection, place: Provenance, **where: Any
    ) -> list[BaseNode]:
        ids = home.ids({"document_id": place.document_id, **where})
        nodes = home.nodes(self.filter_permitted(home, ids)).values()
        ordered = sorted(nodes, key=lambda node: provenance.read(node).ordinal)
        # A chunk may hold the figure that it mentions: a link to itself says nothing.
        others = (n for n in ordered if provenance.read(n).ordinal != place.ordinal)
        return list(islice(others, _MOST))


def _link(node: BaseNode, number: str) -> LinkedFigure:
    place = provenance.read(node)
    return LinkedFigure(
        number=number,
        node_id=node.node_id,
        page=place.page,
        boxes=place.boxes,
        text=node.get_content(),
    )


def _number(node: BaseNode) -> str:
    return provenance.read(node).figure_number


def _dump(links: Iterable[LinkedFigure]) -> str:
    return json.dumps([link.model_dump(mode="json") for link in links])

"""Figures in addition to the sources, with their own limit."""

from collections.abc import Iterator
from typing import Any, ClassVar

from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.document import BlockKind
from elt_llm_core.store import Collection
from elt_llm_query.components import PostprocessorOptions
from elt_llm_query.context_limits import FIGURE_KEY
from elt_llm_query.postprocessors.collection_step import CollectionStep
from elt_llm_query.postprocessors.figure_links import FigureLinks


class Figures(CollectionStep):
    """Adds up to `most` figures after the sources, not counted among them.

    Every source brings the figures that it mentions ("see Figure 3"), then those on its
    pages. The best source of a collection also brings the figures of that collection
    whose text is nearest to the question by words. Figures that the search itself
    found stay where they are.
    """

    most: int = Field(default=3, ge=1)

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        question = query_bundle.query_str if query_bundle else ""
        taken = {hit.node.node_id for hit in nodes}
        seen: set[str] = set()
        more: list[list[str]] = []
        room = self.most
        for hit in nodes:
            near = self._near(hit.node, question, seen)
            ids = [item for item in dict.fromkeys(near) if item not in taken][:room]
            taken.update(ids)
            room -= len(ids)
            more.append(ids)
        followed = self.add_followers(nodes, more, FIGURE_KEY)
        brought = {item for ids in more for item in ids}
        return [*nodes, *(hit for hit in followed if hit.node.node_id in brought)]

    def _near(self, node: BaseNode, question: str, seen: set[str]) -> Iterator[str]:
        home = self.home(node)
        if home is None:
            return
        place = provenance.read(node)
        links = FigureLinks(collections=self.collections, where=self.where)
        yield from (each.node_id for each in links.figures_of(home, place))
        if home.name not in seen:
            seen.add(home.name)
            captions = self._figures(home)
            yield from (
                i for i, _ in home.search_keyword(question, self.most, captions)
            )
        if place.pages:
            pages = list(place.pages)
            own = self._figures(home, document_id=place.document_id, page=pages)
            scores = home.keyword_scores(question, own) if own else {}
            yield from sorted(own, key=lambda item: (-scores.get(item, 0.0), item))

    def _figures(self, home: Collection, **where: Any) -> frozenset[str]:
        figures = home.ids({"kind": BlockKind.FIGURE.value, **where})
        allowed = self.allowed_ids(home)
        return figures if allowed is None else figures & allowed


class FiguresOptions(PostprocessorOptions):
    """Add figures to the sources, which are not counted among them."""

    most: int = Field(default=3, ge=1, le=50, description="figures of an answer")

    component: ClassVar = Figures

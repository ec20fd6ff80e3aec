"""Small chunks for searching, and larger parents for reading."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    TextNode,
)
from pydantic import Field
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.provenance import Parent, Provenance, read, write
from elt_llm_core.strategy import Models
from elt_llm_ingest.chunkers.groups import SEPARATOR
from elt_llm_ingest.chunkers.numbering import Numbering
from elt_llm_ingest.chunkers.parser import Piece, parsed_of
from elt_llm_ingest.chunkers.sentence import SentenceChunker, SentenceChunkerOptions


class HierarchicalChunker(SentenceChunker):
    """`SentenceChunker` whose chunks record their parents.

    The first level of parents joins neighbouring chunks of one section up to the first
    of `parent_sizes` tokens, the next level those of the section above up to the
    second, and so on. With `leaves_only` the parents are recorded as spans only, to be
    sliced from the document's text; otherwise they are nodes too, with the
    relationships of LlamaIndex's `HierarchicalNodeParser`, for its
    `AutoMergingRetriever`.
    """

    parent_sizes: tuple[int, ...] = Field(default=(800,), min_length=1)
    leaves_only: bool = False

    @classmethod
    @override
    def class_name(cls) -> str:
        return "HierarchicalChunker"

    @override
    def pieces(self, parsed: ParsedDocument, numbers: Numbering) -> Iterator[Piece]:
        placed = list(super().pieces(parsed, numbers))
        above = [list(place.parents) for place, _ in placed]
        for level, size in enumerate(self.parent_sizes):
            for run in self._runs(
                parsed.text, [place for place, _ in placed], level, size
            ):
                if len(run) > 1:
                    start = placed[run[0]][0].span_start
                    end = max(placed[i][0].span_end for i in run)
                    parent = Parent(start=start, end=end, leaves=len(run))
                    for index in run:
                        if parent not in above[index]:
                            above[index].append(parent)
        for (place, blocks), parents in zip(placed, above, strict=True):
            nearest = sorted(parents, key=lambda one: one.end - one.start)
            yield place.model_copy(update={"parents": tuple(nearest)}), blocks

    def _runs(
        self, text: str, places: Sequence[Provenance], level: int, size: int
    ) -> Iterator[list[int]]:
        """Return indexes of adjacent chunks that share one parent, in order."""
        run: list[int] = []
        for index, place in enumerate(places):
            if run:
                whole = text[places[run[0]].span_start : place.span_end]
                same = _above(places[run[0]], level) == _above(place, level)
                if not same or self._count(whole) > size:
                    yield run
                    run = []
            run.append(index)
        yield run

    @override
    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        made = super()._parse_nodes(nodes, show_progress, **kwargs)
        if self.leaves_only:
            return made
        texts = {node.node_id: parsed_of(node).text for node in nodes}
        done: list[BaseNode] = []
        for source, leaves in groupby(made, key=lambda node: node.ref_doc_id or ""):
            done += _tree(texts[source], list(leaves))
        return done


class HierarchicalChunkerOptions(SentenceChunkerOptions):
    """`HierarchicalChunker`; parents are spans, and only chunks are indexed."""

    parent_sizes: tuple[int, ...] = Field(default=(800,), min_length=1)

    @override
    def build(self, models: Models) -> NodeParser:
        embedder = as_counting(models.embedder)
        return HierarchicalChunker(
            count=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            leaves_only=True,
            **self.model_dump(),
        )


def _above(place: Provenance, level: int) -> tuple[object, ...]:
    """Return the section that chunks of one parent share, by level."""
    path = place.section.split(SEPARATOR)
    if level:
        return tuple(path[: max(len(path) - level, 1)])
    return *path, place.parents  # rows of different tables are not adjacent


def _tree(text: str, leaves: list[BaseNode]) -> list[BaseNode]:
    """Return the parents as nodes before the leaves, each related to its children."""
    parents: dict[Parent, TextNode] = {}
    for leaf in leaves:
        below = leaf
        for parent in read(leaf).parents:
            if parent not in parents:
                parents[parent] = _node(text, parent, leaf)
            node = parents[parent]
            children = node.child_nodes or []
            if below.node_id not in {child.node_id for child in children}:
                related = [*children, below.as_related_node_info()]
                node.relationships[NodeRelationship.CHILD] = related
                info = node.as_related_node_info()
                below.relationships[NodeRelationship.PARENT] = info
            below = node
    return [*sorted(parents.values(), key=_order), *leaves]


def _order(node: TextNode) -> tuple[int, int]:
    return node.start_char_idx or 0, -(node.end_char_idx or 0)


def _node(text: str, parent: Parent, leaf: BaseNode) -> TextNode:
    place = Provenance(
        span_start=parent.start, span_end=parent.end, section=read(leaf).section
    )
    source = leaf.relationships[NodeRelationship.SOURCE]
    made = TextNode(
        text=text[parent.start : parent.end],
        relationships={NodeRelationship.SOURCE: source},
    )
    return write(made, place)

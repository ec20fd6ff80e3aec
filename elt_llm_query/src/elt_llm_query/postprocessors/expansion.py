"""Add chunks to the sources: neighbours, the same document, referenced rules."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar

from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.store import Collection
from elt_llm_core.store.database.records import Outlined
from elt_llm_query.components import PostprocessorOptions
from elt_llm_query.context_limits import NEIGHBOUR_KEY, REFERRED_KEY
from elt_llm_query.postprocessors.collection_step import CollectionStep, Outlines

SAME_KEY = "same_document_as"
GROUP_KEYS = (
    NEIGHBOUR_KEY,
    REFERRED_KEY,
)  # nodes that belong to the source before them


class Neighbours(CollectionStep):
    """Adds `before` and `after` chunks of the same section to each node.

    They become separate sources with its score, in the order of the document. A chunk
    appears once, and one that the search found keeps its place.
    """

    before: int = Field(default=1, ge=0)
    after: int = Field(default=1, ge=0)

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        outlines = Outlines()
        return self.add_followers(
            nodes, [self._beside(n.node, outlines) for n in nodes], NEIGHBOUR_KEY
        )

    def _beside(self, node: BaseNode, outlines: Outlines) -> list[str]:
        home = self.home(node)
        if home is None:
            return []
        outline, at = outlines.around(home, node)
        if at < 0:
            return []
        before = _same_section(
            outline[at], outline[max(at - self.before, 0) : at][::-1]
        )
        after = _same_section(outline[at], outline[at + 1 : at + 1 + self.after])
        return [*before[::-1], *after]


class SameDocument(CollectionStep):
    """Adds up to `chunks` more chunks of each document found, ranked last.

    One of each section, then the second of each, beginning with sections whose name
    contains one of the words in `first`, ignoring case. Meant for candidates: a
    reranker then finds the right chunk of a document that was found by its title.
    """

    chunks: int = Field(default=20, ge=0)
    first: tuple[str, ...] = ()

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        taken = {n.node.node_id for n in nodes}
        seen: set[str] = set()
        more: list[list[str]] = []
        for hit in nodes:
            home = self.home(hit.node)
            document = str(hit.node.metadata.get("document_id", ""))
            new = home is not None and document not in seen
            more.append(self._of(home, document, taken) if home and new else [])
            seen.add(document)
        widened = self.add_followers(nodes, more, SAME_KEY)
        lowest = min((n.score or 0.0 for n in nodes), default=0.0)
        extra = [n for n in widened if n.node.node_id not in taken]
        return [*nodes, *(NodeWithScore(node=n.node, score=lowest) for n in extra)]

    def _of(self, home: Collection, document: str, taken: set[str]) -> list[str]:
        sections: dict[str, list[str]] = {}
        for one in home.outline(document):
            sections.setdefault(one.section, []).append(one.node_id)
        named = sorted(sections, key=lambda name: not self._is_first(name))
        columns = [sections[name] for name in named]
        turns = (item for turn in zip_longest(*columns) for item in turn if item)
        free = [item for item in turns if item not in taken]
        return self.filter_permitted(home, free)[: self.chunks]

    def _is_first(self, section: str) -> bool:
        return any(word.lower() in section.lower() for word in self.first)


class References(CollectionStep):
    """Adds the rules that the `best` nodes refer to, from the same document.

    Of every rule the chunk in which it begins, at most `most` for one node, in the
    order of mention; they are separate sources with its score.
    """

    best: int = Field(default=3, ge=1)
    most: int = Field(default=3, ge=1)

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        outlines = Outlines()
        more = [self._referred_ids(n.node, outlines) for n in nodes[: self.best]]
        return self.add_followers(
            nodes, [*more, *([] for _ in nodes[self.best :])], REFERRED_KEY
        )

    def _referred_ids(self, node: BaseNode, outlines: Outlines) -> list[str]:
        home, place = self.home(node), provenance.read(node)
        if home is None:
            return []
        outline = outlines.of(home, place.document_id)
        rules: dict[str, None] = {}
        for rule in place.references:
            where = {"rule": rule, "document_id": place.document_id}
            ids = set(self.filter_permitted(home, home.ids(where))) - {node.node_id}
            first = next((o.node_id for o in outline if o.node_id in ids), None)
            if first is not None:
                rules[first] = None
            if len(rules) == self.most:
                break
        return list(rules)


def _same_section(own: Outlined, near: Sequence[Outlined]) -> list[str]:
    """Return ids of `near`, nearest first, up to the first of another section."""
    ids = []
    for one in near:
        if one.section != own.section:
            break
        ids.append(one.node_id)
    return ids


class NeighboursOptions(PostprocessorOptions):
    """Add the neighbouring chunks of each source, within its section."""

    before: int = Field(
        default=1, ge=0, le=50, description="chunks to add before each source"
    )
    after: int = Field(
        default=1, ge=0, le=50, description="chunks to add after each source"
    )

    component: ClassVar = Neighbours


class SameDocumentOptions(PostprocessorOptions):
    """Add chunks of the documents found, one section after another."""

    chunks: int = Field(
        default=20, ge=0, le=50, description="further chunks per document"
    )
    first: tuple[str, ...] = Field(
        default=(), description="prefer sections whose path contains one of these words"
    )

    component: ClassVar = SameDocument


class ReferencesOptions(PostprocessorOptions):
    """Add the rules that the best sources refer to."""

    best: int = Field(
        default=3,
        ge=1,
        le=100,
        description="number of sources whose references are followed",
    )
    most: int = Field(
        default=3, ge=1, le=50, description="maximum rules to add per source"
    )

    component: ClassVar = References

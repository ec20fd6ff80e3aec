"""Replace chunks by their parents, or by the window around them.

The text is sliced from the document again, so that it is `document_text[start:end]` of
its new span and quotes are found in it as in any chunk. The node keeps the id of the
best chunk that it replaces.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import ClassVar

from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
from pydantic import Field
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.provenance import Parent, Provenance
from elt_llm_core.store import Collection
from elt_llm_query.components import PostprocessorOptions
from elt_llm_query.postprocessors.collection_step import (
    CollectionStep,
    Outlines,
    with_metadata,
)

MERGED_KEY = "merged"
LEAVES_KEY = "merged_leaves"
REACH = 4  # chunks on either side that are checked first for those in a span
_SEPARATOR = " > "


@dataclass
class Texts:
    """The texts of documents, each read once for one list of nodes."""

    outlines: Outlines = field(default_factory=Outlines)
    known: dict[tuple[str, str], str] = field(default_factory=dict)

    def of(self, collection: Collection, document_id: str) -> str:
        """Return the canonical text of a document."""
        key = (collection.name, document_id)
        if key not in self.known:
            self.known[key] = collection.document_text(document_id)
        return self.known[key]


class StretchingStep(CollectionStep):
    """Gives nodes a longer span of their document."""

    def stretch(
        self, node: BaseNode, start: int, end: int, texts: Texts
    ) -> TextNode | None:
        """Return the node with the text `[start, end)` of its document.

        Returns None if its collection is unknown, its document was replaced since the
        search, or the span contains a chunk that is filtered out or written by a model.
        """
        home, place = self.home(node), provenance.read(node)
        if home is None or not start <= place.span_start < place.span_end <= end:
            return None
        text = texts.of(home, place.document_id)
        same = text[place.span_start : place.span_end] == getattr(node, "text", "")
        if not same or end > len(text):
            return None
        chunks = list(_touching(home, node, (start, end), texts.outlines))
        ids = [chunk.node_id for chunk in chunks]
        # A model's description of a picture must not be merged into the document's
        # text.
        mixed = any(map(provenance.is_generated, chunks))
        if mixed or self.filter_permitted(home, ids) != ids:
            return None
        longer = TextNode(
            id_=node.node_id,
            text=text[start:end],
            metadata=dict(node.metadata),
            relationships=node.relationships,
        )
        places = [provenance.read(chunk) for chunk in chunks] or [place]
        return provenance.write(longer, _join_provenance(place, places, (start, end)))


class AutoMerge(StretchingStep):
    """Replaces chunks by their parent if enough of its chunks were found.

    Enough is the `share` of them, from at least `least` sources, or `table_rows` for a
    table. The parent takes the place and the score of the best chunk, and may merge
    into its own parent, up to `levels` times. Parents over `max_characters` are not
    read.
    """

    share: float = Field(default=0.5, gt=0, le=1)
    least: int = Field(default=2, ge=1)
    levels: int = Field(default=8, ge=1)
    table_rows: int = Field(default=0, ge=0)
    max_characters: int = Field(default=20_000, ge=1)

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        texts = Texts()
        for _ in range(self.levels):
            merged = self._merge(nodes, texts)
            if [id(n) for n in merged] == [id(n) for n in nodes]:
                break
            nodes = merged
        return list(nodes)

    def _merge(
        self, nodes: Sequence[NodeWithScore], texts: Texts
    ) -> list[NodeWithScore]:
        """Return the nodes with due parents in the place of their chunks."""
        families: dict[tuple[str, str, Parent], list[int]] = {}
        for index, hit in enumerate(nodes):
            place = provenance.read(hit.node)
            if place.parents:
                key = (place.collection, place.document_id, place.parents[0])
                families.setdefault(key, []).append(index)
        kept: list[NodeWithScore | None] = list(nodes)
        for (_, document, parent), members in families.items():
            if self._is_due([nodes[i].node for i in members], parent):
                inside = [i for i, n in enumerate(nodes) if _is_in(n, document, parent)]
                whole = self._read([nodes[i] for i in inside], parent, texts)
                if whole is not None:
                    for index in inside:
                        kept[index] = None
                    kept[inside[0]] = whole
        return [hit for hit in kept if hit is not None]

    def _is_due(self, members: Sequence[BaseNode], parent: Parent) -> bool:
        too_long = parent.end - parent.start > self.max_characters
        if len(members) < self.least or too_long:
            return False
        leaves = sum(int(node.metadata.get(LEAVES_KEY, 1)) for node in members)
        rows = all(node.metadata.get("kind") == "table_row" for node in members)
        due = rows and 0 < self.table_rows <= leaves
        return due or leaves >= self.share * parent.leaves

    def _read(
        self, members: Sequence[NodeWithScore], parent: Parent, texts: Texts
    ) -> NodeWithScore | None:
        best = members[0]
        node = self.stretch(best.node, parent.start, parent.end, texts)
        if node is None:
            return None
        metadata = {
            LEAVES_KEY: parent.leaves,
            MERGED_KEY: ids_of(m.node for m in members),
        }
        return NodeWithScore(node=with_metadata(node, metadata), score=best.score)


def _touching(
    home: Collection, node: BaseNode, span: tuple[int, int], outlines: Outlines
) -> Iterator[BaseNode]:
    """Return the chunks of the node's document that the span overlaps, in order.

    They are adjacent, so only those near the node are read.
    """
    outline, at = outlines.around(home, node)
    reach = REACH
    while at >= 0:
        low, high = max(at - reach, 0), min(at + reach + 1, len(outline))
        ids = [one.node_id for one in outline[low:high]]
        nodes = home.nodes(ids)
        near = [nodes[i] for i in ids if i in nodes]
        inside = [_touches(one, span) for one in near]
        cut = (low > 0 and inside[:1] == [True]) or (
            high < len(outline) and inside[-1:] == [True]
        )
        if not cut:
            yield from (one for one, true in zip(near, inside, strict=True) if true)
            return
        reach *= 4


def _is_in(hit: NodeWithScore, document: str, parent: Parent) -> bool:
    place = provenance.read(hit.node)
    inside = parent.start <= place.span_start and place.span_end <= parent.end
    return inside and place.document_id == document


def _touches(node: BaseNode, span: tuple[int, int]) -> bool:
    place = provenance.read(node)
    return place.span_start < span[1] and span[0] < place.span_end


def _join_provenance(
    best: Provenance, places: Sequence[Provenance], span: tuple[int, int]
) -> Provenance:
    """Return the combined provenance of the chunks of a span."""
    pages = [page for place in places for page in place.pages]
    rules = tuple(dict.fromkeys(rule for p in places for rule in p.rules))
    referred = dict.fromkeys(rule for p in places for rule in p.references)
    figures = dict.fromkeys(one for p in places for one in p.figure_references)
    kinds = {place.kind for place in places}
    kind = kinds.pop() if len(kinds) == 1 else "prose"
    return Provenance(
        collection=best.collection,
        document_id=best.document_id,
        document=best.document,
        ordinal=best.ordinal,
        kind="table" if kind == "table_row" else kind,
        section=_shared_section([place.section for place in places]) or best.section,
        page=min(pages, default=None),
        end_page=max(pages, default=None),
        span_start=span[0],
        span_end=span[1],
        boxes=tuple(dict.fromkeys(box for p in places for box in p.boxes)),
        cells=tuple(dict.fromkeys(cell for p in places for cell in p.cells)),
        table=best.table,
        rules=rules,
        rule_spans=tuple(dict.fromkeys(s for p in places for s in p.rule_spans)),
        references=tuple(rule for rule in referred if rule not in rules),
        figure_number=best.figure_number,
        figure_references=tuple(figures),
        parents=tuple(p for p in best.parents if p.end - p.start > span[1] - span[0]),
        date=best.date,
        problem=best.problem,
    )


def _shared_section(sections: Sequence[str]) -> str:
    """Return the innermost section that contains all of them."""
    paths = [section.split(_SEPARATOR) for section in sections]
    levels = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return _SEPARATOR.join(names[0] for names in levels)


def ids_of(nodes: Iterable[BaseNode]) -> str:
    """Return their ids in the form that metadata accepts."""
    return " ".join(node.node_id for node in nodes)


class AutoMergeOptions(PostprocessorOptions):
    """Use the parent if enough of its chunks were found (if recorded)."""

    share: float = Field(default=0.5, gt=0, le=1, description="of a parent's chunks")
    least: int = Field(
        default=2, ge=1, description="minimum number of sources in the parent"
    )
    levels: int = Field(default=8, ge=1, le=20, description="maximum levels to go up")
    table_rows: int = Field(
        default=0,
        ge=0,
        description="number of retrieved rows that add their table; 0: by fraction",
    )
    max_characters: int = Field(
        default=20_000, ge=1, description="longer parents are not added"
    )

    component: ClassVar = AutoMerge


@dataclass
class _Window:
    """A span to read, and the sentences that requested it."""

    document: tuple[str, str]
    start: int
    end: int
    members: list[NodeWithScore]


class SentenceWindow(StretchingStep):
    """Replaces a sentence by the window around it that its chunker recorded.

    Overlapping windows are joined in the place of the best. Other chunks are unchanged.
    """

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        texts = Texts()
        windows: list[_Window] = []
        for hit in nodes:
            _add(windows, _window(hit))
        return [hit for one in windows for hit in self._read(one, texts)]

    def _read(self, window: _Window, texts: Texts) -> list[NodeWithScore]:
        best = window.members[0]
        place = provenance.read(best.node)
        if (window.start, window.end) == (place.span_start, place.span_end):
            return window.members
        node = self.stretch(best.node, window.start, window.end, texts)
        if node is None:
            return window.members
        metadata = {MERGED_KEY: ids_of(m.node for m in window.members)}
        return [NodeWithScore(node=with_metadata(node, metadata), score=best.score)]


def _window(hit: NodeWithScore) -> _Window:
    place = provenance.read(hit.node)
    start, end = place.window or (place.span_start, place.span_end)
    document = (place.collection, place.document_id)
    return _Window(document, start, end, [hit])


def _add(windows: list[_Window], new: _Window) -> None:
    """Insert a window, or join it to those that it overlaps, at the first of them."""
    is_window = provenance.read(new.members[0].node).window is not None
    same = [
        one
        for one in windows
        if is_window
        and provenance.read(one.members[0].node).window is not None
        and one.document == new.document
        and one.start < new.end
        and new.start < one.end
    ]
    if not same:
        windows.append(new)
        return
    first = same[0]
    for other in [*same[1:], new]:
        first.start, first.end = (
            min(first.start, other.start),
            max(first.end, other.end),
        )
        first.members += other.members
    windows[:] = [one for one in windows if one not in same[1:]]


class SentenceWindowOptions(PostprocessorOptions):
    """Use the window around sentences of the `sentence_window` chunker."""

    component: ClassVar = SentenceWindow

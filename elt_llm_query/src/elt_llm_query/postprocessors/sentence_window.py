"""The sentences around a found sentence, read in its place."""

from dataclasses import dataclass
from typing import ClassVar

from llama_index.core.schema import NodeWithScore, QueryBundle
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_query.components import PostprocessorOptions
from elt_llm_query.postprocessors.base import with_metadata
from elt_llm_query.postprocessors.parent_context import (
    MERGED_KEY,
    StretchingStep,
    Texts,
    ids_of,
)


@dataclass
class _Window:
    """A stretch to be read, and the sentences that asked for it."""

    document: tuple[str, str]
    start: int
    end: int
    members: list[NodeWithScore]


class SentenceWindow(StretchingStep):
    """The sentences around a found sentence are read with it, as its chunker recorded.

    Windows that overlap are one, in the place of the best. Other chunks stay.
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
    """Put a window in, or join it to those it overlaps, where the first of them is."""
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
    """Read the window around sentences that the `sentence_window` chunker made."""

    component: ClassVar = SentenceWindow

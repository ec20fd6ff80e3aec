"""One chunk per section, or per rule if the section is too long."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from llama_index.core.node_parser import NodeParser
from typing_extensions import override

from elt_llm_core.document import Block
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.strategy import Models
from elt_llm_ingest.chunkers.numbering import Numbering
from elt_llm_ingest.chunkers.packing import Packing
from elt_llm_ingest.chunkers.parser import Piece
from elt_llm_ingest.chunkers.sentence import (
    SentenceChunker,
    SentenceChunkerOptions,
    piece_of,
)


class SectionAwareChunker(SentenceChunker):
    """A section that fits is one chunk, otherwise each of its rules is.

    A rule starts with its own number, not with `(a)`. Longer text is packed as by
    `SentenceChunker`.
    """

    @classmethod
    @override
    def class_name(cls) -> str:
        return "SectionAwareChunker"

    @override
    def prose(
        self, group: Sequence[Block], packing: Packing, numbers: Numbering
    ) -> Iterator[Piece]:
        whole = packing.text[group[0].start : group[-1].end]
        parts = [group]
        if packing.count(whole) > packing.size:
            parts = list(_rules(group, numbers))
        for part in parts:
            yield from map(piece_of, packing.runs(part))


class SectionAwareChunkerOptions(SentenceChunkerOptions):
    """`SectionAwareChunker` with the embedder's own token count."""

    @override
    def build(self, models: Models) -> NodeParser:
        embedder = as_counting(models.embedder)
        return SectionAwareChunker(
            count=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            **self.model_dump(),
        )


def _rules(group: Sequence[Block], numbers: Numbering) -> Iterator[Sequence[Block]]:
    """Split the group at rules with their own number.

    A heading stays with the first rule below it.
    """
    cuts = [0]
    only_headings = True  # since the last cut
    for index, block in enumerate(group):
        begins = numbers.begins(block.start, block.end)
        own = begins[:1] == [block.start] and numbers.is_rule(block.start)
        if own and not only_headings:
            cuts.append(index)
            only_headings = True
        only_headings = only_headings and block.kind == "heading"
    yield from (group[low:high] for low, high in pairwise([*cuts, len(group)]))

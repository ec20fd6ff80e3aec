"""Chunks that end at a change of subject, measured by the embedder."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from llama_index.core.node_parser import NodeParser
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.document import Block, ParsedDocument
from elt_llm_core.models.embedder import CountingEmbedder, as_counting
from elt_llm_core.strategy import Models
from elt_llm_ingest.chunkers.groups import PROSE, group_blocks
from elt_llm_ingest.chunkers.packing import Packing, Unit
from elt_llm_ingest.chunkers.sentence import SentenceChunker, SentenceChunkerOptions

BATCH = 32  # sentences per call, as in an ingest


class SemanticChunker(SentenceChunker):
    """Splits where adjacent sentences differ most.

    Each sentence is embedded with `buffer_size` sentences on either side, every
    document in one pass. A chunk ends where the cosine distance to the next sentence
    is above the `breakpoint_percentile` of the document, as in LlamaIndex's
    `SemanticSplitterNodeParser`; never across sections, never above `chunk_size`.
    """

    buffer_size: int = Field(default=1, ge=0, description="sentences on either side")
    breakpoint_percentile: float = Field(default=95, gt=0, lt=100)

    _embedder: CountingEmbedder = PrivateAttr()

    def __init__(self, embedder: CountingEmbedder, **fields: object) -> None:
        super().__init__(count=embedder.count_tokens, **fields)
        self._embedder = embedder

    @classmethod
    @override
    def class_name(cls) -> str:
        return "SemanticChunker"

    @override
    def packing(self, parsed: ParsedDocument) -> Packing:
        packing = super().packing(parsed)
        return replace(packing, cuts=self._breakpoints(parsed, packing))

    def _breakpoints(self, parsed: ParsedDocument, packing: Packing) -> frozenset[int]:
        """Return the starts of the sentences before which a chunk ends."""
        runs = [
            _units(packing, group)
            for group in group_blocks(parsed.blocks)
            if group[0].kind in PROSE
        ]
        texts = [text for run in runs for text in self._with_neighbours(packing, run)]
        if not texts:
            return frozenset()
        vectors = self._embed(texts)
        starts, distances, row = [], [], 0
        for run in runs:
            own = vectors[row : row + len(run)]
            row += len(run)
            distances += list(1 - (own[:-1] * own[1:]).sum(axis=1))
            starts += [unit.start for unit in run[1:]]
        if not distances:
            return frozenset()
        limit = float(np.percentile(distances, self.breakpoint_percentile))
        pairs = zip(starts, distances, strict=True)
        return frozenset(start for start, distance in pairs if distance > limit)

    def _with_neighbours(self, packing: Packing, run: Sequence[Unit]) -> Iterator[str]:
        """Return each sentence with its neighbours, within the embedder's limit."""
        for index, unit in enumerate(run):
            for width in range(self.buffer_size, -1, -1):
                around = run[max(index - width, 0) : index + width + 1]
                text = packing.text[around[0].start : around[-1].end]
                if not width or packing.count(text) <= self.max_tokens:
                    yield text if width else packing.text[unit.start : unit.end]
                    break

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors; equal texts are embedded once."""
        distinct = list(dict.fromkeys(texts))
        rows = [
            self._embedder.embed_array(distinct[start : start + BATCH])
            for start in range(0, len(distinct), BATCH)
        ]
        place = {text: index for index, text in enumerate(distinct)}
        return np.concatenate(rows)[[place[text] for text in texts]]


class SemanticChunkerOptions(SentenceChunkerOptions):
    """`SemanticChunker` with the configured embedder."""

    buffer_size: int = Field(default=1, ge=0)
    breakpoint_percentile: float = Field(default=95, gt=0, lt=100)

    @override
    def build(self, models: Models) -> NodeParser:
        embedder = as_counting(models.embedder)
        return SemanticChunker(
            embedder, max_tokens=embedder.max_tokens, **self.model_dump()
        )


def _units(packing: Packing, group: Sequence[Block]) -> list[Unit]:
    return [unit for block in group for unit in packing.units(block)]

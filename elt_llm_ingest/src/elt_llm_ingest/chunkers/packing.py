"""Pack sentences into chunks so that an edit changes few of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

from elt_llm_core.document import Block, BlockKind
from elt_llm_ingest.chunkers.units import (
    Count,
    Span,
    split_by_tokens,
    split_sentences,
    trim,
)

FILLED = 0.6  # minimum size of a chunk as a share of the maximum, if the text allows
CLAUSE = re.compile(r"[;:]\s+|\n\s*")


@dataclass(frozen=True)
class Unit:
    """A sentence, or a part of a long one, and its block."""

    start: int
    end: int
    tokens: int
    block: Block
    begins: bool = True  # a sentence


@dataclass(frozen=True)
class Packing:
    """Packs the sentences of one section.

    A chunk has at most `size` tokens. It ends before a block rather than inside one.
    Among equally good positions from six tenths of the size on, the following words
    decide (by the lowest checksum), not the preceding chunks. A few chunks after an
    inserted sentence, the chunk borders are therefore unchanged. `overlap` tokens of
    whole sentences are repeated. No chunk crosses one of the `cuts`.
    """

    text: str
    size: int
    overlap: int
    count: Count
    language: str = "en"
    cuts: frozenset[int] = frozenset()

    def runs(self, blocks: Sequence[Block]) -> Iterator[Sequence[Unit]]:
        """Return the units of each chunk, in order."""
        units = [unit for block in blocks for unit in self.units(block)]
        cuts = [i for i, unit in enumerate(units) if i and unit.start in self.cuts]
        for first, last in pairwise([0, *cuts, len(units)]):
            yield from self._pack(units[first:last])

    def _pack(self, units: Sequence[Unit]) -> Iterator[Sequence[Unit]]:
        at = 0
        while at < len(units):
            until = self._end(units, at)
            yield units[at:until]
            if until == len(units):
                return
            at = max(self._back(units, at, until), at + 1)

    def units(self, block: Block) -> Iterator[Unit]:
        """Return the sentences of a block, none longer than a chunk."""
        if block.kind in (BlockKind.HEADING, BlockKind.CODE):
            spans = [trim(self.text, block.start, block.end)]
        else:
            spans = split_sentences(self.text, block.start, block.end, self.language)
        for span in spans:
            for (start, end), tokens in self._parts(span):
                yield Unit(start, end, tokens, block, start == span[0])

    def _parts(self, span: Span) -> Iterator[tuple[Span, int]]:
        """Return a sentence whole, or in clauses or windows, with token counts."""
        tokens = self.count(self.text[slice(*span)])
        if tokens <= self.size:
            yield span, tokens
            return
        cuts = [m.end() for m in CLAUSE.finditer(self.text, *span)]
        for start, end in pairwise([span[0], *cuts, span[1]]):
            clause = trim(self.text, start, end)
            for piece in split_by_tokens(self.text, clause, self.size, self.count):
                yield piece, self.count(self.text[slice(*piece)])

    def _end(self, units: Sequence[Unit], at: int) -> int:
        """Return the end of the chunk that starts at `at`."""
        until, total, ends = at + 1, units[at].tokens, []
        while until < len(units) and total + units[until].tokens <= self.size:
            if total >= FILLED * self.size:
                ends.append(until)
            total += units[until].tokens
            until += 1
        if until < len(units):
            until = min([*ends, until], key=lambda end: self._joint(units, end))
        return self._fit(units, at, until)

    def _joint(self, units: Sequence[Unit], end: int) -> tuple[int, int]:
        """Return how good a chunk end before a unit is; the lowest value is best."""
        last, following = units[end - 1], units[end]
        words = self.text[following.start : following.end]
        if last.block.kind is BlockKind.HEADING:
            sort = 3
        elif last.block is not following.block:
            sort = 0
        else:
            sort = 1 if following.begins else 2
        return sort, crc32(words.encode("utf-8", "surrogatepass"))

    def _fit(self, units: Sequence[Unit], at: int, until: int) -> int:
        """Return `until`, or less if the joined text has more tokens than its parts."""
        while until - at > 1:
            joined = self.text[units[at].start : units[until - 1].end]
            if self.count(joined) <= self.size:
                return until
            until -= 1
        return until

    def _back(self, units: Sequence[Unit], at: int, until: int) -> int:
        """Return the start of the next chunk: `overlap` tokens of sentences earlier."""
        total, start = 0, until
        while start > at + 1 and total + units[start - 1].tokens <= self.overlap:
            start -= 1
            total += units[start].tokens
        return start

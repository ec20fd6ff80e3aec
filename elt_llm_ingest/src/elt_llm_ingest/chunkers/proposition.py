"""Single facts for searching, each with the sentences it came from for reading."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.llms import LLM
from llama_index.core.node_parser import NodeParser
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.document import Block
from elt_llm_core.errors import ModelError
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.strategy import Models
from elt_llm_ingest.chunkers.numbering import Numbering
from elt_llm_ingest.chunkers.packing import Packing, Unit
from elt_llm_ingest.chunkers.parser import Piece
from elt_llm_ingest.chunkers.sentence import (
    SentenceChunker,
    SentenceChunkerOptions,
    piece_of,
)
from elt_llm_ingest.llm_cache import require_llm

PROMPT = """\
Rewrite the numbered sentences as single facts. Each fact is one short sentence that can
be understood alone: put names in the place of pronouns. Add nothing that is not said.
Answer with one JSON object a line and nothing else:
{{"fact": "...", "sentences": [1]}}
where "sentences" are the numbers of the sentences that say it.

Section: {section}

{sentences}
"""
WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
LEAST = 0.6  # share of a fact's words that its sentences must contain


class PropositionChunker(SentenceChunker):
    """A language model extracts the facts of each passage with their sentences.

    The chunk's text is those sentences, verbatim; the fact is only indexed. A fact with
    a number that is not in its sentences, or with mostly other words, is rejected.
    Sentences without a fact become chunks, and so does a passage for which the model
    failed, so nothing is lost.
    """

    _llm: LLM = PrivateAttr()

    def __init__(self, llm: LLM, **fields: Any) -> None:
        super().__init__(**fields)
        self._llm = llm

    @classmethod
    @override
    def class_name(cls) -> str:
        return "PropositionChunker"

    @override
    def prose(
        self, group: Sequence[Block], packing: Packing, numbers: Numbering
    ) -> Iterator[Piece]:
        for run in packing.runs(group):
            yield from self._facts(packing, run)

    def _facts(self, packing: Packing, run: Sequence[Unit]) -> Iterator[Piece]:
        units = [packing.text[unit.start : unit.end] for unit in run]
        numbered = "\n".join(f"{i}. {text}" for i, text in enumerate(units, start=1))
        prompt = PROMPT.format(section=run[-1].block.section, sentences=numbered)
        try:
            answer = self._llm.complete(prompt).text
        except ModelError as error:
            place, blocks = piece_of(run)
            yield place.model_copy(update={"problem": f"no facts: {error}"}), blocks
            return
        facts = list(self._supported_facts(packing, run, answer))
        used = {i for _, first, last in facts for i in range(first, last + 1)}
        rest = [("", low, high) for low, high in _gaps(len(run), used)]
        for fact, first, last in sorted([*facts, *rest], key=lambda f: (f[1], f[2])):
            place, blocks = piece_of(run[first : last + 1])
            yield place.model_copy(update={"index_instead": fact}), blocks

    def _supported_facts(
        self, packing: Packing, run: Sequence[Unit], answer: str
    ) -> Iterator[tuple[str, int, int]]:
        """Return supported facts with their first and last sentence, from 0."""
        for fact, first, last in _read(answer, len(run)):
            source = packing.text[run[first].start : run[last].end]
            if is_supported(fact, source) and packing.count(fact) <= self.max_tokens:
                yield fact, first, last


class PropositionChunkerOptions(SentenceChunkerOptions):
    """`PropositionChunker` with the configured language model."""

    @override
    def build(self, models: Models) -> NodeParser:
        embedder = as_counting(models.embedder)
        return PropositionChunker(
            require_llm(models, "the chunker 'proposition'"),
            count=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            **self.model_dump(),
        )


def is_supported(fact: str, source: str) -> bool:
    """Return whether the source has every number of the fact and most of its words."""
    words, own = WORD.findall(fact.lower()), set(WORD.findall(source.lower()))
    numbers = {word for word in words if any(c.isdigit() for c in word)}
    shared = sum(word in own for word in words)
    return bool(words) and numbers <= own and shared >= LEAST * len(words)


def _read(answer: str, count: int) -> Iterator[tuple[str, int, int]]:
    """Return the facts of an answer, skipping other lines."""
    for line in answer.splitlines():
        try:
            value = json.loads(line.strip().rstrip(","))
        except json.JSONDecodeError:
            continue
        fact = value.get("fact") if isinstance(value, dict) else None
        named = value.get("sentences") if isinstance(value, dict) else None
        if not isinstance(fact, str) or not isinstance(named, list):
            continue
        numbers = [n for n in named if isinstance(n, int) and 1 <= n <= count]
        if fact.strip() and numbers:
            yield fact.strip(), min(numbers) - 1, max(numbers) - 1


def _gaps(count: int, used: set[int]) -> Iterator[tuple[int, int]]:
    """Return runs of sentences that were not used."""
    first: int | None = None
    for index in range(count + 1):
        free = index < count and index not in used
        if free and first is None:
            first = index
        if not free and first is not None:
            yield first, index - 1
            first = None

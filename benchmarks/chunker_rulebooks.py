"""Six rulebooks as plain text, cut by every chunker, asked ObliQA's questions.

A passage that answers is found in the text by its words. What is compared is what a
reader gets: the share of the answering characters among the first 1,000 and 2,000
tokens of what was retrieved, and in its first eight chunks as they are.
"""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.document import ParsedDocument
from elt_llm_core.models.embedder import CountingEmbedder, as_counting
from elt_llm_core.strategy import Models
from elt_llm_ingest.chunking import Chunking
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.text_file import parse
from ranked import Ranked, Vectors, against, interval, search

BUDGETS, CHUNKS = (1000, 2000), 8
BASE = "sentence 200"
Row = dict[str, str]
Span = tuple[int, int, int]  # document, start, end
WAYS: dict[str, dict[str, Any]] = {
    BASE: {"strategy": "sentence"},
    "sentence 100": {"strategy": "sentence", "chunk_size": 100},
    "sentence 240": {"strategy": "sentence", "chunk_size": 240},
    "sentence 200, overlap 40": {"strategy": "sentence", "chunk_overlap": 40},
    "sentence 200, heading path": {
        "strategy": "sentence", "enrich": ("heading_path",)
    },
    "sentence 200, keywords": {"strategy": "sentence", "enrich": ("keywords",)},
    "section_aware 200": {"strategy": "section_aware"},
    "section_aware 200, heading path": {
        "strategy": "section_aware", "enrich": ("heading_path",)
    },
    "hierarchical 100 in 400": {
        "strategy": "hierarchical", "chunk_size": 100,
        "options": {"parent_sizes": [400]},
    },
    "sentence_window 1": {"strategy": "sentence_window", "options": {"window_size": 1}},
    "sentence_window 3": {"strategy": "sentence_window", "options": {"window_size": 3}},
    "semantic 95": {"strategy": "semantic"},
    "semantic 80": {"strategy": "semantic", "options": {"breakpoint_percentile": 80}},
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """One question and where its answers stand."""

    text: str
    gold: tuple[Span, ...]


def rulebooks(data: Path, models: Models, vectors: Vectors) -> list[Row]:
    """A row a way of cutting."""
    folder = data / "obliqa" / "rulebooks-txt"
    books = [
        parse(file, file.read_bytes(), Limits())[0]
        for file in sorted(folder.glob("*.txt"))
    ]
    asked = _asked(data / "obliqa", books)
    embedded = vectors.asked([a.text for a in asked])
    embedder = as_counting(models.embedder)
    shares: dict[str, list[list[float]]] = {}
    rows = []
    for name, way in WAYS.items():
        nodes = _cut(books, way, models)
        texts = [provenance.index_text(node) for _, node in nodes]
        found = search(texts, vectors.of(texts), [a.text for a in asked], embedded)
        reader = _Reader(books, nodes, embedder)
        told = [
            reader.shares(a, ranked) for a, ranked in zip(asked, found, strict=True)
        ]
        shares[name] = [list(column) for column in zip(*told, strict=True)]
        sizes = [embedder.count_tokens(node.text) for _, node in nodes]
        rows.append(_row(name, sizes, shares[name], shares[BASE]))
    return rows


def _row(
    name: str,
    sizes: Sequence[int],
    shares: Sequence[Sequence[float]],
    base: Sequence[Sequence[float]],
) -> Row:
    row = {"way": name, "chunks": f"{len(sizes):,}", "tokens": f"{np.mean(sizes):.0f}"}
    names = [*(f"{budget:,} tokens" for budget in BUDGETS), f"{CHUNKS} chunks"]
    for place, told in enumerate(names):
        row[f"found in {told}"] = f"{interval(shares[place])[0]:.4f}"
        row[f"change, {told}"] = against(shares[place], base[place])
    return row


def _cut(
    books: Sequence[ParsedDocument], way: dict[str, Any], models: Models
) -> list[tuple[int, TextNode]]:
    config = RagConfig()
    told = {key: value for key, value in way.items() if key != "enrich"}
    changes = {
        "chunking": config.chunking.model_copy(update=told),
        "enrichment": config.enrichment.model_copy(
            update={"strategy": way.get("enrich", ())}
        ),
    }
    chunking = Chunking(config.model_copy(update=changes), models)
    return [(i, node) for i, book in enumerate(books) for node in chunking.cut(book)]


class _Reader:
    """Reads what was retrieved until its tokens are used up."""

    def __init__(
        self,
        books: Sequence[ParsedDocument],
        nodes: Sequence[tuple[int, TextNode]],
        embedder: CountingEmbedder,
    ) -> None:
        self._books = books
        self._places = [(book, provenance.read(node)) for book, node in nodes]
        self._count = embedder.count_tokens

    def shares(self, asked: Asked, ranked: Ranked) -> list[float]:
        """The share of the answering characters within each budget."""
        seen: set[tuple[int, int]] = set()
        gold = {(b, i) for b, start, end in asked.gold for i in range(start, end)}
        spent, shares = 0, []
        spans = self._delivered(ranked)
        for budget in BUDGETS:
            while spans and spent < budget:
                book, start, end = spans.pop(0)
                text = self._books[book].text
                fresh = [i for i in range(start, end) if (book, i) not in seen]
                spent += round(
                    self._count(text[start:end]) * len(fresh) / max(end - start, 1)
                )
                if spent <= budget:
                    seen.update((book, i) for i in fresh)
            shares.append(len(gold & seen) / len(gold))
        return [*shares, self._first_chunks(gold, ranked)]

    def _first_chunks(self, gold: set[tuple[int, int]], ranked: Ranked) -> float:
        seen = set()
        for book, place in (self._places[index] for index in ranked[:CHUNKS]):
            seen.update((book, i) for i in range(place.span_start, place.span_end))
        return len(gold & seen) / len(gold)

    def _delivered(self, ranked: Ranked) -> list[Span]:
        """What is read for each hit: its window, its parent if half of it was hit."""
        hits: dict[tuple[int, provenance.Parent], int] = defaultdict(int)
        for index in ranked[:20]:
            book, place = self._places[index]
            for parent in place.parents[:1]:
                hits[book, parent] += 1
        spans: dict[Span, None] = {}
        for index in ranked:
            book, place = self._places[index]
            start, end = place.window or (place.span_start, place.span_end)
            for parent in place.parents[:1]:
                if 2 * hits[book, parent] >= parent.leaves and place.kind == "prose":
                    start, end = parent.start, parent.end
            spans[book, start, end] = None
        return list(spans)


def _asked(data: Path, books: Sequence[ParsedDocument]) -> list[Asked]:
    """The questions whose every answering passage stands in one of the books."""
    where = _Where(books)
    texts = {
        row["_id"]: row["text"]
        for row in map(json.loads, (data / "corpus.jsonl").open(encoding="utf-8"))
    }
    gold: dict[str, list[str]] = defaultdict(list)
    for line in (data / "qrels" / "dev.tsv").read_text().splitlines()[1:]:
        query, passage, *_ = line.split("\t")
        gold[query].append(passage)
    asked = []
    for row in map(json.loads, (data / "queries.jsonl").open(encoding="utf-8")):
        spans = [where.find(texts[passage]) for passage in gold[row["_id"]]]
        if spans and all(spans):
            found = tuple(span for span in spans if span is not None)
            asked.append(Asked(row["text"], found))
    return asked


class _Where:
    """Finds passages by their letters and digits alone."""

    def __init__(self, books: Sequence[ParsedDocument]) -> None:
        self._kept = [[m.start() for m in re.finditer(r"\w", b.text)] for b in books]
        self._letters = [
            "".join(book.text[i] for i in kept).lower()
            for book, kept in zip(books, self._kept, strict=True)
        ]
        self._known: dict[str, Span | None] = {}

    def find(self, passage: str) -> Span | None:
        """Where a passage stands, if it stands in one place."""
        if passage not in self._known:
            self._known[passage] = self._look(passage)
        return self._known[passage]

    def _look(self, passage: str) -> Span | None:
        letters = "".join(re.findall(r"\w", passage)).lower()
        found = []
        for book, (text, kept) in enumerate(
            zip(self._letters, self._kept, strict=True)
        ):
            at = text.find(letters) if len(letters) > 30 else -1
            while at >= 0:
                found.append((book, kept[at], kept[at + len(letters) - 1] + 1))
                at = text.find(letters, at + 1)
        return found[0] if len(found) == 1 else None

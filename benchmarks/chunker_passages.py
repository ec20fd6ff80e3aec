"""Whether the headings above a passage help to find it: ObliQA and Cranfield."""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.language.rule_numbers import canonical, parent
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.strategy import Models
from elt_llm_ingest.chunkers.sentence import SentenceChunker
from elt_llm_ingest.enrichers.heading_path import HeadingPathEnricher
from ranked import Vectors, against, interval, recall_and_precision, search

MAX_HEADING = 120
Row = dict[str, str]


def passages(data: Path, models: Models, vectors: Vectors) -> list[Row]:
    """ObliQA's questions over its passages."""
    rows = _lines(data / "obliqa" / "corpus.jsonl")
    rows = [row for row in rows if row["text"].strip()]
    return _compare(data / "obliqa", "dev.tsv", rows, _paths(rows), models, vectors)


def cranfield(data: Path, models: Models, vectors: Vectors) -> list[Row]:
    """Cranfield's questions over its abstracts."""
    rows = _lines(data / "cranfield" / "corpus.jsonl")
    rows = [row for row in rows if row["text"].strip()]
    titles = {row["_id"]: row["title"] for row in rows}
    return _compare(data / "cranfield", "test.tsv", rows, titles, models, vectors)


def _compare(
    data: Path,
    judged: str,
    rows: Sequence[dict[str, Any]],
    paths: dict[str, str],
    models: Models,
    vectors: Vectors,
) -> list[Row]:
    gold: dict[str, set[str]] = defaultdict(set)
    for line in (data / "qrels" / judged).read_text().splitlines()[1:]:
        query, passage, score = line.split()[:3]
        if float(score) > 0:
            gold[query].add(passage)
    asked = [q for q in _lines(data / "queries.jsonl") if gold[q["_id"]]]
    questions = [q["text"] for q in asked]
    embedded = vectors.asked(questions)
    nodes = _nodes(rows, paths, models)
    embedder = as_counting(models.embedder)
    enrich = HeadingPathEnricher(
        count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens
    )
    plain = [provenance.index_text(node) for node in nodes]
    headed = [provenance.index_text(node) for node in enrich(nodes)]
    owner = [node.metadata["passage"] for node in nodes]
    ways = {
        "text alone": (plain, plain),
        "heading path in both indexes": (headed, headed),
        "heading path in the vectors only": (plain, headed),
        "heading path in the keywords only": (headed, plain),
    }
    scores: dict[str, list[tuple[float, ...]]] = {}
    for name, (words, dense) in ways.items():
        found = search(words, vectors.of(dense), questions, embedded)
        scores[name] = [
            recall_and_precision([owner[i] for i in ranked], frozenset(gold[q["_id"]]))
            for q, ranked in zip(asked, found, strict=True)
        ]
    return [_row(name, scores[name], scores["text alone"]) for name in ways]


def _row(
    name: str, scores: Sequence[tuple[float, ...]], base: Sequence[tuple[float, ...]]
) -> Row:
    row = {"way": name}
    for place, metric in enumerate(("R@10", "MAP@10")):
        own = [score[place] for score in scores]
        mean, low, high = interval(own)
        row[metric] = f"{mean:.4f} [{low:.4f}, {high:.4f}]"
        row[f"{metric}, change"] = against(own, [score[place] for score in base])
    return row


def _nodes(
    rows: Sequence[dict[str, Any]], paths: dict[str, str], models: Models
) -> list[TextNode]:
    embedder = as_counting(models.embedder)
    chunker = SentenceChunker(
        count=embedder.count_tokens, max_tokens=embedder.max_tokens
    )
    made = []
    for row in rows:
        text, path = row["text"].strip(), paths.get(row["_id"], "")
        block = Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text), section=path)
        parsed = ParsedDocument(title="", text=text, blocks=[block], parser="")
        for node in chunker.chunk(parsed):
            node.metadata["passage"] = row["_id"]
            made.append(node)
    return made


def _paths(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The headings above each passage, by the numbers of the passages."""
    known = {_number(row): row["text"].strip() for row in rows}
    paths = {}
    for row in rows:
        document, number = _number(row)
        above = []
        while number := parent(number):
            text = known.get((document, number), "")
            if 0 < len(text) <= MAX_HEADING and not text.endswith((".", ":", ";")):
                above.append(text)
        paths[row["_id"]] = " > ".join(reversed(above))
    return paths


def _number(row: dict[str, Any]) -> tuple[str, str]:
    told = row["metadata"]
    return str(told["DocumentID"]), canonical(str(told["PassageID"]))


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.open(encoding="utf-8")]

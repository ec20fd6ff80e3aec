"""The ObliQA rulebooks in a store: one document each, one chunk a passage."""

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.models import as_counting
from elt_llm_core.names import digest
from elt_llm_core.provenance import Provenance
from elt_llm_core.store import NewDocument, Store
from elt_llm_core.strategy import Models
from elt_llm_query.text import pieces

NAME = "obliqa"
CHUNK_TOKENS = 230
BATCH = 512


def ingest(store: Store, models: Models, data: Path) -> float:
    """Store all passages where they are not stored yet; tells the seconds it took."""
    if any(card.name == NAME and card.chunks for card in store.collections()):
        return 0.0
    started = perf_counter()
    rows = [json.loads(line) for line in (data / "corpus.jsonl").open()]
    rows = [row for row in rows if row["text"].strip()]
    rows.sort(key=lambda row: (int(row["metadata"]["DocumentID"]), row["_id"]))
    embedder = as_counting(models.embedder)
    with store.writer() as writer:
        writer.ensure_collection(NAME, embedder, "passage")
        for number, group in groupby(rows, lambda r: str(r["metadata"]["DocumentID"])):
            new = _document(number, list(group), embedder.count_tokens)
            texts = [n.text for n in new.nodes]
            for start in range(0, len(texts), BATCH):
                part = texts[start : start + BATCH]
                missing = writer.missing_vectors(embedder.digest, part)
                wanted = [part[i] for i in missing]
                if wanted:
                    vectors = embedder.embed_array(wanted)
                    writer.put_vectors(embedder.digest, wanted, vectors)
            writer.put_document(NAME, new)
        writer.publish([NAME], force=True)
    return perf_counter() - started


def _document(
    number: str, rows: Sequence[dict[str, Any]], count: Callable[[str], int]
) -> NewDocument:
    """One rulebook; a chunk's section is the id of its passage."""
    text = ""
    blocks: list[Block] = []
    nodes: list[TextNode] = []
    for row in rows:
        passage = row["text"].strip()
        start = len(text)
        text += f"{passage}\n\n"
        blocks.append(
            Block(kind=BlockKind.PARAGRAPH, start=start, end=start + len(passage))
        )
        for low, high in _cut(passage, count):
            place = Provenance(
                document=f"Rulebook {number}",
                ordinal=len(nodes),
                section=str(row["_id"]),
                span_start=start + low,
                span_end=start + high,
            )
            nodes.append(provenance.write(TextNode(text=passage[low:high]), place))
    parsed = ParsedDocument(
        title=f"Rulebook {number}", text=text, blocks=blocks, parser="obliqa"
    )
    return NewDocument(
        uri=f"obliqa:{number}",
        name=f"Rulebook {number}",
        sha256=digest(text),
        mime="text/plain",
        parsed=parsed,
        nodes=nodes,
        config_key="obliqa",
    )


def _cut(text: str, count: Callable[[str], int]) -> list[tuple[int, int]]:
    """Spans of whole sentences that the embedder can read."""
    if count(text) <= CHUNK_TOKENS:
        return [(0, len(text))]
    spans: list[tuple[int, int]] = []
    for start, end in pieces(text):
        for low, high in _halved(text, start, end, count):
            joined = spans and count(text[spans[-1][0] : high]) <= CHUNK_TOKENS
            if joined:
                spans[-1] = (spans[-1][0], high)
            else:
                spans.append((low, high))
    return spans


def _halved(
    text: str, start: int, end: int, count: Callable[[str], int]
) -> list[tuple[int, int]]:
    if count(text[start:end]) <= CHUNK_TOKENS:
        return [(start, end)]
    middle = text.rfind(" ", start + 1, (start + end) // 2)
    middle = middle if middle > start else (start + end) // 2
    after = middle + 1 if text[middle] == " " else middle
    return [*_halved(text, start, middle, count), *_halved(text, after, end, count)]

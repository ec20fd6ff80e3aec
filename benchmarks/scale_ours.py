"""The store's side of the comparison."""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.document import ParsedDocument
from elt_llm_core.store import Collection, NewDocument, Store
from elt_llm_query.retrieval.fusion import rrf
from scale_corpus import Corpus

NAME = "scale"
DOCUMENT = 100  # chunks
DEPTH = 20  # hits of each index
K = 10


class Prepared:
    """Stands for the embedder whose vectors are at hand already."""

    model_name = "prepared"
    digest = "0" * 64

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension


def document_name(number: int) -> str:
    """The name of a document by its number."""
    return f"document {number:05d}"


def document(number: int, texts: list[str]) -> NewDocument:
    """One document of these chunks."""
    nodes = []
    start = 0
    for ordinal, text in enumerate(texts):
        place = provenance.Provenance(
            ordinal=ordinal,
            document=document_name(number),
            page=1,
            end_page=1,
            span_start=start,
            span_end=start + len(text),
        )
        nodes.append(provenance.write(TextNode(text=text), place))
        start += len(text) + 2
    parsed = ParsedDocument(
        title=document_name(number), text="\n\n".join(texts), blocks=[], parser="scale"
    )
    return NewDocument(
        uri=f"scale:{number}",
        name=document_name(number),
        sha256=f"{number:064d}",
        mime="text/plain",
        parsed=parsed,
        nodes=nodes,
        config_key="scale",
    )


def documents(corpus: Corpus) -> Iterator[tuple[NewDocument, slice]]:
    """The corpus as documents, with the rows of their vectors."""
    for number, start in enumerate(range(0, len(corpus.texts), DOCUMENT)):
        rows = slice(start, start + DOCUMENT)
        yield document(number, corpus.texts[rows]), rows


def ingest(root: Path, corpus: Corpus) -> dict[str, float]:
    """Seconds into the truth without embedding, and seconds of building the index."""
    made = list(documents(corpus))
    embedder = Prepared(corpus.dimension)
    with Store(root).writer() as writer:
        started = perf_counter()
        writer.ensure_collection(NAME, embedder, "scale")  # type: ignore[arg-type]
        for new, rows in made:
            texts = corpus.texts[rows]
            writer.put_vectors(embedder.digest, texts, corpus.vectors[rows])
            writer.put_document(NAME, new)
        stored = perf_counter()
        writer.publish([NAME], force=True)
    return {"database": stored - started, "index": perf_counter() - stored}


def change(
    root: Path, corpus: Corpus, numbers: list[int], word: str
) -> list[NewDocument]:
    """Every chunk of these documents gets a new word; vectors are kept, not published.

    Tells the new documents, embedded and not yet put.
    """
    embedder = Prepared(corpus.dimension)
    changed = []
    with Store(root).writer() as writer:
        for number in numbers:
            rows = slice(number * DOCUMENT, (number + 1) * DOCUMENT)
            texts = [f"{text} {word}" for text in corpus.texts[rows]]
            writer.put_vectors(embedder.digest, texts, corpus.vectors[rows])
            changed.append(document(number, texts))
    return changed


def put(root: Path, changed: list[NewDocument]) -> None:
    """Store changed documents; nothing is built."""
    with Store(root).writer() as writer:
        for new in changed:
            writer.put_document(NAME, new)


def search(
    collection: Collection,
    question: str,
    vector: np.ndarray,
    allowed: frozenset[str] | None = None,
) -> list[tuple[str, float]]:
    """The ten best of both indexes, joined by rank."""
    dense = collection.search_dense(vector, DEPTH, allowed)
    keyword = collection.search_keyword(question, DEPTH, allowed)
    return rrf([dense, keyword])[:K]


def first_answer(root: Path, question: str, vector: np.ndarray) -> Any:
    """Open the collection and search once, as a new process does."""
    return search(Store(root).open(NAME), question, vector)

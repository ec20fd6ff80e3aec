"""The same work with LlamaIndex's own stores, each in its good configuration.

Vectors: `ChromaVectorStore` over a persisted collection (cosine, Chroma's own graph
parameters), filled in batches. Words: bm25s with stemmer and stop words, as
`BM25Retriever` does it, saved and loaded. Chunks: `SimpleDocumentStore`, persisted.
Both are joined by `QueryFusionRetriever` with reciprocal ranks.
"""

import json
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import bm25s
import chromadb
import numpy as np
import Stemmer
from chromadb.config import Settings
from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.vector_stores.chroma import ChromaVectorStore

from scale_corpus import Corpus
from scale_ours import DEPTH, DOCUMENT, K, document_name

NAME = "plain"
BATCH = 5_000
DOCSTORE = "docstore.json"


class Bm25(BaseRetriever):
    """`BM25Retriever` of llama-index-retrievers-bm25, on an index at hand."""

    def __init__(self, index: Any, nodes: list[TextNode]) -> None:
        self.index = index
        self.nodes = nodes
        self.mask: np.ndarray | None = None
        self._stemmer = Stemmer.Stemmer("english")
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        tokens = bm25s.tokenize(
            query_bundle.query_str,
            stopwords="en",
            stemmer=self._stemmer,
            show_progress=False,
        )
        rows, scores = self.index.retrieve(
            tokens, k=DEPTH, show_progress=False, weight_mask=self.mask
        )
        found = zip(rows[0], scores[0], strict=True)
        return [
            NodeWithScore(node=self.nodes[int(row)], score=float(score))
            for row, score in found
        ]


class Plain:
    """A persisted index, opened."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.vectors = ChromaVectorStore(chroma_collection=_chroma(root))
        path = str(root / DOCSTORE)
        self.docstore = SimpleDocumentStore.from_persist_path(path)
        context = StorageContext.from_defaults(
            docstore=self.docstore, vector_store=self.vectors
        )
        dimension = len(
            self.vectors.client.get(limit=1, include=["embeddings"])["embeddings"][0]
        )
        self.index = VectorStoreIndex(
            [], storage_context=context, embed_model=MockEmbedding(dimension)
        )
        docs = self.docstore.docs
        order = json.loads((root / "order.json").read_bytes())
        words = bm25s.BM25.load(str(root / "bm25"), mmap=True)
        self.bm25 = Bm25(words, [docs[node] for node in order])  # type: ignore[misc]

    def dense(self, vector: np.ndarray, k: int) -> list[str]:
        """Ids of the nearest chunks."""
        bundle = QueryBundle("", embedding=vector.tolist())
        found = self.index.as_retriever(similarity_top_k=k).retrieve(bundle)
        return [one.node.node_id for one in found]

    def engine(self, documents: list[str] | None = None) -> QueryFusionRetriever:
        """Both searches joined; limited to documents of these names where given."""
        filters = None
        self.bm25.mask = None
        if documents is not None:
            wanted = set(documents)
            one = MetadataFilter(
                key="document", value=documents, operator=FilterOperator.IN
            )
            filters = MetadataFilters(filters=[one])
            inside = (n.metadata["document"] in wanted for n in self.bm25.nodes)
            self.bm25.mask = np.fromiter(inside, dtype=np.float32)
        dense = self.index.as_retriever(similarity_top_k=DEPTH, filters=filters)
        return QueryFusionRetriever(
            [dense, self.bm25],
            llm=MockLLM(),
            mode=FUSION_MODES.RECIPROCAL_RANK,
            similarity_top_k=K,
            num_queries=1,
            use_async=False,
        )


def search(engine: QueryFusionRetriever, question: str, vector: np.ndarray) -> Any:
    """The ten best chunks."""
    return engine.retrieve(QueryBundle(question, embedding=vector.tolist()))


def search_and_build(plain: Plain, question: str) -> float:
    """Seconds of a keyword search whose index is built for it, from the docstore."""
    started = perf_counter()
    docs = plain.docstore.docs
    nodes: list[Any] = [docs[node] for node in sorted(docs)]
    built = Bm25(_words([node.text for node in nodes]), nodes)
    built.retrieve(question)
    return perf_counter() - started


def first_answer(root: Path, question: str, vector: np.ndarray) -> Any:
    """Open everything and search once, as a new process does."""
    return search(Plain(root).engine(), question, vector)


def ingest(root: Path, corpus: Corpus) -> dict[str, float]:
    """Seconds into the document store, and seconds of building both indexes."""
    nodes = _nodes(corpus)
    started = perf_counter()
    docstore = SimpleDocumentStore()
    bare = [n.model_copy(update={"embedding": None}) for n in nodes]
    docstore.add_documents(bare)
    docstore.persist(str(root / DOCSTORE))
    stored = perf_counter()
    vectors = ChromaVectorStore(chroma_collection=_chroma(root))
    for start in range(0, len(nodes), BATCH):
        vectors.add(nodes[start : start + BATCH])
    save_words(root, nodes)
    return {"database": stored - started, "index": perf_counter() - stored}


def save_words(root: Path, nodes: list[TextNode]) -> None:
    """Build and save the keyword index."""
    _words([node.text for node in nodes]).save(str(root / "bm25"))
    order = json.dumps([node.node_id for node in nodes])
    (root / "order.json").write_text(order, encoding="utf-8")


def _words(texts: list[str]) -> Any:
    tokens = bm25s.tokenize(
        texts,
        stopwords="en",
        stemmer=Stemmer.Stemmer("english"),
        show_progress=False,
    )
    index = bm25s.BM25()
    index.index(tokens, show_progress=False)
    return index


def change(plain: Plain, corpus: Corpus, number: int, word: str) -> float:
    """Seconds from an embedded change of one document to an index that has it."""
    rows = range(number * DOCUMENT, (number + 1) * DOCUMENT)
    new = [_node(corpus, row, f"{corpus.texts[row]} {word}") for row in rows]
    ids = [node.node_id for node in new]
    started = perf_counter()
    plain.index.delete_nodes(ids, delete_from_docstore=True)
    plain.vectors.add(new)
    plain.docstore.add_documents(new)
    plain.docstore.persist(str(plain.root / DOCSTORE))
    changed = dict(zip(ids, new, strict=True))
    nodes = [changed.get(node.node_id, node) for node in plain.bm25.nodes]
    save_words(plain.root, nodes)
    words = bm25s.BM25.load(str(plain.root / "bm25"), mmap=True)
    plain.bm25 = Bm25(words, nodes)
    found = plain.bm25.retrieve(word)
    assert found[0].node.node_id in changed  # noqa: S101 - a benchmark must be right
    return perf_counter() - started


def _nodes(corpus: Corpus) -> list[TextNode]:
    make = partial(_node, corpus)
    return [make(row, text) for row, text in enumerate(corpus.texts)]


def _node(corpus: Corpus, row: int, text: str) -> TextNode:
    return TextNode(
        id_=f"{row:032x}",
        text=text,
        embedding=corpus.vectors[row].tolist(),
        metadata={"document": document_name(row // DOCUMENT), "page": 1},
    )


def _chroma(root: Path) -> Any:
    root.mkdir(parents=True, exist_ok=True)
    settings = Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(root / "chroma"), settings)
    return client.get_or_create_collection(
        NAME, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )

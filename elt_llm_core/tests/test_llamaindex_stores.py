"""A plain LlamaIndex user opens a collection of ours with LlamaIndex's own classes."""

import asyncio
import json
from collections.abc import Callable

import bm25s
import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.chroma import ChromaVectorStore

from core_stores import new_document, put
from elt_llm_core.errors import CollectionNotFoundError, GenerationError, UsageError
from elt_llm_core.identifiers import document_id
from elt_llm_core.store import Store
from elt_llm_core.store.llamaindex import (
    DatabaseDocumentStore,
    GenerationVectorStore,
    open_vector_store,
)
from elt_llm_core.testing.fakes import HashEmbedding

EMBEDDER = HashEmbedding()
NEW = "A zeppelin may not moor at the harbour."


@pytest.fixture
def grown(published: Store) -> Store:
    """The published collection and one document that no index holds yet."""
    put(published, "rules", new_document("b.txt", [NEW, "No kite at night."]), False)
    return published


def filters(*found: tuple[str, object, FilterOperator]) -> MetadataFilters:
    return MetadataFilters(
        filters=[MetadataFilter(key=k, value=v, operator=o) for k, v, o in found]
    )


def test_a_plain_index_retrieves_the_right_chunks(
    grown: Store, many_sentences: list[str]
) -> None:
    index = VectorStoreIndex.from_vector_store(
        open_vector_store(grown, "rules"), embed_model=EMBEDDER
    )
    retriever = index.as_retriever(similarity_top_k=3)
    for text in (many_sentences[7], NEW, many_sentences[299]):
        first, *others = retriever.retrieve(text)
        assert first.text == text
        assert first.score == pytest.approx(1.0, abs=1e-3)
        assert len(others) == 2
        assert first.score >= others[0].score >= others[1].score
    assert first.metadata["document"] == "a.txt"
    assert first.node.get_metadata_str() != ""


def plain_keyword_retriever(store: Store) -> BM25Retriever:
    """LlamaIndex's own retriever over the published keywords, as the how-to has it."""
    (ids_file,) = store.data_dir.glob("**/gen-*/ids.json")
    bm25 = bm25s.BM25.load(str(ids_file.parent / "keywords"))
    documents = DatabaseDocumentStore(store, "rules").docs
    nodes = [documents[node_id] for node_id in json.loads(ids_file.read_bytes())]
    bm25.corpus = [node_to_metadata_dict(n) | {"node_id": n.node_id} for n in nodes]
    return BM25Retriever(existing_bm25=bm25, similarity_top_k=5)


def test_the_published_keywords_open_in_llamaindex(
    published: Store, many_sentences: list[str]
) -> None:
    first, *_ = plain_keyword_retriever(published).retrieve(many_sentences[7])
    assert first.text == many_sentences[7]
    assert first.metadata["document"] == "a.txt"
    assert first.node_id in DatabaseDocumentStore(published, "rules").docs


def test_a_published_collection_is_fused_by_plain_llamaindex(
    published: Store, many_sentences: list[str]
) -> None:
    vectors = open_vector_store(published, "rules")
    assert isinstance(vectors, ChromaVectorStore)
    index = VectorStoreIndex.from_vector_store(vectors, embed_model=EMBEDDER)
    fusion = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=5), plain_keyword_retriever(published)],
        llm=MockLLM(),
        mode=FUSION_MODES.RECIPROCAL_RANK,
        num_queries=1,
        similarity_top_k=5,
        use_async=False,
    )
    first, *_ = fusion.retrieve(many_sentences[7])
    assert first.text == many_sentences[7]
    assert first.score == pytest.approx(2 / 60)


def test_a_collection_of_two_letters_is_indexed(
    store: Store, many_sentences: list[str]
) -> None:
    put(store, "hr", new_document("a.txt", many_sentences))
    assert store.open("hr").degradations == ()
    index = VectorStoreIndex.from_vector_store(
        open_vector_store(store, "hr"), embed_model=EMBEDDER
    )
    (first,) = index.as_retriever(similarity_top_k=1).retrieve(many_sentences[7])
    assert first.text == many_sentences[7]


def test_a_plain_index_never_retrieves_what_was_removed(
    grown: Store, many_sentences: list[str]
) -> None:
    put(grown, "rules", new_document("a.txt", many_sentences[1:]), publish=False)
    store = open_vector_store(grown, "rules")
    index = VectorStoreIndex.from_vector_store(store, embed_model=EMBEDDER)
    found = index.as_retriever(similarity_top_k=400).retrieve(many_sentences[0])
    assert len(found) == 301
    assert many_sentences[0] not in {node.text for node in found}


def test_a_chunk_that_has_just_gone_is_left_out(grown: Store) -> None:
    store = open_vector_store(grown, "rules")
    with grown.writer() as writer:
        writer.remove_document(document_id("rules", "test:b.txt"))
    query = VectorStoreQuery(EMBEDDER.get_query_embedding(NEW), similarity_top_k=5)
    found = store.query(query)
    assert len(found.nodes or []) == len(found.ids or []) == 4
    assert len(found.similarities or []) == 4


def test_metadata_filters_are_hard(grown: Store) -> None:
    store = open_vector_store(grown, "rules")
    index = VectorStoreIndex.from_vector_store(store, embed_model=EMBEDDER)
    chosen = filters(
        ("document", "b.txt", FilterOperator.EQ), ("page", [1, 2], FilterOperator.IN)
    )
    found = index.as_retriever(similarity_top_k=5, filters=chosen).retrieve("rule")
    assert {n.metadata["document"] for n in found} == {"b.txt"}
    assert len(found) == 2
    assert len(store.get_nodes(filters=chosen)) == 2
    document = document_id("rules", "test:b.txt")
    retriever = index.as_retriever(similarity_top_k=5, doc_ids=[document])
    assert len(retriever.retrieve("rule")) == 2


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        (FilterCondition.AND, set()),
        (FilterCondition.OR, {"a.txt", "b.txt"}),
        (FilterCondition.NOT, set()),
    ],
)
def test_metadata_filters_are_joined_as_they_say(
    grown: Store, condition: FilterCondition, left: set[str]
) -> None:
    each = [
        MetadataFilter(key="document", value="a", operator=FilterOperator.TEXT_MATCH),
        MetadataFilter(key="document", value="a.txt", operator=FilterOperator.NE),
    ]
    nodes = open_vector_store(grown, "rules").get_nodes(
        filters=MetadataFilters(filters=each, condition=condition)
    )
    names = {node.metadata["document"] for node in nodes}
    assert "b.txt" in {node.metadata["document"] for node in grown.nodes("rules")}
    assert names == left


def test_metadata_filters_compare(grown: Store) -> None:
    store = open_vector_store(grown, "rules")
    first = filters(("page", 1, FilterOperator.GTE), ("page", 2, FilterOperator.LT))
    later = filters(("page", 1, FilterOperator.GT))
    assert {n.metadata["page"] for n in store.get_nodes(filters=first)} == {1}
    assert store.get_nodes(filters=later) == []


@pytest.mark.parametrize(
    "query",
    [
        VectorStoreQuery(),
        VectorStoreQuery([1.0] * 256, mode=VectorStoreQueryMode.MMR),
        VectorStoreQuery([1.0] * 8),
        VectorStoreQuery([1.0] * 256, filters=filters(("page", 1, FilterOperator.ANY))),
        VectorStoreQuery([1.0] * 256, filters=filters(("x", 1, FilterOperator.EQ))),
    ],
    ids=["no vector", "mode", "dimension", "operator", "key"],
)
def test_a_search_that_is_not_offered_is_refused(
    published: Store, query: VectorStoreQuery
) -> None:
    with pytest.raises(UsageError):
        open_vector_store(published, "rules").query(query)


WRITES: list[Callable[[GenerationVectorStore], object]] = [
    lambda s: s.add([TextNode(text="x", embedding=[1.0] * 256)]),
    lambda s: s.delete("x"),
    lambda s: s.delete_nodes(["x"]),
    lambda s: s.clear(),
    lambda s: VectorStoreIndex.from_vector_store(s, embed_model=EMBEDDER).insert_nodes(
        [TextNode(text="x")]
    ),
]


@pytest.mark.parametrize("write", WRITES)
def test_nothing_is_written_through_the_vector_store(
    published: Store, write: Callable[[GenerationVectorStore], object]
) -> None:
    store = open_vector_store(published, "rules")
    with pytest.raises(UsageError, match="read-only"):
        write(store)
    assert store.client.count() == 300


def test_a_collection_without_an_index_is_told(store: Store) -> None:
    with pytest.raises(CollectionNotFoundError):
        open_vector_store(store, "rules")
    put(store, "rules", new_document("a.txt", ["one", "two"]), publish=False)
    with pytest.raises(GenerationError, match="nothing is published"):
        open_vector_store(store, "rules")


def test_the_truth_is_a_document_store(grown: Store, many_sentences: list[str]) -> None:
    documents = DatabaseDocumentStore(grown, "rules")
    context = StorageContext.from_defaults(docstore=documents)
    assert context.docstore is documents
    assert len(documents.docs) == 302
    ids = list(documents.docs)
    assert [n.node_id for n in documents.get_nodes(ids[5:9])] == ids[5:9]
    assert documents.get_node(ids[0]).get_content() == many_sentences[0]
    assert documents.get_node_dict({7: ids[7]})[7].node_id == ids[7]
    assert asyncio.run(documents.aget_document(ids[3])) == documents.docs[ids[3]]
    assert documents.document_exists(ids[0])
    assert not asyncio.run(documents.adocument_exists("x"))


def test_documents_and_hashes_are_known(grown: Store) -> None:
    documents = DatabaseDocumentStore(grown, "rules")
    document = document_id("rules", "test:b.txt")
    info = documents.get_ref_doc_info(document)
    assert info is not None
    assert len(info.node_ids) == 2
    every = asyncio.run(documents.aget_all_ref_doc_info()) or {}
    assert every[document].node_ids == info.node_ids
    assert len(every) == 2
    assert documents.get_ref_doc_info("x") is None
    hashes = documents.get_all_document_hashes()
    one = info.node_ids[0]
    assert hashes[documents.get_document_hash(one) or ""] == one
    assert documents.get_document_hash("x") is None


def test_what_is_not_there_is_an_error_only_if_asked(published: Store) -> None:
    documents = DatabaseDocumentStore(published, "rules")
    assert documents.get_document("x", raise_error=False) is None
    with pytest.raises(ValueError, match="doc_id x not found"):
        documents.get_document("x")
    with pytest.raises(CollectionNotFoundError):
        DatabaseDocumentStore(published, "other")


DOCUMENT_WRITES: list[Callable[[DatabaseDocumentStore], object]] = [
    lambda d: d.add_documents([TextNode(text="x")]),
    lambda d: asyncio.run(d.async_add_documents([TextNode(text="x")])),
    lambda d: d.delete_document("x"),
    lambda d: asyncio.run(d.adelete_document("x")),
    lambda d: d.delete_ref_doc("x"),
    lambda d: asyncio.run(d.adelete_ref_doc("x")),
    lambda d: d.set_document_hash("x", "y"),
    lambda d: d.set_document_hashes({"x": "y"}),
]


@pytest.mark.parametrize("write", DOCUMENT_WRITES)
def test_nothing_is_written_through_the_document_store(
    published: Store, write: Callable[[DatabaseDocumentStore], object]
) -> None:
    with pytest.raises(UsageError, match="read-only"):
        write(DatabaseDocumentStore(published, "rules"))

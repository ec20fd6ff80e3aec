"""The embedders keep their contract, and contracts notice components that do not."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import NodeParser, SentenceSplitter
from llama_index.core.postprocessor import LongContextReorder, SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer, SimpleSummarize
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from elt_llm_core.models import EMBEDDERS
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_core.testing.contracts import (
    ChunkerContract,
    EmbedderContract,
    FusionContract,
    PostprocessorContract,
    RerankerContract,
    RetrieverContract,
    SynthesizerContract,
    make_nodes,
)


class TestEmbedded(EmbedderContract):
    def make(self) -> BaseEmbedding:
        return EMBEDDERS.load("embedded", {}).build(Models(HashEmbedding()))


class TestHashEmbedding(EmbedderContract):
    def make(self) -> BaseEmbedding:
        return HashEmbedding()


# Components of LlamaIndex itself: the contracts ask for nothing of our own.


class TestLlamaIndexCutoff(PostprocessorContract):
    def make(self) -> BaseNodePostprocessor:
        return SimilarityPostprocessor(similarity_cutoff=0.75)


class TestLlamaIndexVectors(RetrieverContract):
    def make(self, nodes: Sequence[TextNode]) -> BaseRetriever:
        return VectorStoreIndex(list(nodes), embed_model=HashEmbedding()).as_retriever()


class TestLlamaIndexSummary(SynthesizerContract):
    def make(self) -> BaseSynthesizer:
        return SimpleSummarize(llm=ScriptedLLM(lambda prompt: "40 euros"))


class TestLlamaIndexSplitter(ChunkerContract):
    def make(self) -> NodeParser:
        return SentenceSplitter(chunk_size=60, chunk_overlap=0)


# Components that break their contract in one way each.


class Inventor(BaseNodePostprocessor):
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return [*nodes, NodeWithScore(node=TextNode(text="invented"), score=0.0)]


class Vandal(BaseNodePostprocessor):
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        for node in nodes:
            node.score = 0.5
            node.node.metadata.clear()
        return nodes


def _contract(base: type, component: Any) -> Any:
    return type("Contract", (base,), {"make": lambda self, *_: component})()


class Blind(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes = make_nodes()[::-1]
        return [NodeWithScore(node=n, score=i / 9) for i, n in enumerate(nodes)]


def double(lists: Sequence[Any]) -> list[tuple[str, float]]:
    return [hit for each in lists for hit in each.hits]


class Uneven(HashEmbedding):
    def get_text_embedding_batch(self, texts: list[str], **_: Any) -> list[list[float]]:
        return [[0.0] * (1 + at) for at, _ in enumerate(texts)]


@pytest.mark.parametrize(
    ("contract", "component", "test"),
    [
        (PostprocessorContract, Inventor(), "test_no_node_is_invented"),
        (PostprocessorContract, Inventor(), "test_nothing_becomes_nothing"),
        (PostprocessorContract, Inventor(), "test_the_same_again"),
        (PostprocessorContract, Vandal(), "test_text_and_metadata_are_kept"),
        (PostprocessorContract, Vandal(), "test_the_input_is_not_changed"),
        (RerankerContract, LongContextReorder(), "test_the_best_is_first"),
        (RetrieverContract, Blind(), "test_the_best_is_first"),
        (RetrieverContract, Blind(), "test_nothing_is_found_in_nothing"),
        (FusionContract, double, "test_the_best_is_first"),
        (FusionContract, double, "test_no_hit_is_invented"),
        (EmbedderContract, Uneven(), "test_every_text_has_a_vector_in_its_place"),
        (EmbedderContract, Uneven(), "test_vectors_have_one_length_and_finite_numbers"),
    ],
)
def test_a_broken_component_is_caught(
    contract: type, component: Callable[..., Any], test: str
) -> None:
    with pytest.raises(AssertionError):
        getattr(_contract(contract, component), test)()

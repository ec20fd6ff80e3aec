"""Every strategy of a question keeps the contract of its stage."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, TextNode

from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_core.testing.contracts import (
    FusionContract,
    PostprocessorContract,
    RerankerContract,
    RetrieverContract,
    SynthesizerContract,
)
from elt_llm_query import (
    FUSIONS,
    POSTPROCESSORS,
    RERANKERS,
    SYNTHESIZERS,
    DenseRetriever,
    HybridRetriever,
    KeywordRetriever,
)
from elt_llm_query.retrieval.hybrid import CollectionRetriever
from pair_model import stub_sentence_transformers, write_model
from query_world import World, fill
from step_world import BOOK, OPTIONS, nodes_of, step


class WordVectors(HashEmbedding):
    """Has a vector for each word, as late interaction needs."""

    def token_vectors(self, text: str) -> Any:
        return self.embed_array(text.split())


def models(answer: str = "The deposit for a kite is 40 euros. [S1]") -> Models:
    return Models(WordVectors(), ScriptedLLM(lambda prompt: answer))


class Named:
    """Runs a contract once for each strategy of the stage."""

    name: str

    @pytest.fixture(autouse=True)
    def strategy(self, request: pytest.FixtureRequest) -> None:
        self.name = request.param


@pytest.mark.parametrize("strategy", sorted(FUSIONS.known()), indirect=True)
class TestFusions(Named, FusionContract):
    def make(self) -> Callable[..., Any]:
        return FUSIONS.load(self.name, {}).build(models())


def rank_by_words(prompt: str) -> str:
    """A model's choice that depends on the texts, not on their places."""
    numbers = re.findall(r"Document (\d+):\n(.*)", prompt)
    chosen = [n for n, text in numbers if "deposit" in text]
    return "\n".join(f"Doc: {n}, Relevance: 9" for n in chosen)


@pytest.mark.parametrize("strategy", sorted(RERANKERS.known()), indirect=True)
class TestRerankers(Named, RerankerContract):
    @pytest.fixture(autouse=True)
    def pair_model(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        stub_sentence_transformers(monkeypatch)
        self.folder = write_model(tmp_path)

    def make(self) -> BaseNodePostprocessor:
        needs = {"cross_encoder_onnx": {"folder": self.folder}}
        loaded = RERANKERS.load(self.name, needs.get(self.name, {}))
        return loaded.build(Models(WordVectors(), ScriptedLLM(rank_by_words)))


CHANGES_TEXT = {"auto_merge", "compression", "sentence_window"}


class EachPostprocessor(Named, PostprocessorContract):
    @pytest.fixture(autouse=True)
    def traits(self, strategy: None) -> None:
        self.changes_text = self.name in CHANGES_TEXT


@pytest.mark.parametrize("strategy", sorted(POSTPROCESSORS.known()), indirect=True)
class TestPostprocessors(EachPostprocessor):
    """On nodes that no collection knows."""

    def make(self) -> BaseNodePostprocessor:
        loaded = POSTPROCESSORS.load(self.name, OPTIONS.get(self.name, {}))
        return loaded.build(models())


@pytest.mark.parametrize("strategy", sorted(POSTPROCESSORS.known()), indirect=True)
class TestPostprocessorsOfACollection(EachPostprocessor):
    """On chunks of a collection, whose neighbours and rules they can bring."""

    adds_nodes = True

    @pytest.fixture(autouse=True)
    def world(self, shelf: World) -> None:
        self.shelf = shelf

    def nodes(self) -> list[NodeWithScore]:
        texts = [BOOK["Loans > Fees"][0], BOOK["Rooms"][1], BOOK["Loans > Periods"][3]]
        return nodes_of(self.shelf, *texts)

    def make(self) -> BaseNodePostprocessor:
        return step(self.name, self.shelf)


@pytest.mark.parametrize("strategy", sorted(SYNTHESIZERS.known()), indirect=True)
class TestSynthesizers(Named, SynthesizerContract):
    def make(self) -> BaseSynthesizer:
        return SYNTHESIZERS.load(self.name, {}).build(models())


class OverTheStore(RetrieverContract):
    question = "Which fee is due for an overdue book?"

    @pytest.fixture(autouse=True)
    def worlds(self, hashed: World, tmp_path: Path) -> Iterator[None]:
        self.embedder = hashed.models.embedder
        self.full = hashed.store.open("lending")
        self.stored = list(hashed.store.nodes("lending"))
        with closing(Store(tmp_path)) as empty:
            fill(empty, hashed.models, {"lending": []})
            self.empty = empty.open("lending")
            yield

    def nodes(self) -> list[TextNode]:
        return [node for node in self.stored if isinstance(node, TextNode)]

    def parts(self, nodes: Sequence[TextNode]) -> list[CollectionRetriever]:
        home = self.full if nodes else self.empty
        return [DenseRetriever(home, self.embedder, 5), KeywordRetriever(home, 5)]


class TestDenseRetriever(OverTheStore):
    def make(self, nodes: Sequence[TextNode]) -> BaseRetriever:
        return self.parts(nodes)[0]


class TestKeywordRetriever(OverTheStore):
    def make(self, nodes: Sequence[TextNode]) -> BaseRetriever:
        return self.parts(nodes)[1]


class TestHybridRetriever(OverTheStore):
    def make(self, nodes: Sequence[TextNode]) -> BaseRetriever:
        return HybridRetriever(self.parts(nodes))

"""Contracts: what every strategy of a stage must do, as pytest base classes.

Subclass the contract of the stage in a test module of your package, name the class
`Test...` and give it `make`; pytest runs the inherited tests. The types are those of
LlamaIndex, so a component that was not written for elt_llm can be checked as well.

    class TestLongestFirst(RerankerContract):
        def make(self) -> BaseNodePostprocessor:
            return LongestFirst()

Failures have messages of their own, because pytest explains bare assertions only in
test modules.
"""

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import NodeParser
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import (
    BaseNode,
    Document,
    NodeWithScore,
    QueryBundle,
    TextNode,
)

QUESTION = "How much is the deposit for a kite?"
TEXTS = (
    "The deposit for a kite is 40 euros. It is paid back within 14 days.",
    "A crew has at least two members. Each member carries a radio.",
    "Kites are returned dry. A wet kite costs 5 euros of the deposit.",
    "Channel 72 is kept free for the race office.",
)
_CLOSE = 1e-5  # a batch may sum in another order than a single text


def make_nodes(texts: Sequence[str] = TEXTS) -> list[TextNode]:
    """Return chunks of one document with places and metadata, in its order."""
    nodes, start = [], 0
    for number, text in enumerate(texts):
        nodes.append(
            TextNode(
                id_=f"node-{number}",
                text=text,
                metadata={"file_name": "rules.md", "page": number + 1},
                start_char_idx=start,
                end_char_idx=start + len(text),
            )
        )
        start += len(text) + 2
    return nodes


def make_scored_nodes(texts: Sequence[str] = TEXTS) -> list[NodeWithScore]:
    """Return the same chunks as a retriever would, best first."""
    nodes = make_nodes(texts)
    return [
        NodeWithScore(node=node, score=1 - number / 10)
        for number, node in enumerate(nodes)
    ]


class PostprocessorContract(ABC):
    """Requirements of postprocessors.

    A strategy that adds nodes (neighbours, parents) sets `adds_nodes`, one that
    shortens or extends texts and their spans sets `changes_text`.
    """

    adds_nodes: ClassVar[bool] = False
    changes_text: ClassVar[bool] = False

    @abstractmethod
    def make(self) -> BaseNodePostprocessor:
        """Return the component. Called several times in a test."""

    def nodes(self) -> list[NodeWithScore]:
        """Return the nodes that the tests pass in; override for other metadata."""
        return make_scored_nodes()

    def test_nothing_becomes_nothing(self) -> None:
        """No nodes in, no nodes out."""
        assert _run(self.make(), []) == [], "nodes were made from nothing"

    def test_no_node_is_invented(self) -> None:
        """Every node that comes out was passed in, and none comes out twice."""
        given = [node.node_id for node in self.nodes()]
        ids = [node.node_id for node in _run(self.make(), self.nodes())]
        assert len(set(ids)) == len(ids), f"nodes came out twice: {ids}"
        strange = set(ids) - set(given)
        assert self.adds_nodes or not strange, f"nodes were invented: {strange}"

    def test_text_and_metadata_are_kept(self) -> None:
        """With the same text, metadata may be added, and none is changed or lost."""
        given = {node.node_id: node.node for node in self.nodes()}
        for each in _run(self.make(), self.nodes()):
            before = given.get(each.node_id)
            if before is not None:
                _check_node(before, each.node, same_text=not self.changes_text)

    def test_scores_are_numbers(self) -> None:
        """A score is a finite number, or absent."""
        for each in _run(self.make(), self.nodes()):
            finite = each.score is None or math.isfinite(each.score)
            assert finite, f"{each.node_id} has the score {each.score}"

    def test_the_input_is_not_changed(self) -> None:
        """The list, the scores and the nodes are as they were."""
        nodes, bundle = self.nodes(), QueryBundle(QUESTION)
        before = _dump(nodes), bundle.to_dict()
        self.make().postprocess_nodes(nodes, bundle)
        assert (_dump(nodes), bundle.to_dict()) == before, "the input was changed"

    def test_the_same_again(self) -> None:
        """Two components, and one component twice, give the same."""
        component = self.make()
        first = _dump(_run(component, self.nodes()))
        assert _dump(_run(component, self.nodes())) == first, "a second run differs"
        assert _dump(_run(self.make(), self.nodes())) == first, "another one differs"

    def test_async_is_the_same(self) -> None:
        """`apostprocess_nodes` gives what `postprocess_nodes` gives."""
        waiting = self.make().apostprocess_nodes(self.nodes(), QueryBundle(QUESTION))
        expected = _dump(_run(self.make(), self.nodes()))
        assert _dump(asyncio.run(_as_coroutine(waiting))) == expected, "async differs"


class RerankerContract(PostprocessorContract):
    """Additional requirements of rerankers: they reorder and add nothing."""

    def test_the_best_is_first(self) -> None:
        """The scores fall."""
        scores = [node.score for node in _run(self.make(), self.nodes())]
        numbers = [score for score in scores if score is not None]
        assert len(numbers) == len(scores), f"a node has no score: {scores}"
        assert numbers == sorted(numbers, reverse=True), f"scores rise: {numbers}"

    def test_the_order_of_the_input_does_not_matter(self) -> None:
        """A reranker judges texts, not places: only equal scores may swap."""
        forward = _run(self.make(), self.nodes())
        backward = _run(self.make(), self.nodes()[::-1])
        scores = {node.node_id: node.score for node in backward}
        for node in forward:
            other = scores.get(node.node_id)
            close = other is None or abs((node.score or 0.0) - other) < _CLOSE
            assert close, f"{node.node_id} has {node.score}, reversed {other}"


class RetrieverContract(ABC):
    """Requirements of retrievers."""

    question: ClassVar[str] = QUESTION

    @abstractmethod
    def make(self, nodes: Sequence[TextNode]) -> BaseRetriever:
        """Return a retriever over these nodes, which may be none."""

    def nodes(self) -> list[TextNode]:
        """Return the nodes to find; override where an index changes their ids."""
        return make_nodes()

    def test_the_best_is_first(self) -> None:
        """Every hit has a score, and the scores fall."""
        scores = [hit.score for hit in self._hits()]
        assert scores, "nothing was found"
        numbers = [score for score in scores if score is not None]
        assert len(numbers) == len(scores), f"a hit has no score: {scores}"
        assert numbers == sorted(numbers, reverse=True), f"scores rise: {numbers}"

    def test_no_node_is_invented(self) -> None:
        """Hits are the nodes that were indexed, each once, as they were."""
        given = {node.node_id: node for node in self.nodes()}
        hits = self._hits()
        ids = [hit.node_id for hit in hits]
        assert len(set(ids)) == len(ids), f"hits came twice: {ids}"
        assert set(ids) <= given.keys(), f"invented: {set(ids) - given.keys()}"
        for hit in hits:
            _check_node(given[hit.node_id], hit.node, same_text=True)

    def test_nothing_is_found_in_nothing(self) -> None:
        """An empty index is no error."""
        assert self.make([]).retrieve(self.question) == [], "hits in an empty index"

    def test_the_same_again(self) -> None:
        """The same question has the same hits."""
        retriever = self.make(self.nodes())
        first = _dump(retriever.retrieve(self.question))
        again = _dump(retriever.retrieve(self.question))
        assert again == first, "a second run differs"
        assert _dump(self._hits()) == first, "another index of the same nodes differs"

    def test_async_is_the_same(self) -> None:
        """`aretrieve` finds what `retrieve` finds."""
        waiting = self.make(self.nodes()).aretrieve(self.question)
        hits = asyncio.run(_as_coroutine(waiting))
        assert _dump(hits) == _dump(self._hits()), "async differs"

    def _hits(self) -> list[NodeWithScore]:
        return self.make(self.nodes()).retrieve(self.question)


class SynthesizerContract(ABC):
    """Requirements of synthesizers."""

    @abstractmethod
    def make(self) -> BaseSynthesizer:
        """Return the component. Called several times in a test."""

    def nodes(self) -> list[NodeWithScore]:
        """Return the nodes that the tests pass in; override for other metadata."""
        return make_scored_nodes()

    def test_an_answer_names_its_sources(self) -> None:
        """The source nodes are among those given, as they were."""
        given = {node.node_id: node.node for node in self.nodes()}
        response: Any = self.make().synthesize(QUESTION, self.nodes())
        ids = {node.node_id for node in response.source_nodes}
        assert ids <= given.keys(), f"sources were invented: {ids - given.keys()}"
        for source in response.source_nodes:
            _check_node(given[source.node_id], source.node, same_text=False)

    def test_without_nodes_there_is_no_source(self) -> None:
        """An answer from nothing rests on nothing."""
        response: Any = self.make().synthesize(QUESTION, [])
        assert response.source_nodes == [], "sources were made from nothing"

    def test_the_input_is_not_changed(self) -> None:
        """The list, the scores and the nodes are as they were."""
        nodes, bundle = self.nodes(), QueryBundle(QUESTION)
        before = _dump(nodes), bundle.to_dict()
        self.make().synthesize(bundle, nodes)
        assert (_dump(nodes), bundle.to_dict()) == before, "the input was changed"

    def test_the_same_again(self) -> None:
        """The same question and nodes have the same answer."""
        first = str(self.make().synthesize(QUESTION, self.nodes()))
        again = str(self.make().synthesize(QUESTION, self.nodes()))
        assert again == first, f"first {first!r}, then {again!r}"

    def test_async_is_the_same(self) -> None:
        """`asynthesize` answers as `synthesize` does."""
        expected = str(self.make().synthesize(QUESTION, self.nodes()))
        waiting = self.make().asynthesize(QUESTION, self.nodes())
        answer = str(asyncio.run(_as_coroutine(waiting)))
        assert answer == expected, f"sync {expected!r}, async {answer!r}"


class ChunkerContract(ABC):
    """Requirements of chunkers."""

    @abstractmethod
    def make(self) -> NodeParser:
        """Return the component. Called several times in a test."""

    def documents(self) -> list[Document]:
        """Return the documents that the tests split."""
        rules = (f"Rule {n}. {TEXTS[n % 4]}" for n in range(32))
        text = "\n\n".join(rules)
        metadata = {"file_name": "rules.md"}
        return [Document(id_="document-1", text=text, metadata=metadata)]

    def test_a_chunk_is_a_slice_of_its_document(self) -> None:
        """`document.text[start:end] == chunk.text`, in the order of the document."""
        (document,) = self.documents()
        starts = []
        for chunk in _leaves(self.make().get_nodes_from_documents([document])):
            start, end = chunk.start_char_idx, chunk.end_char_idx
            assert start is not None, f"{chunk.text[:40]!r} has no place"
            assert document.text[start:end] == chunk.text, f"not at {start}:{end}"
            starts.append(start)
        assert starts == sorted(starts), "chunks are out of order"

    def test_no_text_is_lost(self) -> None:
        """Every character that is not white space is in a chunk."""
        (document,) = self.documents()
        left = list(document.text)
        for chunk in _leaves(self.make().get_nodes_from_documents([document])):
            start, end = chunk.start_char_idx or 0, chunk.end_char_idx or 0
            left[start:end] = " " * (end - start)
        lost = "".join(left).split()
        assert not lost, f"lost: {lost[:5]}"

    def test_ids_are_unique_and_metadata_is_kept(self) -> None:
        """Each chunk has its own id and what its document says of itself."""
        (document,) = self.documents()
        chunks = self.make().get_nodes_from_documents([document])
        ids = [chunk.node_id for chunk in chunks]
        assert len(set(ids)) == len(ids), "two chunks have one id"
        for chunk in chunks:
            kept = {key: chunk.metadata.get(key) for key in document.metadata}
            assert kept == document.metadata, f"metadata is {chunk.metadata}"

    def test_nothing_becomes_nothing(self) -> None:
        """No documents, no chunks."""
        assert self.make().get_nodes_from_documents([]) == [], "made from nothing"

    def test_the_input_is_not_changed(self) -> None:
        """The documents are as they were."""
        documents = self.documents()
        self.make().get_nodes_from_documents(documents)
        assert documents == self.documents(), "the documents were changed"

    def test_the_same_again(self) -> None:
        """The same documents have the same chunks in the same places."""
        first = self._places()
        assert self._places() == first, "a second run differs"

    def test_async_is_the_same(self) -> None:
        """`aget_nodes_from_documents` splits as `get_nodes_from_documents` does."""
        waiting = self.make().aget_nodes_from_documents(self.documents())
        chunks = asyncio.run(_as_coroutine(waiting))
        assert _places_of(chunks) == self._places(), "async differs"

    def _places(self) -> list[tuple[str, Any, Any]]:
        return _places_of(self.make().get_nodes_from_documents(self.documents()))


class EmbedderContract(ABC):
    """Requirements of embedding models."""

    @abstractmethod
    def make(self) -> BaseEmbedding:
        """Return the component. Called several times in a test."""

    def test_every_text_has_a_vector_in_its_place(self) -> None:
        """A batch gives what the texts give one by one, in their order."""
        embedder = self.make()
        vectors = embedder.get_text_embedding_batch(list(TEXTS))
        assert len(vectors) == len(TEXTS), f"{len(vectors)} vectors"
        for text, vector in zip(TEXTS, vectors, strict=True):
            _check_close(embedder.get_text_embedding(text), vector)

    def test_vectors_have_one_length_and_finite_numbers(self) -> None:
        """Texts and questions can be compared."""
        embedder = self.make()
        vectors = embedder.get_text_embedding_batch(list(TEXTS))
        vectors.append(embedder.get_query_embedding(QUESTION))
        lengths = {len(vector) for vector in vectors}
        assert len(lengths) == 1, f"lengths {lengths}"
        finite = all(math.isfinite(number) for vector in vectors for number in vector)
        assert finite, "a vector has a number that is not finite"

    def test_nothing_becomes_nothing(self) -> None:
        """No texts, no vectors."""
        assert self.make().get_text_embedding_batch([]) == [], "made from nothing"

    def test_the_same_again(self) -> None:
        """The same text has the same vector."""
        first = self.make().get_text_embedding(TEXTS[0])
        _check_close(self.make().get_text_embedding(TEXTS[0]), first)

    def test_async_is_the_same(self) -> None:
        """The async methods give what the others give."""
        embedder = self.make()
        waiting = embedder.aget_text_embedding_batch(list(TEXTS))
        vectors = asyncio.run(_as_coroutine(waiting))
        expected = embedder.get_text_embedding_batch(list(TEXTS))
        for vector, other in zip(vectors, expected, strict=True):
            _check_close(vector, other)


@dataclass(frozen=True)
class HitListStub:
    """A hit list for tests, with the attributes of `elt_llm_query.HitList`."""

    kind: str
    hits: tuple[tuple[str, float], ...]
    weight: float = 1.0


class FusionContract(ABC):
    """Requirements of fusions of several ranked lists."""

    LISTS: ClassVar[tuple[HitListStub, ...]] = (
        HitListStub("dense", (("a", 0.9), ("b", 0.8), ("c", 0.2))),
        HitListStub("keyword", (("b", 7.5), ("d", 3.0), ("a", 1.5))),
    )

    @abstractmethod
    def make(self) -> Callable[[Sequence[Any]], list[tuple[str, float]]]:
        """Return the fusion."""

    def test_the_best_is_first(self) -> None:
        """Scores fall; equal scores are in the order of the ids."""
        hits = self.make()(self.LISTS)
        ordered = sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        assert hits == ordered, f"out of order: {hits}"

    def test_no_hit_is_invented(self) -> None:
        """Every hit is in a list, and each comes once."""
        given = {item for each in self.LISTS for item, _ in each.hits}
        ids = [item for item, _ in self.make()(self.LISTS)]
        assert len(set(ids)) == len(ids), f"hits came twice: {ids}"
        assert set(ids) <= given, f"invented: {set(ids) - given}"

    def test_what_leads_everywhere_leads(self) -> None:
        """A hit that is first in every list is first."""
        lists = [self.LISTS[0], HitListStub("keyword", (("a", 5.0), ("b", 1.0)))]
        assert self.make()(lists)[0][0] == "a", "another hit is first"

    def test_nothing_becomes_nothing(self) -> None:
        """No lists, or empty ones, have no hits."""
        empty = [HitListStub("dense", ()), HitListStub("keyword", ())]
        assert self.make()([]) == [], "hits were made from no list"
        assert self.make()(empty) == [], "hits were made from empty lists"

    def test_the_order_of_the_lists_does_not_matter(self) -> None:
        """The same lists in another order have the same hits."""
        forward, backward = self.make()(self.LISTS), self.make()(self.LISTS[::-1])
        assert [item for item, _ in forward] == [item for item, _ in backward]

    def test_scores_are_numbers(self) -> None:
        """A score is a finite number."""
        hits = self.make()(self.LISTS)
        assert all(math.isfinite(score) for _, score in hits), f"scores: {hits}"


def _run(
    component: BaseNodePostprocessor, nodes: list[NodeWithScore]
) -> list[NodeWithScore]:
    return component.postprocess_nodes(nodes, QueryBundle(QUESTION))


async def _as_coroutine(waiting: Any) -> Any:
    return await waiting


def _dump(nodes: Sequence[NodeWithScore]) -> list[dict[str, Any]]:
    return [node.model_dump(mode="json") for node in nodes]


def _check_node(before: BaseNode, after: BaseNode, *, same_text: bool) -> None:
    """Check a node: another text has another span; the document is the same."""
    documents = before.ref_doc_id, after.ref_doc_id
    assert documents[0] == documents[1], f"{after.node_id} changed its document"
    texts = before.get_content(), after.get_content()
    if same_text:
        assert texts[0] == texts[1], f"the text of {after.node_id} is {texts[1]!r}"
    if texts[0] == texts[1]:
        kept = {key: after.metadata.get(key) for key in before.metadata}
        assert kept == before.metadata, f"metadata was changed: {after.metadata}"


def _leaves(chunks: Sequence[BaseNode]) -> list[TextNode]:
    """Return the chunks that are not part of another."""
    leaves = [chunk for chunk in chunks if not chunk.child_nodes]
    return [chunk for chunk in leaves if isinstance(chunk, TextNode)]


def _places_of(chunks: Sequence[BaseNode]) -> list[tuple[str, Any, Any]]:
    return [
        (chunk.get_content(), chunk.start_char_idx, chunk.end_char_idx)
        for chunk in _leaves(chunks)
    ]


def _check_close(vector: Sequence[float], other: Sequence[float]) -> None:
    assert len(vector) == len(other), f"lengths {len(vector)} and {len(other)}"
    most = max(abs(a - b) for a, b in zip(vector, other, strict=True))
    assert most < _CLOSE, f"numbers differ by {most}"

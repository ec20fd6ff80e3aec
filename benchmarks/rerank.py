"""What reranking 20 candidates by their stored vectors costs, and its guard.

    python benchmarks/rerank.py [--json FILE]

Stores 2,000 chunks with vectors of 384 numbers, publishes them, and reranks the 20 best
of one question: the reranker alone, with the stopwatch and time limit of a question,
and in a thread, as a reranker that does not look at the time itself is run. Then 20
texts of 150 words by a cross-encoder of MiniLM's size: the embedded model with another
head, which judges nothing and costs as much as one that does. Milliseconds a call, the
best of several rounds.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import onnx
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from onnx import TensorProto, helper, numpy_helper

from elt_llm_core import provenance
from elt_llm_core.document import ParsedDocument
from elt_llm_core.identifiers import digest
from elt_llm_core.models import as_counting
from elt_llm_core.models.cross_encoder import PairModel
from elt_llm_core.models.weights import default_cache_dir, int8_weights
from elt_llm_core.provenance import Provenance
from elt_llm_core.store import Collection, NewDocument, Store
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.rerankers.onnx import OnnxCrossEncoder
from elt_llm_query.rerankers.stored_vectors import StoredVectorRerank
from elt_llm_query.resilience import GuardedRerank, InTime
from elt_llm_query.retrieval.hybrid import DenseRetriever
from elt_llm_query.trace import TraceLog

NAME = "bench"
CHUNKS, CANDIDATES, CALLS, ROUNDS = 2_000, 20, 100, 7
ASKED = "word7 word91 word313"
AXES_ARE_INPUTS = 18  # the version of ONNX's operators since which they are


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures here too")
    told = parser.parse_args().json
    embedder = HashEmbedding(dimension=384)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        _fill(store, embedder)
        figures = _measured(store.open(NAME), embedder)
        store.close()
    with tempfile.TemporaryDirectory() as folder:
        figures["cross-encoder"] = _cross_encoder(Path(folder))
    for name, (cpu, wall) in figures.items():
        print(f"{name:<24} {cpu:.3f} ms processor, {wall:.3f} ms wall")
    if told:
        told.write_text(json.dumps(figures, indent=1), encoding="utf-8")


def _measured(
    collection: Collection, embedder: HashEmbedding
) -> dict[str, tuple[float, float]]:
    asked = QueryBundle(ASKED, embedding=embedder.get_query_embedding(ASKED))
    nodes = DenseRetriever(collection, embedder, CANDIDATES).retrieve(asked)
    plain = StoredVectorRerank(embedder).over([collection])
    ways: dict[str, BaseNodePostprocessor] = {
        "alone": plain,
        "guarded": GuardedRerank(plain, TraceLog(), 8, 5.0),
        "in a thread": InTime(plain, 5.0),
    }

    def call(way: BaseNodePostprocessor) -> Callable[[], object]:
        return lambda: way.postprocess_nodes(nodes, asked)

    return {name: _best(call(way)) for name, way in ways.items()}


def _cross_encoder(folder: Path) -> tuple[float, float]:
    """The embedded network, its states averaged into one number for a pair."""
    model = onnx.load_from_string(int8_weights(default_cache_dir()))
    states = model.graph.output[0].name
    model.graph.initializer.append(
        numpy_helper.from_array(np.array([1, 2], np.int64), "axes_of_all")
    )
    opset = model.opset_import[0].version
    mean = (
        helper.make_node("ReduceMean", [states, "axes_of_all"], ["logit"], keepdims=0)
        if opset >= AXES_ARE_INPUTS
        else helper.make_node(
            "ReduceMean", [states], ["logit"], axes=[1, 2], keepdims=0
        )
    )
    model.graph.node.append(mean)
    del model.graph.output[:]
    model.graph.output.append(
        helper.make_tensor_value_info("logit", TensorProto.FLOAT, [1])
    )
    onnx.save(model, folder / "model.onnx")
    data = files("elt_llm_core.models").joinpath("data/tokenizer.json").read_bytes()
    (folder / "tokenizer.json").write_bytes(data)
    rerank = OnnxCrossEncoder(PairModel(folder), top_n=8)
    texts = [" ".join(["word"] * 149 + [str(i)]) for i in range(CANDIDATES)]
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in texts]
    return _best(lambda: rerank.postprocess_nodes(nodes, QueryBundle(ASKED)), 1)


def _best(call: Callable[[], object], calls: int = CALLS) -> tuple[float, float]:
    rounds = []
    for _ in range(ROUNDS):
        cpu, wall = process_time(), perf_counter()
        for _ in range(calls):
            call()
        spent = process_time() - cpu, perf_counter() - wall
        rounds.append(tuple(1000 * one / calls for one in spent))
    return min(cpu for cpu, _ in rounds), min(wall for _, wall in rounds)


def _fill(store: Store, embedder: HashEmbedding) -> None:
    texts = [f"word{i} word{i * 7 % 997} word{i * 3 % 101}" for i in range(CHUNKS)]
    text, nodes = "", []
    for ordinal, said in enumerate(texts):
        span = {"span_start": len(text), "span_end": len(text) + len(said)}
        text += f"{said}\n"
        place = Provenance(document="bench", ordinal=ordinal, **span)
        nodes.append(provenance.write(TextNode(text=said), place))
    counting = as_counting(embedder)
    parsed = ParsedDocument(title="bench", text=text, blocks=[], parser="bench-1")
    new = NewDocument(
        uri="bench:one",
        name="bench",
        sha256=digest(text),
        mime="text/plain",
        parsed=parsed,
        nodes=nodes,
        config_key="bench",
    )
    with store.writer() as writer:
        writer.ensure_collection(NAME, counting, "bench")
        writer.put_vectors(counting.digest, texts, counting.embed_array(texts))
        writer.put_document(NAME, new)
        writer.publish([NAME], force=True)


if __name__ == "__main__":
    main()

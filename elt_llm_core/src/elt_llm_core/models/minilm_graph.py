"""The network of MiniLM as an ONNX graph, without what one text at a time needs not.

The shipped graph comes from an exporter: it has a mask, looks for numbers that are not,
and projects queries, keys and values in three steps. This one has the same weights and
gives the same states in 55 to 72 % of the time ("How long an answer takes" in
docs/explanation/measurements/answers.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

LAYERS, HEADS, WIDTH = 6, 12, 384  # of all-MiniLM-L6-v2
EPSILON = 1e-12  # of its layer norms
OPSET, IR_VERSION = 20, 10  # the first set with Gelu; the version of the shipped file
MATRICES = ("q", "k", "v", "o", "i", "p")  # of a layer, in the order of the graph
NORMS = {"l1": "attention.output.LayerNorm", "l2": "output.LayerNorm"}
BIASES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "o": "attention.output.dense",
    "i": "intermediate.dense",
    "p": "output.dense",
}
_TABLES = {"words": "word_embeddings", "places": "position_embeddings"}
_EMBEDDINGS = "inner.embeddings."

Arrays = Mapping[str, NDArray[Any]]


def layer_names(names: Sequence[str], layer: int) -> Iterator[tuple[str, str]]:
    """Yield our name of each array of a layer ("q.weight"), and the shipped name.

    Args:
        names: The names of all arrays of the shipped file, in its order.
        layer: The number of the layer, from 0.
    """
    # The exporter numbered the matrices of the layers in the order of the graph.
    numbered = [name for name in names if name.startswith("val_")]
    matrices = [name[:-2] for name in numbered if name.endswith("_q")]
    start, inside = layer * len(MATRICES), f"inner.encoder.layer.{layer}"
    for part, place in zip(MATRICES, matrices[start:], strict=False):
        yield f"{part}.weight", f"{place}_q"
        yield f"{part}.scale", f"{place}_scale"
        yield f"{part}.bias", f"{inside}.{BIASES[part]}.bias"
    for part, place in NORMS.items():
        yield f"{part}.weight", f"{inside}.{place}.weight"
        yield f"{part}.bias", f"{inside}.{place}.bias"


def build_graph(shipped: bytes, trained: Arrays = MappingProxyType({})) -> bytes:
    """Return the network as an ONNX file in float32.

    Its inputs are `input_ids` and `token_type_ids`, shape (1, n); its output is the
    state of each token, shape (1, n, 384).

    Args:
        shipped: The shipped ONNX file, whose weights it gets.
        trained: Arrays that replace those of the shipped file, named by layer
            ("2.q.weight"); all of a layer, or none.

    Raises:
        KeyError: If an array of a trained layer is missing.
    """
    import onnx  # noqa: PLC0415 - only where nothing is cached

    model = onnx.load_from_string(shipped)
    arrays = {
        one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer
    }
    graph = _Graph()
    state = _embed(graph, arrays)
    for layer in range(LAYERS):
        places = dict(layer_names(list(arrays), layer))
        ours = {name: arrays[place] for name, place in places.items()}
        if any(name.startswith(f"{layer}.") for name in trained):
            ours = {name: trained[f"{layer}.{name}"] for name in places}
        state = _add_layer(graph, f"{layer}.", ours, state)
    return graph.serialise(state)


class _Graph:
    """Nodes and constants, in the order in which they are added."""

    def __init__(self) -> None:
        import onnx  # noqa: PLC0415 - only where nothing is cached

        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        kept = np.ascontiguousarray(array)
        self._constants.append(self._onnx.numpy_helper.from_array(kept, name))
        return name

    def node(self, kind: str, inputs: Sequence[str], name: str, **rest: Any) -> str:
        """Add a node with one output and return the output's name."""
        return self.nodes(kind, inputs, [name], **rest)[0]

    def nodes(
        self, kind: str, inputs: Sequence[str], names: Sequence[str], **rest: Any
    ) -> list[str]:
        """Add a node with several outputs and return their names."""
        make = self._onnx.helper.make_node
        self._nodes.append(make(kind, inputs, names, name=names[0], **rest))
        return list(names)

    def normalise(self, name: str, state: str, arrays: Arrays, of: str) -> str:
        """Add a layer norm with the weights `of`, and return its output's name."""
        weight = self.constant(f"{name}.weight", arrays[f"{of}.weight"])
        bias = self.constant(f"{name}.bias", arrays[f"{of}.bias"])
        inputs = [state, weight, bias]
        return self.node("LayerNormalization", inputs, name, axis=-1, epsilon=EPSILON)

    def project(
        self, name: str, state: str, weight: NDArray[Any], bias: NDArray[Any]
    ) -> str:
        """Add a product with a matrix and a sum, and return the sum's name."""
        inputs = [state, self.constant(f"{name}.weight", weight)]
        product = self.node("MatMul", inputs, f"{name}.product")
        return self.node("Add", [product, self.constant(f"{name}.bias", bias)], name)

    def serialise(self, output: str) -> bytes:
        """Return the graph as an ONNX file with the output."""
        make, kinds = self._onnx.helper, self._onnx.TensorProto
        inputs = [
            make.make_tensor_value_info(name, kinds.INT64, [1, "n"])
            for name in ("input_ids", "token_type_ids")
        ]
        outputs = [make.make_tensor_value_info(output, kinds.FLOAT, [1, "n", WIDTH])]
        graph = make.make_graph(self._nodes, "minilm", inputs, outputs, self._constants)
        model = make.make_model(graph, opset_imports=[make.make_opsetid("", OPSET)])
        model.ir_version = IR_VERSION
        content: bytes = model.SerializeToString()
        return content


def _embed(graph: _Graph, arrays: Arrays) -> str:
    """Add the sum of the three embeddings of each token."""
    for name, table in _TABLES.items():
        place = f"{_EMBEDDINGS}{table}.weight"
        graph.constant(name, _widen(arrays[f"{place}_q"], arrays[f"{place}_scale"]))
    kinds = arrays[f"{_EMBEDDINGS}token_type_embeddings.weight"]
    graph.constant("kinds", kinds)
    graph.constant("every", arrays[f"{_EMBEDDINGS}position_ids"])
    for name, number in {"start": 0, "axis": 1}.items():
        graph.constant(name, np.array([number], np.int64))
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.node("Slice", ["every", "start", "length", "axis"], "numbers")
    graph.node("Gather", ["words", "input_ids"], "word")
    graph.node("Gather", ["places", "numbers"], "place")
    graph.node("Gather", ["kinds", "token_type_ids"], "kind")
    graph.node("Add", ["word", "place"], "placed")
    total = graph.node("Add", ["placed", "kind"], "total")
    return graph.normalise("embedded", total, arrays, f"{_EMBEDDINGS}LayerNorm")


def _add_layer(graph: _Graph, at: str, ours: Arrays, state: str) -> str:
    """Add a layer and return the name of its states."""
    weights = {
        name: _widen(ours[f"{name}.weight"], ours[f"{name}.scale"]) for name in MATRICES
    }
    biases = {name: ours[f"{name}.bias"] for name in MATRICES}
    three = ("q", "k", "v")
    projected = graph.project(
        f"{at}qkv",
        state,
        np.concatenate([weights[name] for name in three], axis=1),
        np.concatenate([biases[name] for name in three]),
    )
    mixed = _attend(graph, at, projected)
    out = graph.project(f"{at}o", mixed, weights["o"], biases["o"])
    added = graph.node("Add", [out, state], f"{at}attended")
    middle = graph.normalise(f"{at}l1", added, ours, "l1")
    inner = graph.project(f"{at}i", middle, weights["i"], biases["i"])
    active = graph.node("Gelu", [inner], f"{at}active")
    out = graph.project(f"{at}p", active, weights["p"], biases["p"])
    added = graph.node("Add", [out, middle], f"{at}summed")
    return graph.normalise(f"{at}l2", added, ours, "l2")


def _attend(graph: _Graph, at: str, projected: str) -> str:
    """Add the attention of twelve heads and return the name of its output."""
    size = WIDTH // HEADS
    shape = graph.constant(f"{at}heads", np.array([-1, 3, HEADS, size], np.int64))
    parts = graph.node("Reshape", [projected, shape], f"{at}parts")
    turned = graph.node("Transpose", [parts], f"{at}turned", perm=[1, 2, 0, 3])
    one_each = graph.constant(f"{at}each", np.ones(3, np.int64))
    names = [f"{at}queries", f"{at}keys", f"{at}values"]
    queries, keys, values = graph.nodes("Split", [turned, one_each], names, axis=0)
    keys = graph.node("Transpose", [keys], f"{at}columns", perm=[0, 1, 3, 2])
    scale = graph.constant(f"{at}scale", np.array(size**-0.5, np.float32))
    queries = graph.node("Mul", [queries, scale], f"{at}scaled")
    scores = graph.node("MatMul", [queries, keys], f"{at}scores")
    shares = graph.node("Softmax", [scores], f"{at}shares", axis=-1)
    mixed = graph.node("MatMul", [shares, values], f"{at}mixed")
    mixed = graph.node("Transpose", [mixed], f"{at}rows", perm=[0, 2, 1, 3])
    flat = graph.constant(f"{at}flat", np.array([1, -1, WIDTH], np.int64))
    return graph.node("Reshape", [mixed, flat], f"{at}context")


def _widen(weight: NDArray[Any], scale: NDArray[Any]) -> NDArray[np.float32]:
    """Return int8 weights as float32."""
    return weight.astype(np.float32) * scale.astype(np.float32)

"""A real ONNX cross-encoder of a few nodes: it counts the words that pairs share."""

import sys
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INPUTS = ("input_ids", "token_type_ids")


def write_model(folder: Path, outputs: int = 1, inputs=INPUTS) -> Path:
    """`model.onnx` and the embedder's tokenizer; the output is the shared words less 3.

    With two outputs the first is 0; with more they are all the same.
    """
    target = folder / "onnx" / "model.onnx"
    target.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(_graph(outputs, inputs), target)
    data = files("elt_llm_core.models").joinpath("data/tokenizer.json").read_bytes()
    (folder / "tokenizer.json").write_bytes(data)
    return folder


def _graph(outputs: int, inputs) -> onnx.ModelProto:
    """Equal tokens of the first and the second text, the [SEP] of both left out."""
    ids, kinds = inputs
    node = helper.make_node
    scale = np.zeros((1, outputs), np.float32)
    scale[0, 1 if outputs == 2 else slice(None)] = 1
    steps = [
        node("Unsqueeze", [ids, "one"], ["row"]),
        node("Unsqueeze", [ids, "two"], ["column"]),
        node("Equal", ["row", "column"], ["equal"]),
        node("Cast", [kinds], ["second"], to=TensorProto.BOOL),
        node("Not", ["second"], ["first"]),
        node("Unsqueeze", ["first", "one"], ["in_first"]),
        node("Unsqueeze", ["second", "two"], ["in_second"]),
        node("And", ["in_first", "in_second"], ["across"]),
        node("And", ["equal", "across"], ["shared"]),
        node("Cast", ["shared"], ["counted"], to=TensorProto.FLOAT),
        node("ReduceSum", ["counted", "axes"], ["sum"], keepdims=0),
        node("Sub", ["sum", "four"], ["less"]),
        node("Unsqueeze", ["less", "one"], ["margin"]),
        node("Mul", ["margin", "scale"], ["logits"]),
    ]
    given = [
        helper.make_tensor_value_info(name, TensorProto.INT64, [1, "n"])
        for name in inputs
    ]
    constants = {
        "one": np.array([1], np.int64),
        "two": np.array([2], np.int64),
        "axes": np.array([1, 2], np.int64),
        "four": np.array([4], np.float32),
        "scale": scale,
    }
    graph = helper.make_graph(
        steps,
        "shared words",
        given,
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, outputs])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9)


class StubEncoder:
    """What of sentence-transformers is used: the only way without torch and weights."""

    made: list  # type: ignore[type-arg]
    batches: list  # type: ignore[type-arg]

    def __init__(self, name, **options):
        if name == "nowhere/none":
            raise OSError("not on this machine")
        self.made.append((name, options))

    def predict(self, pairs, *, show_progress_bar, activation_fn):
        self.batches.append(len(pairs))
        if any("broken" in text for _, text in pairs):
            raise RuntimeError("out of memory")
        shared = [len({*q.split()} & {*t.split()}) for q, t in pairs]
        return np.array([0.1 + 0.2 * n for n in shared], np.float32)


def stub_sentence_transformers(monkeypatch) -> type[StubEncoder]:
    """Put a stub in the place of the extra, and make our module anew over it."""
    stub = type("CrossEncoder", (StubEncoder,), {"made": [], "batches": []})
    outside = ModuleType("sentence_transformers")
    outside.CrossEncoder = stub
    torch, nn = ModuleType("torch"), ModuleType("torch.nn")
    nn.Sigmoid = object
    for module in (outside, torch, nn):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    forget(monkeypatch)
    return stub


def forget(monkeypatch) -> None:
    """Let our module over the extra be imported anew, in this test alone."""
    name = "elt_llm_query.rerankers.sentence_transformers"
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, name)

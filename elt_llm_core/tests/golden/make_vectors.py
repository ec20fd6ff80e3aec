"""Record the vectors that the embedded model gives in exact integer arithmetic.

The network is run by ONNX's reference evaluator, in numpy: no instruction set rounds or
saturates there. Write the file again whenever the recipe of the weights changes:

    uv run python elt_llm_core/tests/golden/make_vectors.py
"""

import json
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from elt_llm_core.models.minilm import load_tokenizer
from elt_llm_core.models.weights import default_cache_dir, int8_weights

HERE = Path(__file__).parent


class DequantizeLinear(OpRun):  # type: ignore[misc]
    """The operator as of opset 17, which the evaluator lacks: one scale a tensor."""

    def _run(self, x, scale, zero=0, **_: object):  # type: ignore[no-untyped-def]
        return (((x.astype(np.int32) - zero) * scale).astype(np.float32),)


def vector(network: ReferenceEvaluator, ids: list[int]) -> NDArray[np.float32]:
    """The unit vector of one text."""
    row = np.array([ids], dtype=np.int64)
    inputs = {"input_ids": row, "token_type_ids": np.zeros_like(row)}
    mean = network.run(None, inputs)[0][0].mean(axis=0)
    unit: NDArray[np.float32] = mean / np.linalg.norm(mean)
    return unit


def main() -> None:
    """Write `vectors.npy` beside `vectors.json`, which holds the texts."""
    texts = json.loads((HERE / "vectors.json").read_text(encoding="utf-8"))
    model = onnx.load_from_string(int8_weights(default_cache_dir()))
    network = ReferenceEvaluator(model, new_ops=[DequantizeLinear])
    tokenizer = load_tokenizer()
    rows = [vector(network, tokenizer.encode(text).ids) for text in texts]
    np.save(HERE / "vectors.npy", np.array(rows, dtype=np.float32))


if __name__ == "__main__":
    main()

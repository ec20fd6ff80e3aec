"""How long the embedded network takes, as it ships and as it is built anew.

    python benchmarks/embedded_network.py [--rounds 40]

Both have the same weights and are converted to int8 in the same way; the shipped one is
run with onnxruntime's own settings, too. Prints processor milliseconds of one text in
one thread, by its number of tokens, all in turn; and how alike the vectors of the texts
in `elt_llm_core/tests/golden` are to the recorded ones.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from elt_llm_core.models.minilm import load_tokenizer, open_session
from elt_llm_core.models.minilm_graph import build_graph
from elt_llm_core.models.weights import quantise, shipped_weights

LENGTHS = (8, 16, 32, 64, 128, 256)  # tokens
GOLDEN = Path(__file__).parents[1] / "elt_llm_core" / "tests" / "golden"


def fold(model: bytes) -> bytes:
    """Return an ONNX file with its int8 weights as float32, which `quantise` reads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "folded.onnx")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.optimized_model_filepath = str(path)
        level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.graph_optimization_level = level
        providers = ["CPUExecutionProvider"]
        onnxruntime.InferenceSession(model, options, providers=providers)
        return path.read_bytes()


def default_session(model: bytes) -> onnxruntime.InferenceSession:
    """Return a session with one thread and onnxruntime's own optimisations."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"]
    )


def states(
    session: onnxruntime.InferenceSession, ids: list[int]
) -> NDArray[np.float32]:
    """Return the states of a text's tokens."""
    row = np.array([ids], dtype=np.int64)
    values = {
        "input_ids": row,
        "attention_mask": np.ones_like(row),
        "token_type_ids": np.zeros_like(row),
    }
    inputs = {one.name: values[one.name] for one in session.get_inputs()}
    return np.asarray(session.run(None, inputs)[0][0], np.float32)


def main() -> None:
    """Print a row a length, then the likeness of the vectors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    shipped = shipped_weights()
    folded = quantise(fold(shipped))
    sessions = {
        "as shipped": default_session(folded),
        "norms apart": open_session(folded),
        "built": open_session(quantise(build_graph(shipped))),
    }
    print(f"| tokens | {' | '.join(sessions)}, ms | built / as shipped |")
    print("|---" * (len(sessions) + 2) + "|")
    for length in LENGTHS:
        ids = [101, *range(2000, 1998 + length), 102]
        spent = dict.fromkeys(sessions, 0.0)
        for _ in range(rounds):
            for name, session in sessions.items():
                start = time.process_time()
                states(session, ids)
                spent[name] += (time.process_time() - start) / rounds * 1000
        times = " | ".join(f"{one:.2f}" for one in spent.values())
        print(f"| {length} | {times} | {spent['built'] / spent['as shipped']:.2f} |")
    texts = json.loads((GOLDEN / "vectors.json").read_text(encoding="utf-8"))
    recorded, tokenizer = np.load(GOLDEN / "vectors.npy"), load_tokenizer()
    for name, session in sessions.items():
        means = [states(session, tokenizer.encode(t).ids).mean(axis=0) for t in texts]
        cosines = [
            float(mean @ row) / float(np.linalg.norm(mean))
            for mean, row in zip(means, recorded, strict=True)
        ]
        print(f"{name}: cosine {np.mean(cosines):.5f}, least {min(cosines):.5f}")


if __name__ == "__main__":
    main()

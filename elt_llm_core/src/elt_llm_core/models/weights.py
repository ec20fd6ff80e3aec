"""Where the embedded model's int8 weights are kept, and how they are found again."""

import importlib
import logging
import os
from hashlib import sha256
from pathlib import Path

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
RECIPE = (
    "dynamic int8 per channel, weights of 7 bits, one text per run, mean, unit length, "
    "256 tokens"
)

# The number rises when the recipe changes, so that older files are left alone.
PREFIX = "minilm-int8-2-"

logger = logging.getLogger(__name__)


def embedded_digest() -> str:
    """Identity of weights, tokenizer and recipe: 64 hex digits, equal anywhere."""
    parts = "\n".join((WEIGHTS_SHA256, TOKENIZER_SHA256, RECIPE))
    return sha256(parts.encode()).hexdigest()


def default_cache_dir() -> Path:
    """`$ELT_LLM_CACHE_DIR`, else `$XDG_CACHE_HOME/elt-llm`, else `~/.cache/elt-llm`."""
    ours = os.environ.get("ELT_LLM_CACHE_DIR")
    if ours:
        return Path(ours)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "elt-llm"


def int8_weights(folder: Path) -> bytes:
    """The int8 model: from the cache, or made now and kept there.

    A folder that cannot be written costs two seconds at every start and a warning; a
    machine without room for temporary files gets the shipped weights, half as fast.
    Raises ModelError if the shipped file is not the known one.
    """
    found = cached(folder)
    if found is not None:
        return found
    # Loaded only now: the quantiser and its graph library are needed once, not always.
    maker = importlib.import_module("elt_llm_core.models.quantise")
    try:
        made: bytes = maker.quantise()
    except OSError as error:
        logger.warning(
            "no room to make the int8 model (%s): using it as shipped", error
        )
        shipped: bytes = maker.shipped_weights()
        return shipped
    try:
        maker.store(folder, PREFIX, made)
    except OSError as error:
        logger.warning(
            "cannot keep the int8 model in %s (%s): it is made again at every start, "
            "set ELT_LLM_CACHE_DIR to a folder that can be written",
            folder,
            error,
        )
    return made


def cached(folder: Path) -> bytes | None:
    """The kept model whose bytes still have the checksum in its name, or None."""
    for path in sorted(folder.glob(f"{PREFIX}*.onnx")):
        try:
            model = path.read_bytes()
        except OSError:
            continue
        if sha256(model).hexdigest() == path.stem.removeprefix(PREFIX):
            return model
        logger.warning("%s is damaged and will be made again", path.name)
    return None

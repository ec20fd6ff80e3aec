"""The models: embedders and language models.

Both are strategies (`elt_llm_core.strategy`); nothing here loads a model.
"""

import os
from typing import TYPE_CHECKING

from elt_llm_core.models.embedder import (
    CountingEmbedder,
    EmbedderPrompt,
    as_counting,
    prompt_for,
)
from elt_llm_core.strategy import Stage

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import LLM

__all__ = [
    "EMBEDDERS",
    "LLMS",
    "CountingEmbedder",
    "EmbedderPrompt",
    "as_counting",
    "prompt_for",
]

# Since 1.29 ONNX Runtime sends telemetry from Linux too: importing it writes a device
# id and a queue of reports to the user's cache. Its own setting comes too late; only
# the environment variable, set before the import, prevents it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

LLMS: "Stage[LLM | None]" = Stage("llms")
EMBEDDERS: "Stage[BaseEmbedding]" = Stage("embedders")

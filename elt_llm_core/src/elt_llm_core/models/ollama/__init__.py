"""Ollama through its own API: LlamaIndex components that check what they receive.

A prompt that the server truncated, an incomplete answer and an invalid vector raise
errors here; the stock classes of LlamaIndex pass them on.
"""

from elt_llm_core.models.ollama.ollama_chat import (
    DEFAULT_URL,
    CheckedOllama,
    OllamaChat,
)
from elt_llm_core.models.ollama.ollama_client import (
    CheckedAsyncClient,
    CheckedClient,
    chat_error,
    embed_error,
    model_names,
)
from elt_llm_core.models.ollama.ollama_embedding import (
    MARGIN,
    CheckedOllamaEmbedding,
    OllamaEmbedder,
)
from elt_llm_core.models.ollama.server_status import (
    LoadedModel,
    ServerStatus,
    canonical,
    check_ollama_connection,
    server_status,
)

__all__ = [
    "DEFAULT_URL",
    "MARGIN",
    "CheckedAsyncClient",
    "CheckedClient",
    "CheckedOllama",
    "CheckedOllamaEmbedding",
    "LoadedModel",
    "OllamaChat",
    "OllamaEmbedder",
    "ServerStatus",
    "canonical",
    "chat_error",
    "check_ollama_connection",
    "embed_error",
    "model_names",
    "server_status",
]

"""For tests: models that need no download, a model server's protocol, a network guard.

Strangers who write a strategy may use it too.
"""

from elt_llm_core.testing.fakes import HashEmbedding, ScriptedLLM
from elt_llm_core.testing.ollama_server import Fault, OllamaServer, Recorded
from elt_llm_core.testing.sockets import NetworkBlockedError, no_network

__all__ = [
    "Fault",
    "HashEmbedding",
    "NetworkBlockedError",
    "OllamaServer",
    "Recorded",
    "ScriptedLLM",
    "no_network",
]

"""For tests: models without a download, contracts of the stages, a network guard.

Packages with their own strategies use it too.
"""

from elt_llm_core.testing.fakes import HashEmbedding, ScriptedLLM
from elt_llm_core.testing.sockets import NetworkBlockedError, no_network

__all__ = [
    "HashEmbedding",
    "NetworkBlockedError",
    "ScriptedLLM",
    "no_network",
]

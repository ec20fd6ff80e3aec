"""Every chunker keeps the contract of its stage."""

import pytest
from llama_index.core.node_parser import NodeParser

from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_core.testing.contracts import ChunkerContract
from elt_llm_ingest import CHUNKERS

OPTIONS = {"hierarchical": {"parent_sizes": (80, 240)}}
FACT = '{"fact": "The deposit is 40 euros.", "sentences": [1]}'


@pytest.mark.parametrize("strategy", sorted(CHUNKERS.known()), indirect=True)
class TestChunkers(ChunkerContract):
    @pytest.fixture(autouse=True)
    def strategy(self, request: pytest.FixtureRequest) -> None:
        self.name: str = request.param

    def make(self) -> NodeParser:
        options = {"chunk_size": 40, **OPTIONS.get(self.name, {})}
        models = Models(HashEmbedding(), ScriptedLLM(lambda prompt: FACT))
        return CHUNKERS.load(self.name, options).build(models)

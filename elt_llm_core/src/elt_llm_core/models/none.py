"""No generative model: answers are quoted sentences, or an honest refusal."""

from llama_index.core.llms import LLM
from typing_extensions import override

from elt_llm_core.strategy import Models, Strategy


class NoLLM(Strategy[LLM | None]):
    """The default where no model server runs."""

    @override
    def build(self, models: Models | None = None) -> LLM | None:
        """None, always."""
        return None

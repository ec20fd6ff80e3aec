"""No model: answers are quoted sentences, or a refusal; nothing is embedded."""

from typing import NoReturn

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from typing_extensions import override

from elt_llm_core.errors import ModelError
from elt_llm_core.strategy import Models, Strategy


class NoLLM(Strategy[LLM | None]):
    """The default if no model server runs."""

    @override
    def build(self, models: Models | None = None) -> LLM | None:
        """Return None."""
        return None


class NoEmbedding(BaseEmbedding):
    """An embedder that must not be used: each call raises ModelError.

    It is used if the configured model cannot be shown to be that of the stored vectors,
    because its vectors would not be comparable.
    """

    model_name: str = "none"

    @override
    def _get_query_embedding(self, query: str) -> NoReturn:
        raise _nothing_embeds()

    @override
    async def _aget_query_embedding(self, query: str) -> NoReturn:
        raise _nothing_embeds()

    @override
    def _get_text_embedding(self, text: str) -> NoReturn:
        raise _nothing_embeds()


def _nothing_embeds() -> ModelError:
    return ModelError(
        "the question has no vector, so it cannot be compared with others",
        "fix the embedder; elt-llm doctor shows what is wrong",
    )

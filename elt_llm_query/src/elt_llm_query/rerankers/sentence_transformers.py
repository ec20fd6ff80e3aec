"""Order candidates by a cross-encoder of sentence-transformers (an extra, with torch).

LlamaIndex's `SentenceTransformerRerank` is not used, because it changes its input
nodes, trusts code from the hub, sorts a score of 0 wrongly and has no time limit.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr
from sentence_transformers import CrossEncoder
from torch.nn import Sigmoid
from typing_extensions import override

from elt_llm_core.errors import MissingModelError, ModelError
from elt_llm_core.strategy import Models
from elt_llm_query.rerankers.pair_rerank import PairRerank, PairRerankOptions

DEFAULT = "cross-encoder/ms-marco-MiniLM-L-6-v2"


class TorchCrossEncoder(PairRerank):
    """Scores by a `CrossEncoder` of sentence-transformers, 0 to 1."""

    _model: CrossEncoder = PrivateAttr()

    def __init__(self, model: CrossEncoder, **options: object) -> None:
        super().__init__(**options)
        self._model = model

    @override
    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        pairs = [(question, text) for text in texts]
        try:
            found = self._model.predict(
                pairs, show_progress_bar=False, activation_fn=Sigmoid()
            )
        except RuntimeError as error:
            raise ModelError(
                f"the cross-encoder failed: {error}", "use a smaller batch_size"
            ) from error
        return np.asarray(found, np.float64).reshape(len(pairs), -1)[:, -1]


class TorchCrossEncoderOptions(PairRerankOptions):
    """Order by a cross-encoder of sentence-transformers (extra `cross-encoder`)."""

    model: str = Field(
        default=DEFAULT, description="a folder, or the name of a model on the hub"
    )
    download: bool = Field(
        default=False, description="download a model that is not on this machine"
    )

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        loaded = _load(self.model, self.max_tokens, self.download)
        return TorchCrossEncoder(loaded, **self.reading)


@lru_cache(
    maxsize=2
)  # each question builds a reranker, and loading a model takes seconds
def _load(model: str, max_tokens: int, download: bool) -> CrossEncoder:
    try:
        return CrossEncoder(
            model,
            max_length=max_tokens,
            device="cpu",
            local_files_only=not download,
            trust_remote_code=False,
        )
    except (OSError, ValueError) as error:
        raise MissingModelError(
            f"the cross-encoder {model!r} cannot be loaded: {error}",
            "set the folder of a model, or allow the download: "
            "query.reranker_options: {download: true}",
        ) from error

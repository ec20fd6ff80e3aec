"""Order candidates by an ONNX cross-encoder in a folder; nothing is downloaded."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.models.cross_encoder import PairModel
from elt_llm_core.strategy import Models
from elt_llm_query.rerankers.pair_rerank import PairRerank, PairRerankOptions


class OnnxCrossEncoder(PairRerank):
    """Scores by a `PairModel`; see there for the files that the folder must contain."""

    _model: PairModel = PrivateAttr()

    def __init__(self, model: PairModel, **options: object) -> None:
        super().__init__(**options)
        self._model = model

    @override
    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        return self._model.scores(question, texts)


class OnnxCrossEncoderOptions(PairRerankOptions):
    """Order by a cross-encoder in this process, from local files."""

    folder: Path = Field(description="folder with model.onnx and tokenizer.json")
    threads: int = Field(default=0, ge=0, description="0: all cores")

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        model = PairModel(self.folder, self.max_tokens, self.threads)
        return OnnxCrossEncoder(model, **self.reading)

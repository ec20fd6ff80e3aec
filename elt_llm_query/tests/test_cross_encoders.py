"""Cross-encoders: an ONNX model in a folder, and those of sentence-transformers."""

import sys

import numpy as np
import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from elt_llm_core.errors import ConfigError, MissingExtraError, ModelError
from elt_llm_core.models.cross_encoder import PairModel, sigmoid
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.rerankers.onnx import OnnxCrossEncoder
from elt_llm_query.resilience import GuardedRerank
from elt_llm_query.stages import RERANKERS
from elt_llm_query.trace import TraceLog
from pair_model import forget, stub_sentence_transformers, write_model
from query_world import TEXTS, candidates
from step_world import said

# A cross-encoder from a folder.


@pytest.mark.parametrize("outputs", [1, 2])
def test_scores_are_probabilities_and_do_not_depend_on_company(tmp_path, outputs):
    folder = write_model(tmp_path, outputs)
    texts = [*TEXTS, "a room to read a book in, and a group room " * 60]
    model = PairModel(folder, max_tokens=64, threads=2)
    together = model.scores("a book in the reading room", texts)
    assert ((together > 0) & (together < 1)).all()
    alone = [PairModel(folder, 64, 1).scores("a book in the reading room", [t])[0]
             for t in texts]  # fmt: skip
    assert together.tolist() == alone
    # "reading room" and [SEP] are shared
    assert together[2] == pytest.approx(sigmoid(np.array([3.0 - 4.0]))[0])


def test_a_model_is_read_once_while_it_stays_the_same(tmp_path):
    folder = write_model(tmp_path)
    first = PairModel(folder).scores("room", TEXTS)
    (folder / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not a tokenizer"):
        PairModel(folder)
    write_model(folder)
    assert PairModel(folder).scores("room", TEXTS).tolist() == first.tolist()


def test_what_is_no_cross_encoder_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"model\.onnx or onnx/model\.onnx"):
        RERANKERS.load("cross_encoder_onnx", {"folder": tmp_path}).build(
            Models(HashEmbedding())
        )
    folder = write_model(tmp_path, inputs=("pixels", "token_type_ids"))
    with pytest.raises(ConfigError, match=r"its inputs are \['pixels'"):
        PairModel(folder)
    (folder / "onnx" / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ConfigError, match="cannot be read"):
        PairModel(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"tokenizer\.json is missing"):
        PairModel(folder)
    with pytest.raises(ConfigError, match="'folder'"):
        RERANKERS.load("cross_encoder_onnx", {})


def test_a_model_with_other_outputs_leaves_the_order(tmp_path):
    model = PairModel(write_model(tmp_path, outputs=3))
    with pytest.raises(ModelError, match="for one pair"):
        model.scores("room", TEXTS)
    log, given = TraceLog(), candidates()
    rerank = GuardedRerank(OnnxCrossEncoder(model), log, 3, 60.0)
    assert said(rerank.postprocess_nodes(given, query_str="room")) == TEXTS[:3]
    assert "for one pair" in log.degradations[0].detail


# sentence-transformers.


def test_without_the_extra_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    forget(monkeypatch)
    with pytest.raises(MissingExtraError, match="--inexact --extra cross-encoder"):
        RERANKERS.load("cross_encoder", {})


def test_sentence_transformers_reads_in_batches_and_downloads_nothing(monkeypatch):
    stubbed = stub_sentence_transformers(monkeypatch)

    def ready(**options):
        loaded = RERANKERS.load("cross_encoder", options)
        return loaded.build(Models(HashEmbedding()))

    reranker = ready(model="a/model", batch_size=2, top_n=2)
    found = reranker.postprocess_nodes(candidates(), query_str="reading room")
    assert said(found) == ["reading room", "group room"]
    assert stubbed.batches == [2, 2, 1]
    ((name, options),) = stubbed.made
    assert name == "a/model"
    assert (options["local_files_only"], options["trust_remote_code"]) == (True, False)
    ready(model="a/model", download=True)
    assert stubbed.made[-1][1]["local_files_only"] is False
    with pytest.raises(ConfigError, match="download: true"):
        ready(model="nowhere/none")
    with pytest.raises(ModelError, match="out of memory"):
        reranker.postprocess_nodes(
            [NodeWithScore(node=TextNode(text="broken"))], query_str="x"
        )

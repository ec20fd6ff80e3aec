import asyncio
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from elt_llm_core.errors import EmbedError, ModelError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.models import EMBEDDERS, as_counting, weights
from elt_llm_core.models.minilm import (
    DIMENSION,
    MAX_TOKENS,
    Embedded,
    OnnxEmbedding,
    open_session,
)
from elt_llm_core.models.minilm_graph import build_graph
from elt_llm_core.testing import no_network

DIGEST = "a359f818c9bcc07687dfb858b0d71458f7b69efc6fae1c5897640e71a457c017"

# A sentence, its paraphrase, and one that shares more words with it than meaning.
TRIPLES = [
    (
        "How long must records be kept?",
        "Documents are retained for a minimum of five years.",
        "He broke two records at the athletics meeting.",
    ),
    (
        "The engine must be stopped before refuelling.",
        "Do not fill the tank while the motor is running.",
        "The search engine stopped before the end of the list.",
    ),
    (
        "Staff may work from home two days a week.",
        "Employees are allowed remote work on two weekdays.",
        "The home team staff played two weeks ago.",
    ),
    (
        "Wear gloves when handling the acid.",
        "Protect your hands before touching the corrosive liquid.",
        "How it handles a crisis is the acid test of a plan.",
    ),
]

MIXED = [sentence for triple in TRIPLES for sentence in triple] + [
    "one",
    "",
    "a somewhat longer passage about pumps and valves. " * 12,
]


GOLDEN = Path(__file__).parent / "golden"
# Float kernels differ in the last digit, which may turn an activation over by one step
# of its 256: SSE4 without FMA gives .99985 on average and .994 at the least. Integers
# that saturate gave .992 and .984.
MEAN_COSINE, LEAST_COSINE = 0.998, 0.985
LARGEST_PAIR = 2**15 - 1  # what two products may add up to in sixteen bits


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("weights")


@pytest.fixture(scope="session")
def embedder(cache):
    return OnnxEmbedding(threads=2, cache_dir=cache)


def test_paraphrases_are_nearer_than_shared_words(embedder):
    for sentence, same, other in TRIPLES:
        vector = np.array(embedder.get_query_embedding(sentence))
        near, far = embedder.embed_array([same, other])
        assert float(vector @ near) > float(vector @ far)


def test_vectors_have_unit_length_and_their_type(embedder):
    vectors = embedder.embed_array(MIXED)
    assert vectors.shape == (len(MIXED), DIMENSION)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_a_vector_does_not_depend_on_its_neighbours_or_the_threads(embedder, cache):
    together = embedder.embed_array(MIXED)
    alone = np.concatenate([embedder.embed_array([text]) for text in MIXED])
    np.testing.assert_array_equal(together, alone)
    single = OnnxEmbedding(threads=1, cache_dir=cache)
    np.testing.assert_array_equal(single.embed_array(MIXED[::-1])[::-1], together)


def test_the_llamaindex_methods_give_the_same_vectors(embedder):
    array = embedder.embed_array(MIXED)
    listed = embedder.get_text_embedding_batch(MIXED)
    np.testing.assert_allclose(np.array(listed), array, atol=1e-6)
    one = asyncio.run(embedder.aget_text_embedding(MIXED[0]))
    query = asyncio.run(embedder.aget_query_embedding(MIXED[0]))
    batch = asyncio.run(embedder.aget_text_embedding_batch(MIXED[:2]))
    assert one == query == batch[0] == listed[0]


def test_the_vectors_are_those_of_exact_arithmetic_on_any_processor(embedder):
    texts = json.loads((GOLDEN / "vectors.json").read_text(encoding="utf-8"))
    recorded = np.load(GOLDEN / "vectors.npy")
    vectors = embedder.embed_array(texts)
    cosines = (vectors * recorded).sum(axis=1)
    assert float(cosines.mean()) > MEAN_COSINE
    assert float(cosines.min()) > LEAST_COSINE


@pytest.mark.parametrize("tokens", [2, 9, 256])
def test_the_built_network_gives_the_states_of_the_shipped_one(tokens):
    row = np.array([[101, *range(2000, 1998 + tokens), 102]], dtype=np.int64)
    shipped = weights.shipped_weights()
    inputs = {"input_ids": row, "token_type_ids": np.zeros_like(row)}
    inputs["token_type_ids"][0, tokens // 2 :] = 1
    (built,) = open_session(build_graph(shipped)).run(None, inputs)
    inputs["attention_mask"] = np.ones_like(row)
    (expected,) = open_session(shipped).run(None, inputs)
    assert built.shape == (1, tokens, DIMENSION)
    np.testing.assert_allclose(built, expected, atol=2e-4)


def test_no_two_products_of_the_weights_overflow_sixteen_bits(cache, embedder):
    model = onnx.load_from_string(weights.int8_weights(cache))
    matrices = {
        name
        for node in model.graph.node
        if node.op_type == "MatMulInteger"
        for name in node.input
    }
    largest = [
        int(np.abs(onnx.numpy_helper.to_array(one).astype(int)).max())
        for one in model.graph.initializer
        if one.name in matrices and one.data_type == onnx.TensorProto.INT8
    ]
    assert len(largest) == 2 * 4 * 6  # with zero points: four matrices of six layers
    assert 2 * 255 * max(largest) <= LARGEST_PAIR


def test_no_texts_give_no_vectors(embedder):
    assert embedder.embed_array([]).shape == (0, DIMENSION)


def test_a_text_over_the_limit_is_refused_with_its_length(embedder):
    text = "valve " * 300
    assert embedder.count_tokens(text) == 302
    with pytest.raises(EmbedError, match=r"302 tokens exceeds the 256"):
        embedder.embed_array(["short", text])
    with pytest.raises(EmbedError):
        embedder.get_text_embedding(text)


def test_the_longest_text_that_counts_as_fitting_fits(embedder):
    text = "valve " * (MAX_TOKENS - 2)
    assert embedder.count_tokens(text) == embedder.max_tokens
    assert embedder.embed_array([text]).shape == (1, DIMENSION)


def test_a_query_over_the_limit_is_read_from_its_start(embedder):
    start = "valve " * (MAX_TOKENS - 2)
    long_one = embedder.get_query_embedding(start + "and much more of it")
    assert long_one == embedder.get_query_embedding(start)


def test_token_spans_point_into_the_text(embedder):
    text = "Größe: the ﬁnal naïve-valve £5 — 東京."
    spans = embedder.token_spans(text)
    assert len(spans) == embedder.count_tokens(text) - 2
    pieces = [text[start:end] for start, end in spans]
    assert pieces[:5] == ["Gr", "ö", "ße", ":", "the"]
    assert pieces[5:8] == ["ﬁ", "nal", "naïve"]
    assert all(0 <= a < b <= len(text) for a, b in spans)
    assert spans == sorted(spans)


def test_the_digest_is_the_same_everywhere(embedder):
    assert embedder.digest == DIGEST
    assert embedder.dimension == DIMENSION
    assert as_counting(embedder) is embedder


def test_weights_that_were_changed_are_refused(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not the model")
    with pytest.raises(ModelError, match=r"checksum .* reinstall it"):
        weights.shipped_weights(path)
    with pytest.raises(ModelError, match="cannot read"):
        weights.shipped_weights(tmp_path / "absent.onnx")


def test_a_damaged_cache_file_is_made_again(cache, embedder, tmp_path, caplog):
    (good,) = cache.glob("*.onnx")
    copy = tmp_path / good.name
    copy.write_bytes(good.read_bytes()[:-7] + b"damaged")
    assert weights.read_cached(tmp_path) is None
    assert "is damaged" in caplog.text
    write_atomic(copy, good.read_bytes())
    assert weights.read_cached(tmp_path) == good.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == [good.name]


def test_a_cache_that_cannot_be_written_costs_a_warning(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(weights, "quantise", lambda _: b"int8")
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder should be")
    with caplog.at_level(logging.WARNING):
        assert weights.int8_weights(blocked / "cache") == b"int8"
    assert "ELT_LLM_CACHE_DIR" in caplog.text


def test_an_update_removes_what_earlier_versions_cached(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "quantise", lambda plain: plain)
    first = weights.make_once(tmp_path, "reader-int8-1-ab-", lambda: b"first")
    (older,) = tmp_path.iterdir()
    (tmp_path / "minilm-int8-2-00.onnx").write_bytes(b"of another model")
    (tmp_path / "reader-int8-notes.txt").write_bytes(b"not ours")
    with older.open("rb") as still_open:
        second = weights.make_once(tmp_path, "reader-int8-2-cd-", lambda: b"second")
        assert still_open.read() == first == b"first"
    assert weights.read_cached(tmp_path, "reader-int8-2-cd-") == second == b"second"
    names = sorted(path.name.partition("-cd-")[0] for path in tmp_path.iterdir())
    kept = ["minilm-int8-2-00.onnx", "reader-int8-2", "reader-int8-notes.txt"]
    assert names == kept


def test_what_an_update_cannot_remove_stays_without_an_error(tmp_path, monkeypatch):
    (tmp_path / "reader-int8-1-00.onnx").mkdir()  # cannot be unlinked
    monkeypatch.setattr(weights, "quantise", lambda plain: plain)
    assert weights.make_once(tmp_path, "reader-int8-2-", lambda: b"new") == b"new"
    assert len(list(tmp_path.iterdir())) == 2


def test_without_room_for_temporary_files_the_network_stays_in_float32(
    tmp_path, caplog, monkeypatch
):
    def full(plain: bytes) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(weights, "quantise", full)
    assert weights.int8_weights(tmp_path) == build_graph(weights.shipped_weights())
    assert "float32" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("ELT_LLM_CACHE_DIR", raising=False)
    assert weights.default_cache_dir() == tmp_path / "elt-llm"
    monkeypatch.setenv("ELT_LLM_CACHE_DIR", str(tmp_path / "ours"))
    assert weights.default_cache_dir() == tmp_path / "ours"


def test_fresh_processes_that_race_for_the_cache_all_end_right_and_offline(
    cache, embedder, tmp_path
):
    code = (
        "from elt_llm_core.testing import no_network\n"
        "from elt_llm_core.models import EMBEDDERS\n"
        "with no_network():\n"
        "    embedder = EMBEDDERS.load('embedded').build()\n"
        "    print(embedder.digest, float(embedder.embed_array(['a valve'])[0, 0]))\n"
    )
    kept, home = tmp_path / "kept", tmp_path / "home"
    env = {name: v for name, v in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    racers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code],
            env={**env, "ELT_LLM_CACHE_DIR": str(kept), "XDG_CACHE_HOME": str(home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [racer.communicate(timeout=90) for racer in racers]
    expected = f"{DIGEST} {float(embedder.embed_array(['a valve'])[0, 0])}\n"
    assert said == [(expected, "")] * 2
    (good,) = cache.glob("*.onnx")
    assert [path.name for path in kept.iterdir()] == [good.name]
    assert not home.exists()  # where telemetry would leave its device id


def test_the_door_opens_to_it_and_refuses_unknown_options(cache):
    strategy = EMBEDDERS.load("embedded", {"threads": 1, "cache_dir": str(cache)})
    assert isinstance(strategy, Embedded)
    with no_network():
        built = strategy.build()
    assert isinstance(built, OnnxEmbedding)
    assert built.threads == 1


def test_a_text_that_comes_again_is_not_embedded_again(monkeypatch):
    embedder = OnnxEmbedding()
    texts = ["A loan lasts three weeks.", "A fine is due.", "A loan lasts three weeks."]
    first = embedder.get_text_embedding_batch(texts)
    assert first == [[float(x) for x in row] for row in embedder.embed_array(texts)]
    asked = []

    def embed(self, several):
        asked.extend(several)
        return np.zeros((len(several), DIMENSION), dtype=np.float32)

    monkeypatch.setattr(OnnxEmbedding, "embed_array", embed)
    monkeypatch.setattr("elt_llm_core.models.minilm.KEPT_TEXTS", 2)
    assert embedder.get_text_embedding_batch(texts) == first
    assert asked == []
    embedder.get_text_embedding_batch(["A new text."])
    embedder.get_text_embedding_batch(["A fine is due.", "A loan lasts three weeks."])
    assert asked == ["A new text.", "A loan lasts three weeks."]

"""The sentence reader: which sentence answers a question."""

import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import numpy as np
import onnx
import pytest

from elt_llm_core.errors import ModelError
from elt_llm_core.models import sentence_reader
from elt_llm_core.models.minilm_graph import build_graph
from elt_llm_core.models.sentence_reader import (
    CONTEXT,
    QUESTION,
    SENTENCE,
    ReadSentence,
    SentenceReader,
    build_reader,
    join_pair,
    read_context,
    shared_reader,
    trained_arrays,
    without_number,
)
from elt_llm_core.models.weights import default_cache_dir, shipped_weights
from written_documents import WrittenSentence

ASKED = "Who may prescribe antibiotics?"
ANSWER = ReadSentence("A doctor may prescribe antibiotics and inhalers.", "Medicines.")
OTHERS = [
    ReadSentence("Antibiotics are kept in the locked fridge.", "Medicines."),
    ReadSentence("The clinic opens at eight.", "Opening hours."),
    ReadSentence("Inhalers are cleaned once a week.", "Medicines. Wash your hands."),
]


@pytest.fixture(scope="module")
def reader() -> SentenceReader:
    """The shipped reader."""
    return shared_reader(default_cache_dir())


def test_the_answer_is_read_as_one_and_the_others_are_not(reader):
    scores = reader.score(ASKED, [*OTHERS, ANSWER])
    assert scores.argmax() == len(OTHERS)
    assert scores[-1] > 0
    assert scores[:-1].max() < 0


def test_an_answer_in_other_words_is_read_as_one(reader):
    asked = "How much do I pay if I bring my bike?"
    answer = ReadSentence("Cycles are carried for a charge of four crowns.", "Fares.")
    other = ReadSentence("Bikes that are left behind are sold in May.", "Lost items.")
    scores = reader.score(asked, [other, answer])
    assert scores[1] > scores[0]


def test_a_score_depends_on_its_pair_alone(reader):
    together = reader.score(ASKED, [*OTHERS, ANSWER])
    single = SentenceReader(default_cache_dir(), threads=1)
    alone = [single.score(ASKED, [one])[0] for one in [*OTHERS, ANSWER]]
    np.testing.assert_array_equal(together, alone)
    assert reader.score(ASKED, []).shape == (0,)


def test_a_pair_is_read_once_and_few_are_kept(monkeypatch):
    reader = SentenceReader(default_cache_dir(), threads=2)
    first = reader.score(ASKED, [*OTHERS, ANSWER, ANSWER])
    monkeypatch.setattr(reader, "_log_odds", lambda _: pytest.fail("read again"))
    np.testing.assert_array_equal(reader.score(ASKED, [*OTHERS, ANSWER, ANSWER]), first)
    monkeypatch.setattr(reader, "_log_odds", lambda _: 1.0)
    monkeypatch.setattr(sentence_reader, "KEPT_SCORES", 2)
    assert list(reader.score("Which?", [*OTHERS, ANSWER])) == [1.0] * 4
    assert len(reader._kept) == 2
    assert list(reader.score(ASKED, [ANSWER])) == [1.0]


def test_long_texts_are_cut(reader):
    long = "word " * 400
    ids, first = join_pair(range(300), range(300), range(300))
    assert len(ids) == QUESTION + CONTEXT + SENTENCE + 4
    assert ids[QUESTION + 2] == 300 - CONTEXT  # the end of the context is kept
    assert ids[first] == 0
    assert np.isfinite(reader.score(long, [ReadSentence(long, long)])).all()


@pytest.mark.parametrize(
    "number", ["4.2 ", "4.2.1. ", "(b) ", "iv) ", "12. ", "- 3.1 "]
)
def test_the_number_of_a_rule_is_not_read(reader, number):
    numbered = ANSWER._replace(text=number + ANSWER.text)
    assert without_number(numbered.text) == ANSWER.text
    np.testing.assert_array_equal(
        reader.score(ASKED, [numbered]), reader.score(ASKED, [ANSWER])
    )


@pytest.mark.parametrize(
    "text",
    ["26 days are paid.", "3.5 tonnes", "2.50 EUR is due.", "2019", "1. FC Riverton"],
)
def test_other_numbers_are_read(text):
    assert without_number(text) == text


def test_only_the_upper_layers_differ_from_the_embedder():
    arrays = [
        {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
        for model in map(
            onnx.load_from_string, (build_graph(shipped_weights()), build_reader())
        )
    ]
    changed = {n for n in arrays[0] if not np.array_equal(arrays[0][n], arrays[1][n])}
    assert {name[0] for name in changed} == {"2", "3", "4", "5"}
    matrices = ("qkv", "o", "i", "p")
    assert changed >= {f"{n}.{part}.weight" for n in range(2, 6) for part in matrices}


def test_a_trained_layer_is_taken_whole():
    arrays = trained_arrays()
    del arrays["3.q.scale"]
    with pytest.raises(KeyError, match=r"3\.q\.scale"):
        build_graph(shipped_weights(), arrays)


def test_changed_weights_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(
        sentence_reader, "TRAINED_SHA256", sha256(b"others").hexdigest()
    )
    with pytest.raises(ModelError, match=r"sentence reader .* reinstall it"):
        SentenceReader(tmp_path)
    monkeypatch.setattr(sentence_reader, "TRAINED", "data/absent.npz")
    with pytest.raises(ModelError, match=r"cannot read .* reinstall it"):
        SentenceReader(tmp_path)


def test_questions_that_come_together_load_one_reader(monkeypatch, tmp_path):
    made = []

    class Slow:
        def __init__(self, *options):
            time.sleep(0.05)
            made.append(options)

    monkeypatch.setattr(sentence_reader, "SentenceReader", Slow)
    monkeypatch.setattr(sentence_reader, "_LOADED", {})
    with ThreadPoolExecutor(4) as pool:
        readers = list(pool.map(lambda _: shared_reader(tmp_path), range(8)))
    assert made == [(tmp_path, 0)]
    assert len(set(map(id, readers))) == 1


@pytest.mark.parametrize(
    ("heading", "before", "context"),
    [
        ("Fees", "A fee is due.", "Fees. A fee is due."),
        ("Fees", "", "Fees."),
        ("", "A fee is due.", "A fee is due."),
        ("", "", ""),
    ],
)
def test_a_context_is_that_of_the_training(heading, before, context):
    assert read_context(heading, before) == context
    if heading:
        assert WrittenSentence("", heading, before).context == context

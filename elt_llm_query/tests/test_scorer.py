"""The calibrated scorer of sentences, and the features it reads."""

import math
from dataclasses import replace

import numpy as np
import pytest
from llama_index.core.schema import QueryBundle

from answer_world import FEES, LOANS, node
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import ModelError
from elt_llm_core.models.factory import build_models
from elt_llm_core.models.minilm import OnnxEmbedding
from elt_llm_core.models.sentence_reader import shared_reader
from elt_llm_core.models.weights import default_cache_dir
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.read_sentence import sentences
from elt_llm_query.synthesizers.extractive import meanings
from elt_llm_query.synthesizers.extractive.candidates import Candidate
from elt_llm_query.synthesizers.extractive.compared_candidates import scorer_rows
from elt_llm_query.synthesizers.extractive.ranking import ScoredCandidate, keep_proven
from elt_llm_query.synthesizers.extractive.scorer import (
    AnswerScorer,
    LogOdds,
    Weight,
    decision_features,
    kind_of,
    load_scorer,
)
from elt_llm_query.synthesizers.extractive.synthesizer import (
    ExtractiveOptions,
    ExtractiveSynthesizer,
    to_passage,
)

ASKED = "What is the fee for an overdue book?"


def rows_of(embedder, question=ASKED):
    synthesizer = ExtractiveSynthesizer(embedder)
    passages = [to_passage(n.node, i) for i, n in enumerate([node(FEES), node(LOANS)])]
    compared = synthesizer.compare(QueryBundle(question), passages)
    candidates, rows = scorer_rows(analyse(question), compared, passages)
    return [c.text_in(passages) for c in candidates], rows


@pytest.fixture(scope="module")
def embedded():
    return build_models(RagConfig()).embedder


def test_shares_are_those_of_a_choice_with_none():
    choice = LogOdds(-1.0, {"cosine": Weight(0.5, 0.25, 2.0)})
    decision = LogOdds(0.5, {"share_lead": Weight(0.0, 1.0, 3.0)})
    rows = [{"cosine": 0.75}, {"cosine": 0.5}]
    verdict = AnswerScorer(choice, decision).score(rows)
    odds = [math.exp(1.0), math.exp(-1.0)]
    assert verdict.shares == pytest.approx([o / (1 + sum(odds)) for o in odds])
    lead = verdict.shares[0] - verdict.shares[1]
    assert verdict.sure == pytest.approx(1 / (1 + math.exp(-0.5 - 3 * lead)))
    assert AnswerScorer(choice, decision).score([]) == ((), 0.0)


@pytest.mark.parametrize("kind", ["tokens", "vectors", "words"])
def test_the_shipped_weights_are_for_the_features_that_are_computed(kind, embedded):
    embedders = {"tokens": embedded, "vectors": HashEmbedding(), "words": None}
    _, rows = rows_of(embedders[kind])
    assert kind_of(rows[0]) == kind
    scorer = load_scorer(kind)
    assert scorer.choice.weights.keys() <= rows[0].keys()
    shares = scorer.score(rows).shares
    decided = decision_features(rows, shares)
    assert scorer.decision.weights.keys() <= decided.keys()
    assert any(name.startswith("match") for name in scorer.choice.weights) == (
        kind == "tokens"
    )


def test_the_sentence_that_answers_is_chosen_and_sure(embedded):
    texts, rows = rows_of(embedded)
    verdict = load_scorer("tokens").score(rows)
    best = verdict.shares.index(max(verdict.shares))
    assert texts[best] == "The fee for an overdue book is 20 cents per day."
    assert verdict.sure > ExtractiveOptions().sure
    _, rows = rows_of(embedded, "What is the fee for a broken window?")
    assert load_scorer("tokens").score(rows).sure < verdict.sure


def test_a_match_is_that_of_the_nearest_tokens(embedded):
    (row, *_) = rows_of(embedded)[1]
    assert 0 < row["weakest_match"] <= row["match_with_heading"] <= 1
    assert row["match"] <= row["match_with_heading"]


def test_more_probability_than_any_is_needed_refuses():
    strict = ExtractiveSynthesizer(HashEmbedding(), ExtractiveOptions(sure=1.0))
    assert strict.synthesize(ASKED, [node(FEES)]).metadata["refused"] is True


def test_tokens_are_read_once_and_in_place(embedded):
    reader = getattr(embedded, "inner", embedded)
    first, again = reader.read_tokens([ASKED, ASKED])
    assert first is again
    assert len(first.spans) == len(first.vectors)
    assert ASKED[slice(*first.spans[0])] == "What"
    assert list(first.vector) == pytest.approx(reader.get_query_embedding(ASKED))


@pytest.mark.parametrize("whole", [True, False])
def test_a_row_with_evidence_enough_is_kept_where_no_candidate_is_sure(whole):
    piece = Candidate(0, 0, 9, 1.0, 0.9)
    near = ScoredCandidate(piece, 0.4, sure=0.2, whole=whole)
    far = replace(near, candidate=replace(piece, coverage=0.4))
    assert keep_proven([near, far], ExtractiveOptions()) == [near] * whole


class StoredVectors:
    """A collection that stores a vector for every chunk."""

    name = "rules"

    def __init__(self, embedder):
        self.embedder = embedder
        self.asked = []

    def vectors(self, ids):
        self.asked += ids
        vector = np.array(self.embedder.get_text_embedding(FEES), np.float32)
        return dict.fromkeys(ids, vector)


def test_the_stored_vector_of_a_source_stands_for_an_embedded_one(embedded):
    source = node(FEES)
    source.node.metadata["collection"] = "rules"
    stored = StoredVectors(embedded)
    alone = ExtractiveSynthesizer(embedded)
    over = alone.over([stored])
    first, second = (one.synthesize(ASKED, [source]) for one in (over, alone))
    # The stored vector is of the same length but for the rounding of the processor.
    assert first.metadata.pop("sure") == pytest.approx(second.metadata.pop("sure"))
    assert first == second
    assert stored.asked == [source.node.node_id]
    vector = np.ones(384, np.float32) / np.sqrt(384)
    there = to_passage(source.node, 1, vector)
    compared = alone.compare(QueryBundle(ASKED), [there])
    _, (row, *_) = scorer_rows(analyse(ASKED), compared, [there])
    expected = vector @ np.array(embedded.get_query_embedding(ASKED))
    assert row["source_cosine"] == pytest.approx(float(expected), abs=1e-5)


def test_rows_of_tables_and_sentences_have_the_same_features(embedded):
    table_row = node(
        "Overdue book\t20 cents", kind="table_row", index_text="Fee: Overdue book | 20"
    )
    passages = [to_passage(n.node, i) for i, n in enumerate([table_row, node(FEES)])]
    compared = ExtractiveSynthesizer(embedded).compare(QueryBundle(ASKED), passages)
    candidates, rows = scorer_rows(analyse(ASKED), compared, passages)
    assert {c.passage: r["row"] for c, r in zip(candidates, rows, strict=True)} == {
        0: 1.0,
        1: 0.0,
    }
    assert len({frozenset(row) for row in rows}) == 1


class FailingReader:
    """A sentence reader whose weights are damaged."""

    def score(self, question, sentences):
        raise ModelError("the sentence reader is damaged", "reinstall it")


def test_without_the_reader_words_decide(embedded, monkeypatch, caplog):
    monkeypatch.setattr(meanings, "reader_beside", lambda _: FailingReader())
    _, rows = rows_of(embedded)
    assert kind_of(rows[0]) == "words"
    assert "without the sentence reader: the sentence reader is damaged" in caplog.text
    answer = ExtractiveSynthesizer(embedded).synthesize(ASKED, [node(FEES)])
    assert "20 cents" in answer.response


def test_what_has_no_context_is_not_read(embedded, monkeypatch):
    read = []

    class Reader:
        def score(self, question, sentences):
            read.extend(one.text for one in sentences)
            return np.full(len(sentences), 2.0)

    monkeypatch.setattr(meanings, "reader_beside", lambda _: Reader())
    shown = [
        meanings.EmbeddedSentence("Fee: 20 cents", "", context=None),
        meanings.EmbeddedSentence(FEES, ""),
    ]
    rows = meanings.compare_meanings(QueryBundle(ASKED), {}, shown, embedded, read=5)
    assert read == [FEES]
    assert [row["reader"] for row in rows] == [meanings.LEAST_READ, 2.0]


def test_the_sentences_that_match_best_are_read(embedded, monkeypatch):
    read = []

    class Reader:
        def score(self, question, sentences):
            read.extend(one.text for one in sentences)
            return np.full(len(sentences), 2.0)

    monkeypatch.setattr(meanings, "reader_beside", lambda _: Reader())
    texts = ["The gate is painted green.", FEES, "Boats are moored at the quay."]
    shown = [meanings.EmbeddedSentence(text, "") for text in texts]
    rows = meanings.compare_meanings(QueryBundle(ASKED), {}, shown, embedded, read=1)
    assert read == [FEES]
    least = meanings.LEAST_READ
    assert [row["reader"] for row in rows] == [least, 2.0, least]


def test_the_reader_is_limited_and_reads_with_heading_and_sentence_before(
    embedded, monkeypatch
):
    read = []

    class Reader:
        def score(self, question, sentences):
            read.extend(sentences)
            return np.linspace(-50.0, 50.0, len(sentences))

    monkeypatch.setattr(meanings, "reader_beside", lambda _: Reader())
    _, rows = rows_of(embedded)
    limits = [meanings.LEAST_READ, meanings.MOST_READ]
    assert [min(r["reader"] for r in rows), max(r["reader"] for r in rows)] == limits
    before = {one.text: one.context for one in read}
    first, second, *_ = sentences(FEES)
    assert before[second.text].endswith(first.text)


def test_the_reader_has_the_folder_and_threads_of_the_embedder(tmp_path):
    inner = OnnxEmbedding(threads=1, cache_dir=tmp_path)
    reader = meanings.reader_beside(inner)
    assert reader is shared_reader(tmp_path, 1)
    assert [path.name[:11] for path in sorted(tmp_path.iterdir())] == [
        "minilm-int8",
        "reader-int8",
    ]
    other = meanings.reader_beside(HashEmbedding())
    assert other is shared_reader(default_cache_dir())

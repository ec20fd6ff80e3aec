"""The calibrated scorer of sentences, and the features it reads."""

import math

import pytest
from llama_index.core.schema import QueryBundle

from answer_world import FEES, LOANS, node
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.models.factory import build_models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.analysis.question import analyse
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
    prose_rows,
    to_passage,
)

ASKED = "What is the fee for an overdue book?"


def rows_of(embedder, question=ASKED):
    synthesizer = ExtractiveSynthesizer(embedder)
    passages = [to_passage(n.node, i) for i, n in enumerate([node(FEES), node(LOANS)])]
    compared = synthesizer.compare(QueryBundle(question), passages)
    candidates, rows = prose_rows(analyse(question), compared, passages)
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

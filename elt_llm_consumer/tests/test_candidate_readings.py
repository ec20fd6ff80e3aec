"""Candidates that the sentence reader reads: what a sentence says, not its form."""

import logging

import numpy as np
import pytest

from elt_llm_consumer.definitions import candidate_readings, definition_pipeline
from elt_llm_consumer.definitions.candidate_readings import (
    ANSWERS,
    LEAST_READ,
    MOST_READ,
    UNREAD,
    places_to_read,
)
from elt_llm_consumer.definitions.definition_pipeline import (
    find_definitions,
    score_document,
    with_readings,
)
from elt_llm_consumer.definitions.definition_scorer import load_scorer
from elt_llm_core.errors import ModelError

RULES = """\
# 3 Tide watch
3.1 The tide watch is responsible for the gauges of the quay and reports a rise of the
water to the office. The tide watch eats in the canteen at noon.
# 4 Slack leave
4.1 Staff of the quay may take up to three days of slack leave in weeks without ships.
4.2 Slack leave was late in June.
"""


@pytest.fixture
def scored(make):
    """The candidates of the rules, by their form."""
    document = make(RULES, "Quay")
    return score_document(document.text, document.blocks, load_scorer())


def _best(candidates, opening):
    return max(
        one.probability
        for one in candidates.scored
        if one.candidate.definition.definition.startswith(opening)
    )


def test_a_sentence_that_says_what_a_term_is_rises_above_one_that_does_not(scored):
    read = with_readings(scored)
    gains = [
        _best(read, opening) / _best(scored, opening)
        for opening in ("The tide watch is", "The tide watch eats")
    ]
    assert gains[0] > gains[1]


def test_only_what_is_likely_and_informal_is_read(scored):
    read = with_readings(scored)
    for before, after in zip(scored.scored, read.scored, strict=True):
        was_read = ANSWERS in after.features
        likely = before.probability >= LEAST_READ
        assert not was_read or (likely and before.candidate.way not in UNREAD)
        assert was_read or before == after
    assert any(ANSWERS in one.features for one in read.scored)


def test_of_one_term_only_the_likeliest_sentences_are_read(make):
    lines = [f"3.{n} The tide watch is a guard of gate {n}." for n in range(1, 20)]
    text = "# 3 Tides\n" + "\n".join(lines) + "\n"
    document = make(text, "Tides")
    every = score_document(document.text, document.blocks, load_scorer()).scored
    own = [one for one in every if one.candidate.definition.term == "tide watch"]
    at = places_to_read([o.candidate for o in own], [o.probability for o in own])
    assert len({own[place].candidate.at for place in at}) == MOST_READ


def test_readings_are_the_same_each_time(scored):
    once, again = with_readings(scored), with_readings(scored)
    assert [one.probability for one in once.scored] == [
        one.probability for one in again.scored
    ]


def test_without_the_reader_the_form_decides(scored, monkeypatch, caplog):
    def fail(*_):
        raise ModelError("no weights", "reinstall")

    monkeypatch.setattr(candidate_readings, "shared_reader", fail)
    with caplog.at_level(logging.WARNING, definition_pipeline.__name__):
        assert with_readings(scored) == scored
    assert "form alone" in caplog.text


def test_reasons_tell_that_a_definition_was_read(make):
    text = "# 3 Gauges\n3.1 A gauge board is a painted board that shows the water.\n"
    document = make(text, "Gauges")
    (row,) = [
        one
        for one in find_definitions(document.text, document.blocks)
        if one.term == "gauge board"
    ]
    assert 0 < row.confidence <= 1
    assert np.isfinite(row.confidence)
    assert any(reason.startswith("reader:") for reason in row.reasons)

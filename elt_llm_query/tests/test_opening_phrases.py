"""Phrases with which models begin, and which no source contains."""

import pytest

from answer_world import offer
from elt_llm_query.grounding.opening_phrases import without_opening
from elt_llm_query.grounding.statement_lookup import check_statement
from elt_llm_query.grounding.statements import DraftStatement

SOURCES = [
    offer("S1", "The branch manager approves leave."),
    offer("S2", "Die Kündigungsfrist beträgt sechs Wochen."),
]
OPENINGS = [
    "Based on the provided sources,",
    "Based on the information provided,",
    "Based on the information in the provided documents,",
    "From the available context,",
    "As stated in the passages,",
    "The provided sources state that",
    "In summary,",
    "Please note that",
    "In short, based only on the text,",
]
KEPT = [
    "According to rule 4, dogs pay.",
    "Based on income, members pay.",
    "From the harbour, boats sail.",
    "Based on the sources.",
    "Documents from the sources are kept.",
]


@pytest.mark.parametrize("opening", OPENINGS)
def test_the_claim_after_an_opening_is_looked_up(opening: str) -> None:
    true = DraftStatement("", f"{opening} the branch manager approves leave [S1].")
    false = DraftStatement("", f"{opening} the treasurer approves leave [S1].")
    assert check_statement(true, SOURCES).stands
    assert not check_statement(false, SOURCES).stands


@pytest.mark.parametrize(
    "opening", ["Laut den Quellen", "Gemäß den bereitgestellten Dokumenten"]
)
def test_a_german_opening_claims_nothing_either(opening: str) -> None:
    claim = f"{opening} beträgt die Kündigungsfrist sechs Wochen [S2]."
    assert check_statement(DraftStatement("", claim), SOURCES).stands
    other = claim.replace("sechs", "sieben")
    assert not check_statement(DraftStatement("", other), SOURCES).stands


@pytest.mark.parametrize("claim", KEPT)
def test_what_names_a_thing_stays(claim: str) -> None:
    assert without_opening(claim) == claim

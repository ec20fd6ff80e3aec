"""Fact sheets answer with one line, table rows where a cell is asked for."""

import pytest
from llama_index.core.schema import QueryBundle

from elt_llm_query.labels import LabelSources
from elt_llm_query.synthesizers.extractive import Extractive, ExtractiveSynthesizer
from elt_llm_query.synthesizers.question import analyse
from elt_llm_query.synthesizers.sheets import asks_for_cell, is_sheet_of, pick
from test_extractive import node

LENIENT = ExtractiveSynthesizer(limits=Extractive(lexical_threshold=0.6))

CARD = (
    "Library Card\nDomain: LENDING\nSubtype: Papers\nType: DataObject\n"
    "READERS is related to LENDING.\nLENDING is related to ROOMS."
)
TOLD = (
    "Library Card\nType: DataObject\nLevel: 3\nStatus: APPROVED\nProof of membership."
)
OTHER = "Guest Card\nDomain: GUESTS\nType: DataObject"
EDGE = (
    "LENDING is related to ROOMS. Each LENDING has at most one ROOMS (0..1).\n"
    "Source domain: LENDING\nTarget domain: ROOMS\nCardinality: 1..1-0..1"
)


def respond(question, *texts):
    sheets = [node(text, kind="fact_sheet") for text in texts]
    labelled = LabelSources().postprocess_nodes(sheets)
    return LENIENT.synthesize(QueryBundle(question), labelled)


@pytest.mark.parametrize(
    ("question", "said", "quote"),
    [
        (
            "Which domain does the entity Library Card belong to?",
            "Library Card - Domain: LENDING",
            "Library Card\nDomain: LENDING",
        ),
        (
            "Which subtype of the domain LENDING holds the entity Library Card?",
            "Library Card - Subtype: Papers",
            "Subtype: Papers",
        ),
        ("What status has Library Card?", "Library Card - Status: APPROVED", None),
        ("What level does Library Card have?", "Library Card - Level: 3", None),
        ("Is the Library Card approved?", "Library Card - Status: APPROVED", None),
        (
            "What is a Library Card?",
            "Library Card - Proof of membership.",
            "Proof of membership.",
        ),
        (
            "What is the description of the Library Card?",
            "Library Card - Proof of membership.",
            "Proof of membership.",
        ),
        (
            "Which domains is the domain ROOMS related to?",
            "LENDING is related to ROOMS.",
            "LENDING is related to ROOMS.",
        ),
    ],
)
def test_the_line_that_is_asked_for(question, said, quote):
    sheets = (CARD, TOLD, OTHER)
    found = respond(question, *sheets)
    first, *_ = found.metadata["claims"]
    assert first.text == said
    text = sheets[int(first.label[1:]) - 1]
    assert text[first.start : first.end] == (quote or said.partition(" - ")[2])


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "What is the cardinality of the relationship from LENDING to ROOMS?",
            "LENDING is related to ROOMS - Cardinality: 1..1-0..1",
        ),
        (
            "How is LENDING related to ROOMS?",
            "LENDING is related to ROOMS. Each LENDING has at most one ROOMS (0..1).",
        ),
    ],
)
def test_the_line_of_a_relationship(question, said):
    assert pick(analyse(question), EDGE).said == said


def test_relations_that_follow_each_other_are_one_quote():
    found = pick(analyse("Which domains is LENDING related to?"), CARD)
    assert CARD[found.start : found.end].count("\n") == 1
    assert found.said.startswith("READERS is related to LENDING. LENDING is")


def test_the_same_line_of_both_sheets_of_a_name_is_told():
    second = CARD.replace("LENDING", "ACCESS")
    found = respond(
        "In which domains does the entity Library Card appear?",
        *(CARD, second, OTHER),
    )
    said = {c.text for c in found.metadata["claims"]}
    assert said == {"Library Card - Domain: LENDING", "Library Card - Domain: ACCESS"}


def test_a_sheet_without_what_is_asked_for_says_nothing():
    assert pick(analyse("Who wrote the Library Card?"), CARD) is None
    described = pick(analyse("Describe the Library Card"), CARD)
    assert described.fit == 0
    assert pick(analyse("Is Name related to X?"), "Name") is None
    assert pick(analyse("What is a Name?"), "Name") is None


def test_the_name_of_a_sheet():
    assert is_sheet_of("library card", CARD)
    assert not is_sheet_of("card", CARD)
    assert not is_sheet_of("", "")


def test_a_cell_is_asked_for_by_its_row_and_header():
    reading = "Fees - Service: Guest card | Fee: 5 euros | Payable: at once"
    assert asks_for_cell(analyse("What is the fee for a guest card?"), reading)
    assert not asks_for_cell(analyse("What is the fee for a card?"), reading)
    assert not asks_for_cell(analyse("What is the colour of a guest card?"), reading)
    assert not asks_for_cell(analyse("What is the fee for a guest card?"), "no cells")

"""Near misses: what a source almost answers is refused, what it answers is not."""

import pytest
from llama_index.core.schema import QueryBundle

from answer_world import node
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.models.factory import build_models
from elt_llm_core.provenance import Cell
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.prompts import UNSURE_ANSWER
from elt_llm_query.synthesizers.extractive.constraints import Setting, meets
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer

TIERS = (
    "QL1 requires a paper ticket at the gate. QL2 requires a paper ticket and a stamp. "
    "A guard checks each ticket."
)
HARBOUR = (
    "The Tide Warden must post the Mooring List at least 30 minutes before the first "
    "ferry. The Dock Steward holds the keys."
)
BOARD = "The committee appoints nine Tide Wardens for the summer."
YARD = (
    "A Deck Cadet under the age of 14 wears a red vest. Nobody is left in charge of a "
    "Tow Barge unless the keys are held. A crew in the Plover Division may carry one "
    "spare sail of the same size."
)
POSTED = "How many minutes {} must the {} post the Mooring List?"
HEADERS = ("Breach", "Grade", "Penalty (tokens)", "Marks lost")


def row(*values):
    cells, start = [], 0
    for header, value in zip(HEADERS, values, strict=True):
        cells.append(Cell(header=header, start=start, end=start + len(value)))
        start += len(value) + 1
    shown = " | ".join(f"{h}: {v}" for h, v in zip(HEADERS, values, strict=True))
    return node(
        "\t".join(values),
        kind="table_row",
        section="Penalties",
        cells=tuple(cells),
        index_text=f"Penalties - {shown}",
    )


@pytest.fixture(scope="module")
def ask():
    synthesizer = ExtractiveSynthesizer(build_models(RagConfig()).embedder)
    sheet = node(
        "Pilot Register\nType: Form\nStatus: APPROVED\nLevel: 2",
        kind="fact_sheet",
        section="Forms",
    )
    sources = [
        node(TIERS, section="Tickets"),
        node(HARBOUR, section="Harbour"),
        node(BOARD, section="Committee"),
        node(YARD, section="Yard"),
        row(*HEADERS),
        row("Blocking a ramp", "3", "150", "9"),
        sheet,
    ]

    def answer(question):
        labelled = LabelSources().postprocess_nodes(list(sources))
        return synthesizer.synthesize(QueryBundle(question), labelled)

    return answer


@pytest.mark.parametrize(
    "question",
    [
        "What is QL4?",
        "What is the penalty for a Grade 9 breach?",
        POSTED.format("before the second ferry", "Tide Warden"),
        POSTED.format("after the first ferry", "Tide Warden"),
        POSTED.format("before the first ferry", "Dock Steward"),
        "At what age may a Deck Cadet be left in charge of a Tow Barge?",
        "What is the minimum area of a sail in the Plover Division?",
        "Who approves a pilot register?",
    ],
)
def test_a_near_miss_is_refused(ask, question):
    found = ask(question)
    assert found.metadata["refused"] is True, found.response


def test_a_word_of_no_source_leaves_an_answer_uncertain_at_most(ask):
    answer = ask("Who appoints the Tide Wardens of the volcano?")
    assert answer.metadata["refused"] or UNSURE_ANSWER in answer.response


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is QL2?", "QL2 requires"),
        ("What is the penalty for a Grade 3 breach?", "Penalty (tokens): 150"),
        (POSTED.format("before the first ferry", "Tide Warden"), "30 minutes"),
        ("Who appoints the Tide Wardens?", "The committee appoints"),
    ],
)
def test_what_stands_there_is_answered(ask, question, said):
    assert said in ask(question).response


def test_the_row_of_headers_is_no_answer(ask):
    found = ask("What is the Penalty (tokens) and Grade for a Breach?")
    assert "Breach: Breach" not in found.response


@pytest.mark.parametrize(
    ("question", "own", "stands"),
    [
        ("What does rule 7 say?", "Under Rule 7 boats wait.", True),
        ("What does rule 7 say?", "Under rule 17 boats wait.", False),
        ("Who won season 2?", "The second season was won by Ann.", True),
        ("Who scored 3 goals?", "Ann scored three times.", True),
        ("Which boats are in Class B?", "Class C holds small boats.", False),
        ("Who won the 2nd race?", "Ann won the second race.", True),
        ("How many seconds per second?", "Ten.", True),
        ("How long did the stain last in boats?", "It took six days.", True),
        ("What must be told of last week?", "Each trip is reported.", True),
        ("What is due in the last week?", "Each trip is reported.", False),
        ("What is the cap since May 2022?", "Before that it was 40.", True),
        ("What is the cap since the audit?", "Before it the cap was 40.", False),
        ("What is the maximum weight of a boat?", "At most 80 kilograms.", True),
        ("What is the maximum weight of a boat?", "At most 80 people.", False),
        ("What is the XR-7b limit?", "The XR7b limit is low.", True),
        ("What do part-time pilots earn?", "Pilots earn 90 crowns.", False),
        ("What do part-time pilots earn?", "Part time pilots earn 60.", True),
        ("What must re-employed pilots meet?", "Re-employment has a form.", True),
        ("Who fits re-used sails?", "Ann fits reused sails.", True),
        ("What does a non-member pay?", "Who is no member pays 5.", True),
        ("How many trips are there per year?", "Five trips are free.", False),
        ("How many trips are there per year?", "Annual trips: 5.", True),
        ("How often per week is it cleaned?", "It is cleaned twice.", True),
    ],
)
def test_demands_are_read_from_the_question(question, own, stands):
    assert meets(analyse(question), Setting(read(own), read(""), read(own))) is stands

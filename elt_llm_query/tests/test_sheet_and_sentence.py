"""A sentence that defines a term is quoted above the description of its fact sheet."""

import pytest
from openpyxl import Workbook

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.results import Status
from elt_llm_query import Library

RULES = """\
# Harbour rules

A mooring is the right to lie at a buoy of the harbour for one summer.

The pilot of the day meets each ship at the outer buoy. A crane is moved by two people.

A tide table is printed every month.
"""
SHEETS = [
    ["id", "type", "name", "description"],
    ["1", "DataObject", "Mooring", "Place of a ship."],
    ["2", "DataObject", "Pilot", "Guide of a ship."],
    ["3", "DataObject", "Crane", "Machine that lifts loads."],
    ["4", "DataObject", "Tide Table", "List of high waters."],
]


@pytest.fixture(scope="module")
def library(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheet_and_sentence")
    (folder / "rules.md").write_text(RULES, encoding="utf-8")
    book = Workbook()
    for row in SHEETS:
        book.active.append(row)
    book.save(folder / "sheets.xlsx")
    with Library(folder / "data", config=RagConfig(), models=world.models) as made:
        made.add([folder / "rules.md", folder / "sheets.xlsx"], collection="texts")
        yield made


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is a mooring?", "A mooring is the right to lie at a buoy"),
        ("What is a pilot?", "Pilot - Guide of a ship."),
        ("What is a crane?", "Crane - Machine that lifts loads."),
        ("What is a tide table?", "Tide Table - List of high waters."),
    ],
)
def test_only_a_sentence_that_defines_precedes_the_description(
    library, question, first
):
    result = library.ask(question)
    assert result.status is Status.ANSWERED
    assert result.answer.startswith(first)
    assert "Place of a ship." in result.answer or "mooring" not in question

"""Questions to a workbook with a sheet for each kind of thing, identifiers first."""

from datetime import date
from pathlib import Path

import pytest
from openpyxl import Workbook

from elt_llm_core.config.loader import load_config
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import QueryResult, Status
from elt_llm_core.store import Store
from elt_llm_query import query_collections

BOATS = [
    ("Boats of the harbour, state of 1 May 2026",),
    (
        *("ID", "Boat", "Berth owner", "IT contact", "Launched", "Last survey"),
        *("Yearly cost (€)", "Grade", "Replaced by"),
    ),
    (
        *("B01", "Gull", "Amy Roe", "Zoe Lam", date(2004, 5, 1), date(2025, 2, 3)),
        *(900, "High", "Swift"),
    ),
    ("B02", "Night Heron", "Ben Poe", None, date(1998, 7, 9), None, 2400, "High", None),
    ("B03", "Tern", "Amy Roe", "Yan Orr", None, date(2024, 6, 1), 300, "Low", None),
    ("B04", "Swift", "Cy Dow", "Yan Orr", date(2020, 3, 2), None, 1100, "Low", None),
]
TRIPS = [
    ("Trip no.", "Trip", "From", "To", "Vessel", "Owner", "Guests"),
    ("T1", "Morning tour", "North Quay", "Seal Rock", "Gull", "Fay Kim", 12),
    ("T2", "Seal tour", "Seal Rock", "North Quay", "Tern", "Gus Lee", 30),
    ("T3", "Night tour", "West Pier", "Seal Rock", "Night Heron", "Fay Kim", 8),
]
SUPPLIES = [
    ("Code", "Supply", "Stock", "Measured in unit", "Orders per year"),
    ("S1", "Diesel", 400, "l", 12),
    ("S2", "Rope", 90, "m", 4),
    ("S3", "Paint", 35, "l", 7),
]
REFIT = [
    ("Step", "Days", "Task"),
    (1, 7, "Oil the winch"),
    (2, 9, "Tar the deck"),
    (3, 4, "Mend the sails"),
]
SHEETS = {"Boats": BOATS, "Trips": TRIPS, "Supplies": SUPPLIES, "Refit": REFIT}


class Harbour:
    """Questions to the workbook in a store of its own."""

    def __init__(self, folder: Path) -> None:
        book = Workbook()
        book.remove(book.worksheets[0])
        for title, rows in SHEETS.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append([*row])
        path = folder / "harbour.xlsx"
        book.save(path)
        self.config = load_config(environ={})
        self.models = build_models(self.config)
        self.store = Store(folder / "data")
        options = {"paths": [str(path)], "collection": "harbour"}
        job = JOBS.load("ingest", options).build(self.models)
        job(JobContext(self.config, self.store))

    def ask(self, question: str) -> QueryResult:
        return query_collections(
            ["harbour"],
            question,
            store=self.store,
            config=self.config,
            models=self.models,
        )


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Harbour:
    return Harbour(tmp_path_factory.mktemp("harbour"))


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Which boat has the highest yearly cost?", "Night Heron: 2400 - the highest"),
        ("Which boat was launched first?", "Night Heron: 1998-07-09 - the earliest"),
        ("Which boat has the newest survey?", "Gull: 2025-02-03 - the latest of 4"),
        ("Which boat is the cheapest to run?", "Tern: 300 - the lowest of 4 rows"),
        ("Which boats have a yearly cost below 1000?", "2 of 4 rows by Yearly cost"),
        ("Which boats have no IT contact?", "1 of 4 rows where IT contact is empty"),
        ("Which boats have never been surveyed?", "2 of 4 rows where Last survey is"),
        ("Which boats are not replaced?", "3 of 4 rows where Replaced by is empty"),
        ("How many boats are rated High?", "2 of 4 rows where Grade is High"),
        ("How many boats are there?", "4 rows"),
        ("What is the yearly cost of the Swift?", "Swift - Yearly cost (€): 1100"),
        ("yearly cost of B04", "Swift - Yearly cost (€): 1100"),
        ("total yearly cost of the boats", "Yearly cost (€): 4,700 - the sum of 4"),
        (
            "What do we pay for the boats of Amy Roe in total per year?",
            "Yearly cost (€): 1,200 - the sum of 2 rows",
        ),
        # a header that is named in full, in the sheet that has it
        ("Who is the berth owner of the Gull?", "Berth owner: 1 value in 1 row"),
        # the word before a value is the header above it
        ("Number of trips that go to Seal Rock", "2 of 3 rows where To is Seal Rock"),
        ("How many trips come from Seal Rock?", "1 of 3 rows where From is Seal Rock"),
        ("What is the vessel of T2?", "Seal tour - Vessel: Tern"),
        ("What is the boat with ID B04?", "Swift - ID: B04"),
        ("What is the task of step 2?", "Tar the deck - Task: Tar the deck"),
        # a unit of its own
        ("Which supply has the most orders per year?", "Diesel: 12 - the highest of 3"),
    ],
)
def test_an_inventory_answers_by_the_names_of_its_rows(
    harbour: Harbour, question: str, start: str
) -> None:
    result = harbour.ask(question)
    assert (result.status, result.answer[: len(start)]) == (Status.ANSWERED, start)


@pytest.mark.parametrize(
    "question",
    [
        # what is counted is not what the rows are
        "How many engines are there?",
        "How many anchors are there?",
        "How many terns are there?",
        "How many night herons are there?",
        # no row is asked for
        "Who paints the Tern?",
        # no sheet has the header, or the rows have none
        "Who is the berth manager of the Gull?",
        "Which trip has the highest yearly cost?",
        "Which boat sank first?",
        # boats are counted, not compared by what they cost
        "Who pays a yearly cost for the most boats?",
        # no trip goes there
        "How many trips go to West Pier?",
    ],
)
def test_an_inventory_does_not_answer_what_it_does_not_name(
    harbour: Harbour, question: str
) -> None:
    assert harbour.ask(question).status is Status.INSUFFICIENT


@pytest.mark.parametrize(
    "question",
    [
        "Which supply has the lowest stock?",
        "What is the total stock of all supplies?",
        "Which supplies have a stock over 50?",
    ],
)
def test_rows_of_several_units_are_not_compared(
    harbour: Harbour, question: str
) -> None:
    result = harbour.ask(question)
    assert result.status is Status.INSUFFICIENT
    assert "The rows of Supplies are in different units (l; m)" in result.answer

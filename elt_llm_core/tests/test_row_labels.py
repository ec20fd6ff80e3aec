"""The column that names the rows of a table."""

import pytest

from elt_llm_core.tables import relations
from table_blocks import table


def relation(rows, title="Table 1: Harbour"):
    text, blocks = table(rows, title=title)
    return relations("d", "harbour.pdf", text, blocks)[0]


@pytest.mark.parametrize(
    ("rows", "label"),
    [
        # identifiers before names
        ([["ID", "Boat", "Crew"], ["B1", "Gull", "2"], ["B2", "Tern", "6"]], "Boat"),
        ([["Inv. no.", "Item"], ["17", "Oar"], ["23", "Sail"]], "Item"),
        ([["Boots-Nr.", "Boot"], ["B-1", "Gull"], ["B-2", "Tern"]], "Boot"),
        (
            [
                ["Code", "Owner", "Boat name"],
                ["B1", "Amy Roe", "Gull"],
                ["B2", "Ben Poe", "Tern"],
            ],
            "Boat name",
        ),
        # serial numbers, with a name after a figure
        ([["Step", "Days", "Task"], ["1", "7", "Oil"], ["2", "9", "Tar"]], "Task"),
        # names that are shared by rows name none of them
        (
            [
                ["ID", "Port", "Boat"],
                ["B1", "Ayr", "Gull"],
                ["B2", "Ayr", "Tern"],
            ],
            "Boat",
        ),
        # codes that are names themselves
        ([["Grade", "Meaning"], ["G1", "Burst"], ["G2", "Leak"]], "Grade"),
        ([["Year", "Name"], ["2001", "a"], ["2002", "b"]], "Year"),
        # sentences are no names
        (
            [["ID", "Duty"], ["D1", "Moor it. " * 12], ["D2", "Paint it. " * 12]],
            "ID",
        ),
        # an identifier that is repeated, or missing
        ([["ID", "Boat"], ["B1", "Gull"], ["B1", "Tern"]], "ID"),
        ([["ID", "Boat"], ["B1", "Gull"], ["", "Tern"]], "ID"),
    ],
)
def test_rows_are_named_by_names_and_not_by_identifiers(rows, label):
    named = relation(rows)
    assert named.columns[named.labels].header == label
    assert [row.label for row in named.rows] == [
        row[named.labels].strip() for row in rows[1:]
    ]


def test_a_header_in_the_title_is_of_the_names_after_codes():
    rows = [["Berth", "Boat"], ["B1", "Gull"], ["B2", "Tern"]]
    assert relation(rows).labels == 0
    assert relation(rows, title="Boats").labels == 1
    numbers = [["Berth", "Boat"], ["7", "Gull"], ["9", "Tern"]]
    assert relation(numbers, title="Boats").labels == 0

"""The column that names the rows of a table."""

import pytest

from elt_llm_core.tables import relations
from elt_llm_core.tables.column_types import infer_types
from elt_llm_core.tables.numbers import ENGLISH
from elt_llm_core.tables.row_labels import label_column
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


@pytest.mark.parametrize(
    ("rows", "label"),
    [
        # persons, remarks and attributes are no names
        (["Room number|Area|Responsible", "R1|10|Ann Lee", "R2|20|Bo Ray"], "R2"),
        (["Plot no.|Lessee|Rent", "P1|Kern Ltd|5", "P2|Dahl & Co|4"], "P2"),
        (["ID|Signed off by|Fee", "K1|Ann Lee|5", "K2|Bo Ray|4"], "K2"),
        (["ID|Vendor name|Fee", "K1|Kern Ltd|5", "K2|Dahl & Co|4"], "K2"),
        (["Flight no.|Delay|Remark", "F1|5|fog", "F2|7|late crew"], "F2"),
        (["Ticket ID|Comment (short)", "T1|broken", "T2|noisy"], "T2"),
        (["Ref|Location|Rent", "L1|North hall|5", "L2|South hall|4"], "L2"),
        # the first header says what the rows are
        (["Flight no.|Destination|Delay", "F1|Rome|5", "F2|Oslo|7"], "F2"),
        # numbers below another header are no serial numbers
        (["Floor|Area|Tenant", "1|10|Kern Ltd", "2|20|Dahl & Co"], "2"),
        (["No|Note|Task", "1|urgent|Sand", "2|urgent|Oil", "3|later|Dye"], "Oil"),
        # "Grid" is no identifier
        (["Grid|Place|Load", "G1|Rome|5", "G2|Oslo|7"], "G2"),
        (["Casino|Town|Tables", "C1|Rome|5", "C2|Oslo|7"], "C2"),
        # names
        (["ID|Application|Fee", "A01|Crane App|5", "A02|Dock App|4"], "Dock App"),
        (["Step|Activity|Lead", "1|Sand it|Ann", "2|Oil it|Bo"], "Oil it"),
        (["Asset ID|Vendor|Asset", "A1|Kern|Saw", "A2|Dahl|Lathe"], "Lathe"),
        (["Cust. no.|City|Customer", "C1|Rome|Kern", "C2|Oslo|Dahl"], "Dahl"),
        (["Tenant ID|Rent|Tenant", "T1|5|Kern Ltd", "T2|4|Dahl & Co"], "Dahl & Co"),
        (["FahrzeugNr|Ort|Fahrzeug", "F1|Bonn|Bus", "F2|Kiel|Bahn"], "Bahn"),
        (["PumpID|Site|Pump name", "P1|Bonn|Big", "P2|Kiel|Small"], "Small"),
        # persons and attributes of the rows do not name them
        (["Tour ID|Tour guide|Tour name", "T1|Ann|Bay", "T2|Bo|Moor"], "Moor"),
        (["Study ID|Study lead|Study name", "S1|Ann|Bees", "S2|Bo|Moss"], "Moss"),
        (["Boat ID|Boat status|Name", "B1|moored|Gull", "B2|at sea|Tern"], "Tern"),
        (["Mill ID|Mill location|Name", "M1|Ayr hill|Old", "M2|Fal|New"], "New"),
        (["Film ID|Film owner|Title", "F1|Ann Lee|Dusk", "F2|Bo Ray|Noon"], "Noon"),
        (["Film ID|Film owner|Fee", "F1|Ann Lee|5", "F2|Bo Ray|4"], "F2"),
        (["Emp ID|Employer|Employee name", "E1|Kern|Ann", "E2|Dahl|Bo"], "Bo"),
        (["Emp ID|Employer|Employee", "E1|Kern|Ann", "E2|Dahl|Bo"], "Bo"),
        (["Cust ID|Custodian|Customer", "C1|Ann|Kern", "C2|Bo|Dahl"], "C2"),
        (["Kiln ID|Kiln model|Kiln", "K1|Hot A|Big", "K2|Hot B|Small"], "Small"),
        (["Task order ID|Task|Order", "T1|Oil|First", "T2|Tar|Next"], "Next"),
        (["Kursnummer|Kursleiter|Kursname", "K1|Ann|Ton", "K2|Bo|Holz"], "Holz"),
        # "Name" alone names them, whatever the first header says they are
        (["Member ID|Name|City", "M1|Ann|Rome", "M2|Bo|Oslo"], "Bo"),
        (["Donor no.|City|Full name", "D1|Rome|Ann", "D2|Oslo|Bo"], "Bo"),
        (["Mitgliedsnummer|Ort|Name", "M1|Bonn|Ann", "M2|Kiel|Bo"], "Bo"),
        (["Kundennummer|Ort|Kunde", "K1|Bonn|Kern", "K2|Kiel|Dahl"], "Dahl"),
        (
            ["Ger\u00e4t-Nr.|Ort|Bezeichnung", "G1|Bonn|Bohrer", "G2|Kiel|S\u00e4ge"],
            "S\u00e4ge",
        ),
        (["Barco ID|Puerto|Nombre", "B1|Vigo|Sol", "B2|Palma|Luna"], "Luna"),
        (["Boat ID|Boat model|Name", "B1|Mark A|Gull", "B2|Mark B|Tern"], "Tern"),
        (["Barco ID|Nombre completo", "B1|El Sol", "B2|La Luna"], "La Luna"),
        (["Kurs-ID|Leiter|Titel", "K1|Ann|Ton", "K2|Bo|Holz"], "Holz"),
        (["Pupil ID|First name|Town", "P1|Ann|Rome", "P2|Bo|Oslo"], "P2"),
        # a later column, after one that names nothing
        (["No|Remark|Dish", "1|hot|Soup", "2|cold|Salad"], "Salad"),
        (["No|Location|Sculpture", "1|North hall|Owl", "2|Yard|Hare"], "Hare"),
        (["ID|Keeper|Sculpture", "S1|Ann|Owl", "S2|Bo|Hare"], "Hare"),
        (["ID|Remark|Location", "S1|new|North hall", "S2|old|Yard"], "S2"),
    ],
)
def test_the_rows_are_named_by_their_names_and_not_by_persons_or_remarks(rows, label):
    assert relation([row.split("|") for row in rows]).rows[1].label == label


@pytest.mark.parametrize(
    ("title", "rows", "label"),
    [
        ("Suppliers", ["ID|Supplier|City", "S1|Kern|Rome", "S2|Dahl|Oslo"], "Dahl"),
        ("Rooms, tenants", ["Room no.|Area|Tenant", "R1|5|Kern", "R2|4|Dahl"], "R2"),
        ("Flights to cities", ["Flight no.|Cities", "F1|Rome", "F2|Oslo"], "F2"),
        ("Tasks and notes", ["No|Note|Task", "1|soon|Oil", "2|later|Dye"], "Dye"),
    ],
)
def test_a_header_in_the_title_names_the_rows_unless_the_first_one_does(
    title, rows, label
):
    cells = [row.split("|") for row in rows]
    columns = [infer_types([*texts], ENGLISH) for texts in zip(*cells[1:], strict=True)]
    column = label_column(columns, cells[0], title)
    assert cells[2][column] == label

"""Workbooks with a sheet for each type are inventories, and stay tables."""

import io
from pathlib import Path

import pytest
from openpyxl import Workbook

from elt_llm_core.enterprise.model import SIDECAR_KIND, EnterpriseModel
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.enterprise.inventory import table_sidecars
from elt_llm_ingest.readers.enterprise.inventory_sheets import type_named
from elt_llm_ingest.readers.office import spreadsheet

APPLICATIONS = [
    ["Harbour office: applications in use", "", "", ""],
    ["", "", "", ""],
    ["ID", "Application", "Level", "Owner"],
    ["A1", "TideBook", "Group", "J. Ovesen"],
    ["A2", "CraneLog", "Site", "M. Lund"],
]
INTERFACES = [
    ["ID", "Interface", "From", "To", "Data object"],
    ["I1", "Berth times", "TideBook", "CraneLog", "Berth"],
    ["I2", "Shift times", "CraneLog", "TideBook", "Shift"],
]
OBJECTS = [
    ["Reference", "Data object", "Category", "Depends on", "Description"],
    ["D1", "Berth", "Master", "", "A place for one ship."],
    ["D2", "Mooring", "Master", "Berth", ""],
]
BUDGET = [["Year", "Spent", "Planned"], ["2025", "10", "12"], ["2026", "11", "12"]]
WORKBOOK = {
    "Applications": APPLICATIONS,
    "Interfaces": INTERFACES,
    "Data objects": OBJECTS,
    "Budget": BUDGET,
}


def model_of(sheets):
    listed = table_sidecars(Path("estate.xlsx"), list(sheets.items()))
    models = [s.content for s in listed.sidecars if s.kind == SIDECAR_KIND]
    return EnterpriseModel.model_validate(models[0]) if models else None


def test_each_sheet_lists_fact_sheets_of_its_type():
    model = model_of(WORKBOOK)
    assert [(e.id, e.type, e.name) for e in model.elements] == [
        ("A1", "Application", "TideBook"),
        ("A2", "Application", "CraneLog"),
        ("I1", "Interface", "Berth times"),
        ("I2", "Interface", "Shift times"),
        ("D1", "DataObject", "Berth"),
        ("D2", "DataObject", "Mooring"),
    ]
    book, *_, berth, _ = model.elements
    assert (book.level, book.properties) == ("Group", {"Owner": "J. Ovesen"})
    assert (book.location.page_name, book.location.key) == ("Applications", "4")
    assert berth.documentation == "A place for one ship."
    assert berth.properties == {"Category": "Master"}


def test_ends_and_names_in_columns_are_relations():
    model = model_of(WORKBOOK)
    listed = {(r.source.name, r.name or r.type, r.target.name) for r in model.relations}
    assert listed == {
        ("TideBook", "Flow", "Berth times"),
        ("Berth times", "Flow", "CraneLog"),
        ("CraneLog", "Flow", "Shift times"),
        ("Shift times", "Flow", "TideBook"),
        ("Berth times", "has data object", "Berth"),
        ("Mooring", "depends on", "Berth"),
    }
    # A name without a fact sheet is reported and not lost.
    assert [skip.reason for skip in model.skips] == ["no fact sheet is called 'Shift'"]
    shift = next(e for e in model.elements if e.id == "I2")
    assert shift.properties == {"Data object": "Shift"}


def test_a_workbook_stays_a_table_and_names_the_sheets_that_are_not_read():
    book = Workbook()
    book.remove(book.active)
    for name, rows in WORKBOOK.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([cell or None for cell in row])
    data = io.BytesIO()
    book.save(data)
    (document,) = spreadsheet.parse(Path("estate.xlsx"), data.getvalue(), Limits())
    assert {s.kind for s in document.sidecars} >= {"inventory", SIDECAR_KIND}
    (warning,) = document.warnings
    assert "the sheet 'Budget' was not read as fact sheets" in warning
    assert "Year, Spent, Planned" in warning
    assert "J. Ovesen" in document.text


def test_ids_that_each_sheet_counts_from_one_have_the_type():
    rows = [["Nr", "ID", "Name"], ["x", "1", "TideBook"]]
    model = model_of(
        {"Applications": rows, "Data objects": [*rows[:1], ["y", "1", "Berth"]]}
    )
    assert [e.id for e in model.elements] == ["Application:1", "DataObject:1"]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("Projects", [["ID", "Name", "Hours"], ["1", "Quay", "5"], ["2", "Dock", "6"]]),
        (
            "Orders",
            [["ID", "Kind", "Name"], ["1", "big", "Rope"], ["2", "big", "Sail"]],
        ),
        (
            "Applications",
            [["ID", "Application", "Day"], ["1", "A", "5"], ["2", "A", "6"]],
        ),
        ("Applications", [["Cost", "Month"], ["1", "May"], ["2", "June"]]),
    ],
)
def test_lists_of_other_things_are_no_fact_sheets(name, rows):
    assert model_of({name: rows}) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Applications", "Application"),
        ("List of data objects", "DataObject"),
        ("Business capabilities", "BusinessCapability"),
        ("Organisations", "Organization"),
        ("Processes", "Process"),
        ("Anwendungen", "Application"),
        ("Datenobjekte", "DataObject"),
        ("Schnittstellen", "Interface"),
        ("IT-Komponenten", "ITComponent"),
        ("Application costs", ""),
        ("Sheet1", ""),
    ],
)
def test_types_are_named_in_singular_plural_and_german(text, kind):
    assert type_named(text) == kind

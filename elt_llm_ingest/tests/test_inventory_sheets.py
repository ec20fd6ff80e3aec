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


def warnings_of(sheets):
    return table_sidecars(Path("estate.xlsx"), list(sheets.items())).warnings


PLAIN = [["ID", "Name"], ["A1", "GrainBook"], ["A2", "SiloWatch"]]


@pytest.mark.parametrize(
    ("heads", "read"),
    [
        (["Application", "OS"], True),
        (["Nr", "Application"], True),
        (["ID", "Application", "OS"], True),
        (["Level", "ID", "Application"], True),
        (["Server", "Application"], False),
        (["ID", "Server", "Application"], False),
    ],
)
def test_only_the_heading_of_the_first_texts_states_the_type(heads, read):
    cells = {
        "Application": ["GrainBook", "SiloWatch"],
        "Server": ["rye", "oat"],
        "Level": ["Site", "Group"],
        "OS": ["Linux", "BSD"],
        "ID": ["S1", "S2"],
        "Nr": ["1", "2"],
    }
    rows = [heads, *([cells[head][i] for head in heads] for i in range(2))]
    assert (model_of({"Estate": rows}) is not None) == read


@pytest.mark.parametrize("heads", [["Server", "Application"], ["Application", "OS"]])
def test_what_a_sheet_lists_is_not_listed_again_by_another(heads):
    rows = [heads, ["GrainBook", "SiloWatch"], ["SiloWatch", "GrainBook"]]
    objects = [["ID", "Name", "Application"], ["D1", "Sack", "GrainBook"]]
    sheets = {"Hosts": rows, "Applications": PLAIN, "Data objects": objects}
    model = model_of(sheets)
    assert [e.id for e in model.elements] == ["A1", "A2", "D1"]
    assert [r.target.name for r in model.relations] == ["GrainBook"]
    assert not model.skips
    (warning,) = warnings_of(sheets)
    reason = "'Applications' lists" if heads[0] == "Application" else "its first names"
    assert warning.startswith("the sheet 'Hosts' was not read")
    assert reason in warning


@pytest.mark.parametrize(
    ("row", "skips"),
    [
        (["A1", "Weighbridge"], ["row 6 repeats the id A1"]),
        (["A5", "GrainBook"], []),
        (["A5", "SAP / R3"], []),
        (["A5", "4711"], []),
        (["A5", ""], []),
    ],
)
def test_a_wrong_row_does_not_hide_the_others(row, skips):
    rows = [*PLAIN, ["A3", "MillPlan"], ["A4", "Ryeline"], row]
    model = model_of({"Applications": rows})
    assert [e.id for e in model.elements[:4]] == ["A1", "A2", "A3", "A4"]
    assert [skip.reason for skip in model.skips] == skips


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([["Cost", "Month"], ["1", "May"], ["2", "June"]], "Name or Application"),
        ([*PLAIN, ["A1", "MillPlan"], ["A1", "Ryeline"]], "repeat an id below 'ID'"),
        (
            [["ID", "Name"], ["1", "Oat"], ["2", "Oat"], ["3", "Oat"]],
            "a short name of their own below 'Name'",
        ),
    ],
)
def test_a_sheet_with_a_type_in_its_name_says_why_it_is_not_read(rows, reason):
    (warning,) = warnings_of({"Applications": rows})
    assert reason in warning
    assert "neither its name" not in warning
    objects = [["ID", "Data object"], ["D1", "Sack"]]
    assert warning in warnings_of({"Applications": rows, "Data objects": objects})


NUMBERED = {
    "Applications": [
        ["ID", "Name", "Parent"],
        ["1", "GrainBook", ""],
        ["2", "SiloWatch", "1"],
        ["3", "Ryeline", ""],
    ],
    "Interfaces": [
        ["ID", "Interface", "From", "To"],
        ["1", "Loads", "1", "2"],
        ["2", "Sales", "3", "1; 2"],
    ],
    "Data objects": [
        ["ID", "Data object", "Application", "Rank"],
        ["1", "Sack", "1", "2"],
        ["7", "Bin", "3", "1"],
    ],
}


@pytest.mark.parametrize("heading", ["Application", "Application ID", "Anwendung"])
def test_numbers_of_a_type_are_found_below_its_heading(heading):
    objects = [[heading if c == "Application" else c for c in row]
               for row in NUMBERED["Data objects"]]  # fmt: skip
    model = model_of(NUMBERED | {"Data objects": objects})
    assert [e.id for e in model.elements] == [
        *("Application:1", "Application:2", "Application:3"),
        *("Interface:1", "Interface:2", "DataObject:1", "DataObject:7"),
    ]
    assert {(r.source.name, r.target.name) for r in model.relations} == {
        *(("GrainBook", "Loads"), ("Loads", "SiloWatch"), ("Ryeline", "Sales")),
        *(("Sales", "GrainBook"), ("Sales", "SiloWatch")),
        *(("Sack", "GrainBook"), ("Bin", "Ryeline")),
    }
    assert not model.skips
    by_id = {e.id: e for e in model.elements}
    assert by_id["Application:2"].parent_id == "Application:1"
    assert by_id["DataObject:1"].properties == {"Rank": "2"}


@pytest.mark.parametrize(
    ("ends", "flows", "skips"),
    [
        (("GrainBook", "SiloWatch; Ryeline"), 3, 0),
        (("GrainBook, SiloWatch", "Ryeline\nGrainBook"), 4, 0),
        (("Sack", "GrainBook"), 2, 0),  # no application, but the only one of the name
        (("Orders", "GrainBook"), 2, 0),  # an application and a data object
        (("Twin", "GrainBook"), 1, 1),
        (("Nowhere; GrainBook", "Ryeline"), 2, 1),
    ],
)
def test_each_name_at_the_ends_of_an_interface_is_a_flow_or_a_skip(ends, flows, skips):
    names = ["GrainBook", "SiloWatch", "Ryeline", "Orders", "Twin", "Twin"]
    names += ["Oat", "Rye", "Hay", "Fodder"]
    sheets = {
        "Data objects": [["ID", "Name"], ["D1", "Orders"], ["D2", "Sack"]],
        "Applications": [["ID", "Name"]]
        + [[f"A{i}", name] for i, name in enumerate(names)],
        "Interfaces": [["ID", "Interface", "From", "To"], ["I1", "Loads", *ends]],
    }
    model = model_of(sheets)
    assert [r.type for r in model.relations] == ["Flow"] * flows
    ids = [end.element_id for r in model.relations for end in (r.source, r.target)]
    assert "D1" not in ids
    assert len({r.id for r in model.relations}) == flows
    assert len(model.skips) == skips
    if "Twin" in ends:
        (skip,) = model.skips
        assert skip.reason == "2 fact sheets are called 'Twin': write the id"


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


INVENTORY = [
    ["ID", "Type", "Name", "Description"],
    ["b-1", "DataObject", "Berth", "A place for one ship."],
    ["m-1", "DataObject", "Mooring", "A rope and what it is tied to."],
]


def mixed(**others):
    book = Workbook()
    book.active.title = "Inventory"
    for name, rows in {"Inventory": INVENTORY, **others}.items():
        sheet = book.active if name == "Inventory" else book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    data = io.BytesIO()
    book.save(data)
    path = Path("mixed.xlsx")
    (document,) = spreadsheet.parse(path, data.getvalue(), Limits())
    (model,) = [s.content for s in document.sidecars if s.kind == SIDECAR_KIND]
    return document, EnterpriseModel.model_validate(model)


def test_sheets_beside_an_inventory_stay_tables_and_are_listed_by_their_type():
    document, model = mixed(Applications=APPLICATIONS, Budget=BUDGET)
    assert [(e.type, e.name) for e in model.elements] == [
        ("DataObject", "Berth"),
        ("DataObject", "Mooring"),
        ("Application", "TideBook"),
        ("Application", "CraneLog"),
    ]
    assert "TideBook\tGroup\tJ. Ovesen" in document.text
    assert "2025\t10\t12" in document.text
    sections = {b.section for b in document.blocks if b.section}
    assert sections == {"DataObject", "Applications", "Budget"}


@pytest.mark.parametrize(
    "others",
    [
        # A table about known fact sheets, and the instructions of an export.
        {
            "Data objects": [
                ["Data object", "Owner"],
                ["Berth", "Ann"],
                ["Mooring", "Bo"],
            ]
        },
        {"Data objects": [["Data object", "Owner"], ["BERTH", "Ann"], ["Quay", "Bo"]]},
        {"ReadMe": [["Fill in", "the second sheet"], ["and", "upload it"]]},
    ],
)
def test_a_sheet_about_known_fact_sheets_lists_no_new_ones(others):
    document, model = mixed(**others)
    assert [e.name for e in model.elements] == ["Berth", "Mooring"]
    assert ("Ann" in document.text) == ("Data objects" in others)
    assert "upload" not in document.text


def test_an_equal_name_of_another_type_is_another_element():
    sheet = [["Application", "Owner"], ["Berth", "Ann"], ["CraneLog", "Bo"]]
    _, model = mixed(Applications=sheet)
    applications = [e.name for e in model.elements if e.type == "Application"]
    assert applications == ["Berth", "CraneLog"]

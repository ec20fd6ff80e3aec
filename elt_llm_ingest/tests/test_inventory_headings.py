"""Inventories with other headings are recognised; what is not is reported."""

import csv
import io
import random
from pathlib import Path

import pytest

from elt_llm_core.enterprise.model import SIDECAR_KIND, EnterpriseModel
from elt_llm_core.graph.model_check import check_model
from elt_llm_core.graph.model_graph import open_graph
from elt_llm_core.results import DegradationKind
from elt_llm_ingest.readers.enterprise.inventory import is_inventory, table_sidecars
from elt_llm_ingest.readers.enterprise.inventory_columns import find_columns
from ingest_models import GROUP, drawing, fact, page
from ingest_world import World, told

THINGS = ("Mooring", "Tug", "Pilot Order", "Dredging Permit", "Crane Shift")
ROWS = [
    [f"b7-{n:04d}", "DataObject" if n % 3 else "Application", name,
     f"Harbour / {name}", f"What the harbour office keeps about each {name.lower()}.",
     str(n % 4 + 1), "J. Ovesen", "active"]
    for n, name in enumerate(THINGS)
]  # fmt: skip
OWN = ["id", "type", "name", "displayName", "description", "level", "Owner", "status"]
ROLES = {"id", "type", "name", "displayname", "description", "level", "status"}


def table(*headings: str) -> list[list[str]]:
    return [list(headings), *ROWS]


@pytest.mark.parametrize(
    "headings",
    [
        ("Fact Sheet ID", "Fact Sheet Type", "Business name", "Path", "What it is",
         "Lvl", "Data steward", "Lifecycle"),
        ("UUID", "Kind", "Title", "Full path", "Definition", "Level", "Owner",
         "Status"),
        ("elementId", "element_type", "Element Name", "Hierarchy", "Documentation",
         "Hierarchy level", "Responsible", "Life-cycle"),
        ("Asset Ref", "Asset Category", "Asset Title", "Full Name", "Meaning", "Depth",
         "Owner name", "Lifecycle Status"),
    ],
)  # fmt: skip
def test_common_headings_are_those_of_an_export(headings):
    columns = find_columns(table(*headings))
    own = {name: place for name, place in columns.items() if name in ROLES}
    assert own == {
        "id": 0, "type": 1, "name": 2, "displayname": 3, "description": 4, "level": 5,
        "status": 7,
    }  # fmt: skip
    assert headings[6] in columns


def test_values_tell_what_headings_do_not():
    rows = table(*"ABCDEFGH")
    order = list(range(8))
    random.Random(5).shuffle(order)  # noqa: S311 - an order for a test
    columns = find_columns([[row[i] for i in order] for row in rows])
    assert [order[columns[role]] for role in ("id", "type", "description")] == [0, 1, 4]
    assert order[columns["name"]] == 2


def test_what_a_sheet_says_is_in_the_model():
    head = ("Fact Sheet ID", "Kind", "Title", "Path", "What it is", "Lvl", "Owner", "S")
    (typed,) = [
        s
        for s in table_sidecars(Path("assets.csv"), [("assets", table(*head))]).sidecars
        if s.kind == SIDECAR_KIND
    ]
    element = EnterpriseModel.model_validate(typed.content).elements[1]
    assert (element.id, element.name, element.type) == ("b7-0001", "Tug", "DataObject")
    assert (element.domain, element.level) == ("Harbour", "2")
    assert element.documentation == ROWS[1][4]
    assert element.properties == {"Owner": "J. Ovesen", "S": "active"}


@pytest.mark.parametrize(
    ("headings", "kind"),
    [
        # Orders, dishes and boxes have an id, a kind and a name, too.
        (("Order ref", "Kind", "Title"), "gift"),
        (("ID", "Category", "Label"), "fish"),
        (("Code", "Class", "Name"), "A"),
        (("ID", "Parent type", "Owner name"), "Applicant"),
        (("Ref", "Category", "Title"), "Project"),
    ],
)
def test_other_tables_are_no_inventories(headings, kind):
    rows = [[f"o{n}", kind, f"Number {n}"] for n in range(9)]
    assert not is_inventory([("Sheet1", [list(headings), *rows])])


def test_a_full_name_is_no_place_in_a_hierarchy():
    rows = [
        ["id", "type", "name", "Full name"],
        ["7", "Application", "CRM", "Customer Relationship Management"],
    ]
    assert find_columns(rows)["Full name"] == 3


def test_headings_of_an_export_need_no_known_types():
    rows = [["ID", "Type", "Name"], ["1", "Vessel", "Tug"]]
    assert find_columns(rows) == {"id": 0, "type": 1, "name": 2}


def write_csv(world: World, name: str, rows) -> Path:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return world.write(name, out.getvalue())


@pytest.fixture
def world(tmp_path, without_index):
    made = World(tmp_path)
    boxes = [fact("11", "HARBOUR", "10", (0, 0, 600, 400))]
    boxes += [
        fact(f"b7-{n:04d}", name, "10", (20, 40 + 60 * n, 100, 40))
        for n, name in enumerate(THINGS)
    ]
    drawn = drawing(page(GROUP + "".join(boxes)))
    (made.files / "model.drawio").write_bytes(drawn.replace(b'"f-b7', b'"b7'))
    yield made
    made.store.close()


def rules(world: World):
    return {o.rule: o for o in check_model(open_graph(world.store)).rules}


def test_a_sheet_that_is_not_recognised_is_told_and_breaks_a_rule(world):
    path = write_csv(
        world, "stewards.csv", [["Thing", "Held by"], *([t, "Ann"] for t in THINGS)]
    )
    write_csv(
        world, "rota.csv", [["Day", "Crew"], *([f"May {n}", f"C{n}"] for n in range(9))]
    )
    (note,) = told(world.run(), DegradationKind.DOCUMENT_WARNING)
    assert "sheet 'stewards': it lists elements of the model, but is not read" in note
    assert "needs columns for id, type and name" in note
    assert note.endswith("the columns of stewards.csv: Thing, Held by")
    broken = rules(world)["MOD001"]
    assert (broken.passed, broken.broken) == (False, 1)
    assert "stewards.csv: Thing, Held by" in broken.skips[0]
    path.unlink()
    world.run(prune=True)
    assert rules(world)["MOD001"].passed


def test_an_inventory_with_other_headings_documents_the_model(world):
    head = ("Fact Sheet ID", "Kind", "Title", "Path", "What it is", "Lvl", "Owner", "S")
    write_csv(world, "assets.csv", table(*head))
    assert told(world.run(), DegradationKind.DOCUMENT_WARNING) == []
    outcomes = rules(world)
    assert outcomes["MOD001"].passed
    assert outcomes["MOD009"].broken == 0

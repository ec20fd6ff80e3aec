"""Inventories as models: any sheet, any order of columns, names become relations."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elt_llm_core.enterprise.joining import join_models
from elt_llm_core.enterprise.model import SIDECAR_KIND, EnterpriseModel, ModelElement
from elt_llm_ingest.readers.enterprise.inventory import documents, table_sidecars
from elt_llm_ingest.reading import route_by_prefix

HEAD = ["id", "type", "name", "displayName", "description", "level", "lxState"]
MORE = ["Owner", "relApplicationToDataObject", "relToParent", "Cost Centre"]
ROWS = [
    row.split("|")
    for row in (
        "o1|Organization|Estates|Estates||1|APPROVED||||",
        "o2|Organization|Facilities|Estates / Facilities||2|||||",
        "a1|Application|Ledger|Ledger|Books.|1|DRAFT|Facilities|Rent; Lease||4711",
        "a2|Application|Payroll|Payroll||1||Estates|Rent\nDebt||",
        "d1|DataObject|Rent|Contracts / Rent||2||||Contracts|",
        "d2|DataObject|Lease|Lease||2||||Contracts|",
        "d3|DataObject|Contracts|Contracts||1|||||",
        "i1|Interface|Payroll to Ledger LI|Payroll to Ledger LI||1|||||",
        "i2|Interface|Ledger to Bank|Ledger to Bank||1|||||",
        "i3|Interface|Nightly copy|Nightly copy||1|||||",
    )
]


def read(*sheets) -> EnterpriseModel:
    (document,) = documents(Path("estate.xlsx"), list(sheets))
    (typed,) = [s for s in document.sidecars if s.kind == SIDECAR_KIND]
    return EnterpriseModel.model_validate(typed.content)


def shuffled(seed: int) -> list[list[str]]:
    order = list(range(len(HEAD + MORE)))
    random.Random(seed).shuffle(order)  # noqa: S311 - an order for a test
    return [[row[i] for i in order] for row in [HEAD + MORE, *ROWS]]


@pytest.mark.parametrize(
    ("column", "cells", "name"),
    [
        ("Organisation", ["Estates Trust"] * 2, "Estates Trust"),
        ("Workspace Name", ["Estates Trust"] * 2, "Estates Trust"),
        ("organization", ["Estates", "Facilities"], ""),  # who owns each thing
        ("Organisation", ["Rent", "Rent"], ""),  # a fact sheet of the inventory
        ("Organisation", ["Estates Trust", ""], ""),
        ("Cost centre", ["4711"] * 2, ""),
    ],
)
def test_a_column_that_says_one_thing_names_the_organisation(column, cells, name):
    head = ["id", "type", "name", column]
    rows = [
        ["a", "Application", "Rent", cells[0]],
        ["b", "Application", "Debt", cells[1]],
    ]
    (document,) = documents(Path("estate.xlsx"), [("Sheet", [head, *rows])])
    inventory = next(s for s in document.sidecars if s.kind == "inventory")
    assert inventory.content["metadata"]["org_name"] == name
    assert read(("Sheet", [head, *rows])).properties.get("organisation", "") == name


@pytest.mark.parametrize("seed", range(3))
def test_columns_in_any_order_on_a_sheet_of_any_name(seed):
    model = read(("ReadMe", [["Export"]]), (f"Sheet {seed}", shuffled(seed)))
    assert len(model.elements) == len(ROWS)
    by_id = {e.id: e for e in model.elements}
    assert (by_id["d1"].parent_id, by_id["d1"].domain) == ("d3", "Contracts")
    assert (by_id["d2"].parent_id, by_id["d2"].domain) == ("d3", "Contracts")
    assert by_id["o2"].parent_id == "o1"
    assert by_id["a1"].properties == {"Cost Centre": "4711"}
    assert by_id["a1"].status == "DRAFT"
    texts = {(r.source.name, r.name or r.type, r.target.name) for r in model.relations}
    assert texts == {
        ("Ledger", "has owner", "Facilities"),
        ("Payroll", "has owner", "Estates"),
        ("Ledger", "has data object", "Rent"),
        ("Ledger", "has data object", "Lease"),
        ("Payroll", "has data object", "Rent"),
        ("Payroll", "Flow", "Payroll to Ledger LI"),
        ("Payroll to Ledger LI", "Flow", "Ledger"),
        ("Ledger", "Flow", "Ledger to Bank"),
    }
    assert sorted(s.reason for s in model.skips) == [
        "no fact sheet is called 'Bank'", "no fact sheet is called 'Debt'",
    ]  # fmt: skip


def test_each_sheet_with_the_columns_is_read_and_rows_left_out_are_skips():
    first = [HEAD, ["x", "DataObject", "X", "X", "", "1", ""]]
    second = [HEAD[:3], ["x", "DataObject", "Again"], ["", "Process", "P"],
              ["y", "Process", "Y"]]  # fmt: skip
    model = read(("One", first), ("Two", second))
    assert [(e.id, e.location.page_name) for e in model.elements] == [
        ("x", "One"), ("y", "Two"),
    ]  # fmt: skip
    assert [s.reason for s in model.skips] == [
        "row 2 repeats the id x", "row 3 has no id or no name",
    ]  # fmt: skip


def test_a_csv_is_the_same_model_and_types_join_again():
    rows = shuffled(7)
    typed = [
        s
        for s in table_sidecars(Path("e.csv"), [("e", rows)]).sidecars
        if s.kind == SIDECAR_KIND
    ]
    assert len(typed[0].content["relations"]) == 8
    (document,) = documents(Path("estate.xlsx"), [("S", rows)])
    parts = [
        EnterpriseModel.model_validate(s.content)
        for target in route_by_prefix("fa", [document])
        for s in target.document.sidecars
        if s.kind == SIDECAR_KIND
    ]
    assert len(parts) == 4
    joined, whole = join_models(parts), read(("S", rows))
    assert {e.id for e in joined.elements} == {e.id for e in whole.elements}
    assert {r.id for r in joined.relations} == {r.id for r in whole.relations}
    assert len(joined.skips) == len(whole.skips)


def drawn(*elements: ModelElement) -> EnterpriseModel:
    return EnterpriseModel(
        name="d", source_file="d.drawio", format="leanix_drawio", elements=elements
    )


@pytest.mark.parametrize(
    ("elements", "target"),
    [
        ([("d1", "Deed", "DataObject")], "d1"),
        ([("d1", "deed", "BusinessObject")], "d1"),
        ([("d1", "Deed", "Shape")], "d1"),
        ([("d1", "Deed", "Application"), ("d2", "Deed", "DataObject")], "d2"),
        # Of another type, two of one name, or of no name.
        ([("d1", "Deed", "Application")], None),
        ([("d1", "Deed", "DataObject"), ("d2", "Deed", "DataObject")], None),
        ([("d1", "Deeds of sale", "DataObject")], None),
    ],
)
def test_a_name_that_only_a_drawing_has_is_the_end_of_a_relation(elements, target):
    rows = [
        ["id", "type", "name", "relApplicationToDataObject"],
        ["a1", "Application", "Ledger", "Rent; Deed"],
        ["o1", "DataObject", "Rent", ""],
    ]
    inventory = read(("S", rows))
    assert [skip.name for skip in inventory.skips] == ["Ledger -> Deed"]
    shapes = [
        ModelElement(id=key, name=name, type=kind, fact_sheet_id=key, domain="LAND")
        for key, name, kind in elements
    ]
    joined = join_models([inventory, drawn(*shapes)])
    ends = {r.target.element_id: r for r in joined.relations}
    assert set(ends) - {"o1"} == ({target} if target else set())
    assert len(joined.skips) == (0 if target else 1)
    if target:
        relation = ends[target]
        assert (relation.source.element_id, relation.name) == ("a1", "has data object")
        assert (relation.target.domain, relation.location.key) == ("LAND", "2")


@pytest.mark.parametrize(
    ("columns", "cells"),
    [
        ([], ["Ledger to Kiosk"]),
        ([], ["Kiosk to Ledger"]),
        ([], ["Kiosk to Till"]),
        (["From", "To"], ["Loads", "Ledger", "Till; Kiosk"]),
    ],
)
def test_an_interface_ends_at_applications_that_only_a_drawing_has(columns, cells):
    rows = [
        ["id", "type", "name", *columns],
        ["a1", "Application", "Ledger", *("" for _ in columns)],
        ["i1", "Interface", *cells],
    ]
    inventory = read(("S", rows))
    shapes = [
        ModelElement(id="d1", name="Kiosk", type="ApplicationComponent", domain="LAND"),
        ModelElement(id="d2", name="Till", type="Application"),
        ModelElement(id="d3", name="Till", type="DataObject"),
    ]
    joined = join_models([inventory, drawn(*shapes)])
    assert not joined.skips
    ids = {"Ledger": "a1", "Kiosk": "d1", "Till": "d2"}
    ends = [("Ledger", "Till"), ("Ledger", "Kiosk")]
    ends = ends if columns else [tuple(cells[0].split(" to "))]
    assert {(r.source.element_id, r.target.element_id) for r in joined.relations} == {
        *((ids[first], "i1") for first, _ in ends),
        *(("i1", ids[second]) for _, second in ends),
    }
    assert {r.type for r in joined.relations} == {"Flow"}
    # Without the drawing each end is a skip; what two things are called stays one.
    assert len(join_models([inventory]).skips) == len(joined.relations) - (
        1 if "Ledger" in " ".join(cells) else 0
    )
    twins = [s.model_copy(update={"id": f"{s.id}t"}) for s in shapes[:2]]
    assert len(join_models([inventory, drawn(*shapes, *twins)]).skips) == len(
        inventory.skips
    )


NAME = st.text(alphabet="ab /;\n", max_size=5)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["1", "2", "3", ""]),
            st.sampled_from(["Interface", "DataObject", ""]),
            st.sampled_from(["a", "b", "a to b", "to", " ", "b to a LI"]),
            NAME, NAME, NAME,
        ),
        max_size=6,
    )
)  # fmt: skip
def test_rows_in_are_elements_and_skips_whatever_the_cells(rows):
    head = ["id", "type", "name", "displayName", "relToX", "parent"]
    filled = [list(row) for row in rows if any(row)]
    sidecars = table_sidecars(Path("e.csv"), [("e", [head, *map(list, rows)])]).sidecars
    if not sidecars:
        assert not any(r[0] and r[2].strip() for r in filled)
        return
    model = EnterpriseModel.model_validate(sidecars[1].content)
    left = [s for s in model.skips if s.kind == "element"]
    assert len(model.elements) + len(left) == len(filled)
    ids = {e.id for e in model.elements}
    for relation in model.relations:
        assert {relation.source.element_id, relation.target.element_id} <= ids
    assert len({r.id for r in model.relations}) == len(model.relations)


def stated(model: EnterpriseModel) -> set[tuple[str, str]]:
    return {(r.source.name, r.target.element_id) for r in model.relations}


def test_a_relation_column_prefers_the_type_of_its_header():
    head = ["id", "type", "name", "relDataToApplication", "relToRole"]
    model = read(
        (
            "S",
            [
                head,
                ["d", "DataObject", "Chart", "Chart; Ward", "Nurse"],
                ["c", "Application", "Chart", "", ""],
                ["w1", "Interface", "Ward", "", ""],
                ["w2", "Application", "Ward", "", ""],
                ["n1", "Actor", "Nurse", "", ""],
                ["n2", "Person", "Nurse", "", ""],
            ],
        )
    )
    assert stated(model) == {("Chart", "c"), ("Chart", "w2")}
    assert [s.reason for s in model.skips] == [
        "2 fact sheets are called 'Nurse': write the id"
    ]


def test_commas_and_equal_headers_lose_no_name():
    head = ["id", "type", "name", "relToApplication", "relToApplication"]
    rows = [
        ["d", "DataObject", "Chart", "Ward, Images", "Tests, fast"],
        ["e", "DataObject", "Sheet", "Ward, Unknown", ""],
        ["w", "Application", "Ward", "", ""],
        ["i", "Application", "Images", "", ""],
        ["t", "Application", "Tests, fast", "", ""],
    ]
    model = read(("S", [head, *rows]))
    assert stated(model) == {("Chart", "w"), ("Chart", "i"), ("Chart", "t")}
    assert [s.name for s in model.skips] == ["Sheet -> Ward, Unknown"]


def random_rows(seed: int) -> list[list[str]]:
    """Fact sheets with repeated ids and names, and cells that name some of them."""
    rng = random.Random(seed)  # noqa: S311 - rows for a test

    def cell() -> str:
        return "; ".join(rng.sample(["a", "b", "c", "z"], rng.randint(0, 3)))

    return [
        [rng.choice("1234"), rng.choice(["Application", "DataObject"]),
         rng.choice(["a", "b", "c", ""]), cell(), cell(), cell(), cell()]
        for _ in range(rng.randint(1, 6))
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_every_cell_of_a_relation_column_is_a_relation_a_parent_or_a_skip(seed):
    rows = random_rows(seed)
    columns = ["relToApplication", "relToOwner", "relToParent", "relToChild"]
    head = ["id", "type", "name", *columns]
    sidecars = table_sidecars(Path("e.csv"), [("e", [head, *map(list, rows)])]).sidecars
    if not sidecars:
        return
    model = EnterpriseModel.model_validate(sidecars[1].content)
    cells = sum(len(c.split("; ")) for row in rows for c in row[3:] if c)
    kept = [s for s in model.skips if s.kind == "relation"]
    names = {e.id: e.name for e in model.elements}
    above = {(e.id, names.get(e.parent_id)) for e in model.elements if e.parent_id}
    placed = sum(
        (row[0], name) in above for row in first_rows(rows) for name in split(row[5])
    ) + sum(
        any(names[child] == name and p == row[2] for child, p in above)
        for row in first_rows(rows)
        for name in split(row[6])
    )
    assert len(model.relations) + len(kept) + placed >= cells
    assert len({s.id for s in kept}) == len(kept)


def first_rows(rows):
    """The rows that are fact sheets: the first of an id with a name."""
    taken = {}
    for row in rows:
        if row[2]:
            taken.setdefault(row[0], row)
    return list(taken.values())


def split(cell: str) -> list[str]:
    return cell.split("; ") if cell else []

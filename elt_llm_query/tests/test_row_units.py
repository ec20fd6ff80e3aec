"""Columns of units, and columns of money."""

import pytest

from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.tables import relations
from elt_llm_query.synthesizers.table_qa.row_units import different_units, money_columns


def relation_of(*lines):
    headers = lines[0].split("|")
    text, blocks = "", []
    for n, line in enumerate(lines):
        start, cells = len(text), []
        for c, (header, value) in enumerate(zip(headers, line.split("|"), strict=True)):
            text += "\t" if c else ""
            end = len(text) + len(value)
            cells.append(Cell(header=header, start=len(text), end=end, column=c))
            text += value
        blocks.append(
            Block(
                kind=BlockKind.TABLE_ROW,
                start=start,
                end=len(text),
                table="Stores",
                table_number=1,
                cells=tuple(cells),
                attributes={} if n else {"row": "header"},
            )
        )
        text += "\n"
    (relation,) = relations("d", "d.xlsx", text, blocks)
    return relation


@pytest.mark.parametrize(
    ("header", "number", "units"),
    [
        ("Unit", "Stock", ("litre", "kg")),
        ("Unit of measure", "Stock", ("litre", "kg")),
        ("Stock unit", "Stock", ("litre", "kg")),
        ("Currency", "Price", ("EUR", "USD")),
        ("Ma\u00dfeinheit", "Bestand", ("Liter", "kg")),
        # a bracket without a unit is none
        ("Unit", "Stock (current)", ("litre", "kg")),
        ("Units", "Stock (2024)", ("litre", "kg")),
        ("Unit", "Stock (old)", ("litre", "kg")),
        # a part of a firm is no unit of measure
        ("Business unit", "Budget", ()),
        ("Organisational unit", "Posts", ()),
        ("Intensive care unit", "Beds", ()),
        ("Unit", "Beds", ("Ward of the north building", "Ward 2")),
        # a header with a unit of its own
        ("Unit", "Price (\u20ac)", ()),
        ("Unit", "Cost (USD)", ()),
        ("Unit", "Area (m\u00b2)", ()),
        ("Unit", "Weight (in kg)", ()),
        ("Unit", "Lead time (days)", ()),
        ("Unit", "Orders per year", ()),
    ],
)
def test_rows_in_different_units_are_known_by_a_column_of_units(header, number, units):
    first, second = units or ("Loans", "Claims")
    rows = (f"Item|{header}|{number}", f"Oil|{first}|5", f"Salt|{second}|7")
    expected = () if max(map(len, (first, second))) > 20 else units
    assert different_units(relation_of(*rows), (1, 2), 2) == expected


def test_rows_that_are_units_are_compared():
    stores = relation_of("Unit|Staff", "Laundry|5", "Kitchen|7")
    assert different_units(stores, (1, 2), 1) == ()


@pytest.mark.parametrize(
    ("header", "money"),
    [
        ("Cost", True),
        ("Yearly costs", True),
        ("Cost per centre", True),
        ("Fee (\u20ac)", True),
        ("Cost centre", False),
        ("Cost center", False),
        ("Cost code", False),
        ("Cost category", False),
        ("Cost type", False),
        ("Cost element no.", False),
        ("Cost no.", False),
        ("Rooms", False),
    ],
)
def test_a_cost_centre_is_no_amount_of_money(header, money):
    stores = relation_of(f"Item|{header}", "Oil|4711", "Salt|4720")
    assert money_columns(stores) == [1] * money

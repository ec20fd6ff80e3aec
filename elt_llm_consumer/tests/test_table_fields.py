"""Rows of tables fill fields of the entities that they name, and of no others."""

import json
from pathlib import Path

import pytest

from elt_llm_consumer.catalog import CatalogJob
from elt_llm_consumer.catalog_diff import compare_catalogs
from elt_llm_consumer.table_fields import TableFields
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.tables import relations

NAMES = ("Loan", "Exhibit", "Lender", "Courier", "Facility Report")
G, B, C = "governance_rules", "business_rules", "data_classification"


def tables(source, make):
    """The relations of a document, the first row of each table being its header."""
    document = make(source, "Museum")
    blocks = []
    before = None
    for block in document.blocks:
        is_row = block.kind is BlockKind.TABLE_ROW
        is_head = is_row and (before is None or before.kind is not block.kind)
        blocks.append(_as_header(block) if is_head else block)
        before = block
    return document.text, relations("doc-1", "Museum", document.text, blocks)


def _as_header(block: Block) -> Block:
    return block.model_copy(update={"attributes": {"row": "header"}})


def lines(source, make, name, names=NAMES, terms=()):
    """The fields of an entity with their lines."""
    _, made = tables(source, make)
    rows = TableFields(made, names, terms).of([name])
    return {field: rows.lines(field) for field in rows.fields}


OWNERS = """\
# 4 Information owners
|Data object|Data owner|Steward|Remarks
|Loans|Head of Collections|Registrar|-
|Exhibit|Head of Collections|"|-
|Lender|tbc|Registrar's clerk|-
|Exhibit labels|Head of Shows|Editor|-
"""
KEPT = """\
# 7 How long
|Area|Record type|Classification|Retention|From
|Files|Loan|Confidential|10 years|Return
|Files|Facility report|Green|3 years|-
"""
BY_PROPERTY = """\
# 8 At a glance
|Property|Exhibit|Courier
|Owner|Curator|Head of Transport
|Security classification|Internal|Restricted
|Colour|Red|Blue
"""
BY_ROLE = """\
# 9 Offices
|Office|Owner of|Telephone
|Registrar|Loans and lenders|17
|Conservator|Exhibit, tools|18
"""
RULES = """\
# 10 Checks of data
|Rule|Applies to|What is checked|Target %|Owner
|D-1|Loan|The return is later|100|Auditor
|D-2|Loan, Lender|The address is complete|98|Auditor
"""
CARD = """\
# 11.2 Courier
|Attribute|Value
|Owner|Head of Transport
|Keep for|2 years
|Shoes|black
"""


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        (
            OWNERS,
            "Loan",
            {G: ["Data owner: Head of Collections; Steward: Registrar"]},
        ),
        (
            OWNERS,
            "Exhibit",
            {G: ["Data owner: Head of Collections; Steward: Registrar"]},
        ),
        (OWNERS, "Lender", {G: ["Steward: Registrar's clerk"]}),
        (
            KEPT,
            "Loan",
            {C: ["Classification: Confidential; Retention: 10 years; From: Return"]},
        ),
        # "Green" is a classification of something else.
        (KEPT, "Facility Report", {C: ["Retention: 3 years"]}),
        (
            BY_PROPERTY,
            "Courier",
            {
                G: ["Owner: Head of Transport"],
                C: ["Security classification: Restricted"],
            },
        ),
        (BY_ROLE, "Lender", {G: ["Office: Registrar; Owner of: Loans and lenders"]}),
        (
            BY_ROLE,
            "Exhibit",
            {},
        ),  # "tools" is unknown: the list may be of exhibits' tools
        (
            RULES,
            "Loan",
            {
                B: [
                    "Rule: D-1; What is checked: The return is later; Target %: 100",
                    "Rule: D-2; What is checked: The address is complete; Target %: 98",
                ]
            },
        ),
        (
            CARD,
            "Courier",
            {G: ["Owner: Head of Transport"], C: ["Keep for: 2 years"]},
        ),
    ],
)
def test_a_row_fills_the_fields_of_its_entity(make, source, name, expected) -> None:
    assert lines(source, make, name) == expected


@pytest.mark.parametrize(
    "source",
    [
        # Forms, courses and shelves with an owner of their own.
        "# 3 Forms\n|Form|Owner|Retention period\n|Loan|Registrar|1 year\n|Exhibit|X|2",
        "# 3 Courses\n|Course|Responsible|Level\n|Loan|Trainer|Internal",
        "# 3 Shop\n|Item|Owner|Price\n|Loan|A bank|4\n|Cup|The shop|5\n|Pen|Ann|6",
        "# 3 Forms\n|Form|Record|Keep for\n|F-12 return|Loan|3 years",
        # A longer name, a cell without a value, a number for a person.
        "# 3 Owners\n|Entity|Owner\n|Loan agreement|Registrar\n|Exhibit|-\n|Lender|7",
        "# 3 Owners\n|Entity|Colour|Remarks\n|Loan|Red|None",
    ],
)
def test_tables_of_other_things_fill_nothing(make, source) -> None:
    _, made = tables(source, make)
    assert not TableFields(made, NAMES, ()).of(NAMES).fields


def test_tables_that_differ_are_a_conflict_and_neither_is_chosen(make) -> None:
    source = (
        f"{KEPT}# 12 Disposal schedule\n|Record|Keep for\n|Loan|12 years\n|Exhibit|5 y"
    )
    _, made = tables(source, make)
    rows = TableFields(made, NAMES, ()).of(["Loan"])
    assert rows.lines(C)[-1] == (
        "Conflict: Retention: 10 years (Museum, How long); "
        "Keep for: 12 years (Museum, Disposal schedule)"
    )
    assert rows.has_conflict
    same = source.replace("12 years", "10 Years")
    _, made = tables(same, make)
    assert not TableFields(made, NAMES, ()).of(["Loan"]).has_conflict


def test_the_proof_of_a_repeated_cell_is_the_row_that_has_it(make) -> None:
    text, made = tables(OWNERS, make)
    first, above = TableFields(made, NAMES, ()).of(["Exhibit"]).rows[G]
    assert text[first.start : first.end] == 'Exhibit\tHead of Collections\t"\t-'
    assert first.cells == (
        ("Data owner", "Head of Collections"),
        ("Steward", "Registrar"),
    )
    assert text[above.start : above.end].startswith("Loans\tHead of Collections")
    assert first.table == "4 Information owners"


ESTATE = """\
# 7 Records
|Record|Owner|Keep for
|Ground lease|Estates clerk|12 years
|Tenants|Estates clerk|6 years
"""


def test_the_catalogue_has_them_and_a_change_reopens_a_decision(
    context, models, add, make, aliases
) -> None:
    def lease(text):
        add(context.store, "handbook", make(text, "Records"))
        job = CatalogJob(collections=("handbook",), model="estate", aliases=aliases)
        report = job.build(models)(context)
        file = Path(report.files["catalog_flat_json"])
        rows = json.loads(file.read_text())["entities"]
        return next(r for r in rows if r["entity_name"] == "Ground Lease"), rows

    row, before = lease(ESTATE)
    assert "Owner: Estates clerk" in row["governance_rules"].split("\n")
    assert row["data_classification"] == "Keep for: 12 years"
    (proof,) = row["evidence"]["data_classification"]
    assert (proof["support"], proof["table"]) == ("verified", "7 Records")
    assert proof["quote"] == "Ground lease\tEstates clerk\t12 years"
    change = {"item_id": row["item_id"], "status": "approved"}
    _approve(context.store, change)
    row, after = lease(ESTATE.replace("12 years", "20 years"))
    assert row["review_status"] == "REOPENED"
    (changed,) = [
        c
        for c in compare_catalogs(before, after).changed
        if c.entity_name == "Ground Lease"
    ]
    assert "data_classification" in [one.field for one in changed.fields]


def _approve(store, change) -> None:
    from elt_llm_core.reviews.review_records import ReviewChange

    store.reviews.change("catalog:handbook", [ReviewChange(**change)], "ann")

"""Rows of tables fill fields of the entities that they name, and of no others."""

import json
from pathlib import Path

import pytest

from elt_llm_consumer.catalog import CatalogJob
from elt_llm_consumer.catalog_diff import compare_catalogs
from elt_llm_consumer.column_subjects import read_columns
from elt_llm_consumer.table_fields import TableFields
from elt_llm_core.config.sections import ConsumerSection
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.errors import ConfigError
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
KEPT_FOR = "Retention: 10 years; From: Return"
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
        (
            KEPT.replace("Confidential", "Secret, personal data"),
            "Loan",
            {C: [f"Classification: Secret, personal data; {KEPT_FOR}"]},
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
        # Few names; one subject alone; a record that is not the first column.
        "# 3 Shop\n|Item|Owner|Keep for\n|Loan|A bank|4\n|Cup|The shop|5\n|Pen|Ann|6",
        "# 3 Shop\n|Item|Owner|Price\n|Loan|A bank|4\n|Exhibit|The shop|5",
        "# 3 Forms\n|Form|Record|Keep for\n|F-12 return|Loan|3 years",
        # A longer name, a cell without a value, a number for a person.
        "# 3 Owners\n|Entity|Owner\n|Loan agreement|Registrar",
        "# 3 Owners\n|Entity|Keep for\n|Exhibit|-\n|Lender|tbc",
        "# 3 Owners\n|Entity|Owner\n|Lender|7",
        "# 3 Owners\n|Entity|Colour\n|Loan|Red",
        # Rows about attributes and departments, with the name in each or in the first.
        "# 3 Data\n|Entity|Attribute|Owner\n|Loan|Fee|Registrar",
        "# 3 Data\n|Entity|For|Owner\n|Loan|Fee|Registrar\n|Loan|Date|Curator",
        "# 3 Data\n|Entity|For|Owner\n|Loan|Fee|Registrar\n| |Date|Curator",
        "# 3 Data\n|Entity|For|Owner\n|Loan|Fee|Registrar\n|\u201d|Date|Curator",
        "# 3 Files\n|Record|Department|Keep for\n|Loan|A|2 years\n|Loan|B|-",
        "# Loan\n|Item|Value\n|Owner|Al\n|Keep for|2 y\n|Owner|Ben\n|Keep for|3 y",
        # What a field is.
        "# Lender\n|Attribute|Description\n|Owner|Who is named\n|Keep for|How long",
        "# Lender\n|Field|Value\n|Owner|char (20)\n|Keep for|Date",
        "# Fields\n|Field|Lender|Loan\n|Owner|yes|Optional\n|Keep for|text|mandatory",
        # Numbers of rules, and checks of things.
        "# 3 Index of data\n|Term|Rule\n|Loan|4.2\n|Exhibit|see 5.1",
        "# 3 Penalties\n|Rule|Applies to|Penalty\n|42|Loan|It is to be paid at once",
        "# 3 Weekly\n|Object|Check|Responsible\n|Exhibit|dust|Workshop\n|Loan|lid|Ann",
        "# 3 Weekly\n|Record|Check|Responsible\n|Exhibit|dust|Workshop",
        "# 3 Weekly\n|Record|Check\n|Exhibit|\u2713 done",
        "# 3 Care\n|Document|Owner\n|Exhibit|Ann",
        "# 3 Care\n|Term|Owner|Check\n|Exhibit|Ann|dust",
        # Words that are something else in English.
        "# 3 Care\n|Record|Conservation\n|Exhibit|needs cleaning",
        "# 3 Conservation\n|Item|Owner\n|Exhibit|Ann",
        "# 3 Gallery\n|Art|Owner|Keep for\n|Exhibit|Ann|2 years",
        "# 3 Ships\n|Cargo|Owner of\n|Grain|Loan",
        "# 3 People\n|Record|Level\n|Courier|intern",
    ],
)
def test_tables_of_other_things_fill_nothing(make, source) -> None:
    _, made = tables(source, make)
    fields = TableFields(made, NAMES, ())
    assert not [(n, fields.of([n]).rows) for n in NAMES if fields.of([n]).fields]


RACI = """\
# 12 Who does what
|Record|Curator|Registrar|Head of Transport|Director
|Loan|C|R/A|I|-
|Exhibit|RA|C|I|I
|Lender|C|R|-|A
"""
TURNED = """\
# 12 Who does what
|Role|Loan|Exhibit|Lender
|Curator|C|R, A|C
|Registrar|R|C|R
|Director|A|I|A
"""


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        (RACI, "Loan", ["Accountable: Registrar", "Responsible: Registrar"]),
        (RACI, "Lender", ["Accountable: Director", "Responsible: Registrar"]),
        (TURNED, "Exhibit", ["Accountable: Curator", "Responsible: Curator"]),
        (TURNED, "Loan", ["Accountable: Director", "Responsible: Registrar"]),
        # Tasks, grades and cells with other words are no responsibility for a record.
        (RACI.replace("Record", "Task"), "Loan", None),
        (RACI.replace("|I", "|B"), "Loan", None),
        (RACI.replace("|C", "|A").replace("|I", "|A"), "Loan", None),
        (TURNED.replace("Role", "Day"), "Loan", None),
    ],
)
def test_a_matrix_of_responsibilities_names_who_accounts(
    make, source, name, expected
) -> None:
    assert lines(source, make, name).get(G) == expected


def test_a_matrix_that_differs_from_a_table_of_owners_is_a_conflict(make) -> None:
    _, made = tables(RACI + OWNERS, make)
    rows = TableFields(made, NAMES, ()).of(["Loan"])
    (conflict,) = rows.conflicts[G]
    assert conflict == (
        "Conflict: Accountable: Registrar (Museum, Who does what); "
        "Data owner: Head of Collections (Museum, Information owners)"
    )


def test_the_words_of_a_file_are_added(make, tmp_path) -> None:
    source = (
        "# 3 Vault\n|Cargo|Warden|Grade|Statute\n|Loan|Ann Lee|Purple|Act 4\n"
        "|Exhibit|Bo Day|Purple, fragile|Act 9"
    )
    assert lines(source, make, "Loan") == {}
    file = tmp_path / "columns.yaml"
    file.write_text(
        "names: {certain: [cargo]}\nsubjects:\n  custodian: [warden]\n"
        "  marking: {headers: [grade], values: [purple]}\n"
        "  statute: {field: regulatory_context, headers: [statute]}\n"
    )
    _, made = tables(source, make)
    rows = TableFields(made, NAMES, (), read_columns(file)).of(["Exhibit"])
    assert {field: rows.lines(field) for field in rows.fields} == {
        G: ["Warden: Bo Day"],
        C: ["Grade: Purple, fragile"],
        "regulatory_context": ["Statute: Act 9"],
    }
    assert lines(KEPT, make, "Loan")[C]  # the shipped words stay as they are


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("subject: {}", "no key 'subject'.*"),
        ("subjects: {warden: {field: owner, headers: [warden]}}", "'owner' is not"),
        ("subjects: {warden: [warden]}", "the field None is not known"),
        ("titles: vault", "must be a list of words"),
        ("names: {sure: [cargo]}", "no key 'sure'"),
    ],
)
def test_a_file_of_wrong_words_is_refused(tmp_path, text, message) -> None:
    file = tmp_path / "columns.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_columns(file)


def test_what_every_row_of_an_entity_says_is_said_of_it(make) -> None:
    source = (
        "# 3 Data\n|Entity|Place|Owner|Personal data\n"
        "|Loan|North|Registrar|no\n|Loan|South|Registrar|yes\n|Exhibit|-|Ann|no"
    )
    assert lines(source, make, "Loan") == {G: ["Owner: Registrar"]}
    assert lines(source, make, "Exhibit") == {
        G: ["Owner: Ann"],
        C: ["Personal data: no"],
    }


def test_an_alias_with_another_owner_is_a_conflict(make) -> None:
    source = "# 3 Owners\n|Entity|Owner\n|Loan|Registrar\n|Lending|Curator"
    _, made = tables(source, make)
    rows = TableFields(made, NAMES, ["Lending"]).of(["Loan", "Lending"])
    (line,) = rows.conflicts[G]
    assert "Registrar" in line
    assert "Curator" in line


@pytest.mark.parametrize("mark", ["\u201c", "\u201d", "\u201e", "\u2033", "\u2019" * 2])
def test_a_typographic_mark_repeats_the_cell_above(make, mark) -> None:
    source = f"# 3 Owners\n|Entity|Owner\n|Loan|Registrar\n|Exhibit|{mark}"
    assert lines(source, make, "Exhibit") == {G: ["Owner: Registrar"]}


@pytest.mark.parametrize("header", ["Value", "", "Wert", "Détails", "Contenido"])
def test_a_card_has_a_column_of_values(make, header) -> None:
    source = CARD.replace("Value", header or " ")
    assert lines(source, make, "Courier")[C] == ["Keep for: 2 years"]


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
    assert list(rows.conflicts) == [C]
    same = source.replace("12 years", "10 Years")
    _, made = tables(same, make)
    assert not TableFields(made, NAMES, ()).of(["Loan"]).conflicts


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


def test_the_columns_of_a_file_are_a_setting(
    context, models, add, make, tmp_path
) -> None:
    add(
        context.store,
        "handbook",
        make(f"{ESTATE}# 8 Vault\n|Deed|Warden\n|Ground lease|Ann"),
    )
    file = tmp_path / "columns.yaml"
    consumer = ConsumerSection(table_columns=file)
    config = context.config.model_copy(update={"consumer": consumer})
    job = CatalogJob(collections=("handbook",), model="estate")
    for words, expected in (
        ("", []),
        ("names: {certain: [deed]}\nsubjects: {custodian: [warden]}", ["Warden: Ann"]),
    ):
        file.write_text(words)
        report = job.build(models)(type(context)(config, context.store))
        rows = json.loads(Path(report.files["catalog_flat_json"]).read_text())[
            "entities"
        ]
        lease = next(r for r in rows if r["entity_name"] == "Ground Lease")
        lines = lease["governance_rules"].split("\n")
        assert [line for line in lines if "Warden" in line] == expected


def test_static_context_settles_a_conflict_of_its_field(
    context, models, add, make, tmp_path
) -> None:
    static = tmp_path / "static.yaml"
    static.write_text("Ground Lease: {governance_rules: Kept by the board.}")
    job = CatalogJob(collections=("handbook",), model="estate", static_context=static)
    for row, status in (
        ("Owner\n|Ground lease|Board", "PENDING"),
        ("Keep for\n|Ground lease|1 day", "NEEDS_CLARIFICATION"),
    ):
        add(context.store, "handbook", make(f"{ESTATE}# 8 Board\n|Record|{row}\n"))
        report = job.build(models)(context)
        file = Path(report.files["catalog_flat_json"])
        rows = json.loads(file.read_text())["entities"]
        lease = next(r for r in rows if r["entity_name"] == "Ground Lease")
        assert lease["review_status"] == status
        assert lease["governance_rules"] == "Kept by the board."


def _approve(store, change) -> None:
    from elt_llm_core.reviews.review_records import ReviewChange

    store.reviews.change("catalog:handbook", [ReviewChange(**change)], "ann")

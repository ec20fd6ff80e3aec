"""Sheets go out and come back: safe to open, merged cell by cell, nothing lost."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elt_llm_core.errors import (
    EditedSheetError,
    OutputFileError,
    SheetError,
    UnknownProductError,
)
from elt_llm_core.reviews.review_records import Proposal
from elt_llm_core.sheets.exchange import export_sheet, import_sheet
from elt_llm_core.sheets.review_sheet import LONGEST_CELL, as_cell
from elt_llm_core.sheets.sheet_files import escape, read_sheet, unescape
from elt_llm_core.sheets.sheet_import import parse_status
from elt_llm_core.store import Store
from review_items import PRODUCT, decided, id_of, open_store, proposal

HOSTILE = ["=1+1", "+cmd", "-2", "@SUM(A1)", "'=1", "''=1", "'quoted'", '"a", b;c\nd']
LEASE, RENT = proposal("Lease", "a right"), proposal("Rent", "what is paid")
Edit = dict[tuple[str, str], str]  # label and column to the cell


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = open_store(tmp_path / "root")
    made.reviews.sync(PRODUCT, [LEASE, RENT])
    yield made
    made.close()


def edit_csv(path: Path, edits: Edit) -> None:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    for (label, column), cell in edits.items():
        next(row for row in rows if row["term"] == label)[column] = cell
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def edit_xlsx(path: Path, edits: Edit) -> None:
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    header = [cell.value for cell in sheet[1]]
    for row in sheet.iter_rows(min_row=2):
        label = row[header.index("term")].value
        for (term, column), text in edits.items():
            if term == label:
                row[header.index(column)].value = text
    book.save(path)


EDITORS = {"csv": edit_csv, "xlsx": edit_xlsx}


@pytest.fixture(params=["csv", "xlsx"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def edit(kind: str) -> Callable[[Path, Edit], None]:
    return EDITORS[kind]


@pytest.fixture
def sheet(store: Store, tmp_path: Path, kind: str) -> Path:
    path = tmp_path / f"sheet.{kind}"
    export_sheet(store, PRODUCT, path)
    return path


def item(store: Store, term: str = "Lease"):
    got = store.reviews.item(PRODUCT, id_of(term))
    assert got is not None
    return got


def test_a_sheet_that_nobody_edited_changes_nothing(store: Store, sheet: Path) -> None:
    report = import_sheet(store, sheet, "ann")
    assert (report.unchanged, report.rows, report.exit_code) == (2, 2, 0)
    assert store.reviews.history(PRODUCT) == []


def test_a_sheet_whose_fields_do_not_name_the_item_names_it(
    store, tmp_path, kind
) -> None:
    product = "coverage:rules"
    items = [
        Proposal(
            item_id=key,
            label=label,
            fields={"verdict": "STRONG"},
            evidence="e",
            content={"domain": domain},
        )
        for key, label, domain in (("a", "Lease", "LAND"), ("b", "=Rent", ""))
    ]
    store.reviews.sync(product, items)
    path = tmp_path / f"sheet.{kind}"
    export_sheet(store, product, path)
    rows = [cells for _, cells in read_sheet(path)]
    assert list(rows[0])[:4] == ["status", "item", "domain", "verdict"]
    assert [(row["item"], row["domain"]) for row in rows] == [
        ("Lease", "LAND"),
        ("=Rent", ""),
    ]
    assert import_sheet(store, path, "ann").unchanged == 2


def test_decisions_texts_and_notes_come_back(store, sheet, edit) -> None:
    edit(
        sheet,
        {
            ("Lease", "status"): "Approved",
            ("Lease", "definition"): "a right to land",
            ("Rent", "notes"): "ask Bea",
            ("Rent", "status"): "needs work",
        },
    )
    report = import_sheet(store, sheet, "ann")
    assert (report.items_changed, report.exit_code, report.problems) == (2, 0, ())
    lease, rent = item(store), item(store, "Rent")
    assert (lease.status, lease.decision.reviewer) == ("approved", "ann")
    assert lease.decision.action == "imported"
    assert lease.decision.edited == {"definition": "a right to land"}
    assert (rent.status, rent.decision.notes) == ("needs_work", "ask Bea")
    again = import_sheet(store, sheet, "ann")
    assert (again.items_changed, len(store.reviews.history(PRODUCT))) == (0, 2)


def test_what_others_decided_meanwhile_stays(store, sheet, edit) -> None:
    decided(store, "Rent", "rejected", by="bob")
    edit(sheet, {("Lease", "status"): "approved"})
    assert import_sheet(store, sheet, "ann").conflicts == ()
    assert (item(store, "Rent").status, item(store).status) == ("rejected", "approved")


def test_a_conflict_is_told_and_loses_neither_text(store, sheet, edit) -> None:
    decided(store, "Lease", "approved", by="bob", edited={"definition": "Bob's"})
    edit(
        sheet,
        {
            ("Lease", "status"): "rejected",
            ("Lease", "definition"): "Ann's",
            ("Lease", "synonyms"): "Tenancy",
        },
    )
    report = import_sheet(store, sheet, "ann")
    assert report.exit_code == 2
    parts = ("row", "column", "exported", "current", "offered")
    assert [tuple(getattr(c, p) for p in parts) for c in report.conflicts] == [
        (2, "status", "proposed", "approved", "rejected"),
        (2, "definition", "a right", "Bob's", "Ann's"),
    ]
    one = item(store)
    assert (one.status, one.merge.fields["definition"]) == ("approved", "Bob's")
    assert one.merge.fields["synonyms"] == "Tenancy"
    assert one.decision.offered == {"status": "rejected", "definition": "Ann's"}
    # The synonyms are Ann's, and so is the revision.
    assert (one.decision.reviewer, one.decision.recorded_by) == ("ann", "")
    assert one.conflicts == ("definition", "status")
    again = import_sheet(store, sheet, "ann")
    assert (again.items_changed, item(store).revision) == (0, one.revision)
    decided(store, "Lease", "approved", by="cyd")
    assert item(store).conflicts == ()
    offered = [d.offered for d in store.reviews.history(PRODUCT)]
    assert {"status": "rejected", "definition": "Ann's"} in offered


@pytest.mark.parametrize(
    ("cells", "reviewer", "recorded_by"),
    [
        ({"status": "rejected"}, "bob", "ann"),
        ({"definition": "Ann's"}, "bob", "ann"),
        ({"status": "rejected", "notes": "ask Bea"}, "ann", ""),
        ({"definition": "Ann's", "synonyms": "Tenancy"}, "ann", ""),
    ],
)
def test_new_texts_are_credited_to_the_reviewer_of_the_sheet(
    store, sheet, edit, cells, reviewer, recorded_by
) -> None:
    decided(store, "Lease", "approved", by="bob", edited={"definition": "Bob's"})
    earlier = item(store).decision
    edit(sheet, {("Lease", column): text for column, text in cells.items()})
    import_sheet(store, sheet, "ann")
    one = item(store).decision
    assert (one.revision, one.status) == (2, "approved")
    assert (one.reviewer, one.recorded_by) == (reviewer, recorded_by)
    assert bool(one.recorded_at) is bool(recorded_by)
    if recorded_by:
        assert (one.at, one.edited) == (earlier.at, earlier.edited)


def test_a_status_given_on_earlier_evidence_is_reopened(store, sheet, edit) -> None:
    edit(sheet, {("Lease", "status"): "approved"})
    store.reviews.sync(PRODUCT, [proposal("Lease", "another right"), RENT])
    import_sheet(store, sheet, "ann")
    one = item(store)
    assert (one.status, one.decision.status_before) == ("reopened", "approved")
    assert one.decision.base["definition"] == "a right"
    assert one.generated_fields["definition"] == "another right"
    store.reviews.sync(PRODUCT, [LEASE, RENT])
    assert item(store).status == "approved"


def test_rows_of_no_use_are_told_by_their_number(store, sheet, edit) -> None:
    edit(
        sheet,
        {("Lease", "item_id"): "0123456789abcdef", ("Rent", "status"): "splendid"},
    )
    report = import_sheet(store, sheet, "ann")
    assert report.exit_code == 2
    assert [(p.row, p.reason.split(";")[0]) for p in report.problems] == [
        (2, "there is no item '0123456789abcdef' and no decision on it"),
        (3, "column 'status': unknown status 'splendid'"),
    ]
    assert store.reviews.history(PRODUCT) == []


def test_rows_without_an_id_and_second_rows_are_told(store: Store, tmp_path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(
        f"item_id,revision,status,notes\n{id_of('Lease')},0,approved,\n"
        f"{id_of('Lease')},0,rejected,\n,,approved,\n"
    )
    report = import_sheet(store, path, "ann", PRODUCT)
    assert [p.row for p in report.problems] == [3, 4]
    assert "duplicate row of 'Lease'" in report.problems[0].reason
    assert item(store).status == "approved"


def test_a_dry_run_tells_and_records_nothing(store, sheet, edit) -> None:
    edit(sheet, {("Lease", "status"): "approved"})
    report = import_sheet(store, sheet, "ann", dry_run=True)
    (change,) = report.edits
    assert (change.label, change.before, change.after) == (
        "Lease",
        "proposed",
        "approved",
    )
    assert store.reviews.history(PRODUCT) == []


def test_an_edited_sheet_is_not_replaced_until_it_was_imported(
    store, sheet, edit
) -> None:
    edit(sheet, {("Lease", "status"): "approved"})
    before = sheet.read_bytes()
    with pytest.raises(EditedSheetError, match="review import"):
        export_sheet(store, PRODUCT, sheet)
    assert sheet.read_bytes() == before
    import_sheet(store, sheet, "ann")
    export_sheet(store, PRODUCT, sheet)
    (lease, _) = (row for _, row in read_sheet(sheet))
    assert (lease["status"], lease["reviewer"]) == ("approved", "ann")


def test_a_sheet_with_rows_left_over_is_not_replaced(store, sheet, edit) -> None:
    edit(sheet, {("Lease", "item_id"): "0123456789abcdef"})
    import_sheet(store, sheet, "ann")
    with pytest.raises(EditedSheetError):
        export_sheet(store, PRODUCT, sheet)


def test_the_same_items_make_the_same_bytes(store: Store, tmp_path, kind) -> None:
    paths = [tmp_path / f"{n}.{kind}" for n in "ab"]
    reports = [export_sheet(store, PRODUCT, path) for path in paths]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert reports[0].export == reports[1].export


def test_hostile_texts_are_text_and_come_back(store: Store, tmp_path, kind) -> None:
    terms = [proposal(f"T{n}", text) for n, text in enumerate(HOSTILE)]
    store.reviews.sync(PRODUCT, terms)
    path = tmp_path / f"hostile.{kind}"
    export_sheet(store, PRODUCT, path)
    assert import_sheet(store, path, "ann").unchanged == len(HOSTILE)
    if kind == "xlsx":
        book = openpyxl.load_workbook(path)
        cells = [cell for row in book.worksheets[0] for cell in row]
        assert {cell.data_type for cell in cells} <= {"s", "inlineStr", "n"}
        assert all(cell.value is None for cell in cells if cell.data_type == "n")
        return
    text = path.read_bytes().decode("utf-8-sig")
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert not [cell for cell in cells if cell.startswith(tuple("=+-@\t\r"))]


@given(st.text(alphabet="'=+-@a \t", max_size=6))
def test_every_cell_is_escaped_and_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text
    assert not escape(text).startswith(tuple("=+-@\t\r"))


def test_what_no_file_can_hold_is_no_edit(store: Store, tmp_path, kind) -> None:
    odd = "a\x00b\ud800c\r\nd"
    store.reviews.sync(PRODUCT, [proposal("Lease", odd), RENT])
    path = tmp_path / f"odd.{kind}"
    export_sheet(store, PRODUCT, path)
    assert import_sheet(store, path, "ann").unchanged == 2


def test_a_text_longer_than_a_cell_is_cut_and_not_taken_for_an_edit(
    store, tmp_path, kind, edit
) -> None:
    store.reviews.sync(PRODUCT, [proposal("Lease", "word " * 8_000), RENT])
    path = tmp_path / f"long.{kind}"
    export_sheet(store, PRODUCT, path)
    assert import_sheet(store, path, "ann").unchanged == 2
    cut = as_cell("word " * 8_000)
    assert len(cut) == LONGEST_CELL
    edit(path, {("Lease", "definition"): "X" + cut[1:]})
    (problem,) = import_sheet(store, path, "ann").problems
    assert "maximum length of a cell" in problem.reason


@pytest.mark.parametrize(("delimiter", "encoding"), [(";", "cp1252"), ("\t", "utf-8")])
def test_csv_of_other_spreadsheets_is_read(
    store: Store, tmp_path, delimiter: str, encoding: str
) -> None:
    path = tmp_path / "sheet.csv"
    export_sheet(store, PRODUCT, path)
    rows = list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    rows[1][rows[0].index("notes")] = "größer"
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter).writerows(rows)
    path.write_bytes(buffer.getvalue().encode(encoding))
    import_sheet(store, path, "ann")
    assert item(store).decision.notes == "größer"


def test_a_file_of_a_product_itself_gives_its_decisions(store: Store, tmp_path) -> None:
    path = tmp_path / "glossary.csv"
    path.write_text(
        "term,definition,item_id,status\n"
        f"Lease,another right,{id_of('Lease')},APPROVED\n"
        f"Rent,what is paid,{id_of('Rent')},PENDING\n"
    )
    with pytest.raises(SheetError, match="--product"):
        import_sheet(store, path, "ann")
    report = import_sheet(store, path, "ann", PRODUCT)
    assert not report.known_export
    assert item(store).status == "approved"
    # Without the export nothing tells whether a person or an earlier run wrote it.
    assert [c.column for c in report.conflicts] == ["definition"]
    assert item(store).decision.offered == {"definition": "another right"}


def test_a_sheet_of_another_data_root_is_merged_by_its_revisions(
    store: Store, tmp_path
) -> None:
    path = tmp_path / "sheet.csv"
    export_sheet(store, PRODUCT, path)
    other = open_store(tmp_path / "other")
    other.reviews.sync(PRODUCT, [LEASE, RENT])
    decided(other, "Rent", "rejected")
    edit_csv(path, {("Lease", "status"): "approved", ("Rent", "notes"): "late"})
    report = import_sheet(other, path, "ann", PRODUCT)
    assert item(other).status == "approved"
    assert [(c.label, c.column) for c in report.conflicts] == [
        ("Rent", "status"),
        ("Rent", "notes"),
    ]
    other.close()


def test_a_formula_in_a_workbook_is_told_and_empties_nothing(
    store: Store, tmp_path
) -> None:
    path = tmp_path / "sheet.xlsx"
    export_sheet(store, PRODUCT, path)
    edit_xlsx(path, {("Lease", "definition"): '="a "&"right"'})
    report = import_sheet(store, path, "ann")
    assert [(p.row, "a formula" in p.reason) for p in report.problems] == [(2, True)]
    assert store.reviews.history(PRODUCT) == []


def test_a_formula_in_a_csv_file_is_told_and_not_taken(store: Store, tmp_path) -> None:
    path = tmp_path / "sheet.csv"
    decided(store, "Rent", "rejected", notes="=1+1 is two")
    export_sheet(store, PRODUCT, path)
    text = path.read_text(encoding="utf-8-sig")
    assert "'=1+1 is two" in text  # a text that begins so comes back as it went
    path.write_text(text.replace("'=1+1 is two", "=2+2"))
    report = import_sheet(store, path, "ann")
    assert ["contains a formula" in p.reason for p in report.problems] == [True]
    assert not report.edits
    assert item(store, "Rent").decision.notes == "=1+1 is two"


def test_files_that_are_no_sheets_are_refused(store: Store, tmp_path) -> None:
    bad = tmp_path / "bad.xlsx"
    bad.write_bytes(b"PK no workbook")
    plain = tmp_path / "plain.csv"
    plain.write_text("a,b\n1,2\n")
    for path, words in (
        (bad, "not a workbook"),
        (plain, "item_id"),
        (tmp_path / "none.csv", "No such file"),
        (tmp_path / "a.ods", r"known: \.csv, \.xlsx"),
    ):
        with pytest.raises(SheetError, match=words):
            import_sheet(store, path, "ann", PRODUCT)
    with pytest.raises(UnknownProductError):
        export_sheet(store, "none", tmp_path / "x.csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputFileError):
        export_sheet(store, PRODUCT, tmp_path / "file" / "x.csv")


def test_a_bomb_is_refused_before_it_is_unpacked(store: Store, tmp_path) -> None:
    path = tmp_path / "bomb.xlsx"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w") as entry,
    ):
        for _ in range(210):
            entry.write(b"0" * 1_000_000)
    with pytest.raises(SheetError, match="unpacks to"):
        import_sheet(store, path, "ann", PRODUCT)


def test_a_status_is_read_as_people_write_it() -> None:
    told = {t: parse_status(t) for t in ("APPROVED", " Needs-Work ", "pending", "")}
    assert list(told.values()) == ["approved", "needs_work", "proposed", None]

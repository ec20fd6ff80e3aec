"""Decisions outlive new runs of the products, and their rows tell them."""

import csv
import json
from pathlib import Path

import pytest

from elt_llm_consumer.reviewed import product_name
from elt_llm_core.jobs import JOBS, JobReport
from elt_llm_core.reviews.review_records import ReviewChange, ReviewStatus
from elt_llm_core.sheets.exchange import export_sheet, import_sheet

GLOSSARY, CATALOG, COVERAGE = (
    product_name(job, ["handbook"]) for job in ("glossary", "catalog", "coverage")
)


def run(context, models, job="glossary", **options) -> JobReport:
    made = JOBS.load(job, {"collections": ("handbook",), **options})
    return made.build(models)(context)


def rows(report: JobReport) -> dict:
    loaded = json.loads(Path(report.files["glossary_json"]).read_text())
    return {row["term"]: row for row in loaded}


def decide(store, product: str, label: str, **change) -> str:
    (item,) = (i for i in store.reviews.items(product) if i.label == label)
    asked = ReviewChange(item_id=item.item_id, **change)
    store.reviews.change(product, [asked], "ann")
    return item.item_id


def approve(store, product: str, label: str, **change) -> str:
    return decide(store, product, label, status=ReviewStatus.APPROVED, **change)


def test_a_row_has_an_id_that_stays(context, models) -> None:
    first, again = (rows(run(context, models)) for _ in range(2))
    assert first == again
    ids = {row["item_id"] for row in first.values()}
    assert len(ids) == len(first)


def test_a_decision_stands_in_the_next_files(context, models, store) -> None:
    run(context, models)
    approve(
        store,
        GLOSSARY,
        "Tenant",
        edited={"definition": "=who pays"},
        notes="as agreed",
    )
    report = run(context, models)
    row = rows(report)["Tenant"]
    assert (row["status"], row["reviewer"], row["review_notes"]) == (
        "APPROVED",
        "ann",
        "as agreed",
    )
    assert row["edited"] == {"definition": "=who pays"}
    assert row["definition"] == "a person who holds a Ground Lease"
    assert row["reviewed_at"]
    text = Path(report.files["glossary_csv"]).read_text()
    (written,) = (r for r in csv.DictReader(text.splitlines()) if r["term"] == "Tenant")
    assert json.loads(written["edited"]) == row["edited"]
    before = {p: Path(p).read_bytes() for p in report.files.values()}
    again = run(context, models)
    assert {p: Path(p).read_bytes() for p in again.files.values()} == before


def test_a_changed_handbook_reopens_only_what_changed(
    context, models, add, make, handbook_text
) -> None:
    store = context.store
    run(context, models)
    for term in ("Tenant", "Ground Lease", "Service Charge"):
        approve(store, GLOSSARY, term)
    changed = handbook_text.replace("a person who holds", "one who holds")
    changed = changed.replace("# 1 Definitions", "# 1 Definitions\n1.0 A new start.")
    charge = "|Service Charge|means a sum paid for shared services.\n"
    changed = changed.replace(charge, "")
    add(store, "handbook", make(changed))
    report = run(context, models)
    assert report.counts["reopened"] == report.counts["gone"] == 1
    after = rows(report)
    assert after["Tenant"]["status"] == "REOPENED"
    assert after["Ground Lease"]["status"] == "APPROVED"
    (tenant,) = (i for i in store.reviews.items(GLOSSARY) if i.label == "Tenant")
    assert tenant.decision.base["definition"] == "a person who holds a Ground Lease"
    assert tenant.generated_fields["definition"] == "one who holds a Ground Lease"
    add(store, "handbook", make(handbook_text))
    back = rows(run(context, models))
    assert [back[t]["status"] for t in ("Tenant", "Service Charge")] == ["APPROVED"] * 2


def test_a_renamed_handbook_keeps_its_decisions(
    context, models, add, make, handbook_text
) -> None:
    store = context.store
    run(context, models)
    approve(store, GLOSSARY, "Tenant")
    with store.writer() as writer:
        (document,) = store.documents("handbook")
        writer.remove_document(document.document_id)
    add(store, "handbook", make(handbook_text, "Second edition"))
    report = run(context, models)
    assert report.counts["moved"] == 1
    assert rows(report)["Tenant"]["status"] == "APPROVED"


def test_a_new_mapping_is_seen_by_a_person(context, models, store) -> None:
    run(context, models)
    approve(store, GLOSSARY, "Tenant")
    report = run(context, models, model="estate")
    row = rows(report)["Tenant"]
    assert (row["status"], row["mapped_entity"]) == ("REOPENED", "Tenants")


def test_an_edited_csv_is_kept_and_can_be_imported(context, models, store) -> None:
    report = run(context, models)
    path = Path(report.files["glossary_csv"])
    lines = path.read_text().splitlines(keepends=True)
    edited = [
        line.replace(",PENDING,", ",APPROVED,") if line.startswith("Tenant,") else line
        for line in lines
    ]
    path.write_text("".join(edited))
    (kept,) = run(context, models).degradations
    assert "review import" in kept.detail
    assert import_sheet(store, path, "ann", GLOSSARY).exit_code == 0
    report = run(context, models)
    assert report.degradations == ()
    assert report.files["glossary_csv"] == str(path)
    assert rows(report)["Tenant"]["status"] == "APPROVED"


@pytest.mark.parametrize(
    ("job", "product", "field", "file"),
    [
        ("catalog", CATALOG, "formal_definition", "catalog_json"),
        ("coverage", COVERAGE, "verdict", "coverage_json"),
    ],
)
def test_catalogue_and_coverage_carry_decisions(
    context, models, job, product, field, file
) -> None:
    store = context.store
    first = run(context, models, job, model="estate")
    assert '"reviewer": "ann"' not in Path(first.files[file]).read_text()
    approve(store, product, "Ground Lease", edited={field: "mine"}, notes="seen")
    report = run(context, models, job, model="estate")
    text = Path(report.files[file]).read_text()
    assert text.count('"reviewer": "ann"') == 1
    assert text.count('"review_status": "APPROVED"') == 1
    assert f'"{field}": "mine"' in text


def test_a_machine_status_stays_until_a_person_decides(context, models, store) -> None:
    run(context, models, "catalog", model="estate")
    decide(store, CATALOG, "Rent Review", notes="where does it belong?")
    report = run(context, models, "catalog", model="estate")
    text = Path(report.files["catalog_json"]).read_text()
    assert '"review_notes": "where does it belong?"' in text
    (record,) = (
        record
        for domain in json.loads(text).values()
        for record in domain["handbook_only"]
        if record["entity_name"] == "Rent Review"
    )
    assert record["review_status"] in {"NEEDS_CLARIFICATION", "PROPOSED_NEW_TAXONOMY"}


def test_terms_of_one_name_in_one_document_have_ids_of_their_own(
    context, models, add, make, handbook_text
) -> None:
    store = context.store
    add(store, "handbook", make(handbook_text + '2.6 "Tenant" means someone else.\n'))
    run(context, models)
    same = [i for i in store.reviews.items(GLOSSARY) if i.label == "Tenant"]
    assert len({item.item_id for item in same}) == len(same) == 2


def test_a_sheet_of_a_glossary_goes_out_and_back(
    context, models, store, tmp_path
) -> None:
    run(context, models)
    for kind in ("csv", "xlsx"):
        path = tmp_path / f"sheet.{kind}"
        assert export_sheet(store, GLOSSARY, path).rows == 7
        assert import_sheet(store, path, "ann").unchanged == 7

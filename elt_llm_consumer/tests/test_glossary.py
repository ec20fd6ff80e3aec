"""The glossary job: rows, files, journal."""

import csv
import json
from pathlib import Path

import pytest

from elt_llm_consumer.glossary import COLUMNS, GlossaryJob
from elt_llm_core.errors import (
    CollectionNotFoundError,
    ConfigError,
    IngestError,
    UsageError,
)
from elt_llm_core.jobs import JOBS


def run(context, models, **options):
    job = JOBS.load("glossary", {"collections": ("handbook",), **options})
    report = job.build(models)(context)
    rows = json.loads(Path(report.files["glossary_json"]).read_text())
    return report, {row["term"]: row for row in rows}


def test_rows(context, models, aliases, store):
    report, rows = run(context, models, model="estate", aliases=aliases)
    assert list(rows) == [
        "Deposit", "Estates Management Board", "Ground Lease", "Notice Period",
        "Rent Review", "Service Charge", "Tenant",
    ]  # fmt: skip
    assert report.counts == {"done": 7, "reused": 0, "failed": 0, "terms": 7}
    text = store.document_text(rows["Tenant"]["document_id"])
    for row in rows.values():
        assert text[row["start"] : row["end"]] == row["definition"]
        assert row["quote_support"] == "verified"
        assert row["page"] == 1
        assert row["boxes"]
        assert row["node_id"]
        assert row["status"] == "PENDING"
    lease = rows["Ground Lease"]
    assert (lease["mapped_entity"], lease["entity_domain"]) == (
        "Ground Lease",
        "CONTRACTS",
    )
    assert (lease["fact_sheet_id"], lease["mapping_confidence"]) == ("a-1", "high")
    assert rows["Service Charge"]["mapped_entity"] == "Shared Cost"
    assert rows["Service Charge"]["mapping_confidence"] == "medium"
    assert rows["Tenant"]["mapped_entity"] == "Tenants"
    assert rows["Rent Review"]["mapped_entity"] == ""
    assert rows["Deposit"]["resolved_definition"].endswith("called the Deposit.")
    board = rows["Estates Management Board"]
    assert (board["definition_source"], board["synonyms"]) == ("statement", ["EMB"])
    assert rows["Notice Period"]["definition_source"] == "table"


def test_csv_has_the_same_rows(context, models, tmp_path):
    report, rows = run(context, models, output=tmp_path / "out" / "x.csv")
    assert report.files["glossary_json"].endswith("out/x.json")
    with Path(report.files["glossary_csv"]).open(newline="") as file:
        read = list(csv.DictReader(file))
    assert tuple(read[0]) == COLUMNS
    assert [r["term"] for r in read] == list(rows)


def test_formulas_are_escaped(context, models, store, make, add):
    add(store, "evil", make('"=1+1" means a sum.\n"Fee" means -5 crowns.'))
    job = GlossaryJob(collections=("evil",))
    report = job.build(models)(context)
    content = Path(report.files["glossary_csv"]).read_text()
    assert "\n'=1+1,a sum" in content
    assert "\nFee,'-5 crowns" in content


def test_second_run_reuses_everything(context, models):
    first, _ = run(context, models)
    before = Path(first.files["glossary_csv"]).read_bytes()
    second, _ = run(context, models)
    assert second.counts == {"done": 0, "reused": 7, "failed": 0, "terms": 7}
    assert Path(second.files["glossary_csv"]).read_bytes() == before
    third, _ = run(context, models, fresh=True)
    assert third.counts["done"] == 7


def test_aliases_change_the_key(context, models, aliases):
    run(context, models, model="estate")
    report, _ = run(context, models, model="estate", aliases=aliases)
    assert report.counts["reused"] == 0


def test_killed_run_goes_on(context, models, monkeypatch):
    from elt_llm_consumer import glossary

    real, calls = glossary.glossary_record, []

    def dies(*args):
        calls.append(args)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(glossary, "glossary_record", dies)
    with pytest.raises(KeyboardInterrupt):
        run(context, models)
    report, rows = run(context, models)
    assert report.counts == {"done": 4, "reused": 3, "failed": 0, "terms": 7}
    assert len(rows) == 7


def test_an_error_is_never_content(context, models, monkeypatch):
    from elt_llm_consumer import glossary

    real = glossary.glossary_record

    def fails(handbook, entry, matcher):
        if entry.term == "Tenant":
            raise IngestError("broken")
        return real(handbook, entry, matcher)

    with monkeypatch.context() as patch:
        patch.setattr(glossary, "glossary_record", fails)
        report, rows = run(context, models)
    assert report.exit_code == 2
    assert "Tenant" not in rows
    assert report.degradations[0].kind == "item_failed"
    again, rows = run(context, models)
    assert again.counts == {"done": 1, "reused": 6, "failed": 0, "terms": 7}
    assert "Tenant" in rows


def test_refusals(context, models, tmp_path):
    with pytest.raises(CollectionNotFoundError):
        GlossaryJob(collections=("nowhere",)).build(models)(context)
    with pytest.raises(UsageError, match="no collection"):
        GlossaryJob(collections=()).build(models)(context)
    with pytest.raises(UsageError, match="holds no enterprise model"):
        GlossaryJob(collections=("handbook",), model="handbook").build(models)(context)
    bad = tmp_path / "bad.yaml"
    bad.write_text("lease: not a list")
    with pytest.raises(ConfigError, match="list of synonyms"):
        GlossaryJob(collections=("handbook",), aliases=bad).build(models)(context)
    with pytest.raises(ConfigError, match="collection"):
        JOBS.load("glossary", {"collections": ("handbook",), "modle": "x"})

"""A product is whole or not there; a bad row costs itself; edits of a person stay."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from elt_llm_consumer import (
    catalog_files,
    cataloguer,
    coverage,
    glossary,
    product_commands,
)
from elt_llm_consumer.catalog import CatalogJob
from elt_llm_consumer.coverage import CoverageJob
from elt_llm_consumer.glossary import GlossaryJob
from elt_llm_consumer.product import ProductError
from elt_llm_core.errors import StoreWriteError

JOBS = {"glossary": GlossaryJob, "catalog": CatalogJob, "coverage": CoverageJob}


def run(name, context, models, **more):
    options = {"collections": ("handbook",), "model": "estate", **more}
    return JOBS[name](**options).build(models)(context)


def contents(report):
    return {name: Path(path).read_bytes() for name, path in report.files.items()}


def test_sentences_that_explain_are_rows_of_a_glossary(context, models, add, make):
    text = "# 1 Ropes\nA halyard is a rope that is used for hoisting a sail or a flag."
    add(context.store, "ropes", make(text, "Ropes"))
    job = GlossaryJob(collections=("ropes",))
    report = job.build(models)(context)
    (row,) = json.loads(contents(report)["glossary_json"])
    assert (row["term"], row["definition_source"]) == ("halyard", "statement")


@pytest.mark.parametrize("name", JOBS)
def test_a_row_that_breaks_the_schema_is_left_out_and_told(
    name, context, models, monkeypatch
):
    whole = run(name, context, models)
    spoil(monkeypatch, name)
    report = run(name, context, models, fresh=True)
    assert report.exit_code == 2
    assert report.counts["failed"] == 1
    (problem,) = report.degradations
    assert problem.kind == "item_failed"
    assert "Ground Lease" in problem.detail
    assert "is left out" in problem.detail
    main = json.loads(contents(report)[f"{name}_json"])
    assert "Tenant" in json.dumps(main)
    # It is tried again, and the product is as it was.
    monkeypatch.undo()
    assert contents(run(name, context, models)).keys() == whole.files.keys()


def spoil(monkeypatch, name):
    """Have one row of a product break its schema."""
    module = {"glossary": glossary, "catalog": cataloguer, "coverage": coverage}[name]
    checked = module.check_schema

    def refuse(content, schema, pointer=""):
        if "Ground Lease" in (content.get("term"), content.get("entity_name")):
            raise ProductError(f"the {schema} does not match its schema at 'page'")
        return checked(content, schema, pointer)

    monkeypatch.setattr(module, "check_schema", refuse)


@pytest.mark.parametrize("name", JOBS)
def test_a_product_that_breaks_its_schema_changes_no_file(
    name, context, models, monkeypatch
):
    report = run(name, context, models)
    before = contents(report)
    module = {"glossary": glossary, "catalog": catalog_files, "coverage": coverage}[
        name
    ]

    def refuse(*_):
        raise ProductError("the whole breaks its schema")

    monkeypatch.setattr(module, "json_text", refuse)
    with pytest.raises(ProductError):
        run(name, context, models, fresh=True)
    assert contents(report) == before


@pytest.mark.parametrize("name", JOBS)
def test_where_a_file_cannot_be_written_none_is(name, context, models):
    report = run(name, context, models)
    files = [Path(path) for path in report.files.values()]
    before = [file.read_bytes() for file in files[:-1]]
    files[-1].unlink()
    files[-1].mkdir()
    with pytest.raises(StoreWriteError):
        run(name, context, models, fresh=True)
    assert [file.read_bytes() for file in files[:-1]] == before


@pytest.mark.parametrize("name", JOBS)
def test_an_edited_product_is_kept_and_told(name, store, models, monkeypatch):
    from elt_llm_core.models import factory

    monkeypatch.setattr(factory, "build_models", lambda config: models)
    arguments = ["--collection", "handbook", "--model", "estate", "--quiet"]
    arguments += ["--data-dir", str(store.data_dir)]
    first = CliRunner().invoke(getattr(product_commands, name), [*arguments, "--json"])
    file = Path(json.loads(first.stdout)["files"][f"{name}_json"])
    edited = file.read_text().replace("Tenant", "Tenant, reviewed")
    file.write_text(edited)
    done = CliRunner().invoke(getattr(product_commands, name), [*arguments, "--json"])
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert file.read_text() == edited
    beside = file.with_name(f"{file.stem}.new.json")
    assert report["files"][f"{name}_json"] == str(beside)
    assert beside.read_text() != edited
    (kept,) = report["degradations"]
    assert kept["kind"] == "file_kept"
    assert file.name in kept["detail"]
    assert beside.name in kept["detail"]
    shown = CliRunner().invoke(getattr(product_commands, name), arguments).output
    assert (
        f"file_kept: kept because edited or not written by this program: {file.name}"
        in shown
    )

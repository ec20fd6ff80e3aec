"""What a product may hold is what its schema allows, and a set of files is whole."""

import json
from pathlib import Path

import pytest

from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_consumer.glossary import COLUMNS, GlossaryJob
from elt_llm_consumer.product import ProductError, check_schema, json_text, schema
from elt_llm_core.errors import EltLlmError
from elt_llm_core.jobs import JOBS
from elt_llm_core.results import Support


def row_schema():
    return schema("glossary")["items"]["properties"]


def test_every_value_of_the_code_is_in_the_schema():
    assert set(row_schema()) == set(COLUMNS)
    assert row_schema()["definition_source"]["enum"] == [
        source.value for source in DefinitionSource
    ]
    assert set(row_schema()["quote_support"]["enum"]) == {one.value for one in Support}


@pytest.mark.parametrize("source", ["MODEL_ONLY", "HANDBOOK_ONLY"])
def test_an_invalid_field_of_a_flat_catalogue_is_named_with_the_reason(
    context, models, source
):
    job = JOBS.load("catalog", {"collections": ("handbook",), "model": "estate"})
    report = job.build(models)(context)
    content = json.loads(Path(report.files["catalog_flat_json"]).read_text("utf-8"))
    check_schema(content, "catalog_flat")
    row = next(row for row in content["entities"] if row["source"] == source)
    number = content["entities"].index(row)
    row["review_status"] = "APROVED"
    with pytest.raises(ProductError) as caught:
        check_schema(content, "catalog_flat")
    place = f"does not match its schema at 'entities/{number}/review_status'"
    assert place in caught.value.message
    assert '"APROVED" is not one of "PENDING", "APPROVED"' in caught.value.message


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_cannot_represent_is_refused(number):
    with pytest.raises(ProductError, match="JSON cannot represent"):
        check_schema([{"confidence": number}], "glossary")


def test_a_glossary_that_breaks_its_schema_leaves_no_file(
    context, models, tmp_path, monkeypatch
):
    """Every file is checked before the first is written."""
    output = tmp_path / "out" / "terms.csv"

    def refuse(content, name):
        text = json_text(content, name)
        if name == "undefined":
            raise EltLlmError("the set is refused after its first file is ready")
        return text

    monkeypatch.setattr("elt_llm_consumer.glossary.json_text", refuse)
    job = GlossaryJob(collections=("handbook",), output=output).build(models)
    with pytest.raises(EltLlmError, match="refused"):
        job(context)
    assert not output.parent.exists()

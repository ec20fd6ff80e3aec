"""What a product may hold is what its schema allows, and a set of files is whole."""

import pytest

from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_consumer.glossary import COLUMNS, GlossaryJob
from elt_llm_consumer.product import json_text, schema
from elt_llm_core.errors import EltLlmError
from elt_llm_core.results import Support


def row_schema():
    return schema("glossary")["items"]["properties"]


def test_every_value_of_the_code_is_in_the_schema():
    assert set(row_schema()) == set(COLUMNS)
    assert row_schema()["definition_source"]["enum"] == [
        source.value for source in DefinitionSource
    ]
    assert set(row_schema()["quote_support"]["enum"]) == {one.value for one in Support}


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

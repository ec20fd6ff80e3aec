"""Files: the same bytes for the same content, safe cells, checked against a schema."""

import hashlib
import os
import subprocess
import sys
from typing import get_args

import pytest

from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_consumer.glossary import GlossaryRecord
from elt_llm_consumer.linking.term_mapper import Confidence
from elt_llm_consumer.product import (
    ProductError,
    default_path,
    dump_csv,
    dump_json,
    escape_cell,
    json_text,
    schema,
    split_valid,
)
from elt_llm_consumer.treatment.treatment_index import VERDICTS
from elt_llm_core.results import Support

CONFIDENCES = get_args(Confidence)

PURE = """
from elt_llm_consumer.definitions.extract import extract_definitions
from elt_llm_consumer.linking.mapping_features import to_mapped_term
from elt_llm_consumer.linking.model_entities import Entity
from elt_llm_consumer.linking.term_mapper import TermMapper
from elt_llm_consumer.product import dump_json
from elt_llm_core.document import Block
text = (
    '"Lease" or "Tenancy" means a right. "Survey" means a plan (see the Town Planning '
    'Board (TPB)). "TPB" means the board. Days means calendar days.'
)
block = Block(kind="paragraph", start=0, end=len(text), section="1")
found = extract_definitions(text, [block])
entities = [Entity(name=n, domain=d) for n in ("Lease", "Survey", "Plan") for d in "AB"]
aliases = {"lease": ("tenancy", "days"), "plan": ("days", "survey")}
mapper = TermMapper(entities, aliases=aliases)
pairs = [(f.term, mapper.map_term(to_mapped_term(f))) for f in found]
print(dump_json([
    [f.model_dump(mode="json") for f in found],
    [m.model_dump(mode="json") for _, m in pairs],
]))
"""


def test_hash_seed_changes_nothing():
    seen = set()
    for seed in ("0", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", PURE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=60,
        )
        assert b'"Survey"' in done.stdout
        seen.add(hashlib.sha256(done.stdout).hexdigest())
    assert len(seen) == 1


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_formula_cells(start):
    assert escape_cell(f"{start}cmd") == f"'{start}cmd"
    assert f"'{start}cmd" in dump_csv(["a"], [{"a": f"{start}cmd"}])


def test_cells():
    rows = [{"a": None, "b": ["x", "y"], "c": [{"k": 1}], "d": 2, "e": 'q"\n'}]
    assert dump_csv("abcde", rows).split("\r\n")[1] == (
        ',x; y,"[{""k"": 1}]",2,"q""\n"'
    )


def test_json_is_stable():
    assert dump_json({"b": "\u00e9", "a": [1]}) == (
        '{\n  "a": [\n    1\n  ],\n  "b": "\u00e9"\n}\n'
    )


def test_a_product_that_breaks_its_schema_has_no_text():
    with pytest.raises(ProductError, match="coverage"):
        json_text({"summary": {}}, "coverage")


def test_rows_that_break_the_schema_leave_the_others(make_row):
    rows = [make_row(term="A"), make_row(term=""), make_row(term="C")]
    kept, problems = split_valid(rows, "glossary", "items")
    assert [row["term"] for row in kept] == ["A", "C"]
    (problem,) = problems
    assert problem.kind == "item_failed"
    assert "row 2 is left out" in problem.detail
    assert "'term'" in problem.detail


@pytest.mark.parametrize(
    ("name", "pointer", "values"),
    [
        ("glossary", "items/properties/definition_source/enum", DefinitionSource),
        ("glossary", "items/properties/quote_support/enum", Support),
        ("glossary", "items/properties/mapping_confidence/enum", CONFIDENCES),
        ("catalog", "$defs/evidence/properties/support/enum", Support),
        (
            "coverage",
            "properties/entities/items/properties/evidence/items/properties/support/enum",
            Support,
        ),
        ("coverage", "properties/entities/items/properties/verdict/enum", VERDICTS),
    ],
)
def test_a_schema_lists_every_value_that_the_code_writes(name, pointer, values):
    part = schema(name)
    for key in pointer.split("/"):
        part = part[key]
    assert sorted(part) == sorted(values)


def test_the_schema_of_the_glossary_has_the_fields_of_its_record():
    items = schema("glossary")["items"]
    fields = sorted(GlossaryRecord.model_fields)
    assert sorted(items["properties"]) == sorted(items["required"]) == fields


@pytest.fixture
def make_row():
    """Rows of a glossary."""

    def make(**fields):
        row = GlossaryRecord(
            term="Lease",
            definition="a right",
            section="",
            page=1,
            document="a.pdf",
            collection="rules",
            document_id="1",
            node_id="2",
            start=0,
            end=7,
            quote_support=Support.VERIFIED,
            quote_score=1,
            definition_source="prose",
            confidence=0.9,
            found_by="statement",
            mapping_confidence="low",
            mapping_rationale="",
        )
        return {**row.model_dump(mode="json"), **fields}

    return make


def test_default_path(tmp_path):
    path = default_path(tmp_path, "glossary", ("one", "two"))
    assert path == tmp_path / "output" / "glossary_one+two.json"

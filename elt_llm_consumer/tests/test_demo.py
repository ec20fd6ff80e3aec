"""The sample pack from its files to every product, held against its gold answers."""

import json
from pathlib import Path

import pytest

from elt_llm_consumer.cataloguer import NAMED
from elt_llm_consumer.context_fields import FIELDS
from elt_llm_consumer.definitions.terms import clean, fold
from elt_llm_consumer.demo import demo_text, run_demo
from elt_llm_core.config.domain_packs import find_pack
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store


@pytest.fixture(scope="module")
def pack():
    return find_pack("kite-regatta")


@pytest.fixture(scope="module")
def gold(pack):
    return json.loads((pack.folder / "gold.json").read_text())


@pytest.fixture(scope="module")
def demo(pack, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    store = Store(folder)
    config = RagConfig()
    models = build_models(config)
    context = JobContext(config, store)
    report = run_demo(pack, context, models)
    before = {name: Path(p).read_bytes() for name, p in report.files.items()}
    again = run_demo(pack, context, models)
    after = {name: Path(p).read_bytes() for name, p in again.files.items()}
    yield report, again, before, after
    store.close()


def test_the_record(demo, pack):
    report = demo[0].model_dump(mode="json")
    assert set(report) == {
        "answers", "collections", "degradations", "files", "seconds",
    }  # fmt: skip
    assert set(report["collections"]) == set(pack.collections)
    assert {"glossary_csv", "glossary_json", "catalog_json", "coverage_json"} <= set(
        report["files"]
    )
    assert [a["question"] for a in report["answers"]] == list(pack.questions)
    for answer in report["answers"]:
        assert set(answer) == {"answer", "citations", "question", "status"}


def test_twice_is_the_same(demo):
    first, again, before, after = demo
    assert before == after
    assert first.answers == again.answers
    assert first.collections == again.collections


def test_files_hold_no_path_of_this_machine(demo, pack):
    for content in demo[2].values():
        assert str(pack.folder).encode() not in content
        assert b"/tmp/" not in content


def test_terms_against_gold(demo, gold):
    rows = {fold(r["term"]): r for r in json.loads(demo[2]["glossary_json"])}
    wanted = {fold(t["term"]): t for t in gold["terms"]}
    for key, term in list(wanted.items()):
        # A short form is another name where its long form is defined.
        if term["shape"] == "acronym" and fold(term["definition"]) in wanted:
            assert term["term"] in rows[fold(term["definition"])]["synonyms"]
            del wanted[key]
    right = set(rows) & set(wanted)
    assert 2 * len(right) / (len(rows) + len(wanted)) >= 0.97  # F1
    for key in right:
        said = clean(rows[key]["definition"]).casefold().removeprefix("means ")
        assert said == clean(wanted[key]["definition"]).casefold()
        assert rows[key]["page"] == wanted[key]["page"]
        assert rows[key]["quote_support"] == "verified"
        assert rows[key]["boxes"]
    traps = " ".join(gold["not_terms"])
    assert not [r for r in rows.values() if clean(r["definition"]) in traps]


def test_mapping_against_gold(demo, gold):
    rows = {r["term"]: r for r in json.loads(demo[2]["glossary_json"])}
    merged = {name for r in rows.values() for name in r["synonyms"]} - set(rows)
    confidence = {"exact": "high", "alias": "medium", "none": "low"}
    for wanted in gold["mapping"]:
        if wanted["term"] in merged:
            continue
        row = rows[wanted["term"]]
        assert row["mapped_entity"] == (wanted["entity"] or "")
        assert row["entity_domain"] == wanted["domain"]
        assert row["mapping_confidence"] == confidence[wanted["match"]]


def test_every_product_maps_alike(demo):
    mapped = {
        (row["mapped_entity"], row["entity_domain"], row["term"])
        for row in json.loads(demo[2]["glossary_json"])
    }
    catalog = json.loads(demo[2]["catalog_json"])
    shown = {
        (row["entity_name"], domain, row["handbook_term"])
        for domain, content in catalog.items()
        for group in (content, *content["subtypes"].values())
        for row in group["entities"]
        if row["handbook_term"]
    }
    assert shown <= mapped
    assert len(shown) > 40
    gaps = json.loads(demo[2]["coverage_json"])["gaps"]
    pairs = {(one["model_name"], one["handbook_name"]) for one in gaps}
    assert {(name, term) for name, _, term in shown} <= pairs


def test_catalogue_holds_the_whole_model(demo, gold):
    catalog = json.loads(demo[2]["catalog_json"])
    found = [
        (e["entity_name"], domain, subtype)
        for domain, content in catalog.items()
        for subtype, entities in [
            ("", content["entities"]),
            *((name, s["entities"]) for name, s in content["subtypes"].items()),
        ]
        for e in entities
    ]
    wanted = [(e["name"], e["domain"], e["subtype"]) for e in gold["model"]["entities"]]
    assert sorted(found) == sorted(wanted)
    edges = [
        row
        for row in json.loads(demo[2]["relationships_json"])
        if row["source"] == "LEANIX_CONCEPTUAL_MODEL"
    ]
    wanted = [
        (
            one["source"].lower(),
            one["target"].lower(),
            f"{one['source_cardinality'] or '?'}-{one['target_cardinality'] or '?'}",
        )
        for one in gold["model"]["relationships"]
    ]
    rows = [(row["entity_a"], row["entity_b"], row["cardinality"]) for row in edges]
    assert sorted(rows) == sorted(wanted)


def test_catalogue_and_coverage_agree(demo):
    catalog = json.loads(demo[2]["catalog_json"])
    found = {
        e["fact_sheet_id"]: e
        for content in catalog.values()
        for part in [content, *content["subtypes"].values()]
        for e in part["entities"]
    }
    rows = json.loads(demo[2]["coverage_json"])["entities"]
    assert len(rows) == len(found)
    for row in rows:
        entity = found[row["fact_sheet_id"]]
        kinds = {one["kind"] for one in row["evidence"]}
        covered = row["verdict"] in {"STRONG", "MODERATE"}
        assert entity["source"] == ("BOTH" if covered else "MODEL_ONLY")
        assert not covered or kinds & {"definition", "lexical"}
        said = entity["mapping_rationale"]
        if not covered:
            assert ("near in meaning" in said) == ("semantic" in kinds)
            assert not any(entity[field] for field in FIELDS)
        elif "definition" not in kinds:
            assert said == NAMED
            assert entity["evidence"]
    quotes = [
        one["quote"]
        for row in rows
        for one in row["evidence"]
        if one["kind"] == "lexical" and row["entity_name"] in {"Charge", "Isle"}
    ]
    assert not [q for q in quotes if "in charge" in q or "without charge" in q]


def test_told(demo, pack):
    text = demo_text(demo[0], pack, Path("data"))
    assert "uv run elt-llm serve --data-dir data" in text
    assert " 1 documents" not in text
    assert " 1 document, " in text
    for question in pack.questions:
        assert question in text
    for path in demo[0].files.values():
        assert path in text

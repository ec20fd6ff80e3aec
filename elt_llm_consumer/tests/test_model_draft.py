"""A model drafted from documents: entities, relations, files that can be taken in."""

import csv
import json
from pathlib import Path

import pytest
from defusedxml import ElementTree

from elt_llm_consumer.exchange.archimate_file import ArchimateEntry, write_exchange
from elt_llm_consumer.model_draft import ARCHIMATE_TYPES, find_category
from elt_llm_consumer.product import schema
from elt_llm_core.jobs import JOBS
from elt_llm_ingest.readers.archimate.archimate_model import read_model

HARBOUR = """\
# 1 Definitions
1.1 "Pilot" means a person who guides ships.
1.2 "Night Pilot" means a Pilot who is licensed to guide ships after dark.
1.3 "Watch" means the Pilots who are on duty together.
1.4 "Berth" means a place for one ship.
1.5 "Port Log" means the record of all arrivals.
# 2 Rules
2.1 Each Pilot must keep the Port Log.
2.2 No Pilot may enter a Berth.
2.3 A Watch has at least two Pilots.
2.4 A Berth must be empty at noon.
"""
RULES = ["No Pilot may enter a Berth.", "A Berth must be empty at noon."]


@pytest.fixture
def draft(context, models, store, make, add):
    add(store, "harbour", make(HARBOUR, "Harbour & <Port>"))

    def run(**options):
        job = JOBS.load("model_draft", {"collections": ("harbour",), **options})
        report = job.build(models)(context)
        return report, json.loads(Path(report.files["model_json"]).read_text())

    return run


def test_entities_are_what_the_documents_define(draft):
    report, content = draft()
    entities = {row["name"]: row for row in content["entities"]}
    assert list(entities) == ["Berth", "Night Pilot", "Pilot", "Port Log", "Watch"]
    assert report.counts["entities"] == 5
    assert {name: row["category"] for name, row in entities.items()} == {
        "Berth": "data_entity",
        "Night Pilot": "role",  # a kind of Pilot, and that is a person
        "Pilot": "role",
        "Port Log": "document",
        "Watch": "data_entity",
    }
    log = entities["Port Log"]
    assert log["definition"] == "the record of all arrivals"
    (quote,) = log["evidence"]
    assert (quote["quote"], quote["support"]) == (log["definition"], "verified")
    assert [rule["quote"] for rule in entities["Berth"]["governance_rules"]] == RULES


def test_relations_are_what_sentences_and_definitions_state(draft):
    _, content = draft()
    rows = [
        (
            row["source"],
            row["relationship_type"],
            row["target"],
            row["cardinality"],
            row["origin"],
        )
        for row in content["relationships"]
    ]
    assert rows == [
        ("Pilot", "keep", "Port Log", "", "stated"),
        ("Watch", "has", "Pilot", "?-2..*", "stated"),
        ("Night Pilot", "is a kind of", "Pilot", "", "definition"),
    ]
    quote = content["relationships"][0]["evidence"][0]
    assert quote["quote"] == "Each Pilot must keep the Port Log."


def test_the_exchange_file_is_read_as_the_same_model(draft):
    report, content = draft()
    path = Path(report.files["model_archimate"])
    model, _ = read_model(path, path.read_bytes())
    assert not model.skips
    assert [one.name for one in model.elements] == [
        row["name"] for row in content["entities"]
    ]
    by_name = {one.name: one for one in model.elements}
    assert by_name["Pilot"].documentation == "a person who guides ships"
    assert by_name["Pilot"].type == "BusinessRole"
    assert "Harbour & <Port>" in by_name["Pilot"].properties["source"]
    assert [
        (one.source.name, one.type, one.target.name) for one in model.relations
    ] == [
        ("Pilot", "Association", "Port Log"),
        ("Watch", "Association", "Pilot"),
        ("Night Pilot", "Specialization", "Pilot"),
    ]


def test_a_short_form_is_another_name_of_its_long_form(context, models):
    job = JOBS.load("model_draft", {"collections": ("handbook",)})
    report = job.build(models)(context)
    content = json.loads(Path(report.files["model_json"]).read_text())
    board = next(e for e in content["entities"] if "EMB" in e["synonyms"])
    assert board["name"] == "Estates Management Board"
    assert board["category"] == "organisation"
    assert board["definition"].endswith("(EMB) keeps the register.")
    assert board["evidence"]


def test_a_second_run_reuses_everything_and_changes_no_byte(draft):
    first, _ = draft()
    before = {name: Path(path).read_bytes() for name, path in first.files.items()}
    second, _ = draft()
    assert (second.counts["done"], second.counts["reused"]) == (0, 5)
    assert before == {n: Path(path).read_bytes() for n, path in second.files.items()}


def test_tables_hold_the_same_rows(draft):
    report, content = draft()
    with Path(report.files["entities_csv"]).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [e["name"] for e in content["entities"]]
    assert rows[0]["governance_rules"] == "; ".join(RULES)
    with Path(report.files["relationships_csv"]).open(newline="") as file:
        stated = list(csv.DictReader(file))
    assert "p. 1" in stated[0]["evidence"]
    mermaid = Path(report.files["model_mermaid"]).read_text()
    assert mermaid.startswith("erDiagram")


@pytest.mark.parametrize(
    ("name", "definition", "category"),
    [
        ("Estates Board", "", "organisation"),
        ("Marshal", "an official who starts the race", "role"),
        ("Notices", "", "document"),
        ("Tide", "the movement of the sea", "data_entity"),
        ("", "", "data_entity"),
    ],
)
def test_a_category_is_read_off_general_words(name, definition, category):
    assert find_category(name, definition) == category


def test_categories_are_those_of_the_schema():
    entity = schema("model_draft")["properties"]["entities"]["items"]
    assert set(entity["properties"]["category"]["enum"]) == set(ARCHIMATE_TYPES)


def test_any_text_can_stand_in_an_exchange_file():
    text = "</name><x a='1'/> & \x00\x1f\ud800 \ufffe {{ 7 * 7 }} ]]>"
    one = ArchimateEntry("id-1", "BusinessObject", text, text, {text: text, "no": ""})
    root = ElementTree.fromstring(write_exchange(text, [one], []))
    texts = [element.text for element in root.iter() if (element.text or "").strip()]
    clean = "</name><x a='1'/> &   {{ 7 * 7 }} ]]>"
    assert texts == [clean, clean, clean, clean, clean, "no"]

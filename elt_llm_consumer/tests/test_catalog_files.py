"""The files of a catalogue: whole, the same again, safe; switches and differences."""

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from elt_llm_consumer import product_commands
from elt_llm_consumer.catalog import CatalogJob
from elt_llm_consumer.catalog_diff import compare_catalogs, read_catalog_rows
from elt_llm_consumer.catalog_files import draw_mermaid, draw_plantuml, render_site
from elt_llm_consumer.catalog_scope import CatalogScope
from elt_llm_core.errors import ConfigError, ExchangeError, UsageError
from elt_llm_core.reviews.review_records import ReviewChange, ReviewStatus


@pytest.fixture
def run(context, models, aliases):
    def build(**options):
        given = {"collections": ("handbook",), "model": ("estate",), "aliases": aliases}
        return CatalogJob(**{**given, **options}).build(models)(context)

    return build


def flat(report):
    content = json.loads(Path(report.files["catalog_flat_json"]).read_text())
    return {row["entity_name"]: row for row in content["entities"]}


def test_every_file_has_every_record_and_is_the_same_again(run):
    report = run()
    names = set(flat(report))
    rows = csv.DictReader(io.StringIO(Path(report.files["catalog_csv"]).read_text()))
    assert {row["entity_name"] for row in rows} == names
    book = load_workbook(report.files["catalog_xlsx"])
    assert book.sheetnames == ["Catalogue", "Relationships"]
    cells = [row[2].value for row in book["Catalogue"].iter_rows(min_row=2)]
    assert set(cells) == names
    table = Path(report.files["relationships_csv"]).read_text().splitlines()
    assert table[1].startswith("people,Entity Relationship,contracts,0..*-1..*")
    before = {path: Path(path).read_bytes() for path in report.files.values()}
    assert len(before) == 9
    again = run()
    assert {path: Path(path).read_bytes() for path in again.files.values()} == before


def test_the_flat_list_has_the_place_of_each_record(run):
    lease = flat(run())["Ground Lease"]
    assert (lease["domain"], lease["domain_fact_sheet_id"]) == ("CONTRACTS", "d-1")
    assert (lease["subtype"], lease["subtype_fact_sheet_id"]) == ("Leases", "s-1")


RELATION = {
    "entity_a": "ground lease",
    "entity_b": "people",
    "relationship_type": 'is "held" by',
    "cardinality": "0..*-1..1",
    "source": "HANDBOOK",
}


def test_diagrams_have_every_entity_and_relation(run):
    report = run()
    catalog = json.loads(Path(report.files["catalog_json"]).read_text())
    mermaid = draw_mermaid(catalog, [RELATION])
    assert mermaid.startswith("erDiagram\n")
    assert """}o..|| e""" in mermaid
    assert """: "is 'held' by [0..*-1..1]\"""" in mermaid
    plantuml = draw_plantuml(catalog, [RELATION])
    assert plantuml.count('class "Ground Lease" as') == 1
    assert '"0..*" .. "1..1"' in plantuml
    assert plantuml.count("{") == plantuml.count("}")
    for name in ("Ground Lease", "Boundary Survey", "Tenants", "PEOPLE"):
        assert f'"{name}"' in mermaid
        assert f'"{name}"' in plantuml


def test_a_name_whose_letters_fold_is_drawn_with_its_relation():
    relation = {**RELATION, "entity_a": "straße", "entity_b": "ort"}
    for text in (draw_mermaid({}, [relation]), draw_plantuml({}, [relation])):
        assert '"straße"' in text
        assert "e1 " in text


def test_a_hostile_text_cannot_leave_the_data_of_the_page():
    row = {"entity_name": "</script><script>alert(1)</script>", "edited": {}}
    page = render_site("a", [row])
    assert page.count("<script") == 2
    assert "alert(1)" in page
    assert "\\u003c/script\\u003e" in page


def test_only_some_entities_go_into_a_file_of_their_own(run, store):
    whole = run()
    name = "catalog:handbook"
    item = next(i for i in store.reviews.items(name) if i.label == "Ground Lease")
    change = ReviewChange(item_id=item.item_id, status=ReviewStatus.APPROVED)
    store.reviews.change(name, [change], "ann")
    report = run(domains=("contracts",))
    assert Path(report.files["catalog_json"]).name == (
        "catalog_handbook.only_contracts.json"
    )
    rows = flat(report)
    assert set(rows) == {"Ground Lease", "Boundary Survey"}
    assert rows["Ground Lease"]["review_status"] == "APPROVED"
    assert "gone" not in report.counts
    assert len(store.reviews.items(name)) == len(flat(whole))
    assert set(flat(run(entities=("tenants",)))) == {"Tenants"}


def test_the_catalogue_can_do_without_relationships_and_without_the_handbook(run):
    report = run(skip_relationships=True)
    assert "relationships_json" not in report.files
    assert all(row["relationships"] == [] for row in flat(report).values())
    rows = flat(run(skip_handbook=True))
    assert {row["source"] for row in rows.values()} == {"MODEL_ONLY"}
    lease = rows["Ground Lease"]
    assert lease["mapping_rationale"] == "the handbook was not read"
    assert lease["leanix_description"] == "Right to occupy a ground."
    assert lease["formal_definition"] == ""


def test_a_run_without_the_handbook_reopens_no_decision(run, store):
    run()
    name = "catalog:handbook"
    before = store.reviews.items(name)
    item = next(i for i in before if i.label == "Ground Lease")
    change = ReviewChange(item_id=item.item_id, status=ReviewStatus.APPROVED)
    store.reviews.change(name, [change], "ann")
    report = run(skip_handbook=True)
    assert flat(report)["Ground Lease"]["review_status"] == "APPROVED"
    assert not {"reopened", "gone"} & set(report.counts)
    after = store.reviews.items(name)
    assert [(i.item_id, i.proposal) for i in after] == [
        (i.item_id, i.proposal) for i in before
    ]


def test_a_catalogue_that_was_always_made_without_the_handbook_is_reviewed(run, store):
    run(skip_handbook=True)
    items = store.reviews.items("catalog:handbook")
    assert "Ground Lease" in {item.label for item in items}
    assert "reopened" not in run(skip_handbook=True).counts


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"skip_handbook": True}, "catalog_handbook.without-handbook"),
        ({"skip_relationships": True}, "catalog_handbook.without-relationships"),
        ({"model": ()}, "catalog_handbook.without-model"),
        ({"entities": ("tenants",)}, "catalog_handbook.only_tenants"),
        # A domain of this name: its files are not those of the whole catalogue.
        ({"domains": ("flat",)}, "catalog_handbook.only_flat"),
    ],
)
def test_a_partial_run_leaves_the_whole_catalogue(run, monkeypatch, options, name):
    whole = {path: Path(path).read_bytes() for path in run().files.values()}
    monkeypatch.setattr(CatalogScope, "restrict", lambda _self, model: model)
    report = run(**options)
    assert {path: Path(path).read_bytes() for path in whole} == whole
    assert Path(report.files["catalog_json"]).stem == name
    assert not whole.keys() & report.files.values()


def test_a_run_without_relationships_keeps_those_under_review(run, store):
    run()
    name = "catalog:handbook"
    before = [item.proposal for item in store.reviews.items(name)]
    assert any(one.content["relationships"] for one in before)
    run(skip_relationships=True)
    assert [item.proposal for item in store.reviews.items(name)] == before


def test_a_run_without_the_model_keeps_its_entities_under_review(run, store):
    first = run(model=())
    assert Path(first.files["catalog_json"]).stem == "catalog_handbook"
    run()
    name = "catalog:handbook"
    before = [item.proposal for item in store.reviews.items(name)]
    report = run(model=())
    assert {row["source"] for row in flat(report).values()} == {"HANDBOOK_ONLY"}
    assert not {"reopened", "gone"} & set(report.counts)
    assert [item.proposal for item in store.reviews.items(name)] == before


def test_long_names_of_parts_differ(run, monkeypatch):
    monkeypatch.setattr(CatalogScope, "restrict", lambda _self, model: model)
    long = ("a" * 120 + "b", "a" * 120 + "c")
    names = {run(domains=(one,)).files["catalog_json"] for one in long}
    assert len(names) == 2
    assert all(len(Path(one).name) < 150 for one in names)


def test_a_person_can_force_an_entity_and_write_its_texts(run, tmp_path):
    file = tmp_path / "static.yaml"
    file.write_text('Boundary Survey: {lifecycle_states: "Drawn, then sealed."}\n')
    rows = flat(run(forced=("boundary survey",), static_context=file))
    survey = rows["Boundary Survey"]
    assert (survey["source"], survey["mapping_confidence"]) == ("BOTH", "medium")
    assert survey["lifecycle_states"] == "Drawn, then sealed."
    assert "lifecycle_states" not in survey["evidence"]
    assert survey["mapping_rationale"].endswith("static context: lifecycle_states")


def test_unknown_names_are_refused_with_the_known_ones(run, tmp_path):
    with pytest.raises(UsageError, match="did you mean 'CONTRACTS'"):
        run(domains=("CONTRACT",))
    with pytest.raises(UsageError, match="no entity 'Tenat'"):
        run(entities=("Tenat",))
    file = tmp_path / "static.yaml"
    for text, error in (
        ("Nobody: {lifecycle_states: x}", UsageError),
        ("Tenants: {colour: red}", ConfigError),
        ("Tenants: red", ConfigError),
        ("a: [", ConfigError),
    ):
        file.write_text(text)
        with pytest.raises(error):
            run(static_context=file)
    with pytest.raises(ConfigError, match="cannot read"):
        run(static_context=tmp_path / "none.yaml")


def test_two_catalogues_are_compared(run, tmp_path):
    report = run()
    old = read_catalog_rows(Path(report.files["catalog_json"]))
    new = read_catalog_rows(Path(report.files["catalog_flat_json"]))
    same = compare_catalogs(old, new)
    assert (same.added, same.removed, same.changed) == ((), (), ())
    assert same.unchanged == len(old)
    moved = [{**row} for row in new if row["entity_name"] != "Tenants"]
    moved[0] |= {"domain": "ELSEWHERE", "leanix_description": "other words"}
    diff = compare_catalogs(old, moved)
    assert diff.removed == ("PEOPLE / Tenants",)
    (change,) = diff.changed
    assert change.moved_from
    assert [one.field for one in change.fields] == ["leanix_description"]


def test_the_command_compares_two_files(run, tmp_path):
    report = run()
    other = tmp_path / "other.json"
    content = json.loads(Path(report.files["catalog_flat_json"]).read_text())
    content["entities"] = content["entities"][1:]
    other.write_text(json.dumps(content))
    paths = [report.files["catalog_json"], str(other)]
    result = CliRunner().invoke(product_commands.catalog, ["diff", *paths])
    assert result.exit_code == 0, result.output
    assert "0 added, 1 removed, 0 changed" in result.output


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "no catalogue: the catalog does not match its schema"),
        ('{"a": [{"quote": "long"}]}', "no catalogue: the catalog does not match"),
        ("{", "no JSON file"),
        ("term,definition\nLease,A contract\n", "no JSON file"),
    ],
)
def test_what_is_no_catalogue_is_refused(tmp_path, text, reason):
    file = tmp_path / "a.json"
    file.write_text(text)
    told = rf"a\.json is {reason}[^{{\[]*; name a catalog_….json that .* wrote$"
    with pytest.raises(ExchangeError, match=told):
        read_catalog_rows(file)

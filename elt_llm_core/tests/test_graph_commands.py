"""`elt-llm graph` as a person runs it, over a stored model."""

import dataclasses
import json

import pytest
from click.testing import CliRunner

from core_stores import new_document, put
from elt_llm_core.cli.graph import graph
from elt_llm_core.document import Sidecar
from elt_llm_core.enterprise.model import SIDECAR_KIND
from elt_llm_core.errors import UsageError
from elt_llm_core.store import Store
from graph_models import shop


@pytest.fixture
def run(tmp_path):
    """Runs a command over a data root with the model of a shop."""
    new = new_document("shop.xml", ["A shop."])
    content = shop().model_dump(mode="json")
    sidecar = Sidecar(kind=SIDECAR_KIND, name="Shop", content=content)
    parsed = new.parsed.model_copy(update={"sidecars": (sidecar,)})
    put(Store(tmp_path / "data"), "model", dataclasses.replace(new, parsed=parsed))

    def call(*arguments, **how):
        line = [*arguments, "--data-dir", str(tmp_path / "data")]
        return CliRunner().invoke(graph, line, **how)

    return call


def test_counts_elements_neighbours_and_dependents(run):
    counts = "10 elements (entity 8, domain 2), 8 relations, 1 view; left out"
    assert counts in run("show").output
    shown = run("show", "till").output
    assert "Relations of its containers:\n  A reads D." in shown
    listed = json.loads(run("list", "--type", "role", "--json").output)
    assert [e["name"] for e in listed["elements"]] == ["Clerk"]
    assert "till flows to ledger" in run("neighbors", "Till").output
    assert "Bank" in run("dependents", "Till").output
    assert "depends on nothing" in run("dependents", "Goods", "--reverse").output


def test_qualifiers_of_a_relation_are_shown_and_exported(tmp_path):
    new = new_document("shop.xml", ["A shop."])
    content = shop().model_dump(mode="json")
    access = next(r for r in content["relations"] if r["type"] == "Access")
    access["properties"] = {"accessType": "Read"}
    sidecar = Sidecar(kind=SIDECAR_KIND, name="Shop", content=content)
    parsed = new.parsed.model_copy(update={"sidecars": (sidecar,)})
    put(Store(tmp_path / "data"), "model", dataclasses.replace(new, parsed=parsed))
    place = ["--data-dir", str(tmp_path / "data")]
    shown = CliRunner().invoke(graph, ["show", "till", *place]).output
    assert "till accesses order (write). [accessType: Read]" in shown
    exported = CliRunner().invoke(graph, ["export", "--format", "json", *place]).output
    edges = {e["id"]: e["qualifiers"] for e in json.loads(exported)["edges"]}
    assert (edges["r5"], edges["r1"]) == ({"accessType": "Read"}, {})


def test_a_path_or_exit_code_2(run):
    way = run("path", "Clerk", "Bank")
    assert (way.exit_code, way.output.count("->")) == (0, 3)
    nothing = run("path", "Lone", "Bank")
    assert (nothing.exit_code, nothing.output) == (
        2,
        "There is no path between Lone and Bank.\n",
    )


def test_an_element_and_itself_are_told_to_be_the_same(run):
    same = run("path", "Till", "till")
    assert (same.exit_code, same.output) == (
        0,
        "Till: both ends are the same element.\n",
    )
    alone = run("path", "Lone", "Lone")
    assert alone.output == "Lone: both ends are the same element.\n"


@pytest.mark.parametrize(
    ("option", "name", "known"), [("type", "Foo", "Role"), ("domain", "NOPE", "APPS")]
)
def test_a_list_of_an_unknown_type_or_domain_is_refused(run, option, name, known):
    with pytest.raises(UsageError, match=f"no {option} '{name}'; it has: .*{known}"):
        run("list", f"--{option}", name, catch_exceptions=False)
    assert run("list", f"--{option}", known.lower()).exit_code == 0


def test_a_question_is_answered_with_places_or_exit_code_2(run):
    answer = run("ask", "What depends on Till?")
    assert answer.exit_code == 0
    assert answer.output.startswith("What depends on Till: Ledger, Clerk.\n")
    assert "till serves clerk" in answer.output
    refused = run("ask", "What does Till cost?", "--json")
    assert (refused.exit_code, json.loads(refused.output)["status"]) == (2, "refused")


def test_a_model_is_checked_and_a_broken_rule_is_exit_code_2(run):
    checked = run("check")
    assert checked.exit_code == 2
    assert "broken   MOD007" in checked.output
    assert "Bank (Partner) (bank)" in checked.output
    fine = run("check", *("--threshold", "mod007=1", "--threshold", "MOD008=1"),
               *("--threshold", "MOD009=1"))  # fmt: skip
    assert (fine.exit_code, "broken" in fine.output) == (0, False)
    for wrong in ("MOD007", "MOD007=x", "MOD007=2", "MOD999=0"):
        assert isinstance(run("check", "--threshold", wrong).exception, UsageError)


def test_pictures_are_written_whole(run, tmp_path):
    target = tmp_path / "shop.svg"
    said = run("export", "--format", "svg", "--to", str(target)).output
    assert "10 elements, 7 relations" in said
    assert target.read_text().startswith("<svg ")
    assert run("export", "--domain", "APPS").output.startswith("flowchart LR\n")
    diagram = json.loads(run("export", "--format", "json").output)
    assert len(diagram["nodes"]) == 10

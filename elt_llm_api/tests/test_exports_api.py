"""Exports over HTTP: what a person approved in the page is in the file at once."""

import csv
import io
import shutil
import time

import httpx
import pytest

from elt_llm_core.config.loader import RagConfig

pytestmark = pytest.mark.network
ITEMS = "/v1/products/glossary:handbook/items"
ASKED = {"collection": "handbook"}


@pytest.fixture(scope="module")
def client(serve, filled_root, tmp_path_factory):
    """A server with a glossary and a catalogue that its own jobs built."""
    copy = tmp_path_factory.mktemp("exports") / "data"
    shutil.copytree(filled_root, copy)
    with (
        serve(RagConfig(), copy) as url,
        httpx.Client(base_url=url, timeout=60) as opened,
    ):
        for kind in ("glossary", "catalog"):
            build(opened, kind)
        yield opened


def build(client, kind):
    job = client.post("/v1/jobs", data={"kind": kind, **ASKED}).json()
    while job["state"] == "running":
        time.sleep(0.1)
        job = client.get(f"/v1/jobs/{job['id']}").json()
    assert job["state"] == "succeeded", job


def decide(client, label, **change):
    rows = client.get(ITEMS).json()["data"]
    (row,) = (row for row in rows if row["label"] == label)
    changes = [{"item_id": row["item_id"], **change}]
    reply = client.patch(ITEMS, json={"reviewer": "ann", "changes": changes})
    assert reply.status_code == 200, reply.text


def test_formats_are_listed_with_what_they_hold(client):
    formats = {one["name"]: one for one in client.get("/v1/exports").json()["data"]}
    purview = formats["purview_classic"]
    assert purview["ending"] == ".csv"
    assert purview["needs"] == ""
    assert "definition" in purview["holds"]
    assert "evidence" not in purview["holds"]
    (option,) = purview["options"]
    assert (option["name"], option["default"]) == ("formula_safe", True)


def test_a_decision_of_the_page_is_in_the_next_export(client):
    decide(client, "Season", status="approved", edited={"definition": "A year."})
    reply = client.get("/v1/exports/purview_classic", params=ASKED)
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"].startswith("text/csv")
    names = reply.headers["content-disposition"]
    assert names.endswith("glossary_handbook_purview_classic.csv")
    rows = list(csv.DictReader(io.StringIO(reply.content.decode("utf-8-sig"))))
    season = {row["Name"]: row for row in rows}["Season"]
    assert (season["Status"], season["Definition"]) == ("Approved", "A year.")
    only = client.get(
        "/v1/exports/purview_classic", params={**ASKED, "status": "APPROVED"}
    )
    assert len(only.text.splitlines()) == 2
    assert client.get("/v1/exports/purview_classic", params=ASKED).content == (
        reply.content
    )


def test_a_catalogue_is_exported_without_a_file_on_the_server(client):
    asked = {**ASKED, "product": "catalog", "option": "formula_safe=false"}
    reply = client.get("/v1/exports/generic_csv", params=asked)
    assert reply.status_code == 200, reply.text
    assert "Member Club" in reply.text


def test_a_check_tells_what_the_format_cannot_hold(client):
    checked = client.get("/v1/exports/purview_unified/check", params=ASKED).json()
    assert checked["accepted"]
    assert checked["report"]["action"] == "check"
    assert checked["size"] > 0
    losses = {one["field"]: one["terms"] for one in checked["report"]["losses"]}
    assert losses["evidence"] == checked["report"]["counts"]["terms"] == 3


def test_what_the_target_refuses_is_named_or_left_out(client):
    decide(client, "Player", edited={"term": "p" * 201})
    path = "/v1/exports/purview_unified"
    reply = client.get(path, params=ASKED)
    assert (reply.status_code, reply.json()["code"]) == (422, "EXC001")
    assert "201 characters" in reply.json()["details"][0]
    check = client.get(f"{path}/check", params=ASKED).json()
    assert not check["accepted"]
    (problem,) = check["report"]["problems"]
    assert (problem["column"], problem["is_error"]) == ("name", True)
    assert client.get(path, params={**ASKED, "leave_out": True}).status_code == 200
    decide(client, "Player", edited={"term": None})


@pytest.mark.parametrize(
    ("path", "asked", "status", "code"),
    [
        ("purview", ASKED, 404, "API006"),
        ("generic_csv", {"collection": "handbok"}, 404, "STO002"),
        ("generic_csv", {}, 422, "API002"),
        ("generic_csv", {**ASKED, "product": "coverage"}, 422, "API002"),
        ("generic_csv", {**ASKED, "status": "GOOD"}, 422, "USE001"),
        ("generic_csv", {**ASKED, "option": "colour=red"}, 422, "USE001"),
        ("generic_csv", {**ASKED, "option": "colour"}, 422, "USE001"),
        ("erwin_csv", {**ASKED, "option": "mapping_file=/etc/hostname"}, 422, "USE001"),
    ],
)
def test_a_wrong_request_is_refused(client, path, asked, status, code):
    for end in ("", "/check"):
        reply = client.get(f"/v1/exports/{path}{end}", params=asked)
        assert (reply.status_code, reply.json()["code"]) == (status, code)

"""Reports, topics and concept reports over HTTP."""

import shutil
import time

import httpx
import pytest

from elt_llm_core.config.loader import RagConfig

pytestmark = pytest.mark.network
TEMPLATE = """\
title: Words
sections:
- heading: Register a Player
  guidance: By which date shall a Member Club register each Player?
"""


@pytest.fixture(scope="module")
def client(serve, filled_root, tmp_path_factory):
    """A client of a server of these tests alone, as they write."""
    copy = tmp_path_factory.mktemp("writing") / "data"
    shutil.copytree(filled_root, copy)
    with (
        serve(RagConfig(), copy) as url,
        httpx.Client(base_url=url, timeout=30) as opened,
    ):
        yield opened


def finish(client, reply):
    assert reply.status_code == 202, reply.text
    assert reply.headers["retry-after"]
    for _ in range(600):
        job = client.get(reply.headers["location"]).json()
        if job["state"] != "running":
            return job
        time.sleep(0.1)
    pytest.fail(f"the job did not end: {job}")


def test_a_report_is_a_job_and_is_kept(client):
    body = {"template_text": TEMPLATE, "formats": ["html"]}
    job = finish(client, client.post("/v1/reports", json=body))
    assert (job["state"], list(job["files"])) == ("succeeded", ["html"])
    (row,) = client.get("/v1/reports").json()["data"]
    assert (row["title"], row["number"], row["stale"]) == ("Words", 1, False)
    written = client.get(row["url"]).json()
    (section,) = written["text"]["sections"]
    assert section["heading"] == "Register a Player"
    assert any("31 July" in one["text"] for one in section["statements"])
    page = client.get(written["files"]["html"])
    assert page.headers["content-type"].startswith("text/html")
    assert "attachment" in page.headers["content-disposition"]
    assert client.get(written["files"]["docx"]).content.startswith(b"PK")
    assert client.delete(row["url"]).status_code == 204
    assert client.get(row["url"]).status_code == 404
    gone = client.get("/v1/reports/words")
    assert gone.status_code == 404
    assert gone.json()["hint"] == (
        "GET /v1/reports, /v1/topics and /v1/concepts list them"
    )


def test_an_id_of_a_template_is_an_address_and_a_file_name(client):
    body = {
        "template_text": 'id: "../\\"é\\r\\nx: 1"\n' + TEMPLATE,
        "formats": ["html"],
    }
    job = finish(client, client.post("/v1/reports", json=body))
    assert job["state"] == "succeeded"
    page = client.get("/v1/reports/x-1/1/files/html")
    assert (
        page.headers["content-disposition"]
        == 'attachment; filename="report-x-1-1.html"'
    )
    assert client.delete("/v1/reports/x-1/1").status_code == 204


def test_templates_are_listed_by_name(client):
    templates = client.get("/v1/report-templates").json()["data"]
    (one,) = [t for t in templates if t["name"] == "safety-review"]
    assert one["sections"][0]["heading"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 422, "pass a template or its text"),
        ({"template": "safty-review"}, 422, "did you mean 'safety-review'"),
        ({"template": "../../etc/passwd"}, 422, "template"),
        ({"template_text": "title: x"}, 422, "sections: Field required"),
        ({"template_text": "title: ["}, 422, "not valid YAML"),
        ({"template_text": "a: &a [1]\nb: *a"}, 422, "aliases"),
        ({"template_text": TEMPLATE + "- heading: x\n" * 201}, 422, "200 items"),
        ({"template_text": TEMPLATE, "formats": ["pdf"]}, 422, "docx"),
        ({"template_text": TEMPLATE, "profile": "fast"}, 422, "default"),
        ({"template_text": TEMPLATE, "collections": ["handbok"]}, 404, "handbook"),
    ],
)
def test_a_wrong_request_is_refused_with_the_cure_and_no_job(
    client, body, status, words
):
    before = client.get("/v1/jobs").json()
    reply = client.post("/v1/reports", json=body)
    assert reply.status_code == status, reply.text
    problem = reply.json()
    assert words in f"{problem['detail']} {problem['hint']}"
    assert client.get("/v1/jobs").json() == before


@pytest.mark.parametrize("form", ["json", ".json", "md", "markdown", ".markdown"])
def test_a_template_has_a_format_with_or_without_the_dot(client, form):
    text = '{"title": "Words"}' if "json" in form else "# Words\n"
    body = {"template_text": text, "template_format": form}
    reply = client.post("/v1/reports", json=body)
    # Read as what it is, and refused for what it lacks.
    assert reply.status_code == 422
    assert "is not a template: sections" in reply.json()["detail"]


def test_topics_are_listed_summarised_and_shown(client):
    (topic, *_) = client.get("/v1/topics", params={"collection": "handbook"}).json()[
        "data"
    ]
    assert topic["summaries"] == []
    body = {
        "topics": [topic["id"]],
        "collections": ["handbook"],
        "formats": ["markdown"],
    }
    job = finish(client, client.post("/v1/topics/summaries", json=body))
    assert job["state"] == "succeeded"
    (again, *_) = client.get("/v1/topics").json()["data"]
    assert [s["number"] for s in again["summaries"]] == [1]
    (row,) = client.get(f"/v1/topics/{topic['id']}/summaries").json()["data"]
    assert client.get(row["url"]).json()["text"]["title"] == topic["name"]
    before = client.get("/v1/jobs").json()
    body["topics"] = ["nothing"]
    refused = client.post("/v1/topics/summaries", json=body)
    assert refused.status_code == 422
    assert refused.json()["detail"] == "no topic 'nothing'"
    assert topic["id"] in refused.json()["hint"]
    assert client.get("/v1/jobs").json() == before


def test_a_concept_report_is_written_and_listed(client):
    finish(client, client.post("/v1/concepts", json={"concept": "Member Club"}))
    (row,) = client.get("/v1/concepts").json()["data"]
    assert (row["subject"], row["number"]) == ("member-club", 1)
    text = client.get(row["url"]).json()["text"]
    assert text["kind"] == "concept"
    assert text["sources"]


@pytest.mark.parametrize(
    "path", ["reports/x/1", "topics/x/summaries/1", "concepts/x/1"]
)
def test_what_is_not_kept_is_not_found(client, path):
    assert client.get(f"/v1/{path}").status_code == 404
    assert client.delete(f"/v1/{path}").status_code == 404
    assert client.get(f"/v1/{path}/files/json").status_code == 404

"""The graph of a model over HTTP: read from a real drawing, on a real server."""

import asyncio
import shutil
from pathlib import Path

import httpx
import pytest
from defusedxml import ElementTree

import elt_llm_consumer
from elt_llm_api.api_context import build_context
from elt_llm_api.uploads import Upload
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import silent
from elt_llm_core.store import Store
from test_mcp import over_http

pytestmark = pytest.mark.network
PACK = Path(elt_llm_consumer.__file__).parent / "packs" / "kite-regatta"


@pytest.fixture(scope="module")
def client(serve, filled_root, tmp_path_factory):
    """A server over a handbook and the model of the sample."""
    root = tmp_path_factory.mktemp("graph") / "data"
    shutil.copytree(filled_root, root)
    store = Store(root)
    drawing = Upload("model.drawio", PACK / "model.drawio")
    report = build_context(RagConfig(), store).runner.ingest("model", [drawing], silent)
    assert report.exit_code == 0
    store.close()
    with (
        serve(RagConfig(), root) as url,
        httpx.Client(base_url=f"{url}/v1", timeout=60) as opened,
    ):
        yield opened


def test_the_model_is_counted_and_listed_in_pages(client):
    summary = client.get("/graph").json()
    assert (summary["elements"], summary["relations"]) == (100, 15)
    assert len(summary["domains"]) == 11
    first = client.get(
        "/graph/elements", params={"domain": "people", "limit": 9}
    ).json()
    rest = client.get(
        "/graph/elements", params={"domain": "people", "cursor": first["next_cursor"]}
    ).json()
    assert len(first["data"]) + len(rest["data"]) == first["total"] == 13
    relations = client.get("/graph/relations", params={"limit": 1}).json()
    assert (relations["total"], relations["next_cursor"]) == (15, 1)


def test_an_element_its_neighbours_and_paths(client):
    flyer = client.get("/graph/element", params={"element": "flyer"}).json()
    assert [a["name"] for a in flyer["above"]] == ["Participants", "PEOPLE"]
    assert (flyer["relations"], len(flyer["inherited"])) == ([], 4)
    around = client.get("/graph/neighbors", params={"element": "PEOPLE"}).json()
    assert {n["element"]["name"] for n in around["data"]} == {
        "MEMBERSHIP", "EQUIPMENT", "CHANNELS",
    }  # fmt: skip
    ends = {"source": "Flyer", "target": "Kite"}
    (way,) = client.get("/graph/path", params=ends).json()["data"]
    assert [s["contained"] for s in way["steps"]] == [True, False, True]
    needs = client.get("/graph/dependents", params={"element": "MEMBERSHIP", "hops": 1})
    assert {n["element"]["name"] for n in needs.json()["data"]} > {"PEOPLE"}


QUESTION = "Which domain holds the entity Gust Ceiling?"


def test_a_question_is_answered_with_the_cells_of_the_drawing(client):
    answer = client.get("/graph/answer", params={"question": QUESTION}).json()
    assert answer["text"] == "Gust Ceiling is in SAFETY."
    cells = [e["location"]["key"] for e in answer["subjects"] + answer["elements"]]
    drawn = (PACK / "model.drawio").read_text(encoding="utf-8")
    assert len(cells) == 2
    assert all(f'id="{cell}"' in drawn for cell in cells)
    asked = {"question": "What is the fee?"}
    refused = client.get("/graph/answer", params=asked).json()
    assert (refused["status"], refused["elements"]) == ("refused", [])


def test_the_model_is_checked_against_rules(client):
    every = client.get("/graph/check").json()
    broken = {rule["rule"]: rule["broken"] for rule in every["rules"]}
    assert (every["passed"], broken["MOD001"], broken["MOD005"]) == (False, 4, 1)
    asked = {"threshold": [f"{name}=1" for name in broken]}
    assert client.get("/graph/check", params=asked).json()["passed"]


def test_a_question_is_answered_over_mcp(client):
    async def call():
        url = str(client.base_url).removesuffix("/v1/")
        async with over_http(url) as tools:
            return await tools.call_tool("graph", {"question": QUESTION})

    result = asyncio.run(asyncio.wait_for(call(), 60))
    assert result.structured_content["answer"]["kind"] == "place"
    assert result.content[0].text.splitlines()[0] == "Gust Ceiling is in SAFETY."


def test_a_diagram_as_data_picture_and_mermaid(client):
    part = {"domain": "PEOPLE"}
    diagram = client.get("/graph/diagram", params=part).json()
    (people,) = [n for n in diagram["nodes"] if n["name"] == "PEOPLE"]
    assert {n["parent"] for n in diagram["nodes"]} == {"", people["id"]}
    assert diagram["edges"][0]["source_cardinality"] == "0..1"
    picture = client.get("/graph/diagram.svg", params=part)
    assert picture.headers["content-type"].startswith("image/svg+xml")
    assert ElementTree.fromstring(picture.text, forbid_dtd=True) is not None
    text = client.get("/graph/diagram.mmd", params=part).text
    assert text.startswith('flowchart LR\n  subgraph n0["PEOPLE"]')


@pytest.mark.parametrize(
    ("path", "params", "status", "code"),
    [
        ("/element", {"element": "Flyyer"}, 404, "GRA001"),
        ("/element", {}, 422, "API002"),
        ("/neighbors", {"element": "Flyer", "hops": 99}, 422, "API002"),
        ("/answer", {}, 422, "API002"),
        ("/check", {"threshold": "MOD001"}, 422, "USE001"),
        ("/answer", {"question": "x" * 2_001}, 422, "API002"),
        ("/diagram", {"domain": "NONE"}, 422, "USE001"),
        ("/diagram", {"colour": "red"}, 422, "API002"),
        ("", {"collection": "handbook"}, 422, "USE001"),
        ("", {"collection": "modell"}, 404, "STO002"),
    ],
)
def test_wrong_requests_are_problems_with_a_cure(client, path, params, status, code):
    reply = client.get(f"/graph{path}", params=params)
    assert (reply.status_code, reply.json()["code"]) == (status, code)

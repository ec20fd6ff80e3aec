"""The frames and files of the workspace, and the routes that its viewer asks."""

import hashlib
import re
import shutil
from importlib.resources import files
from pathlib import Path

import httpx
import pytest

from elt_llm_api.api_context import build_context
from elt_llm_api.page.workspace_pages import PAGES
from elt_llm_api.uploads import Upload
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import silent
from elt_llm_core.store import Store

OWN = files("elt_llm_api.page") / "static" / "workspace"
SCRIPTS = sorted(Path(str(OWN)).rglob("*.js"))
TEXT = "# Rules\n\nA **bold** <b>word</b> stays.\n\n" + "\n\n".join(
    f"Paragraph {n} tells of the harbour." for n in range(130)
)


@pytest.fixture(scope="module")
def opened(serve, filled_root, tmp_path_factory):
    """A server with the handbook and a text without pages."""
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(filled_root, folder / "data")
    store = Store(folder / "data")
    path = folder / "rules.txt"
    path.write_text(TEXT, encoding="utf-8")
    runner = build_context(RagConfig(), store).runner
    runner.ingest("rules", [Upload(path.name, path)], silent)
    store.close()
    with (
        serve(RagConfig(), folder / "data") as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client


def document_of(client, collection):
    (row,) = client.get(f"/v1/collections/{collection}/documents").json()["data"]
    return f"/v1/documents/{row['document_id']}"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_allows_no_inline_script_and_no_other_host(client, name):
    reply = client.get(f"/workspace/{name}")
    policy = reply.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert not re.search(r"https?:|//", policy)
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", reply.text)
    assert scripts == [""]
    assert not re.search(r"\s(?:style|on\w+)=", reply.text)
    for path in re.findall(r'(?:src|href)="([^"]+)"', reply.text):
        assert path.startswith(("/", "#"))
        if "/static/" in path:
            assert client.get(path).status_code == 200


def test_the_drawing_library_is_the_published_file_with_its_licence():
    """The hash is that of `dist/cytoscape.esm.min.mjs` in the npm package 3.34.4."""
    vendor = Path(str(OWN)) / "vendor"
    digest = hashlib.sha256((vendor / "cytoscape.min.mjs").read_bytes()).hexdigest()
    assert digest == "0d7e373a706f0f01d6fb7a6ccf04988c01307cee1c2f9bcc7b068e9f6b431e3f"
    licence = (vendor / "cytoscape.LICENSE").read_text(encoding="utf-8")
    assert "The Cytoscape Consortium" in licence
    assert "without restriction" in licence


@pytest.mark.parametrize(
    "path",
    [
        "/workspace/nothing",
        "/workspace/static/vendor/cytoscape.LICENSE",
        "/workspace/static/nothing.js",
        "/workspace/static/../page.js",
        "/workspace/static/%2e%2e/page.js",
    ],
)
def test_only_pages_and_their_files_are_served(client, path):
    assert client.get(path).status_code == 404


def test_a_file_is_sent_again_only_when_it_has_changed(client):
    first = client.get("/workspace/static/dom.js")
    assert first.headers["content-type"].startswith("text/javascript")
    again = client.get(
        "/workspace/static/dom.js", headers={"if-none-match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_make_no_markup_of_text_and_know_no_other_host(path):
    script = path.read_text(encoding="utf-8")
    risky = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|https?://"
    assert not re.search(risky, script)
    assert not re.search(r"new Function|javascript:|srcdoc", script)
    for module in re.findall(r'from "([^"]+)"', script):
        assert module.startswith(("./", "../"))


def test_a_page_has_its_blocks_with_kind_text_and_box(opened):
    document = document_of(opened, "handbook")
    page = opened.get(f"{document}/pages/2").json()
    assert (page["number"], page["pages"], page["has_pages"]) == (2, 3, True)
    assert opened.get(page["image"]).headers["content-type"] == "image/jpeg"
    assert page["blocks"][0]["kind"] == "heading"
    for block in page["blocks"]:
        box = block["box"]
        assert 0 <= box["left"] < box["right"] <= 1
        assert 0 <= box["top"] < box["bottom"] <= 1
    assert "31 July" in "".join(block["text"] for block in page["blocks"])
    assert opened.get(f"{document}/pages/4").status_code == 404
    assert opened.get(document).json()["name"] == "handbook.pdf"


def test_a_document_without_pages_is_read_screen_by_screen(opened):
    document = document_of(opened, "rules")
    first = opened.get(f"{document}/pages/1").json()
    assert (first["has_pages"], first["image"]) == (False, None)
    assert first["pages"] == 3
    texts = []
    for number in range(1, 4):
        page = opened.get(f"{document}/pages/{number}").json()
        texts += [block["text"] for block in page["blocks"]]
    assert texts[-1] == "Paragraph 129 tells of the harbour."
    assert len(texts) == len(set(texts))


def test_words_are_found_whatever_their_case_and_spacing(opened):
    document = document_of(opened, "handbook")
    hits = opened.get(
        f"{document}/find", params={"words": "member  CLUB shall\nregister"}
    )
    (match,) = hits.json()["data"]
    assert match["page"] == 2
    there = match["text"][match["at"] : match["at"] + match["length"]]
    assert there == "Member Club shall register"
    many = opened.get(
        f"{document_of(opened, 'rules')}/find", params={"words": "harbour"}
    ).json()
    assert many["total"] == 130
    assert {match["page"] for match in many["data"]} == {1, 2, 3}
    none = opened.get(f"{document}/find", params={"words": "zeppelin"}).json()
    assert none == {"data": [], "total": 0}


def test_the_outline_has_each_heading_with_its_page(opened):
    outline = opened.get(f"{document_of(opened, 'handbook')}/outline").json()["data"]
    assert [(one["title"], one["page"]) for one in outline] == [
        ("1 Definitions", 1),
        ("2 Registration", 2),
        ("3 Discipline", 3),
    ]


def test_a_document_that_is_gone_is_a_problem(client):
    for end in ("", "/pages/1", "/outline", "/find?words=x"):
        reply = client.get(f"/v1/documents/{'0' * 32}{end}")
        code = "API006"
        assert (reply.status_code, reply.json()["code"]) == (404, code)

"""Reviews over HTTP: the revision is the ETag, and nothing is overwritten unseen."""

import io
import time
from collections import Counter
from types import SimpleNamespace

import httpx
import openpyxl
import pytest

from elt_llm_api.review_evidence import read_evidence
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.job_records import JobRecord
from elt_llm_core.reviews.review_records import Proposal
from elt_llm_core.store import Store

PRODUCT = "glossary:handbook"
ITEMS = f"/v1/products/{PRODUCT}/items"


@pytest.fixture(scope="module")
def client(serve, filled_root, tmp_path_factory):
    """A server whose glossary was built by its own job."""
    import shutil

    copy = tmp_path_factory.mktemp("reviews") / "data"
    shutil.copytree(filled_root, copy)
    add_rows(copy)
    with (
        serve(RagConfig(), copy) as url,
        httpx.Client(base_url=url, timeout=60) as opened,
    ):
        build(opened)
        yield opened


def add_rows(root):
    """A catalogue of an earlier edition, with a row that the run left open."""
    rows = [
        {"review_status": status, "evidence": {"definition": [
            {"document": name, "quote": "the period", "node_id": "gone", "page": 1}]}}
        for status, name in (("NEEDS_CLARIFICATION", "handbook.pdf"),
                             ("PENDING", "other.pdf"))
    ]  # fmt: skip
    proposals = [
        Proposal(item_id=label, label=label, fields={}, evidence="", content=row)
        for label, row in zip(("Season", "Quota"), rows, strict=True)
    ]
    store = Store(root)
    store.reviews.sync("catalog:handbook", proposals)
    options = {"collections": ["handbook"], "model": ["estate"]}
    with store.jobs.hold(JobRecord(job_id="", kind="catalog", options=options)):
        pass
    store.close()


def test_a_quote_of_an_earlier_edition_says_what_to_do(client):
    notes = {}
    for label in ("Season", "Quota"):
        item = client.get(f"/v1/products/catalog:handbook/items/{label}").json()
        (evidence,) = item["evidence"]
        assert (evidence["document_id"], evidence["image"]) == ("", None)
        notes[label] = evidence["note"], bool(evidence["newer_id"])
    assert {label: is_newer for label, (_, is_newer) in notes.items()} == {
        "Season": True,
        "Quota": False,
    }
    assert notes["Season"][0].startswith("This catalogue is older than the document,")
    assert notes["Quota"][0].startswith("The document was removed since")
    again = "To build it again: elt-llm catalog --collection handbook --model estate"
    assert all(note.endswith(again) for note, _ in notes.values())


@pytest.mark.parametrize(
    ("place", "note"),
    [
        ({}, "Where this quote is in a document is not recorded."),
        ({"node_id": "gone"}, "The document was removed since"),
        ({"document_id": "gone"}, "The document was removed since"),
        ({"node_id": "gone", "document": "tide.pdf"}, "This catalogue is older than"),
    ],
)
def test_what_the_places_of_quotes_need_is_read_once(place, note):
    calls = Counter()

    def count(name, value):
        calls[name] += 1
        return value

    card = SimpleNamespace(name="harbour")
    document = SimpleNamespace(name="tide.pdf", document_id="new")
    store = SimpleNamespace(
        collections=lambda: count("collections", [card]),
        documents=lambda name: count("documents", [document]),
        nodes_by_id=lambda name, ids: {},
        document=lambda key: None,
        jobs=SimpleNamespace(all=lambda: count("jobs", [])),
    )
    quotes = [{"quote": "at high tide", "document": "log.pdf"} | place] * 12
    row = {"evidence": {"definition": quotes}}
    proposal = Proposal(item_id="t", label="t", fields={}, evidence="", content=row)
    item = SimpleNamespace(proposal=proposal, product="catalog:harbour+gone")
    evidence = read_evidence(store, item)
    assert len(evidence) == len(quotes)
    assert all(one.note.startswith(note) for one in evidence)
    assert all(number == 1 for number in calls.values())


def build(client):
    job = client.post(
        "/v1/jobs", data={"kind": "glossary", "collection": "handbook"}
    ).json()
    while job["state"] == "running":
        time.sleep(0.1)
        job = client.get(f"/v1/jobs/{job['id']}").json()
    assert job["state"] == "succeeded", job


@pytest.fixture
def item(client):
    """The newest state of one item, and its ETag."""

    def get(label):
        rows = client.get(ITEMS).json()["data"]
        (row,) = (row for row in rows if row["label"] == label)
        reply = client.get(f"{ITEMS}/{row['item_id']}")
        return reply.json(), reply.headers["etag"]

    return get


def patch(client, one, tag, **body):
    headers = {"if-match": tag} if tag else {}
    body = {"reviewer": "ann", **body}
    return client.patch(f"{ITEMS}/{one['item_id']}", json=body, headers=headers)


def test_rows_that_a_run_could_not_decide_are_a_choice(client):
    items = "/v1/products/catalog:handbook/items"
    rows = client.get(items).json()["data"]
    assert {row["label"]: row["unclear"] for row in rows} == {
        "Season": True,
        "Quota": False,
    }
    unclear = client.get(items, params={"unclear": "true"}).json()
    assert [row["label"] for row in unclear["data"]] == ["Season"]
    assert unclear["progress"]["unclear"] == 1


def test_products_and_items_are_listed(client):
    products = client.get("/v1/products").json()["data"]
    (product,) = [one for one in products if one["product"] == PRODUCT]
    assert (product["product"], product["items"]) == (PRODUCT, 3)
    listed = client.get(ITEMS).json()
    labels = [row["label"] for row in listed["data"]]
    assert labels == ["Member Club", "Player", "Season"]
    assert listed["data"][0]["document"] == "handbook.pdf"
    first = client.get(ITEMS, params={"limit": 2}).json()
    assert (len(first["data"]), first["next_cursor"], first["total"]) == (2, 2, 3)
    found = client.get(ITEMS, params={"search": "SEAS"}).json()
    assert [row["label"] for row in found["data"]] == ["Season"]


def test_an_item_has_its_evidence_with_the_marked_page(client, item):
    one, tag = item("Season")
    assert tag == f'"{one["revision"]}"'
    (evidence,) = one["evidence"]
    assert evidence["quote"] == "the period from 1 July to 31 May"
    picture = client.get(evidence["image"])
    assert picture.headers["content-type"] == "image/jpeg"
    assert "boxes=0." in evidence["image"]


def test_a_decision_needs_the_revision_that_was_seen(client, item):
    one, tag = item("Player")
    refused = patch(client, one, "", status="approved")
    assert (refused.status_code, refused.json()["code"]) == (428, "API011")
    done = patch(client, one, tag, status="approved", notes="as agreed")
    assert done.status_code == 200
    assert done.json()["status"] == "approved"
    assert done.headers["etag"] != tag
    stale = patch(client, one, tag, status="rejected", reviewer="bob")
    body = stale.json()
    assert (stale.status_code, body["code"]) == (412, "REV004")
    assert (body["current"]["reviewer"], body["refused"]["status"]) == (
        "ann",
        "rejected",
    )
    assert item("Player")[0]["status"] == "approved"


def test_a_decision_outlives_the_next_run(client, item):
    one, tag = item("Season")
    patch(client, one, tag, status="approved", edited={"definition": "a year"})
    build(client)
    again, _ = item("Season")
    assert (again["status"], again["fields"]["definition"]) == ("approved", "a year")
    assert again["generated"]["definition"].startswith("the period")


def test_a_decision_is_taken_back(client, item):
    one, tag = item("Member Club")
    tag = patch(client, one, tag, status="rejected").headers["etag"]
    path = f"{ITEMS}/{one['item_id']}/undo"
    undone = client.post(path, json={"reviewer": "ann"}, headers={"if-match": tag})
    assert undone.json()["status"] == "proposed"
    stale = client.post(path, json={"reviewer": "ann"}, headers={"if-match": tag})
    assert stale.status_code == 412


def test_many_are_decided_together_or_not_at_all(client, item):
    rows = client.get(ITEMS).json()["data"]
    changes = [
        {"item_id": r["item_id"], "notes": "seen", "revision": r["revision"]}
        for r in rows
    ]
    made = client.patch(ITEMS, json={"reviewer": "ann", "changes": changes})
    assert [row["notes"] for row in made.json()["data"]] == ["seen"] * 3
    changes[0]["revision"] += 1
    for change in changes:
        change["notes"] = "again"
    stale = client.patch(ITEMS, json={"reviewer": "bob", "changes": changes})
    assert stale.status_code == 412
    assert item("Season")[0]["notes"] == "seen"


def test_a_sheet_goes_out_and_comes_back(client, item):
    reply = client.get(f"/v1/products/{PRODUCT}/sheet.xlsx")
    assert "glossary_handbook.xlsx" in reply.headers["content-disposition"]
    book = openpyxl.load_workbook(io.BytesIO(reply.content))
    sheet = book.worksheets[0]
    header = [cell.value for cell in sheet[1]]
    sheet.cell(2, header.index("notes") + 1).value = "from a sheet"
    out = io.BytesIO()
    book.save(out)
    form = {"reviewer": "cyd", "dry_run": "true"}
    path = f"/v1/products/{PRODUCT}/sheet"
    files = {"file": ("my sheet.xlsx", out.getvalue())}
    told = client.post(path, data=form, files=files).json()
    assert [edit["after"] for edit in told["edits"]] == ["from a sheet"]
    assert item("Member Club")[0]["notes"] != "from a sheet"
    client.post(path, data={"reviewer": "cyd"}, files=files)
    assert item("Member Club")[0]["notes"] == "from a sheet"


def test_what_is_wrong_is_a_problem_without_folders_of_the_server(client, item):
    assert client.get("/v1/products/none/items").json()["code"] == "REV002"
    assert client.get(f"{ITEMS}/none").json()["code"] == "REV003"
    one, tag = item("Season")
    bad = patch(client, one, tag, edited={"colour": "red"})
    assert (bad.status_code, bad.json()["code"]) == (422, "USE001")
    files = {"file": ("../x.csv", b"a,b\n")}
    reply = client.post(
        f"/v1/products/{PRODUCT}/sheet", data={"reviewer": "a"}, files=files
    )
    assert reply.json()["detail"].startswith("cannot import ")
    assert "/tmp" not in reply.text


def test_a_look_at_the_glossary_changes_no_review(client, filled_root, tmp_path):
    import shutil

    from elt_llm_api.api_context import build_context
    from elt_llm_core.store import Store

    copy = tmp_path / "data"
    shutil.copytree(filled_root, copy)
    store = Store(copy)
    assert len(build_context(RagConfig(), store).views.glossary(["handbook"])) == 3
    assert store.reviews.products() == []
    store.close()

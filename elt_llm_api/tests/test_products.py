"""Products and tables over HTTP and on the page: built, watched, read."""

import json
import shutil
import time

import httpx
import pytest

from elt_llm_api.api_context import build_context
from elt_llm_api.job_registry import Job
from elt_llm_api.products import read_product
from elt_llm_api.uploads import Upload
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import JobReport, silent
from elt_llm_core.store import Store
from page_visit import DESKTOP, PHONE, Visit

pytestmark = [
    pytest.mark.network,
    # Gradio uses two options that pandas is about to drop.
    pytest.mark.filterwarnings("ignore:'future.no_silent_downcasting'"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
]
INVENTORY = """id,type,name,level,displayName,description
1,DataObject,People,1,People,Who takes part
2,DataObject,Player,2,People / Player,A person who plays
3,DataObject,Member Club,2,People / Member Club,A club of the Association
4,DataObject,Sponsor,2,People / Sponsor,A company that pays
"""
FEES = (
    "# Fees\n\n| Grade | Fee | Due |\n|---|---|---|\n"
    + "\n".join(f"| {n} | {n * 25} | {n} July |" for n in range(1, 15))
    + "\n\nThe fee <b>rises</b> each year.\n"
)
MOORINGS = "Mooring,Metres\n" + "".join(f"Quay-{n},{n * 2}\n" for n in range(1, 621))
ENDED = 60.0  # seconds that a job of a few chunks may take on a busy machine


@pytest.fixture(scope="module")
def served(serve, filled_root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("products")
    root = folder / "data"
    shutil.copytree(filled_root, root)
    store = Store(root)
    runner = build_context(RagConfig(), store).runner
    texts = {"inventory.csv": INVENTORY, "fees.md": FEES, "moorings.csv": MOORINGS}
    for name, text in texts.items():
        path = folder / name
        path.write_text(text)
        collection = path.stem
        assert runner.ingest(collection, [Upload(name, path)], silent).exit_code == 0
    store.close()
    with serve(RagConfig(), root) as url:
        yield url


@pytest.fixture(scope="module")
def client(served):
    with httpx.Client(base_url=served, timeout=30) as opened:
        yield opened


@pytest.fixture
def visit(browser, served):
    opened = Visit(browser, served, DESKTOP)
    yield opened
    opened.leave()


def built(client, kind, **fields):
    """A product job of the handbook, ended."""
    data = {"kind": kind, "collection": "handbook", **fields}
    created = client.post("/v1/jobs", data=data)
    assert created.status_code == 202, created.text
    job, deadline = created.json(), time.monotonic() + ENDED
    while job["state"] == "running" and time.monotonic() < deadline:
        time.sleep(0.05)
        job = client.get(created.headers["location"]).json()
    return job


@pytest.mark.parametrize("kind", ["glossary", "catalog", "coverage"])
def test_each_product_is_built_over_http_and_its_files_are_read(client, kind):
    job = built(client, kind, model=["inventory"])
    assert job["state"] == "succeeded", job
    files = {name: client.get(url) for name, url in job["files"].items()}
    assert all(reply.status_code == 200 for reply in files.values())
    main = files[f"{kind}_json"].json()
    assert "Player" in json.dumps(main)


def test_a_model_is_drafted_over_http_and_shown_as_tables(client, tmp_path):
    job = built(client, "model_draft")
    assert job["state"] == "succeeded", job
    draft = client.get(job["files"]["model_json"]).json()
    assert "Player" in {one["name"] for one in draft["entities"]}
    file = tmp_path / "model.json"
    file.write_text(json.dumps(draft))
    report = JobReport(job="model_draft", counts={}, files={"model_json": str(file)})
    entities, relations = read_product(Job("1", "model_draft", tmp_path, report=report))
    assert len(entities.rows) == len(draft["entities"])
    assert len(relations.rows) == len(draft["relationships"])
    assert {len(row) for row in entities.rows} == {len(entities.header)}


def test_a_catalogue_of_some_entities_is_built_over_http(client):
    fields = {"model": ["inventory"], "entity": "Player", "skip_relationships": True}
    job = built(client, "catalog", **fields)
    assert job["state"] == "succeeded", job
    assert "relationships_json" not in job["files"]
    rows = client.get(job["files"]["catalog_flat_json"]).json()["entities"]
    assert [row["entity_name"] for row in rows] == ["Player"]
    other = client.post(
        "/v1/jobs", data={"kind": "glossary", "collection": "handbook", "entity": "P"}
    )
    assert (other.status_code, "only the catalogue" in other.text) == (422, True)


def test_two_collections_are_joined_into_one_model(client):
    job = built(client, "coverage", model=["inventory", "inventory"])
    assert job["state"] == "succeeded", job
    assert sum(job["counts"][name] for name in ("strong", "absent")) >= 2


def test_coverage_without_a_model_says_what_to_choose(client):
    job = built(client, "coverage")
    assert (job["state"], job["problem"]["status"]) == ("failed", 422)
    assert "no model is given" in job["problem"]["detail"]
    assert job["problem"]["hint"].startswith("pass model NAME, a collection with")


@pytest.mark.parametrize(
    ("fields", "status", "detail"),
    [
        ({"kind": "catalogue"}, 422, "catalog"),
        ({"kind": "catalog", "collection": "handbok"}, 404, "handbok"),
        ({"kind": "catalog", "model": "inventry"}, 404, "inventry"),
    ],
)
def test_what_cannot_be_built_is_refused_before_a_job_starts(
    client, fields, status, detail
):
    before = len(client.get("/v1/jobs").json()["data"])
    reply = client.post("/v1/jobs", data={"collection": "handbook", **fields})
    assert (reply.status_code, detail in reply.text) == (status, True)
    assert len(client.get("/v1/jobs").json()["data"]) == before


def test_tables_are_listed_in_pages_and_read_with_the_place_of_each_cell(client):
    listed = client.get("/v1/collections/fees/tables").json()
    (head,) = listed["data"]
    assert (head["columns"], head["rows"]) == (["Grade", "Fee", "Due"], 14)
    assert not listed["has_more"]
    table = client.get(f"/v1/collections/fees/tables/{head['id']}").json()
    cell = table["rows"][1]["fields"][1]
    assert (cell["text"], cell["value"]) == ("50", 50)
    assert cell["end"] - cell["start"] == len("50")
    missing = client.get("/v1/collections/fees/tables/nothing")
    assert (missing.status_code, "no table" in missing.json()["detail"]) == (404, True)
    assert client.get("/v1/collections/none/tables").status_code == 404


def test_a_job_without_files_has_no_tables(tmp_path):
    job = Job("1", "catalog", tmp_path, report=JobReport(job="catalog", counts={}))
    assert read_product(job) == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("label", "kind", "titles", "seen"),
    [
        ("Glossary", "glossary", ["Terms"], ["Member Club", "handbook.pdf"]),
        ("Catalogue", "catalog", ["Entities"], ["Sponsor", "model only", "p. 1"]),
        (
            "Coverage",
            "coverage",
            ["Entities of the model", "Names in model and handbook"],
            ["✗ absent", "handbook only", "handbook.pdf, p. 1"],
        ),
    ],
)
def test_a_product_is_built_shown_and_offered(visit, label, kind, titles, seen):
    page = visit.page
    visit.tab("Products")
    page.get_by_role("radio", name=label).check()
    documents = page.get_by_role("group", name="Documents")
    for name in ("inventory", "fees", "moorings"):
        documents.get_by_role("checkbox", name=name).uncheck()
    page.locator("#product-model").get_by_role("checkbox", name="inventory").check()
    page.click("#build")
    page.locator("#product tbody tr").first.wait_for(timeout=ENDED * 1000)
    assert page.locator("#product h3").all_inner_texts() == titles
    text = page.inner_text("#product")
    assert [word for word in seen if word not in text] == []
    with page.expect_download() as download:
        page.click("#product-state a")
    assert download.value.suggested_filename.startswith(kind)
    visit.shot(f"product-{kind}")


def _open_table(page, collection, table):
    page.click("#tables-of input")
    page.get_by_role("option", name=collection).click()
    page.click("#table-choice input")
    page.get_by_role("option", name=table).click()
    page.locator("#table-shown tbody tr").first.wait_for()


@pytest.mark.browser
def test_a_table_is_chosen_shown_and_filtered(visit):
    page = visit.page
    visit.tab("Tables")
    _open_table(page, "fees", "Fees (fees.md)")
    rows = page.locator("#table-shown tbody tr")
    assert rows.count() == 14
    page.get_by_label("Filter rows").fill("300 JULY")
    page.locator("#table-shown caption", has_text="1 of 14 rows").wait_for()
    assert [row.split() for row in rows.all_inner_texts()] == [
        ["12", "300", "12", "July"]
    ]
    visit.shot("table")


@pytest.mark.browser
def test_the_filter_of_a_table_reaches_rows_that_are_not_shown(visit):
    page = visit.page
    visit.tab("Tables")
    _open_table(page, "moorings", "Moorings (moorings.csv)")
    caption = page.locator("#table-shown caption")
    assert caption.inner_text().startswith("620 rows, the first 500 shown")
    rows = page.locator("#table-shown tbody tr")
    assert rows.count() == 500
    page.get_by_label("Filter rows").fill("quay-613")
    page.locator("#table-shown caption", has_text="1 of 620 rows").wait_for()
    assert rows.all_inner_texts()[0].split() == ["Quay-613", "1226"]
    page.get_by_label("Filter rows").fill("no such mooring")
    page.locator("#table-shown caption", has_text="0 of 620 rows").wait_for()
    assert rows.count() == 0


@pytest.mark.browser
def test_a_wide_product_stays_within_a_phone(browser, served):
    opened = Visit(browser, served, PHONE)
    page = opened.page
    opened.tab("Products")
    page.click("#build")
    page.locator("#product tbody tr").first.wait_for(timeout=ENDED * 1000)
    wide = "document.documentElement.scrollWidth > window.innerWidth"
    assert not page.evaluate(wide)
    opened.shot("product-phone")
    opened.leave()

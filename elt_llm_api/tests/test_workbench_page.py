"""The workbench in a real browser: keys, undo, two people at once, hostile rows."""

import shutil

import httpx
import pytest

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.reviews.review_records import Proposal
from elt_llm_core.store import Store
from page_visit import DESKTOP, PHONE, WorkspaceVisit

pytestmark = [pytest.mark.browser, pytest.mark.network]
PRODUCT = "glossary:handbook"
HOSTILE = "<img src=x onerror=alert(1)> **bold** ${x} {{7*7}}"


def proposals(document_id):
    """Three rows with evidence on page 1, one with a hostile name."""
    rows = {
        "Member Club": "a club admitted to the Association by the Board",
        "Player": "a person registered to play for a Member Club",
        "Season": "the period from 1 July to 31 May",
        HOSTILE: "<script>alert(1)</script>",
    }
    for number, (term, definition) in enumerate(rows.items()):
        fields = {"term": term, "definition": definition, "synonyms": ""}
        place = {"document_id": document_id, "document": "handbook.pdf", "page": 1}
        content = {**fields, **place, "quote_support": "verified", "source": "prose"}
        box = {"page": 1, "left": 0.1, "top": 0.1, "right": 0.5, "bottom": 0.15}
        yield Proposal(
            item_id=f"{number:016x}",
            label=term,
            fields=fields,
            evidence=f"{number}",
            content={**content, "boxes": [box]},
        )


@pytest.fixture  # one for each test: they leave decisions
def served(serve, filled_root, tmp_path_factory):
    copy = shutil.copytree(filled_root, tmp_path_factory.mktemp("bench") / "data")
    store = Store(copy)
    (row,) = store.documents("handbook")
    store.reviews.sync(PRODUCT, list(proposals(row.document_id)))
    store.close()
    with serve(RagConfig(), copy) as url:
        yield url


@pytest.fixture
def visit(browser, served):
    opened = WorkspaceVisit(browser, f"{served}/workspace/glossary", DESKTOP)
    opened.page.locator(".item").first.wait_for()
    yield opened
    opened.leave()


def statuses(served):
    rows = httpx.get(f"{served}/v1/products/{PRODUCT}/items").json()["data"]
    return {row["label"]: row["status"] for row in rows}


def test_rows_are_decided_by_keys_and_taken_back(visit, served):
    page = visit.page
    page.locator(".evidence img").wait_for()
    assert page.locator(".evidence .page-box").count() == 1
    passage = page.locator(".evidence blockquote")
    assert passage.get_attribute("tabindex") == "0"  # it scrolls: keys must reach it
    marked = passage.locator("mark")
    assert marked.inner_text().startswith("a club admitted")
    page.keyboard.press("a")
    page.locator(".tally", has_text="1 of 4 rows decided").wait_for()
    page.keyboard.press("r")
    page.locator(".tally", has_text="2 of 4 rows decided").wait_for()
    page.keyboard.press("u")
    page.locator("#toast", has_text="as it was before").wait_for()
    page.keyboard.press("u")
    page.locator(".tally", has_text="0 of 4 rows decided").wait_for()
    assert set(statuses(served).values()) == {"proposed"}
    page.wait_for_url(f"**item={0:016x}**")  # written a moment after the row is chosen
    page.reload()
    page.locator(".item.current", has_text="Member Club").wait_for()


def test_a_text_is_edited_and_a_row_is_merged_and_split_off(visit, served):
    page = visit.page
    page.locator(".evidence .row", has_text="Quoted").wait_for()
    page.keyboard.press("e")
    page.get_by_label("Definition").fill("a club of ours")
    page.keyboard.press("Control+Enter")
    page.locator(".item", has_text="a club of ours").wait_for()
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.get_by_label("Search the row to merge into").fill("member")
    page.keyboard.press("Enter")
    page.locator("#toast", has_text="merged into “Member Club”").wait_for()
    items = httpx.get(f"{served}/v1/products/{PRODUCT}/items").json()["data"]
    assert items[0]["fields"]["synonyms"] == "Player"
    assert (items[0]["fields"]["definition"], items[1]["status"]) == (
        "a club of ours",
        "rejected",
    )
    page.locator(".item", has_text="registered to play").click()
    page.get_by_role("button", name="Split off again").click()
    page.locator("#toast", has_text="stands for itself").wait_for()
    assert statuses(served)["Player"] == "proposed"


def test_what_another_decided_meanwhile_is_shown_beside_ones_own(visit, served):
    page = visit.page
    row = page.locator(".item", has_text="Season")
    row.click()
    path = f"{served}/v1/products/{PRODUCT}/items/{2:016x}"
    tag = httpx.get(path).headers["etag"]
    body = {"reviewer": "Bob", "status": "rejected"}
    assert httpx.patch(path, json=body, headers={"if-match": tag}).status_code == 200
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog", name="was decided meanwhile")
    dialog.wait_for()
    assert "Bob" in dialog.inner_text()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert statuses(served)["Season"] == "rejected"
    (refused,) = visit.console  # the browser notes each refused request
    assert "412" in refused
    visit.console.clear()


def test_a_hostile_row_is_text(visit):
    page = visit.page
    alerts = []
    page.on("dialog", lambda dialog: (alerts.append(1), dialog.dismiss()))
    page.get_by_label("Search rows").fill("onerror")
    page.locator(".tally", has_text="1 shown").wait_for()
    assert page.locator(".item .name").inner_text() == HOSTILE
    page.locator(".item-head h2", has_text="onerror").wait_for()
    assert page.locator("main script, main [onerror]").count() == 0
    assert alerts == []


def test_a_phone_sees_it_without_scrolling_sideways(browser, served):
    for name in ("glossary", "catalogue", "coverage"):
        opened = WorkspaceVisit(browser, f"{served}/workspace/{name}", PHONE)
        opened.page.locator(".item, .empty").first.wait_for()
        width = opened.page.evaluate("document.documentElement.scrollWidth")
        opened.leave()
        assert width <= PHONE["width"]

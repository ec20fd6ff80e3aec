"""The evidence pane: of a workbook, below a refusal, on a phone, of a later answer."""

import pytest
from openpyxl import Workbook

from elt_llm_api.api_context import build_context
from elt_llm_api.uploads import Upload
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import silent
from elt_llm_core.store import Store
from page_visit import DESKTOP, WorkspaceVisit

pytestmark = [pytest.mark.browser, pytest.mark.network]
NARROW = {"width": 375, "height": 760}
FEES = [
    ("Boat", "Berth", "Summer fee"),
    ("Dinghy", "A", 14),
    ("Ketch", "C", 95),
    ("Motor launch", "B", 61),
]


@pytest.fixture(scope="module")
def served(serve, handbook_pdf, tmp_path_factory):
    folder = tmp_path_factory.mktemp("evidence")
    book = Workbook()
    for row in FEES:
        book.active.append(row)
    book.active.title = "Fees"
    book.save(folder / "fees.xlsx")
    (folder / "handbook.pdf").write_bytes(handbook_pdf)
    store = Store(folder / "data")
    runner = build_context(RagConfig(), store).runner
    for name in ("handbook.pdf", "fees.xlsx"):
        upload = Upload(name, folder / name)
        assert runner.ingest("harbour", [upload], silent).exit_code == 0
    store.close()
    with serve(RagConfig(), folder / "data") as url:
        yield url


def visit(browser, served, viewport=DESKTOP):
    return WorkspaceVisit(browser, f"{served}/workspace/ask", viewport)


def ask(page, question):
    page.locator(".composer textarea").fill(question)
    page.keyboard.press("Enter")
    page.locator(".asked", has_text=question).wait_for()
    page.locator(".answer[aria-busy]").wait_for(state="detached")


def test_a_row_of_a_workbook_is_from_a_table_and_has_no_picture(browser, served):
    opened = visit(browser, served)
    ask(opened.page, "What is the summer fee of the ketch?")
    statement = opened.page.locator(".statement").first
    assert "95" in statement.inner_text()
    assert "From a table" in statement.inner_text()
    opened.page.locator(".evidence .place", has_text="fees.xlsx").wait_for()
    assert "From a table" in opened.page.inner_text(".evidence header")
    opened.page.locator(".evidence blockquote .record mark").first.wait_for()
    names = opened.page.locator(".record th").all_inner_texts()
    assert "Summer fee" in names
    opened.page.wait_for_load_state("networkidle")
    assert not [url for url in opened.requests if ".jpg" in url]
    opened.leave()


def test_a_passage_below_a_refusal_is_called_the_nearest(browser, served):
    opened = visit(browser, served)
    ask(opened.page, "Which pension does the Secretary of the Board receive?")
    assert "No sure answer" in opened.page.inner_text(".answer")
    opened.page.locator(".evidence .badge", has_text="Nearest passage").wait_for()
    assert opened.page.locator(".evidence .badge.good").count() == 0
    opened.page.locator(".nearest button").first.click()
    assert "Quoted" not in opened.page.inner_text(".evidence header")
    opened.leave()


def test_on_a_phone_all_pages_are_named_and_the_evidence_has_the_screen(
    browser, served
):
    opened = visit(browser, served, NARROW)
    page = opened.page
    for link in page.locator("nav.pages a").all():
        box = link.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= NARROW["width"]
    ask(page, "What is the fine for late fixtures?")
    page.get_by_role("button", name="Source 1").click()
    evidence = page.locator(".evidence").bounding_box()
    composer = page.locator(".composer").bounding_box()
    # The whole screen is the evidence's, and the composer's is below the answer only.
    assert composer["y"] + composer["height"] <= evidence["y"] + 1
    assert composer["height"] < NARROW["height"] / 6
    page.evaluate("scrollTo(0, 0)")
    composer = page.locator(".composer").bounding_box()
    assert composer["y"] + composer["height"] <= NARROW["height"] + 1
    opened.leave()


def test_a_number_shows_only_what_its_own_answer_quotes(browser, served):
    opened = visit(browser, served)
    page = opened.page
    ask(page, "By which date shall a Member Club register each Player?")
    ask(page, "What is the registration fee for each Player?")
    last = page.locator(".answer").last
    last.locator("button.cite").first.click()
    page.locator(".evidence mark", has_text="25 pounds").wait_for()
    assert page.locator(".evidence .pager").count() == 0
    opened.leave()

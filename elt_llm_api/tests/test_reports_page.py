"""Reports and topics of the workspace in a real browser."""

import shutil

import pytest

from elt_llm_api.api_context import build_context
from elt_llm_api.uploads import Upload
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import silent
from elt_llm_core.store import Store
from page_visit import DESKTOP, PHONE, WorkspaceVisit

pytestmark = [pytest.mark.browser, pytest.mark.network]
TEMPLATE = """\
title: What a club must do
sections:
- heading: Register a Player
  guidance: By which date shall a Member Club register each Player?
- heading: "<b>Insurance</b>"
  guidance: Which insurer covers spectators of a match?
"""


@pytest.fixture(scope="module")
def filled_copy(filled_root, tmp_path_factory):
    return shutil.copytree(filled_root, tmp_path_factory.mktemp("reports") / "data")


@pytest.fixture(scope="module")
def served(serve, filled_copy):
    with serve(RagConfig(), filled_copy) as url:
        yield url


def test_a_report_is_started_read_checked_and_saved(browser, served):
    visit = WorkspaceVisit(browser, f"{served}/workspace/reports", DESKTOP)
    page = visit.page
    page.locator(".empty", has_text="No reports yet").wait_for()
    page.keyboard.press("n")
    page.get_by_label("Template", exact=True).select_option(
        label="A template of your own"
    )
    page.get_by_label("Text of the template").fill(TEMPLATE)
    page.keyboard.press("Control+Enter")
    page.locator("#tray .badge.good").wait_for()
    page.locator(".head h2", has_text="What a club must do").wait_for()
    statement = page.locator(".statement.current")
    statement.wait_for()
    assert "Quoted" in statement.inner_text()
    assert "31 July" in statement.inner_text()
    gaps = page.get_by_label("What is missing")
    assert "Which insurer covers spectators" in gaps.inner_text()
    assert "[INSUFFICIENT DATA]" in page.inner_text(".written")
    assert page.locator(".written b").count() == 0
    page.locator(".evidence img").wait_for()
    page.locator(".evidence .page-box").first.wait_for()
    page.locator(".evidence blockquote mark", has_text="31 July").wait_for()
    page.locator("summary", has_text="Save as").click()
    with page.expect_download() as saving:
        page.get_by_role("link", name="Markdown").click()
    name = saving.value.suggested_filename
    assert name == "report-what-a-club-must-do-1.md"
    assert "31 July" in saving.value.path().read_text(encoding="utf-8")
    page.wait_for_url("**subject=what-a-club-must-do**")
    page.reload()
    page.locator(".statement", has_text="31 July").wait_for()
    visit.leave()


def test_a_concept_report_is_started_by_a_form(browser, served):
    address = f"{served}/workspace/reports?kind=topic"
    visit = WorkspaceVisit(browser, address, DESKTOP)
    page = visit.page
    page.locator(".element").first.wait_for()
    page.keyboard.press("c")
    page.get_by_label("Concept: every passage").fill("Member Club")
    page.keyboard.press("Enter")
    page.locator(".head h2", has_text="Member Club").wait_for()
    page.locator(".element.current", has_text="Concept").wait_for()
    page.locator(".evidence .page-box").first.wait_for()
    visit.leave()


def test_topics_are_summarised_and_go_out_of_date_with_their_document(
    browser, serve, root, handbook_pdf, tmp_path
):
    with serve(RagConfig(), root) as url:
        visit = WorkspaceVisit(browser, f"{url}/workspace/reports", DESKTOP)
        page = visit.page
        page.locator(".empty").wait_for()
        page.keyboard.press("t")
        page.locator(".element", has_text="Registration").click()
        page.keyboard.press("w")
        page.get_by_role("dialog", name="Write summaries").wait_for()
        page.keyboard.press("Enter")
        page.locator(".statement", has_text="31 July").wait_for()
        visit.leave()
    change_document(root, tmp_path / "handbook.pdf", handbook_pdf)
    with serve(RagConfig(), root) as url:
        address = f"{url}/workspace/reports?kind=topic"
        visit = WorkspaceVisit(browser, address, DESKTOP)
        row = visit.page.locator(".element", has_text="Registration")
        row.locator("strong", has_text="Out of date").wait_for()
        row.click()
        visit.page.locator(".head .badge", has_text="Out of date").wait_for()
        visit.leave()


def change_document(root, path, pdf):
    store = Store(root)
    path.write_bytes(pdf + b"%\n")
    upload = Upload(path.name, path)
    build_context(RagConfig(), store).runner.ingest("handbook", [upload], silent)
    store.close()


@pytest.mark.parametrize("kind", ["", "topic"])
def test_a_phone_sees_it_without_scrolling_sideways(browser, served, kind):
    address = f"{served}/workspace/reports?kind={kind}"
    visit = WorkspaceVisit(browser, address, PHONE)
    visit.page.locator(".empty, .statement").first.wait_for()
    width = visit.page.evaluate("document.documentElement.scrollWidth")
    visit.leave()
    assert width <= PHONE["width"]

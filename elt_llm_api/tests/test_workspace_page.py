"""Ask and Documents of the workspace in a real browser."""

import shutil

import pytest

from elt_llm_core.config.loader import RagConfig
from page_visit import DESKTOP, PHONE, QUESTION, WorkspaceVisit

pytestmark = [pytest.mark.browser, pytest.mark.network]


@pytest.fixture(scope="module")
def served(serve, filled_root, tmp_path_factory):
    copy = shutil.copytree(filled_root, tmp_path_factory.mktemp("pages") / "data")
    with serve(RagConfig(), copy) as url:
        yield url


def visit(browser, served, name, viewport=DESKTOP):
    return WorkspaceVisit(browser, f"{served}/workspace/{name}", viewport)


def ask(page, question):
    page.get_by_label("Question", exact=True).fill(question)
    page.keyboard.press("Enter")
    page.locator(".asked", has_text=question).wait_for()
    page.locator(".answer[aria-busy]").wait_for(state="detached")


def test_an_answer_is_checked_kept_and_asked_again(browser, served):
    opened = visit(browser, served, "ask")
    page = opened.page
    page.locator(".chips button").first.wait_for()
    ask(page, QUESTION)
    statement = page.locator(".statement").first
    assert "Quoted" in statement.inner_text()
    assert "31 July" in statement.inner_text()
    assert "Sentences of your documents" in page.inner_text(".answer")
    page.get_by_role("button", name="Source 1").click()
    page.locator(".evidence .place", has_text="handbook.pdf").wait_for()
    page.locator(".evidence img").wait_for()
    assert "31 July" in page.inner_text(".evidence blockquote mark")
    page.wait_for_url("**conversation=**")
    page.reload()
    page.locator(".statement", has_text="31 July").wait_for()
    page.locator("nav[aria-label=Conversations] a[aria-current]").wait_for()
    page.get_by_role("button", name="Edit the question").click()
    page.locator(".asked").wait_for(state="detached")
    assert page.get_by_label("Question", exact=True).input_value() == QUESTION
    opened.leave()


def test_wrapped_lines_are_one_text_and_lines_of_their_own_stay(browser, served):
    opened = visit(browser, served, "ask")
    long = "An applicant for the licence of Chief Wind Marshal must be at least thirty"
    shown = opened.page.evaluate(
        """async (texts) => {
            const { unwrap } = await import("/workspace/static/dom.js");
            return texts.map(unwrap);
        }""",
        [f"{long}\nyears old.", f"{long}\n(b) or", "Aerie\nDomain: MEMBERSHIP"],
    )
    assert shown == [
        f"{long} years old.",
        f"{long}\n(b) or",
        "Aerie\nDomain: MEMBERSHIP",
    ]
    opened.leave()


def test_a_refusal_shows_the_nearest_passages_and_markup_stays_text(browser, served):
    opened = visit(browser, served, "ask")
    question = "Is <img src=x onerror=alert(1)> **tungsten** carbide molten?"
    alerts = []
    opened.page.on("dialog", lambda dialog: (alerts.append(1), dialog.dismiss()))
    ask(opened.page, question)
    assert "No sure answer" in opened.page.inner_text(".answer")
    assert opened.page.locator("main [onerror]").count() == 0
    assert opened.page.inner_text(".asked p") == question
    assert alerts == []
    opened.leave()


def test_a_document_is_added_read_and_searched(browser, served, pool_pdf):
    opened = visit(browser, served, "documents")
    page = opened.page
    file = {"name": "pool.pdf", "mimeType": "application/pdf", "buffer": pool_pdf}
    page.locator("#picker").set_input_files(file)
    page.get_by_label("Collection", exact=True).fill("pool")
    page.get_by_role("button", name="Add documents").click()
    page.locator("#tray .badge.good").wait_for()
    page.locator(".uploads .badge.good").wait_for()
    page.get_by_role("link", name="handbook").first.click()
    page.locator("tr", has_text="handbook.pdf").get_by_role("link").click()
    page.locator(".page-holder img").wait_for()
    page.keyboard.press("j")
    page.locator(".page-text", has_text="31 July").wait_for()
    page.wait_for_url("**page=2**")
    page.get_by_label("Search within the document").fill("six MATCHES")
    page.locator(".hits button").click()
    page.locator(".page-text mark", has_text="six matches").wait_for()
    page.get_by_label("Draw them on the page").check()
    page.locator(".block-box.heading").wait_for()
    opened.leave()


@pytest.mark.parametrize("name", ["ask", "documents"])
def test_a_phone_sees_it_without_scrolling_sideways(browser, served, name):
    opened = visit(browser, served, name, PHONE)
    opened.page.locator(".chips button, .documents").first.wait_for()
    width = opened.page.evaluate("document.documentElement.scrollWidth")
    opened.leave()
    assert width <= PHONE["width"]

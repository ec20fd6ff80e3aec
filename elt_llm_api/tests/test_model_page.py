"""The Model page in a real browser: the drawing, its list, keys, paths, questions."""

import shutil
from pathlib import Path

import pytest

import elt_llm_consumer
from elt_llm_api.api_context import build_context
from elt_llm_api.uploads import Upload
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import silent
from elt_llm_core.store import Store
from page_visit import DESKTOP, PHONE, WorkspaceVisit

pytestmark = [pytest.mark.browser, pytest.mark.network]
PACK = Path(elt_llm_consumer.__file__).parent / "packs" / "kite-regatta"
# A whole tag would be taken as formatting by the reader; what follows it closes it.
HOSTILE = "&amp;lt;img src=x onerror=alert(1) ${x} "
GRAPH = "document.querySelector('.canvas')._cyreg.cy"


@pytest.fixture(scope="module")
def served(serve, filled_root, tmp_path_factory):
    """A server over the model of the sample, one element of it with a hostile name."""
    folder = tmp_path_factory.mktemp("model")
    copy = shutil.copytree(filled_root, folder / "data")
    text = (PACK / "model.drawio").read_text(encoding="utf-8")
    drawing = folder / "model.drawio"
    drawing.write_text(text.replace('"Gust Ceiling"', f'"{HOSTILE}"'), encoding="utf-8")
    store = Store(copy)
    report = build_context(RagConfig(), store).runner.ingest(
        "model", [Upload(drawing.name, drawing)], silent
    )
    assert report.exit_code == 0
    store.close()
    with serve(RagConfig(), copy) as url:
        yield url


@pytest.fixture
def visit(browser, served):
    opened = WorkspaceVisit(browser, f"{served}/workspace/model", DESKTOP)
    opened.page.locator(".element").first.wait_for()
    yield opened
    opened.leave()


def search(page, text):
    page.get_by_label("Search elements").fill(text)
    page.locator(".element .name", has_text=text).first.wait_for()


def test_the_drawing_and_the_list_show_the_same_elements(visit):
    page = visit.page
    page.get_by_role("status").filter(has_text="100 elements · 15 lines").wait_for()
    assert page.evaluate(f"{GRAPH}.nodes().length") == 100
    assert page.locator(".element").first.get_attribute("aria-setsize") == "100"
    assert page.get_by_role("img", name="Diagram of the model").count() == 1
    assert "Elements by type" in page.inner_text("[aria-label='Chosen element']")
    drawn = page.evaluate(
        """() => [...document.querySelectorAll('.canvas canvas')].some(
            (c) => new Uint32Array(c.getContext('2d').getImageData(
                0, 0, c.width, c.height).data.buffer).some(Boolean))"""
    )
    assert drawn
    visit.shot("model")


def test_labels_in_the_drawing_cover_no_box(visit):
    page = visit.page
    page.get_by_role("status").filter(has_text="100 elements · 15 lines").wait_for()
    covering = page.evaluate(
        f"""() => {{
            const graph = {GRAPH};
            const boxes = graph.nodes().difference('.group')
                .map((node) => node.boundingBox({{ includeLabels: false }}));
            const shown = graph.edges().filter((edge) => edge.data('shownFrom'));
            const under = shown.filter((edge) => {{
                const [from, to] = [edge.sourceEndpoint(), edge.targetEndpoint()];
                const part = 16 / Math.hypot(to.x - from.x, to.y - from.y);
                const at = {{ x: from.x + (to.x - from.x) * part,
                    y: from.y + (to.y - from.y) * part }};
                return boxes.some((b) => b.x1 < at.x && at.x < b.x2
                    && b.y1 < at.y && at.y < b.y2);
            }});
            return [shown.length > 0, under.length];
        }}"""
    )
    assert covering == [True, 0]


def test_everything_is_reached_by_keys(visit):
    page = visit.page
    page.keyboard.press("/")
    page.keyboard.type("PEOPLE")
    page.keyboard.press("Tab")
    page.locator("[role=listbox]").focus()
    page.keyboard.press("ArrowDown")
    page.locator(".right h2", has_text="PEOPLE").wait_for()
    page.locator(".right li", has_text="MEMBERSHIP is related to PEOPLE").wait_for()
    page.keyboard.press("o")
    page.get_by_role("status").filter(has_text="9 elements").wait_for()
    page.wait_for_url("**around=**")
    visit.shot("model-around")
    page.keyboard.press("f")
    page.get_by_role("status").filter(has_text="100 elements").wait_for()
    page.go_back()
    page.get_by_role("status").filter(has_text="9 elements").wait_for()


def test_a_path_is_traced_and_told_in_words(visit):
    page = visit.page
    search(page, "Flyer")
    page.locator(".element", has_text="Flyer").first.click()
    page.locator(".right h2", has_text="Flyer").wait_for()
    page.keyboard.press("p")
    search(page, "Kite")
    page.get_by_role("option", name="Kite DataObject", exact=False).first.click()
    page.locator(".right h2", has_text="From").wait_for()
    visit.shot("model-path")
    assert page.locator(".steps li").count() >= 3
    assert page.evaluate(f"{GRAPH}.nodes('.chosen').length") >= 4
    address = page.url
    assert "to=" in address
    page.reload()
    page.locator(".right h2", has_text="From").wait_for()


def test_a_question_is_answered_or_handed_to_the_documents(visit):
    page = visit.page
    page.keyboard.press("a")
    page.keyboard.type("What depends on MEMBERSHIP?")
    page.keyboard.press("Enter")
    answer = page.locator(".right", has_text="What depends on MEMBERSHIP")
    answer.wait_for()
    assert "model.drawio, page 1, 116" in answer.inner_text()
    assert page.evaluate(f"{GRAPH}.edges('.near').length") == 3
    visit.shot("model-question")
    page.get_by_label("Question about the model").fill("What is the fee?")
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="Ask the documents")
    link.wait_for()
    assert link.get_attribute("href") == "/workspace/ask?q=What+is+the+fee%3F"


def test_a_hostile_name_is_text(visit):
    page = visit.page
    alerts = []
    page.on("dialog", lambda dialog: (alerts.append(1), dialog.dismiss()))
    search(page, "onerror")
    page.locator(".element").first.click()
    page.locator(".right h2", has_text="onerror").wait_for()
    assert page.locator("main [onerror], main img").count() == 0
    assert alerts == []


def test_a_root_without_a_model_says_where_one_comes_from(browser, serve, filled_root):
    with serve(RagConfig(), filled_root) as url:
        opened = WorkspaceVisit(browser, f"{url}/workspace/model", DESKTOP)
        opened.page.locator(".empty", has_text="No model yet").wait_for()
        (refused,) = opened.console  # the browser notes the refused request
        assert "422" in refused
        opened.console.clear()
        opened.leave()


def test_a_phone_sees_it_without_scrolling_sideways(browser, served):
    opened = WorkspaceVisit(browser, f"{served}/workspace/model", PHONE)
    opened.page.locator(".element").first.wait_for()
    width = opened.page.evaluate("document.documentElement.scrollWidth")
    opened.shot("model-phone")
    opened.leave()
    assert width <= PHONE["width"]


def test_a_dark_theme_is_drawn_in_its_colours(browser, served):
    opened = WorkspaceVisit(browser, f"{served}/workspace/model", DESKTOP, "dark")
    opened.page.locator(".element").first.wait_for()
    colour = opened.page.evaluate(f"{GRAPH}.nodes()[0].style('color')")
    opened.shot("model-dark")
    opened.leave()
    assert min(int(part) for part in colour[4:-1].split(",")) > 150

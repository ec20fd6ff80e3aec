"""The page in a real browser: ask, refuse, upload, gloss; nothing leaves here."""

import shutil
from importlib.resources import files

import pytest

from elt_llm_api.page import answer_html
from elt_llm_core.config.loader import RagConfig
from elt_llm_ingest import SUFFIXES
from page_visit import CONTRAST, DESKTOP, PHONE, QUESTION, Visit
from samples import locked_pdf, result_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.network,
    # Gradio uses two options that pandas is about to drop.
    pytest.mark.filterwarnings("ignore:'future.no_silent_downcasting'"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
]
REFUSED = "What is the boiling point of tungsten carbide?"
PASSWORD = "open sesame"  # noqa: S105 - of a file made here


@pytest.fixture(scope="module")
def temporary(tmp_path_factory):
    """Where the servers of this file put what they are sent."""
    folder = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(folder))
        yield folder


@pytest.fixture(scope="module")
def served(serve, filled_root, tmp_path_factory, temporary):
    """A server that the tests of this file share; only the upload changes its data."""
    copy = tmp_path_factory.mktemp("page") / "data"
    shutil.copytree(filled_root, copy)
    with serve(RagConfig(), copy) as url:
        yield url


@pytest.fixture
def visit(browser, served):
    opened = Visit(browser, served, DESKTOP)
    yield opened
    opened.leave()


def test_an_answer_its_source_and_the_marked_page(visit):
    page = visit.page
    visit.ask(QUESTION)
    assert "31 July" in page.inner_text(".answer-text")
    assert page.get_attribute("#answer", "role") == "log"
    assert page.get_attribute("#answer", "aria-live") == "polite"
    link = page.locator("a.cite").first
    assert "handbook.pdf page 2" in link.get_attribute("aria-label")
    link.click()
    page.wait_for_function("document.activeElement.id === 'src-1'")
    page.wait_for_function(
        "(() => { const r = document.activeElement.getBoundingClientRect();"
        " return r.top >= 0 && r.top < innerHeight; })()"
    )
    card = page.locator("#src-1")
    assert "Verified" in card.inner_text()
    assert "31 July" in card.locator("mark").first.inner_text()
    page.wait_for_function("document.querySelector('#src-1 img').naturalWidth > 0")
    assert page.evaluate(YELLOW) > 50
    visit.shot("answer")
    page.keyboard.press("Escape")
    page.wait_for_function("document.activeElement.classList.contains('cite')")


VERBATIM = (
    "2. PROBATION",
    "7) x",
    "+ 3 days",
    "    four blanks",
    "a  b\n\n\nc",
    "# 12 *stars* _under_ `tick` <b>tag</b> ![x](http://evil.example)",
    "Grade\t1 to 3\n- 4",
)


@pytest.mark.parametrize("text", VERBATIM)
def test_verbatim_text_is_shown_letter_for_letter(browser, text):
    page = browser.new_page()
    result = result_of(text).model_copy(update={"answer": text})
    style = files("elt_llm_api.page") / "static" / "page.css"
    shown = answer_html.render_answer(result) + answer_html.render_sources(
        result, lambda *_: None
    )
    page.set_content(
        f"<style>{style.read_text(encoding='utf-8')}</style>"
        f'<div class="gradio-container">{shown}</div>'
    )
    assert page.locator(".answer-text").evaluate("e => e.innerText") == text
    assert page.locator("mark").evaluate("e => e.innerText") == text
    page.close()


def test_the_keyboard_is_enough(visit):
    page = visit.page
    page.focus("#question textarea")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.locator("a.cite").first.wait_for()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "cite":
            break
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.classList.contains('source-card')")


def test_a_refusal_says_so_and_shows_where_to_look(visit):
    visit.ask(REFUSED)
    text = visit.page.inner_text(".result")
    assert "No sure answer" in text
    assert visit.page.locator("a.cite").count() == 0
    visit.shot("refused")


@pytest.mark.parametrize(
    "question",
    [
        "<img src=x onerror=alert(1)>",
        "${alert(1)}",
        "{{7*7}} <script>alert(1)</script>",
    ],
)
def test_a_question_is_shown_as_it_was_written(visit, question):
    alerts = []
    visit.page.on("dialog", lambda dialog: (alerts.append(1), dialog.dismiss()))
    visit.ask(question)
    assert visit.page.inner_text(".asked") == question
    assert alerts == []


def test_a_file_is_taken_in_and_can_be_asked_about(visit, pool_pdf):
    page = visit.page
    visit.tab("Add files")
    page.set_input_files(
        "#files input[type=file]",
        {"name": "pool.pdf", "mimeType": "application/pdf", "buffer": pool_pdf},
    )
    page.locator("#files", has_text="pool").wait_for()
    page.fill("#collection input, #collection textarea", "pool")
    page.evaluate(WATCH_PROGRESS)
    page.click("#ingest")
    page.locator("#ingest-state .badge.good").wait_for()
    assert page.evaluate("window.progressSeen") > 0
    visit.shot("added")
    visit.tab("Ask")
    page.locator("#chosen", has_text="pool (1)").wait_for()
    visit.ask("When does the pool open on a working day?")
    assert "7:00" in page.inner_text(".answer-text")
    assert "pool.pdf" in page.inner_text("#sources")


def test_the_picker_takes_what_is_read(visit):
    visit.tab("Add files")
    taken = visit.page.get_attribute("#files input[type=file]", "accept")
    assert {one.strip() for one in taken.split(",")} == set(SUFFIXES)


def test_a_locked_file_asks_for_its_password_and_nothing_stays(visit, temporary):
    page = visit.page
    visit.tab("Add files")
    file = {"name": "locked.pdf", "mimeType": "application/pdf"}
    file["buffer"] = locked_pdf(PASSWORD)
    page.set_input_files("#files input[type=file]", file)
    page.locator("#files", has_text="locked").wait_for()
    page.fill("#collection input, #collection textarea", "locked")
    page.click("#ingest")
    page.get_by_role("alert").wait_for()
    told = page.inner_text("#ingest-state")
    assert "cannot read locked.pdf: it is protected by a password" in told
    assert "field password" in told
    assert "/" not in told
    assert "--" not in told
    visit.shot("locked")
    page.set_input_files("#files input[type=file]", file)
    page.locator("#files", has_text="locked").wait_for()
    assert page.get_attribute("#password input", "type") == "password"
    page.fill("#password input", PASSWORD)
    page.click("#ingest")
    page.locator("#ingest-state .badge.good").wait_for()
    page.wait_for_function("document.querySelector('#password input').value === ''")
    page.locator("#files input[type=file]").wait_for(state="attached")
    assert list(temporary.rglob("*.pdf")) == []


def test_a_profile_that_lacks_a_package_is_offered_and_says_what_it_leaves_out(
    browser, serve, root, bare
):
    with serve(RagConfig(), root) as url:
        opened = Visit(browser, url, DESKTOP)
        opened.page.locator("#about summary").click()
        told = opened.page.inner_text("#about")
        assert "2 with a stage left out here" in told
        assert "uv sync --inexact --extra cross-encoder" in told
        opened.page.get_by_label("grounded-docs").click()
        opened.page.fill("#question textarea", QUESTION)
        opened.page.click("#ask-button")
        opened.page.locator("#answer", has_text="needs the package").wait_for()
        told = opened.page.inner_text("#answer")
        assert "needs the package 'sentence_transformers'" in told
        opened.shot("lacking")
        opened.leave()


def test_a_wrong_collection_name_is_told(visit):
    page = visit.page
    visit.tab("Add files")
    page.fill("#collection input, #collection textarea", "../Bad Name")
    page.click("#ingest")
    page.get_by_role("alert").wait_for()
    assert "is not a collection name" in page.inner_text("#ingest-state")


def test_the_collections_are_listed_with_their_documents(visit):
    visit.tab("Collections")
    card = visit.page.locator(".collection", has_text="handbook").first
    card.locator("summary").click()
    assert "handbook.pdf" in card.inner_text()
    visit.shot("collections")


def test_a_phone_sees_it_all_without_scrolling_sideways(browser, served):
    opened = Visit(browser, served, PHONE)
    opened.ask(QUESTION)
    opened.shot("phone")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in ("Add files", "Products", "Tables", "Collections"):
        opened.tab(name)
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    opened.leave()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser, served, scheme):
    opened = Visit(browser, served, DESKTOP, scheme)
    opened.ask(QUESTION)
    opened.page.wait_for_function(
        "document.querySelector('#src-1 img').naturalWidth > 0"
    )
    opened.shot(f"desktop-{scheme}")
    faint = opened.page.evaluate(CONTRAST)
    opened.leave()
    assert faint == []


def test_an_empty_server_says_how_to_begin(browser, serve, tmp_path):
    with serve(RagConfig(), tmp_path / "nothing") as url:
        opened = Visit(browser, url, DESKTOP)
        opened.page.locator(".empty").first.wait_for()
        assert "elt-llm demo" in opened.page.inner_text("#start")
        assert opened.page.locator("[data-question]").count() == 0
        opened.shot("empty")
        opened.page.fill("#question textarea", "Anything?")
        opened.page.click("#ask-button")
        opened.page.get_by_role("alert").wait_for()
        assert "no documents yet" in opened.page.inner_text("#answer")
        opened.leave()


# Counts the progress bars that come by.
WATCH_PROGRESS = """() => {
  window.progressSeen = 0;
  new MutationObserver(() => {
    if (document.querySelector('#ingest-state [role=progressbar]')) progressSeen++;
  }).observe(document.body, { childList: true, subtree: true });
}"""

# Pixels of the first card's picture that are marked yellow.
YELLOW = """() => {
  const image = document.querySelector('#src-1 img');
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
  const brush = canvas.getContext('2d');
  brush.drawImage(image, 0, 0);
  const d = brush.getImageData(0, 0, canvas.width, canvas.height).data;
  let marked = 0;
  for (let i = 0; i < d.length; i += 4)
    if (d[i] > 200 && d[i + 1] > 180 && d[i] - d[i + 2] > 40) marked++;
  return marked;
}"""

# Texts whose contrast with what lies behind them is below 4.5:1 (WCAG 2.2, 1.4.3).

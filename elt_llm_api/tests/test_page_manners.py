"""What people expect of any page: keys, reload, back, shared links, examples, undoing.

One server and one browser for the whole file; what removes something has its own data.
"""

import shutil
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from elt_llm_api.page import ask_tab
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.profile_notes import profile_notes
from elt_llm_core.store import Store
from page_visit import CONTRAST, DESKTOP, PHONE, QUESTION, Visit

pytestmark = [
    pytest.mark.browser,
    pytest.mark.network,
    # Gradio uses two options that pandas is about to drop.
    pytest.mark.filterwarnings("ignore:'future.no_silent_downcasting'"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
]


@pytest.fixture(scope="module")
def root(filled_root, tmp_path_factory):
    return shutil.copytree(filled_root, tmp_path_factory.mktemp("manners") / "data")


@pytest.fixture(scope="module")
def served(serve, root):
    with serve(RagConfig(), root) as url:
        yield url


@pytest.fixture(scope="module")
def asked(served):
    """The questions that reached the documents."""
    questions, answer = [], ask_tab.answer_question

    def counted(library, question, *rest, **more):
        questions.append(question)
        return answer(library, question, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ask_tab, "answer_question", counted)
        yield questions


@pytest.fixture
def visit(browser, served, asked):
    opened = Visit(browser, served, DESKTOP)
    opened.page.locator("#about .now").wait_for()
    yield opened
    opened.leave()


def test_the_profiles_are_one_group_that_arrows_move_in(visit):
    page = visit.page
    group = page.get_by_role("radiogroup", name="Profile")
    group.wait_for()
    assert page.get_by_role("group", name="Collections").count() == 1
    names = [note.name for note in profile_notes()]
    radios = group.get_by_role("radio")
    assert radios.count() == len(names)
    radios.first.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function(f"document.activeElement.value === {names[1]!r}")
    assert group.get_by_role("radio", checked=True).get_attribute("value") == names[1]
    page.locator("#about .now", has_text=profile_notes()[1].does).wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") != "radio"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.value") == names[1]
    page.keyboard.press("ArrowUp")
    page.locator("#about .now", has_text=profile_notes()[0].does).wait_for()


def test_each_profile_is_explained_in_the_words_of_the_command_line(visit):
    visit.page.locator("#about summary").click()
    told = visit.page.inner_text("#about")
    for note in profile_notes():
        assert f"{note.name}\n" in told
        assert note.does in told
        assert note.needs in told


def test_an_example_is_asked_with_a_click(visit):
    examples = visit.page.locator("[data-question]")
    questions = examples.all_inner_texts()
    assert 2 <= len(questions) <= 4
    assert "What does \u201cMember Club\u201d mean?" in questions
    visit.shot("examples")
    examples.filter(has_text="Member Club").click()
    visit.page.locator(
        ".answer-text", has_text="admitted to the Association"
    ).wait_for()
    visit.page.locator(".examples").wait_for(state="detached")


def test_a_reload_and_a_shared_address_keep_the_answer(browser, visit, served, asked):
    page = visit.page
    visit.ask(QUESTION)
    page.wait_for_function("location.search !== ''")
    address = urlsplit(page.url)
    assert parse_qs(address.query)["q"] == [QUESTION]
    assert "31+July" not in address.query
    text, before = page.inner_text(".result"), len(asked)
    page.reload()
    page.locator("a.cite").first.wait_for()
    assert page.inner_text(".result") == text
    assert urlsplit(page.url) == address
    assert page.input_value("#question textarea, #question input") == QUESTION
    assert page.locator("#src-1").count() == 1
    other = Visit(browser, page.url, PHONE)
    other.page.locator("a.cite").first.wait_for()
    assert other.page.inner_text(".result") == text
    other.url = served
    other.leave()
    assert len(asked) == before
    visit.ask("What is the registration fee?")
    page.wait_for_function("location.search.includes('registration')")
    page.go_back()
    page.locator(".asked", has_text=QUESTION).wait_for()
    assert len(asked) == before + 1


def test_an_address_without_its_answer_asks_only_where_that_is_free(visit, asked):
    page, before = visit.page, len(asked)
    page.goto(f"{visit.url}/ui/?{urlencode({'q': QUESTION, 'profile': 'best'})}")
    page.wait_for_function(
        "document.querySelector('#profile input[value=best]')?.checked"
    )
    page.locator("#about .now", has_text="The best answers").wait_for()
    assert page.input_value("#question textarea, #question input") == QUESTION
    assert len(asked) == before
    page.goto(f"{visit.url}/ui/?{urlencode({'q': QUESTION})}")
    page.locator("a.cite").first.wait_for()
    assert len(asked) == before + 1


def test_an_address_is_shown_as_text(visit, asked):
    alerts, before = [], len(asked)
    visit.page.on("dialog", lambda dialog: (alerts.append(1), dialog.dismiss()))
    evil = "<img src=x onerror=alert(1)>"
    given = {"q": evil, "collection": evil, "profile": evil, "answer": evil}
    visit.page.goto(f"{visit.url}/ui/?{urlencode(given)}")
    note = visit.page.locator("#start .banner")
    note.wait_for()
    assert evil in note.inner_text()
    assert visit.page.input_value("#question textarea, #question input") == evil
    assert (alerts, len(asked)) == ([], before)


def test_what_was_also_looked_at_is_told_apart_on_the_screen(visit):
    visit.ask(QUESTION)
    visit.page.locator(".others summary").click()
    places = visit.page.evaluate(
        "[...document.querySelectorAll('.others li')].map(e => "
        "[e.querySelector('.where'), e.querySelector('.words')]"
        ".map(part => part.getBoundingClientRect()).map(r => [r.top, r.bottom]))"
    )
    assert places
    assert all(place[1] <= text[0] for place, text in places)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_what_is_new_can_be_read(browser, served, scheme, size):
    opened = Visit(browser, served, size, scheme)
    page = opened.page
    page.locator("#about summary").click()
    page.locator("[data-question]").first.wait_for()
    opened.shot(f"fresh-{scheme}-{size['width']}")
    faint = page.evaluate(CONTRAST)
    opened.tab("Collections")
    page.get_by_role("button", name="Remove handbook").click()
    dialog = page.get_by_role("dialog", name="Remove?")
    dialog.wait_for()
    opened.shot(f"remove-{scheme}-{size['width']}")
    faint += page.evaluate(CONTRAST)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    opened.leave()
    assert faint == []


def test_a_collection_is_renamed_and_removed_after_it_was_named(
    browser, serve, root, tmp_path
):
    copy = shutil.copytree(root, tmp_path / "own")
    with serve(RagConfig(), copy) as url:
        opened = Visit(browser, url, DESKTOP)
        page = opened.page
        opened.tab("Collections")
        page.get_by_role("button", name="Rename handbook").click()
        dialog = page.get_by_role("dialog", name="Rename?")
        dialog.get_by_role("textbox", name="Title").fill("Rules <b> 2026")
        dialog.get_by_role("button", name="Rename").click()
        page.get_by_role("heading", name="Rules <b> 2026 handbook").wait_for()
        page.get_by_role("button", name="Remove Rules").click()
        dialog = page.get_by_role("dialog", name="Remove?")
        told = dialog.inner_text()
        assert "Rules <b> 2026" in told
        assert "1 document and" in told
        with Store(copy).writer():
            dialog.get_by_role("button", name="Remove").click()
            refusal = dialog.get_by_role("alert").filter(has_text="being written")
            refusal.wait_for()
            assert "try again when it has finished" in refusal.inner_text()
        opened.console.clear()  # the browser's own line about the refusal
        dialog.get_by_role("button", name="Remove").click()
        page.locator("#collections .empty").wait_for()
        opened.tab("Ask")
        assert page.locator("#chosen input").count() == 0
        opened.leave()

"""An answer that never ends is stopped in a real browser."""

import pytest
from endless_server import EndlessServer, Way

from elt_llm_core.models.bounds import SILENCES
from page_visit import DESKTOP, QUESTION, WorkspaceVisit
from test_load import LONG, written_by

pytestmark = [pytest.mark.browser, pytest.mark.network]


@pytest.fixture(autouse=True)
def _no_silences():
    yield
    SILENCES._until.clear()


def test_stop_ends_the_answer_and_the_call_to_the_model(browser, serve, root):
    with (
        EndlessServer(Way.TRICKLE) as model,
        serve(written_by(model.base_url), root) as url,
    ):
        opened = WorkspaceVisit(browser, f"{url}/workspace/ask", DESKTOP)
        page = opened.page
        page.get_by_label("Question", exact=True).fill(QUESTION)
        page.keyboard.press("Enter")
        assert model.asked.wait(LONG)
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("It was stopped; nothing of it is kept.").first.wait_for()
        assert model.left.wait(LONG)
        opened.leave()

"""An analyst's whole job in a real browser, by keys.

Documents, products, review, export, the next edition of the handbook, and nothing that
was reviewed is lost.
"""

import csv
import io
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import httpx
import pytest

from elt_llm_core.config.loader import RagConfig
from page_visit import DESKTOP, WorkspaceVisit

pytestmark = [pytest.mark.browser, pytest.mark.network, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "scripts" / "sample"
PACK = ROOT / "elt_llm_consumer/src/elt_llm_consumer/packs/kite-regatta"
GLOSSARY = "glossary:handbook"
CATALOGUE = "catalog:handbook"
# Milliseconds, on a machine that does other work too: for a job, and for a step.
LONG = 180_000
STEP = 60_000
OURS = "any shore that the Course Steward has closed"
# Three sections of the sample's handbook, and their next edition. In a process of its
# own: the modules of the script have names that other tests may use.
EDITIONS = """
import sys
from collections import Counter
from pathlib import Path
import gold, handbook
from markup import read_blocks

def write(edition):
    folder = Path(sys.argv[1], edition)
    folder.mkdir()
    handbook.build(blocks, gold.quotes(), folder / "handbook.pdf")

blocks = [block for block in read_blocks() if block.section in {"1", "12", "14"}]
write("first")
for block in blocks:
    text = block.text.replace("of the amber flag", "of the red flag")
    block.text = text.replace("within ninety metres", "within two hundred metres")
write("second")
"""


@pytest.fixture(scope="module")
def editions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editions")
    command = [sys.executable, "-c", EDITIONS, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(SAMPLE)}
    subprocess.run(command, env=environment, check=True, timeout=120)
    return {name: folder / name / "handbook.pdf" for name in ("first", "second")}


class Analyst:
    """A person at the page who does not touch the mouse."""

    def __init__(self, browser, url):
        self.url = url
        self.visit = WorkspaceVisit(browser, f"{url}/workspace/documents", DESKTOP)
        self.page = self.visit.page
        self.page.set_default_timeout(STEP)
        self.page.locator(".empty").wait_for()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def go(self, letter, name, there):
        self.press("g", letter)
        self.page.wait_for_url(f"**/workspace/{name}*")
        self.page.locator(there).first.wait_for()

    def finish_job(self):
        self.page.locator("#tray .badge").wait_for(timeout=LONG)
        assert "failed" not in self.page.inner_text("#tray")
        self.page.get_by_role("button", name="Put away").press("Enter")
        self.page.locator("#tray .job").wait_for(state="detached")

    def add(self, collection, *files):
        # The dialog of the system that chooses files cannot be driven.
        self.page.locator("#picker").set_input_files(list(files))
        field = self.page.get_by_label("Collection", exact=True)
        field.fill(collection)
        field.press("Tab")
        self.press("Tab", "Enter")
        self.finish_job()

    def build(self, title):
        self.press("b")
        self.page.get_by_role("dialog", name=f"Build: {title}").wait_for()
        self.press("Enter")
        self.finish_job()
        self.page.locator(".item").first.wait_for()

    def search(self, words, label):
        self.press("/")
        self.page.get_by_label("Search rows").fill(words)
        self.page.locator(".item.current .name", has_text=label).wait_for()
        self.press("Enter")

    def decide(self, key, number):
        """Press a key; the page counts so many rows, and the server has it."""
        with self.page.expect_response(lambda r: r.request.method == "PATCH") as sent:
            self.press(key)
        assert sent.value.ok
        counted = re.compile(rf"\b{number} of ")
        self.page.locator(".tally", has_text=counted).wait_for()

    def rows(self, product):
        address = f"{self.url}/v1/products/{product}/items"
        rows = httpx.get(address, params={"limit": 500}, timeout=60).json()["data"]
        return {row["label"]: row for row in rows}

    def statuses(self, product):
        rows = self.rows(product).items()
        return {label: row["status"] for label, row in rows}

    def export(self, form):
        """Save the approved rows; the file as its rows by their name."""
        self.press("o")
        dialog = self.page.get_by_role("dialog", name="Export")
        dialog.get_by_label("Format").select_option(form)
        dialog.get_by_label("Approved rows only").press("Space")
        save = dialog.locator("button:enabled", has_text="Save the file")
        save.wait_for()
        assert "the target takes it" in dialog.inner_text()
        with self.page.expect_download() as saving:
            save.press("Enter")
        text = saving.value.path().read_text(encoding="utf-8-sig")
        self.press("Escape")
        dialog.wait_for(state="detached")
        return {row["Name"]: row for row in csv.DictReader(io.StringIO(text))}


def test_nothing_reviewed_is_lost(browser, serve, editions, tmp_path):
    with serve(RagConfig(), tmp_path / "data") as url:
        analyst = Analyst(browser, url)
        analyst.add("handbook", editions["first"])
        analyst.add("model", PACK / "model.drawio", PACK / "inventory.xlsx")
        analyst.go("g", "glossary", ".empty")
        analyst.build("Glossary")
        review_rows(analyst)
        reviewed = analyst.statuses(GLOSSARY)
        exported = analyst.export("purview_classic")
        approved = {label for label, one in reviewed.items() if one == "approved"}
        assert set(exported) == approved
        assert exported["Adverse Shore"]["Definition"] == OURS
        analyst.go("c", "catalogue", ".empty")
        analyst.build("Catalogue")
        analyst.decide("a", 1)
        catalogue = analyst.statuses(CATALOGUE)
        analyst.go("d", "documents", ".documents")
        analyst.add("handbook", editions["second"])
        analyst.go("g", "glossary", ".item")
        analyst.build("Glossary")
        settle_changes(analyst, reviewed)
        assert analyst.statuses(GLOSSARY) == reviewed
        exported = analyst.export("purview_classic")
        assert set(exported) == approved
        assert "two hundred metres" in exported["Adverse Shore"]["Definition"]
        assert "red flag" in exported["Slack Signal"]["Definition"]
        analyst.go("c", "catalogue", ".item")
        analyst.build("Catalogue")
        assert analyst.statuses(CATALOGUE) == catalogue
        analyst.visit.leave()


def review_rows(analyst):
    """Twenty rows in their order, the first with our text, and one by its words."""
    analyst.press("e")
    analyst.page.get_by_label("Definition").fill(OURS)
    analyst.decide("Control+Enter", 1)
    analyst.press("j")
    for number, key in enumerate("aaaarwaaaaraaawaaar", start=2):
        analyst.decide(key, number)
    analyst.search("amber flag", "Slack Signal")
    analyst.decide("a", 21)
    given = Counter(analyst.statuses(GLOSSARY).values())
    assert (given["approved"], given["rejected"], given["needs_work"]) == (16, 3, 2)


def settle_changes(analyst, reviewed):
    """Two reviewed rows changed: all their texts are shown, and one is chosen."""
    page = analyst.page
    page.locator(".item", has_text="two texts").wait_for()
    after = analyst.rows(GLOSSARY)
    other = {one for one, row in after.items() if row["status"] != reviewed[one]}
    assert other == {"Adverse Shore", "Slack Signal"}
    assert after["Adverse Shore"]["fields"]["definition"] == OURS
    analyst.search("Adverse", "Adverse Shore")
    sides = page.locator(".conflict .card")
    sides.nth(2).wait_for()
    assert OURS in sides.nth(0).inner_text()
    assert "two hundred metres" in sides.nth(1).inner_text()
    analyst.decide("2", 20)
    page.locator(".conflict").wait_for(state="detached")
    analyst.search("red flag", "Slack Signal")
    page.locator(".conflict .card", has_text="amber flag").wait_for()
    analyst.decide("a", 21)

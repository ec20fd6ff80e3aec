"""A glossary of 5,000 rows in the workbench: the first rows, and from key to next row.

    python benchmarks/page_rows.py --data-dir ROOT [--rows 5000] [--rounds 5]

ROOT is what `elt-llm demo` made; give it a copy, the rows stay in it. Serves it from a
process of its own and opens Debian's chromium. Prints for each round the milliseconds
from the request of the page to the first rows on the screen, and for `j` (the next row)
and `a` (approve, and the next open row) from the key to the frame that shows it.
"""

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from elt_llm_core.reviews.review_records import Proposal
from elt_llm_core.store import Store
from load import serve_root

CHROMIUM = "/usr/bin/chromium"
PRODUCT = "glossary:large"
KEYS = {"j": 100, "a": 30}
BETWEEN = 120  # milliseconds between two keys: a fast reader
# Both wait for the task after the frame: what it shows has been painted then.
FIRST_ROWS = """
addEventListener('DOMContentLoaded', () => new MutationObserver((_, seen) => {
  if (!document.querySelector('.item')) return;
  seen.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.shown = performance.now(); }));
}).observe(document, { subtree: true, childList: true }));
"""
AFTER_KEYS = """() => {
  window.laps = [];
  addEventListener('keydown', (event) => requestAnimationFrame(() => setTimeout(() => {
    window.laps.push(performance.now() - event.timeStamp);
  })), true);
}"""


def proposals(document_id: str, rows: int) -> Iterator[Proposal]:
    """Rows of a glossary with a quote and a place each."""
    for number in range(rows):
        definition = (
            f"number {number}, the words of a definition as long as most are " * 2
        )
        fields = {"term": f"Term {number:05d}", "definition": definition}
        place = {"document_id": document_id, "document": "handbook.pdf"}
        yield Proposal(
            item_id=f"{number:016x}",
            label=fields["term"],
            fields=fields,
            evidence=str(number),
            content={**fields, **place, "page": 1 + number % 60},
        )


def fill(root: Path, rows: int) -> None:
    """Put the rows under review."""
    store = Store(root)
    document = store.documents("handbook")[0]
    store.reviews.sync(PRODUCT, list(proposals(document.document_id, rows)))
    store.close()


def press(page: Page, key: str, times: int) -> list[float]:
    """Press a key again and again; the milliseconds until the frame after each."""
    for _ in range(times):
        page.keyboard.press(key)
        page.wait_for_timeout(BETWEEN)
    laps: list[float] = page.evaluate("window.laps.splice(0)")
    return laps


def measure(browser: Browser, url: str, rows: int) -> str:
    """Open the page anew and return its figures as a row of a table."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.add_init_script("localStorage.setItem('elt.reviewer', 'Ann')")
    context.add_init_script(FIRST_ROWS)
    page = context.new_page()
    page.goto(f"{url}/workspace/glossary?product={PRODUCT}")
    page.locator(".tally", has_text=f"of {rows:,} rows").wait_for()
    page.wait_for_load_state("networkidle")
    cells = [f"{page.evaluate('window.shown'):.0f}"]
    page.evaluate(AFTER_KEYS)
    for key, times in KEYS.items():
        laps = press(page, key, times)
        tenths = statistics.quantiles(laps, n=20)
        cells += [f"{statistics.median(laps):.0f} / {tenths[-1]:.0f} / {max(laps):.0f}"]
    context.close()
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Fill, serve, open, press."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    options: Any = parser.parse_args()
    fill(options.data_dir, options.rows)
    server, url = serve_root(options.data_dir, {})
    try:
        with sync_playwright() as playwright:
            flags = ["--no-sandbox", "--disable-gpu"]
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
            print("| first rows, ms | j: median / p95 / longest, ms | a: the same |")
            print("|---|---|---|")
            for _ in range(options.rounds):
                print(measure(browser, url, options.rows), flush=True)
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()

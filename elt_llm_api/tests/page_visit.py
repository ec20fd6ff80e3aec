"""A browser tab on the page, and what it measures."""

import os
from pathlib import Path

QUESTION = "By which date shall a Member Club register each Player?"
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
SHOTS = os.environ.get("ELT_SHOTS", "")
PATIENCE = 15_000  # milliseconds
GIVEN_UP = ("AbortError", "Connection errored out")


class Tab:
    """A tab that keeps its console's errors and the addresses of its requests."""

    def __init__(self, browser, url, viewport, scheme="light"):
        self.url = url
        self.page = browser.new_page(viewport=viewport, color_scheme=scheme)
        self.page.set_default_timeout(PATIENCE)
        self.console: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._keep_error)
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _keep_error(self, message):
        # Gradio reports the requests that it gives up when a page is left.
        if message.type == "error" and not any(t in message.text for t in GIVEN_UP):
            self.console.append(message.text)

    def shot(self, name):
        if SHOTS:
            path = Path(SHOTS) / f"{name}.png"
            self.page.screenshot(path=path, full_page=True)

    def leave(self):
        local = (self.url, "data:", f"blob:{self.url}")
        foreign = [u for u in self.requests if not u.startswith(local)]
        self.page.close()
        # Pytest explains no assertion of a module that it does not collect.
        assert foreign == [], foreign
        assert self.console == [], self.console


class Visit(Tab):
    """A tab on the page of forms."""

    def __init__(self, browser, url, viewport, scheme="light"):
        super().__init__(browser, url, viewport, scheme)
        self.page.goto(url if "/ui/" in url else f"{url}/ui/")
        self.page.wait_for_selector("#question textarea")

    def ask(self, question):
        self.page.fill("#question textarea", question)
        self.page.click("#ask-button")
        asked = self.page.locator(".result .asked", has_text=question)
        asked.wait_for()

    def tab(self, name):
        tab = self.page.get_by_role("tab", name=name)
        if not tab.is_visible():  # on a phone the last tabs are in a menu
            self.page.click(".overflow-menu > button")
            tab = self.page.locator(".overflow-dropdown button", has_text=name)
        tab.click()


class WorkspaceVisit(Tab):
    """A tab on a page of the workspace, of a reviewer whose name is known."""

    def __init__(self, browser, url, viewport, scheme="light"):
        server = "/".join(url.split("/")[:3])
        super().__init__(browser, server, viewport, scheme)
        self.page.add_init_script("localStorage.setItem('elt.reviewer', 'Ann')")
        self.page.goto(url)
        self.page.locator("#tools button").first.wait_for()


CONTRAST = """() => {
  const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => {
      v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const e of document.querySelectorAll('gradio-app *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !e.checkVisibility() || e.closest('[aria-hidden=true]')) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const shown = [e.textContent.slice(0, 40), e.className, ratio.toFixed(2)];
    if (ratio < 4.5) faint.push(shown);
  }
  return faint;
}"""

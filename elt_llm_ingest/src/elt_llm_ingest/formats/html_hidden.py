"""Which elements of a web page a browser does not show, by what they say themselves."""

import re
from collections.abc import Mapping

HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d]*[1-9])"
    r"|font-size\s*:\s*[01](?:\.\d+)?\s*(?:px|pt|%|em)?\s*(?:;|$|!)",
    re.IGNORECASE,
)
VOID = frozenset(("br", "hr", "img", "input", "link", "meta", "source", "wbr"))
# What a tag closes that was left open.
CLOSED = {
    "dd": ("dd", "dt"), "dt": ("dd", "dt"), "li": ("li",), "option": ("option",),
    "td": ("td", "th"), "th": ("td", "th"), "tr": ("tr",),
}  # fmt: skip
HOLDERS = frozenset(("dl", "ol", "select", "table", "ul"))
REACH = 64  # open elements that a closing tag may close over


class Visibility:
    """Follows the open elements, and tells which of them are shown."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._from: int | None = None  # place of the element that hides

    @property
    def hidden(self) -> bool:
        """Whether text is not shown here."""
        return self._from is not None

    def enter(self, tag: str, said: Mapping[str, str], *, block: bool) -> bool:
        """Note that an element begins; whether it is shown."""
        if block and self._open[-1:] == ["p"]:
            self._cut(len(self._open) - 1)
        self._close_siblings(tag)
        hides = "hidden" in said or bool(HIDDEN.search(said.get("style", "")))
        if tag in VOID:
            return not (self.hidden or hides)
        if hides and not self.hidden:
            self._from = len(self._open)
        self._open.append(tag)
        return not self.hidden

    def leave(self, tag: str) -> bool:
        """Note that an element ends; whether it was shown."""
        for place in range(len(self._open) - 1, self._last(REACH) - 1, -1):
            if self._open[place] == tag:
                shown = self._from is None or place < self._from
                self._cut(place)
                return shown
        return not self.hidden

    def _close_siblings(self, tag: str) -> None:
        closed = CLOSED.get(tag, ())
        for place in range(len(self._open) - 1, self._last(REACH) - 1, -1):
            if not closed or self._open[place] in HOLDERS:
                return
            if self._open[place] in closed:
                self._cut(place)
                return

    def _last(self, count: int) -> int:
        return max(len(self._open) - count, 0)

    def _cut(self, place: int) -> None:
        del self._open[place:]
        if self._from is not None and place <= self._from:
            self._from = None

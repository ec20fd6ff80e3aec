"""Which elements of a web page a browser does not show, by what the page says."""

from collections.abc import Mapping

from elt_llm_ingest.formats.html_looks import Looks, inside
from elt_llm_ingest.formats.html_styles import Sheet

VOID = frozenset(("br", "hr", "img", "input", "link", "meta", "source", "wbr"))
# What a tag closes that was left open.
CLOSED = {
    "dd": ("dd", "dt"), "dt": ("dd", "dt"), "li": ("li",), "option": ("option",),
    "td": ("td", "th"), "th": ("td", "th"), "tr": ("tr",),
}  # fmt: skip
HOLDERS = frozenset(("dl", "ol", "select", "table", "ul"))
REACH = 64  # open elements that a closing tag may close over
ROOTS = ("html", "body")  # a script shows them, or there were no page
ATTRIBUTES = {"bgcolor": "background-color", "background": "background-image"}


class Visibility:
    """Follows the open elements, and tells which of them are shown."""

    def __init__(self, sheet: Sheet | None = None) -> None:
        self._sheet = sheet or Sheet()
        self._open: list[tuple[str, Looks]] = []
        page = Looks(ground=None) if self._sheet.elsewhere else Looks()
        for tag in ROOTS:  # their tags may be left out
            page = inside(page, *self._sheet.of(tag, {}))
        self._page = page._replace(gone=False)

    @property
    def hidden(self) -> bool:
        """Whether text is not shown here."""
        return self._looks.hidden

    @property
    def gone(self) -> bool:
        """Whether nothing is shown here, elements inside neither."""
        return self._looks.gone

    @property
    def _looks(self) -> Looks:
        return self._open[-1][1] if self._open else self._page

    def enter(self, tag: str, said: Mapping[str, str], *, block: bool) -> bool:
        """Note that an element begins; whether it is shown."""
        if block and self._open and self._open[-1][0] == "p":
            self._open.pop()
        self._close_siblings(tag)
        looks = self._of(tag, said)
        if tag not in VOID:
            self._open.append((tag, looks))
        return not looks.gone

    def leave(self, tag: str) -> bool:
        """Note that an element ends; whether it was shown."""
        for place in range(len(self._open) - 1, self._last(REACH) - 1, -1):
            if self._open[place][0] == tag:
                shown = not self._open[place][1].gone
                del self._open[place:]
                return shown
        return not self.gone

    def _of(self, tag: str, said: Mapping[str, str]) -> Looks:
        told, loose = self._sheet.of(tag, said)
        for name, meant in ATTRIBUTES.items():
            if name in said:
                told = {meant: said[name].lower(), **told}
        if tag == "font" and "color" in said:
            told = {"color": said["color"].lower(), **told}
        outer = self._looks
        looks = inside(outer, told, loose) if told or loose else outer
        if tag in ROOTS:
            return looks._replace(gone=outer.gone)
        return looks._replace(gone=True) if "hidden" in said else looks

    def _close_siblings(self, tag: str) -> None:
        closed = CLOSED.get(tag, ())
        for place in range(len(self._open) - 1, self._last(REACH) - 1, -1):
            if not closed or self._open[place][0] in HOLDERS:
                return
            if self._open[place][0] in closed:
                del self._open[place:]
                return

    def _last(self, count: int) -> int:
        return max(len(self._open) - count, 0)

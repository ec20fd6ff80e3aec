"""Elements of a web page that a browser does not show, according to the page."""

import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from typing import NamedTuple

from typing_extensions import override

Colour = tuple[int, int, int] | str | None  # as numbers, by name, or unknown
WHITE = (255, 255, 255)
NAMED: dict[str, Colour] = {"white": WHITE, "black": (0, 0, 0)}
CLEAR = "transparent"
UNSAID = frozenset(("inherit", "initial", "unset", "none", "currentcolor"))
ALIKE = 10  # of 255; closer colours are indistinguishable
HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
RGB = re.compile(
    r"rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)\s*(?:[,/]\s*([\d.]+)(%?)\s*)?\)"
)
LENGTH = re.compile(r"(-?(?:\d+(?:\.\d*)?|\.\d+))\s*([a-z%]*)")
# The minimum size of readable letters; the first units scale another size.
SCALES = {"em": 0.15, "%": 15.0}
SIZES = {"": 2.0, "px": 2.0, "pt": 2.0, "rem": 0.15}
FAR = -1000.0  # pixels; elements farther to the left or above are on no screen
FAR_IN = {"px": 1.0, "": 1.0, "pt": 1.3, "em": 16.0, "rem": 16.0}
OFF_PAGE = ("left", "top", "right", "bottom")
SHUT = ("height", "max-height", "width", "max-width")


class ElementStyle(NamedTuple):
    """The properties that an element passes to its children."""

    colour: Colour = (0, 0, 0)
    ground: Colour = WHITE
    tiny: bool = False
    gone: bool = False

    @property
    def is_hidden(self) -> bool:
        """Return whether text is invisible here."""
        return (
            self.gone
            or self.tiny
            or self.colour == CLEAR
            or (self.colour is not None and _alike(self.colour, self.ground))
        )


def combine_styles(
    outer: ElementStyle, style: Mapping[str, str], loose: frozenset[str]
) -> ElementStyle:
    """Return the style of an element; properties in `loose` are unknown."""
    ground = _ground(outer, style)
    if loose & {"background", "background-color", "background-image"}:
        ground = None
    written = style.get("color", "")
    colour = _colour(written) if written and written not in UNSAID else outer.colour
    return ElementStyle(
        colour=None if "color" in loose else colour,
        ground=ground,
        tiny=_tiny(style.get("font-size", ""), outer.tiny and "font-size" not in loose),
        gone=outer.gone or _is_taken_off(style),
    )


def _is_taken_off(style: Mapping[str, str]) -> bool:
    """Return whether an element is removed from the page, with its children."""
    if style.get("display") == "none":
        return True
    if style.get("visibility") in ("hidden", "collapse"):
        return True
    if _number(style.get("opacity", "")) == 0 or _far(style.get("text-indent", "")):
        return True
    shut = any(_number(style.get(side, "")) == 0 for side in SHUT)
    if shut and style.get("overflow") in ("hidden", "clip"):
        return True
    placed = style.get("position") in ("absolute", "fixed", "relative")
    return placed and any(_far(style.get(side, "")) for side in OFF_PAGE)


def _number(value: str) -> float | None:
    match = LENGTH.fullmatch(value)
    return float(match[1]) if match else None


def _far(value: str) -> bool:
    match = LENGTH.fullmatch(value)
    return match is not None and float(match[1]) * FAR_IN.get(match[2], 0) < FAR


def _tiny(value: str, outer: bool) -> bool:
    match = LENGTH.fullmatch(value)
    if match is None:
        return outer and value in ("", "inherit", "smaller", "larger")
    size, unit = float(match[1]), match[2]
    if unit in SCALES:
        return outer or size < SCALES[unit]
    return size < SIZES.get(unit, 0) or size == 0


def _ground(outer: ElementStyle, style: Mapping[str, str]) -> Colour:
    """Return the background of the text; unknown over a picture."""
    if style.get("background-image", "none") != "none":
        return None
    for name in ("background-color", "background"):
        value = style.get(name, "")
        if value and value not in UNSAID and (colour := _colour(value)) != CLEAR:
            return colour
    return outer.ground


def _colour(value: str) -> Colour:
    if match := RGB.fullmatch(value):
        if match[4] and float(match[4]) == 0:
            return CLEAR
        return int(match[1]), int(match[2]), int(match[3])
    if HEX.fullmatch(value):
        digits = (
            value[1:]
            if len(value) > len("#ffff")
            else "".join(digit * 2 for digit in value[1:])
        )
        red, green, blue, *alpha = bytes.fromhex(digits)
        return CLEAR if alpha == [0] else (red, green, blue)
    return NAMED.get(value, value if value.isalpha() else None)


def _alike(colour: Colour, ground: Colour) -> bool:
    if isinstance(colour, tuple) and isinstance(ground, tuple):
        return all(abs(a - b) < ALIKE for a, b in zip(colour, ground, strict=True))
    return colour == ground


Said = dict[str, str]
SIMPLE = re.compile(r"[a-z][\w-]*|[.#][\w-]+", re.IGNORECASE)
LAST = re.compile(r"[^\s>+~]+$")
# Text in brackets or after a colon is no tag, class or id of the element.
BESIDE = re.compile(r"\[[^\]]*\]|::?[\w-]+|[()]")
PAPER = re.compile(r"\b(?:print|speech)\b", re.IGNORECASE)
IMPORTANT = re.compile(r"\s*!\s*important\s*$")


def declarations(style: str) -> tuple[Said, Said]:
    """Parse properties and values, in lower case: ordinary and important ones."""
    plain: Said = {}
    important: Said = {}
    for part in style.split(";"):
        name, _, value = part.lower().partition(":")
        value = value.strip()
        if bare := IMPORTANT.sub("", value):
            (important if bare != value else plain)[name.strip()] = bare
    return plain, important


class StyleSheet:
    """The rules of a page by tag, .class and #id."""

    def __init__(self) -> None:
        self.elsewhere = False  # rules of other files apply too
        self._plain: dict[str, Said] = {}
        self._important: dict[str, Said] = {}
        self._loose: dict[str, set[str]] = {}

    def of(
        self, tag: str, attributes: Mapping[str, str]
    ) -> tuple[Said, frozenset[str]]:
        """Return an element's properties, and those that other rules may set."""
        names = [tag, *(f".{name}" for name in attributes.get("class", "").split())]
        names.append(f"#{attributes.get('id', '')}")
        plain, important = declarations(attributes.get("style", ""))
        loose: set[str] = set()
        declared: Said = {}
        for name in names:
            declared |= self._plain.get(name, {})
            loose |= self._loose.get(name, set())
        declared |= plain
        for name in names:
            declared |= self._important.get(name, {})
        declared |= important
        loose -= {*plain, *important}
        return {key: declared[key] for key in declared if key not in loose}, frozenset(
            loose
        )

    def add(self, css: str) -> None:
        """Add the rules of a style sheet."""
        first, *rest = css.split("/*")
        css = first + " ".join(part.partition("*/")[2] for part in rest)
        self.elsewhere |= "@import" in css.lower()
        around: list[str] = []  # preludes of the open braces
        before = ""
        for part in re.split(r"([{}])", css):
            if part == "{":
                around.append(before.rpartition(";")[2].strip())
                before = ""
            elif part == "}":
                if around:
                    self._rule(around.pop(), before, around)
                before = ""
            else:
                before = part

    def _rule(self, selectors: str, body: str, around: Iterable[str]) -> None:
        if selectors.startswith("@") or any(PAPER.search(one) for one in around):
            return
        plain, important = declarations(body)
        for selector in selectors.split(","):
            name = selector.strip()
            if SIMPLE.fullmatch(name) and not any(around):
                name = name if name[0] in ".#" else name.lower()
                self._plain.setdefault(name, {}).update(plain)
                self._important.setdefault(name, {}).update(important)
            elif last := LAST.search(name):
                for part in SIMPLE.findall(BESIDE.sub(" ", last.group())):
                    self._loose.setdefault(part, set()).update((*plain, *important))


class _Finder(HTMLParser):
    """Finds the style sheets of a page."""

    def __init__(self, sheet: StyleSheet) -> None:
        super().__init__()
        self._sheet = sheet
        self._css: list[str] | None = None

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "link" and "stylesheet" in attributes.get("rel", "").lower():
            self._sheet.elsewhere = True
        if tag == "style" and not PAPER.search(attributes.get("media", "")):
            self._css = []

    @override
    def handle_data(self, data: str) -> None:
        if self._css is not None:
            self._css.append(data)

    @override
    def handle_endtag(self, tag: str) -> None:
        if tag == "style" and self._css is not None:
            css = "".join(self._css).replace("<!--", " ").replace("-->", " ")
            self._sheet.add(css)
            self._css = None


def sheet_of(source: str) -> StyleSheet:
    """Return the rules of the style sheets in a page."""
    sheet = StyleSheet()
    if re.search(r"<(?:style|link)\b", source, re.IGNORECASE):
        finder = _Finder(sheet)
        finder.feed(source)
        finder.close()
    return sheet


VOID = frozenset(("br", "hr", "img", "input", "link", "meta", "source", "wbr"))
# Elements that a tag closes implicitly.
CLOSED = {
    "dd": ("dd", "dt"), "dt": ("dd", "dt"), "li": ("li",), "option": ("option",),
    "td": ("td", "th"), "th": ("td", "th"), "tr": ("tr",),
}  # fmt: skip
HOLDERS = frozenset(("dl", "ol", "select", "table", "ul"))
REACH = 64  # open elements that a closing tag may close over
ROOTS = ("html", "body")  # shown by a script, or by every page
ATTRIBUTES = {"bgcolor": "background-color", "background": "background-image"}


class Visibility:
    """Tracks the open elements and their visibility."""

    def __init__(self, sheet: StyleSheet | None = None) -> None:
        self._sheet = sheet or StyleSheet()
        self._open: list[tuple[str, ElementStyle]] = []
        page = ElementStyle(ground=None) if self._sheet.elsewhere else ElementStyle()
        for tag in ROOTS:  # their tags may be left out
            page = combine_styles(page, *self._sheet.of(tag, {}))
        self._page = page._replace(gone=False)

    @property
    def is_hidden(self) -> bool:
        """Return whether text is invisible here."""
        return self._looks.is_hidden

    @property
    def is_gone(self) -> bool:
        """Return whether nothing is shown here, including child elements."""
        return self._looks.gone

    @property
    def _looks(self) -> ElementStyle:
        return self._open[-1][1] if self._open else self._page

    def enter(self, tag: str, attributes: Mapping[str, str], *, block: bool) -> bool:
        """Record the start of an element; return whether it is visible."""
        if block and self._open and self._open[-1][0] == "p":
            self._open.pop()
        self._close_siblings(tag)
        looks = self._of(tag, attributes)
        if tag not in VOID:
            self._open.append((tag, looks))
        return not looks.gone

    def leave(self, tag: str) -> bool:
        """Record the end of an element; return whether it was visible."""
        for place in range(len(self._open) - 1, self._last(REACH) - 1, -1):
            if self._open[place][0] == tag:
                shown = not self._open[place][1].gone
                del self._open[place:]
                return shown
        return not self.is_gone

    def _of(self, tag: str, attributes: Mapping[str, str]) -> ElementStyle:
        declared, loose = self._sheet.of(tag, attributes)
        for name, meant in ATTRIBUTES.items():
            if name in attributes:
                declared = {meant: attributes[name].lower(), **declared}
        if tag == "font" and "color" in attributes:
            declared = {"color": attributes["color"].lower(), **declared}
        outer = self._looks
        looks = combine_styles(outer, declared, loose) if declared or loose else outer
        if tag in ROOTS:
            return looks._replace(gone=outer.gone)
        return looks._replace(gone=True) if "hidden" in attributes else looks

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

"""What the style sheets inside a page say of its elements, as far as they are plain.

Rules for one tag, .class or #id, and lists of them, are followed. What any other rule
may set otherwise, when the page is used, is not held against the text.
"""

import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser

from typing_extensions import override

Said = dict[str, str]
SIMPLE = re.compile(r"[a-z][\w-]*|[.#][\w-]+", re.IGNORECASE)
LAST = re.compile(r"[^\s>+~]+$")
# What stands in brackets or after a colon is no tag, class or id of the element.
BESIDE = re.compile(r"\[[^\]]*\]|::?[\w-]+|[()]")
PAPER = re.compile(r"\b(?:print|speech)\b", re.IGNORECASE)
IMPORTANT = re.compile(r"\s*!\s*important\s*$")


def declarations(style: str) -> tuple[Said, Said]:
    """Properties and values, in small letters: the ordinary and the important ones."""
    plain: Said = {}
    important: Said = {}
    for part in style.split(";"):
        name, _, value = part.lower().partition(":")
        value = value.strip()
        if bare := IMPORTANT.sub("", value):
            (important if bare != value else plain)[name.strip()] = bare
    return plain, important


class Sheet:
    """The rules of a page, by tag, .class and #id."""

    def __init__(self) -> None:
        self.elsewhere = False  # rules of other files hold too
        self._plain: dict[str, Said] = {}
        self._important: dict[str, Said] = {}
        self._loose: dict[str, set[str]] = {}

    def of(self, tag: str, said: Mapping[str, str]) -> tuple[Said, frozenset[str]]:
        """What holds for an element, and the properties that may be set otherwise."""
        names = [tag, *(f".{name}" for name in said.get("class", "").split())]
        names.append(f"#{said.get('id', '')}")
        plain, important = declarations(said.get("style", ""))
        loose: set[str] = set()
        told: Said = {}
        for name in names:
            told |= self._plain.get(name, {})
            loose |= self._loose.get(name, set())
        told |= plain
        for name in names:
            told |= self._important.get(name, {})
        told |= important
        loose -= {*plain, *important}
        return {key: told[key] for key in told if key not in loose}, frozenset(loose)

    def add(self, css: str) -> None:
        """Take the rules of a style sheet in."""
        first, *rest = css.split("/*")
        css = first + " ".join(part.partition("*/")[2] for part in rest)
        self.elsewhere |= "@import" in css.lower()
        around: list[str] = []  # what stands before the braces that are open
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
    """Looks for the style sheets of a page."""

    def __init__(self, sheet: Sheet) -> None:
        super().__init__()
        self._sheet = sheet
        self._css: list[str] | None = None

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "link" and "stylesheet" in said.get("rel", "").lower():
            self._sheet.elsewhere = True
        if tag == "style" and not PAPER.search(said.get("media", "")):
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


def sheet_of(source: str) -> Sheet:
    """The rules of the style sheets in a page."""
    sheet = Sheet()
    if re.search(r"<(?:style|link)\b", source, re.IGNORECASE):
        finder = _Finder(sheet)
        finder.feed(source)
        finder.close()
    return sheet

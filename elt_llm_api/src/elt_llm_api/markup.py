"""HTML that is escaped unless it was made here: the page's only way to write a tag."""

import html
import re
from collections.abc import Iterable
from typing import NamedTuple

URL_ATTRIBUTES = frozenset({"href", "src", "action", "formaction"})
VOID_TAGS = frozenset({"br", "hr", "img", "input"})
_LOCAL_URL = re.compile(r"(?:#|/(?![/\\]))[^\s\\]*")


class Safe(NamedTuple):
    """A piece of finished HTML."""

    html: str


Child = Safe | str | int | float | None


def esc(value: Child) -> str:
    """Text as HTML shows it literally, also inside an attribute; `Safe` as it is."""
    if isinstance(value, Safe):
        return value.html
    return "" if value is None else html.escape(str(value), quote=True)


def el(name: str, *children: Child, **attributes: str | int | bool | None) -> Safe:
    """An element. Children and attributes are escaped.

    `class_` writes `class`, `aria_label` writes `aria-label`; None and False leave an
    attribute out and True writes it bare. Raises ValueError for an address outside this
    server.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID_TAGS:
        return Safe(f"<{name}{written}>")
    inner = "".join(esc(child) for child in children)
    return Safe(f"<{name}{written}>{inner}</{name}>")


def join(parts: Iterable[Child], separator: str = "") -> Safe:
    """The parts one after another."""
    return Safe(esc(separator).join(esc(part) for part in parts))


def _attribute(key: str, value: str | int | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    if name in URL_ATTRIBUTES and not _LOCAL_URL.fullmatch(str(value)):
        msg = f"{name} must stay on this server: {value!r}"
        raise ValueError(msg)
    return f' {name}="{esc(value)}"'

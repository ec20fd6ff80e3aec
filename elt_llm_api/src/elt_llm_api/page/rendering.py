"""HTML from the templates of the page.

A line break in a template, with the blanks around it, prints nothing next to a tag, an
expression or a statement, and one blank elsewhere, so templates may be indented freely;
`{{ " " }}` prints a blank. Every expression is escaped, and neither `safe` nor `Markup`
is used, so no text of a document or a user becomes a tag or an attribute.
"""

import re

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from typing_extensions import override

from elt_llm_core.cli.terminal import count_of

_LOCAL_URL = re.compile(r"(?:#|/(?![/\\]))[^\s\\]*")
_BREAK_AT_TAG = re.compile(r"(?<=[>}])\s*\n\s*|\s*\n\s*(?=[<{])")
_BREAK = re.compile(r"\s*\n\s*")


class _FreeIndentation(Extension):
    """Removes line breaks from templates, as the module describes."""

    @override
    def preprocess(
        self, source: str, name: str | None, filename: str | None = None
    ) -> str:
        return _BREAK.sub(" ", _BREAK_AT_TAG.sub("", source.strip()))


def local_url(url: str) -> str:
    """Return a URL that stays on this server; every variable `href` or `src` is one.

    Raises:
        ValueError: If the URL leads elsewhere or runs a script.
    """
    if not _LOCAL_URL.fullmatch(url):
        msg = f"a URL must stay on this server: {url!r}"
        raise ValueError(msg)
    return url


def join_with_dots(*parts: str) -> str:
    """The parts that are not empty, with a middle dot between them."""
    return " · ".join(part for part in parts if part)


ENVIRONMENT = Environment(
    loader=PackageLoader("elt_llm_api.page"),
    autoescape=True,
    undefined=StrictUndefined,
    extensions=[_FreeIndentation],
)
ENVIRONMENT.filters["local_url"] = local_url
ENVIRONMENT.filters["count_of"] = count_of
ENVIRONMENT.globals["join_with_dots"] = join_with_dots


def render(template: str, /, **values: object) -> str:
    """Render a template.

    Args:
        template: Its file name below `templates`, without `.html`.
        **values: What its expressions may name.

    Returns:
        HTML in which every value is escaped.

    Raises:
        UndefinedError: If an expression names a value that is not given.
        ValueError: If an address leads to another server.
    """
    return ENVIRONMENT.get_template(f"{template}.html").render(values)

"""The front matter of a Markdown file: its title, date, authors and identifiers."""

import re
from datetime import date, datetime
from typing import Any

from elt_llm_core.config.loader import parse_yaml
from elt_llm_core.errors import ConfigError
from elt_llm_core.provenance import STATED_TITLE

_FRONT = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
# The others say how a site shows the page ("layout", "permalink").
_KEPT = ("journal", "date", "doi", "version")
_AUTHORS = ("authors", "author")
MOST_AUTHORS = 50  # stored with every chunk
MOST_CHARACTERS = 200  # of one value


def split_front_matter(source: str) -> tuple[str, str, dict[str, str]]:
    """Split a Markdown file into its front matter and its body.

    Args:
        source: The text of the file.

    Returns:
        The body; the title, empty if none is given; and `stated_title`, `journal`,
        `date`, `doi`, `version` and `authors` as far as they are given, authors joined
        by `; ` and the date in ISO 8601. Front matter that is not valid YAML has at
        most a title.
    """
    front = _FRONT.match(source)
    if front is None:
        return source, "", {}
    title = match[1] if (match := _TITLE.search(front[1])) else ""
    stated = {STATED_TITLE: _plain(title)} if title else {}
    return source[front.end() :], title, {**stated, **_attributes_of(front[1])}


def _attributes_of(text: str) -> dict[str, str]:
    try:
        values = parse_yaml(text, "front matter")
    except ConfigError:
        return {}
    if not isinstance(values, dict):
        return {}
    attributes = {key: _plain(values.get(key)) for key in _KEPT}
    given = next((values[key] for key in _AUTHORS if values.get(key)), None)
    several = given if isinstance(given, list) else [given]
    names = [name for name in map(_name_of, several) if name]
    attributes["authors"] = "; ".join(names[:MOST_AUTHORS])
    return {key: value for key, value in attributes.items() if value}


def _name_of(author: Any) -> str:
    """Return the name of an author, who may have further properties."""
    return _plain(author.get("name") if isinstance(author, dict) else author)


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return " ".join(str(value).split())[:MOST_CHARACTERS]
    return ""

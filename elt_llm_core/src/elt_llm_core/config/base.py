"""The base of configuration sections: frozen, without unknown keys."""

import re
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
)


class Section(BaseModel):
    """A closed part of the configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _address(text: str) -> str:
    """Return the address of a server without white space around it."""
    plain = text.strip()
    try:
        parts = urlsplit(plain)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname)
        good = good and parts.port != 0
    except ValueError:  # the port is no number
        good = False
    if not good or any(c.isspace() for c in plain):
        msg = "must be the address of a server, for example http://localhost:11434"
        raise ValueError(msg)
    return plain


Address = Annotated[str, AfterValidator(_address)]
"""`http://` or `https://`, a host, and optionally a port and a path."""


def _folder(value: Any) -> Any:
    # An empty path would be the working folder, which is no place for a database.
    if isinstance(value, str) and not value.strip():
        msg = "must name a folder"
        raise ValueError(msg)
    return value


Folder = Annotated[Path, BeforeValidator(_folder)]
"""The path of a folder; not empty."""

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A name that is not empty."""


def _pattern(text: str) -> str:
    """The wording of a definition, with one `{term}` and one `{definition}`."""
    parts = re.split(r"\{(\w*)\}", text)
    literal, fields = parts[::2], parts[1::2]
    if sorted(fields) != ["definition", "term"] or re.search("[{}]", "".join(literal)):
        msg = "must contain {term} and {definition} once each, and no other braces"
        raise ValueError(msg)
    if not literal[1].strip():
        msg = "must have words or signs between {term} and {definition}"
        raise ValueError(msg)
    return text


DefinitionPattern = Annotated[str, AfterValidator(_pattern)]
"""How documents word a definition: `By {term} we understand {definition}`."""

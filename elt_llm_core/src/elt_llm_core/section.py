"""What every section of the configuration is: frozen, and closed."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints


class Section(BaseModel):
    """A closed part of the configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _address(text: str) -> str:
    """The address of a server, without white space around it."""
    plain = text.strip()
    try:
        parts = urlsplit(plain)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname)
        good = good and parts.port != 0
    except ValueError:  # the port is no number
        good = False
    if not good or any(c.isspace() for c in plain):
        msg = "must be the address of a server, such as http://localhost:11434"
        raise ValueError(msg)
    return plain


Address = Annotated[str, AfterValidator(_address)]
"""`http://` or `https://`, a host, and perhaps a port and a path."""

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A name that is not empty."""

"""Versions of Ollama with known holes, from a dated list."""

import re
from datetime import date
from functools import cache
from importlib.resources import files

import yaml

from elt_llm_core.records import Record

_NUMBER = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
_BUILD = (0, 0, 0)  # what a server says that was built without a version


class Advisory(Record):
    """A hole, and the first version without it."""

    id: str
    fixed: str
    about: str


class AdvisoryList(Record):
    """Every known hole, and the day on which the list was compared."""

    checked: date
    advisories: tuple[Advisory, ...]


@cache
def read_advisories() -> AdvisoryList:
    """Return the shipped list, the newest fix first."""
    file = files("elt_llm_core.models.ollama") / "advisories.yaml"
    known = AdvisoryList.model_validate(yaml.safe_load(file.read_text("utf-8")))
    newest = sorted(known.advisories, key=lambda one: _read(one.fixed), reverse=True)
    return AdvisoryList(checked=known.checked, advisories=tuple(newest))


def holes_of(version: str) -> tuple[Advisory, ...]:
    """Return the known vulnerabilities of a version, the newest fix first.

    Args:
        version: The version from the server: 0.5.7, 0.5.7-rc1.

    Returns:
        Empty for an unreadable version, or for a build without one.
    """
    own = _read(version)
    if own == _BUILD:
        return ()
    return tuple(one for one in read_advisories().advisories if own < _read(one.fixed))


def _read(version: str) -> tuple[int, ...]:
    match = _NUMBER.match(version.strip())
    return tuple(map(int, match.groups())) if match else _BUILD

"""The report of the doctor: one line per check, with the command that fixes it."""

from enum import StrEnum

from elt_llm_core.records import Record

REPAIR = "elt-llm doctor --repair"
RESTORE = "elt-llm store restore latest"
SHOWN = 3  # shown faults of one kind


class Level(StrEnum):
    """The severity of a check."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Check(Record):
    """The result of one check; `fix` is the command or action that fixes it."""

    name: str
    level: Level
    detail: str
    fix: str = ""


def good(name: str, detail: str) -> Check:
    """Return a line for a successful check."""
    return Check(name=name, level=Level.OK, detail=detail)


def warn(name: str, detail: str, fix: str) -> Check:
    """Return a line about something that works, but not as well as it should."""
    return Check(name=name, level=Level.WARN, detail=detail, fix=fix)


def fail(name: str, detail: str, fix: str) -> Check:
    """Return a line about something that does not work."""
    return Check(name=name, level=Level.FAIL, detail=detail, fix=fix)


def shorten_list(faults: list[str]) -> str:
    """Return the first of many faults, and their number."""
    more = len(faults) - SHOWN
    return "; ".join(faults[:SHOWN]) + (f"; and {more} more" if more > 0 else "")

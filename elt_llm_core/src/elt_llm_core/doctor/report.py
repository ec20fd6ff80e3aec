"""What the doctor says: one check a line, with the command that mends it."""

from enum import StrEnum

from elt_llm_core.records import Record

REPAIR = "elt-llm doctor --repair"
RESTORE = "elt-llm store restore latest"
SHOWN = 3  # of many faults of one kind


class Level(StrEnum):
    """How bad it is."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Check(Record):
    """One thing that was looked at; `fix` is the command or deed that mends it."""

    name: str
    level: Level
    detail: str
    fix: str = ""


def good(name: str, detail: str) -> Check:
    """A line that says all is well."""
    return Check(name=name, level=Level.OK, detail=detail)


def warn(name: str, detail: str, fix: str) -> Check:
    """A line about what works, but not as well as it should."""
    return Check(name=name, level=Level.WARN, detail=detail, fix=fix)


def fail(name: str, detail: str, fix: str) -> Check:
    """A line about what does not work."""
    return Check(name=name, level=Level.FAIL, detail=detail, fix=fix)


def few(faults: list[str]) -> str:
    """The first of many faults, and how many there are."""
    more = len(faults) - SHOWN
    return "; ".join(faults[:SHOWN]) + (f"; and {more} more" if more > 0 else "")

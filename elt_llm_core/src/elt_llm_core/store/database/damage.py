"""Errors for damaged rows of the database."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from elt_llm_core.errors import UnusableDatabaseError

CURE = "restore it: elt-llm store restore latest; see also: elt-llm doctor --deep"
_UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, zlib.error)


def damage_error(what: str) -> UnusableDatabaseError:
    """Return the error for a row that does not match its checksum."""
    return UnusableDatabaseError("of this data root", f"is damaged: {what}", CURE)


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Convert errors caused by damaged data in this block to UnusableDatabaseError."""
    try:
        yield
    except _UNREADABLE as error:
        raise damage_error(f"{what} cannot be read") from error

"""What a damaged row of the truth is called, wherever it is noticed."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from elt_llm_core.errors import TruthError

CURE = "restore it: elt-llm store restore latest; see also: elt-llm doctor --deep"
_UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, zlib.error)


def damage_error(what: str) -> TruthError:
    """The error of a row that is not as it was stored."""
    return TruthError("of this data root", f"is damaged: {what}", CURE)


@contextmanager
def reading(what: str) -> Iterator[None]:
    """What a flipped bit makes the body raise, as TruthError."""
    try:
        yield
    except _UNREADABLE as error:
        raise damage_error(f"{what} cannot be read") from error

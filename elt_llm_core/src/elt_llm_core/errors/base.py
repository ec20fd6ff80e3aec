"""The root of all errors, and how a near value is suggested."""

from collections.abc import Iterable
from difflib import get_close_matches


class EltLlmError(Exception):
    """The root: `code` names the docs entry, `hint` the cure."""

    code = "ELT000"
    exit_code = 1
    status = 500

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.hint = hint


def suggest(value: str, known: Iterable[str]) -> str:
    """A phrase that names the nearest known value, or all of them."""
    names = sorted(known)
    near = get_close_matches(value, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(names)}" if names else "none are known yet"

"""The root of the error tree, and the hints that several errors share."""

from collections.abc import Iterable, Sequence


class EltLlmError(Exception):
    """Base class: `code` is the entry in docs/reference/errors.md, `hint` the fix.

    `details` are further messages, if several things went wrong.
    """

    code = "ELT000"
    exit_code = 1
    status = 500

    def __init__(
        self, message: str, hint: str = "", details: Sequence[str] = ()
    ) -> None:
        head = f"{message}; {hint}" if hint else message
        super().__init__("\n  ".join([head, *details]))
        self.message = message
        self.hint = hint
        self.details = tuple(details)


def suggest(value: str, known: Iterable[str]) -> str:
    """Return a phrase that names the closest known value, or all known values."""
    from difflib import get_close_matches  # noqa: PLC0415 - no good call needs it

    names = sorted(known)
    near = get_close_matches(value, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(names)}" if names else "none are known yet"


def suggest_key(key: str, known: Iterable[str]) -> str:
    """Return a phrase with all known keys of a file, the closest one first.

    Args:
        key: The unknown key.
        known: The keys that may stand in its place.
    """
    names = sorted(known)
    near = suggest(key, names)
    every = f"known: {', '.join(names)}"
    return near if near == every or not names else f"{near} {every}"


def describe_yaml_error(error: Exception) -> str:
    """Return the reason of a YAML error on one line; the caller names the file.

    Args:
        error: Of PyYAML, which calls a text that it did not open "<unicode string>".
    """
    reason = " ".join(str(error).split())
    return reason.replace('in "<unicode string>", line', "at line")


def installs(extra: str) -> str:
    """Return the command that installs an extra and removes nothing."""
    return f"uv sync --inexact --extra {extra}"

"""Commands that a hint names, made to run as they stand."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

ROOT_OPTIONS = ("--data-dir", "--profile", "--models", "--config")
# A command ends where the sentence goes on; a path may have a full stop within.
_COMMAND = re.compile(r"\belt-llm(?: (?!or\b|and\b)[^\s;,:()`'\"]*[^\s;,:()`'\".])+")


def given_options(arguments: Sequence[str]) -> dict[str, str]:
    """The options of a command line that tell which data and settings it is about."""
    return dict(_pairs(arguments))


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    left = iter(arguments)
    for word in left:
        if word == "--":
            return
        name, equals, value = word.partition("=")
        if name in ROOT_OPTIONS:
            yield name, value if equals else next(left, "")


def runnable(hint: str, options: Mapping[str, str]) -> str:
    """The hint with `options` added to every command in it that lacks them."""

    def whole(match: re.Match[str]) -> str:
        command = match.group()
        words = command.split()
        lacking = [n for n in options if options[n] and n not in words]
        if "--help" in words:
            return command
        return " ".join([command, *(f"{n} {shlex.quote(options[n])}" for n in lacking)])

    return _COMMAND.sub(whole, hint)

"""Errors of a call: its arguments, its output files, the port it asks for."""

from collections.abc import Iterable

from elt_llm_core.errors.base_error import EltLlmError, suggest


class OutputFileError(EltLlmError):
    """An output file cannot be written."""

    code = "USE002"
    exit_code = 73
    status = 507

    def __init__(self, path: str, reason: str, option: str = "") -> None:
        named = f" with {option}" if option else ""
        super().__init__(
            f"cannot write {path}: {reason}",
            f"name a file in a folder that this user can write to{named}",
        )


class ExchangeError(EltLlmError):
    """A file or product is not a glossary in the given format."""

    code = "EXC001"
    exit_code = 65
    status = 422


class UsageError(EltLlmError):
    """The arguments contradict each other or are invalid."""

    code = "USE001"
    exit_code = 64
    status = 422


class UnknownElementError(EltLlmError):
    """The model has no element of that name or id."""

    code = "GRA001"
    exit_code = 65
    status = 404

    def __init__(self, name: str, known: Iterable[str]) -> None:
        hint = suggest(name, known)
        if hint.startswith("known"):  # a list of hundreds helps nobody
            hint = "see the names: elt-llm graph list"
        super().__init__(f"the model has no element {name!r}", hint)


class PortTakenError(EltLlmError):
    """The server's port is already in use."""

    code = "API001"
    exit_code = 69
    status = 503

    def __init__(self, host: str, port: int) -> None:
        super().__init__(
            f"port {port} on {host} is already in use", "choose another: --port 0"
        )

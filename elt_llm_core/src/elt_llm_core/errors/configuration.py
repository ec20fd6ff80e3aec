"""Errors of the configuration."""

from collections.abc import Iterable

from elt_llm_core.errors.base import EltLlmError, suggest


def installs(extra: str) -> str:
    """The command that installs an extra and takes nothing else away."""
    return f"uv sync --inexact --extra {extra}"


class ConfigError(EltLlmError):
    """The configuration cannot be understood."""

    code = "CFG001"
    exit_code = 78
    status = 500


class UnknownStrategyError(ConfigError):
    """A stage has no strategy of that name."""

    code = "CFG002"

    def __init__(self, stage: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no {stage} strategy named {name!r}", suggest(name, known))


class MissingExtraError(ConfigError):
    """A strategy needs a package that is not installed."""

    code = "CFG003"

    def __init__(self, stage: str, name: str, module: str, extra: str = "") -> None:
        one = f": {installs(extra)}" if extra else f", for example: {installs('llm')}"
        super().__init__(
            f"the {stage} strategy {name!r} needs the package {module!r}",
            f"install the extra that brings it{one}",
        )


class UnknownProfileError(ConfigError):
    """No profile of that name."""

    code = "CFG004"
    status = 422  # over HTTP it is the client who names one

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no profile named {name!r}", suggest(name, known))


class InvalidNameError(ConfigError):
    """A collection name that would not be safe as a folder or in Chroma."""

    code = "CFG005"
    exit_code = 64
    status = 422

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name[:80]!r} is not a collection name",
            "use 3 to 63 lower-case letters, digits, '_' or '-', "
            "starting and ending with a letter or digit",
        )

"""Errors of the configuration: unknown names, missing packages and models."""

from collections.abc import Iterable

from elt_llm_core.errors.base_error import EltLlmError, installs, suggest


class ConfigError(EltLlmError):
    """The configuration is invalid."""

    code = "CFG001"
    exit_code = 78
    status = 500


class UnknownStrategyError(ConfigError):
    """A stage has no strategy of that name."""

    code = "CFG002"

    def __init__(self, noun: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"there is no {noun} {name!r}", suggest(name, known))


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


class MissingModelError(ConfigError):
    """A stage needs a model that is not configured or not on this machine."""

    code = "CFG007"


class UnknownModelsError(ConfigError):
    """`--models` or the field `models` names an unknown strategy."""

    code = "CFG008"
    status = 422  # over HTTP it is the client who names them

    def __init__(
        self, name: str, embedders: Iterable[str], llms: Iterable[str]
    ) -> None:
        super().__init__(
            f"no models named {name[:80]!r}",
            "write EMBEDDER+LLM, or one name for both; "
            f"embedders: {', '.join(embedders)}; language models: {', '.join(llms)}",
        )


class InvalidNameError(ConfigError):
    """A name that cannot be turned into a collection id."""

    code = "CFG005"
    exit_code = 64
    status = 422

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name[:80]!r} is not a collection name",
            "use at least two letters or digits, and no path: for example "
            "'hr', 'finance-2026' or 'My Finance Files'",
        )


class NameTakenError(ConfigError):
    """Two titles lead to the same collection id."""

    code = "CFG006"
    exit_code = 64
    status = 409

    def __init__(self, title: str, name: str, known: str) -> None:
        super().__init__(
            f"{title!r} would be the collection {name!r}, which is called {known!r}",
            f"use another name, or {name!r} if you mean that collection",
        )

"""Every error this project raises, in one tree.

EltLlmError                                  code; what happened, the value, the cure
├── ConfigError                 CFG001       exit 78: fix the file and start again
│   ├── UnknownStrategyError    CFG002
│   ├── MissingExtraError       CFG003
│   ├── UnknownProfileError     CFG004
│   └── InvalidNameError        CFG005
├── UsageError                  USE001       exit 64: the call contradicts itself
├── StoreError                  STO001       exit 1
│   ├── CollectionNotFoundError STO002       exit 65
│   ├── CollectionMismatchError STO003       exit 78
│   ├── StoreLockedError        STO004       exit 75: another process writes
│   ├── StoreWriteError         STO005       exit 73: disk full, read-only folder
│   ├── GenerationError         STO006       a derived index is damaged
│   ├── TruthError              STO007       exit 78: damaged, or another schema
│   └── NoDataError             STO008       exit 65: a data root that is not there
├── IngestError                 ING001       exit 65: one document; others go on
│   ├── LoadError               ING002
│   └── EmbedError              ING003
├── QueryError                  QRY001       exit 1
├── ModelError                  MOD001       exit 69: the model server
│   ├── ModelUnavailableError   MOD002
│   ├── ModelMissingError       MOD003
│   ├── ModelTimeoutError       MOD004
│   └── PromptTruncatedError    MOD005
└── PortTakenError              API001       exit 69: another program listens there

A message is one or two sentences: what happened with the value, then the cure.
What is not an error but made the result poorer is a `Degradation` in the result.
"""

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

    def __init__(self, stage: str, name: str, module: str) -> None:
        super().__init__(
            f"the {stage} strategy {name!r} needs the package {module!r}",
            "install the extra that brings it, for example: uv sync --extra llm",
        )


class UnknownProfileError(ConfigError):
    """No profile of that name."""

    code = "CFG004"

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


class UsageError(EltLlmError):
    """The request contradicts itself."""

    code = "USE001"
    exit_code = 64
    status = 422


class StoreError(EltLlmError):
    """The data root cannot serve."""

    code = "STO001"


class CollectionNotFoundError(StoreError):
    """No collection of that name; nothing was created."""

    code = "STO002"
    exit_code = 65
    status = 404

    def __init__(self, name: str, known: Iterable[str]) -> None:
        hint = suggest(name, known)
        if hint.startswith("none"):
            hint = f"add documents first: elt-llm ingest PATH --collection {name}"
        super().__init__(f"no collection {name!r}", hint)


class CollectionMismatchError(StoreError):
    """A collection was indexed with other settings than the configuration asks for."""

    code = "STO003"
    exit_code = 78
    status = 409

    def __init__(self, name: str, what: str, was: str, now: str) -> None:
        super().__init__(
            f"collection {name!r} was indexed with {what} {was}, "
            f"the configuration asks for {now}",
            "restore the setting, or index the documents again: "
            f"elt-llm ingest PATH --collection {name} --rebuild",
        )


class StoreLockedError(StoreError):
    """Another process writes to this data root."""

    code = "STO004"
    exit_code = 75
    status = 409

    def __init__(self, holder: str) -> None:
        super().__init__(
            f"the data root is being written by {holder}",
            "wait for it to finish, or pass --wait",
        )


class StoreWriteError(StoreError):
    """The disk refused: full, read-only, or not ours."""

    code = "STO005"
    exit_code = 73
    status = 507

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"cannot write {path}: {reason}",
            "free space or choose another folder with --data-dir",
        )


class GenerationError(StoreError):
    """A derived index is missing, damaged or not ours; the truth can rebuild it."""

    code = "STO006"

    def __init__(self, collection: str, reason: str) -> None:
        super().__init__(
            f"the index of {collection!r} cannot be used: {reason}",
            "rebuild it: elt-llm doctor --repair",
        )
        self.reason = reason


class TruthError(StoreError):
    """The truth file is damaged, is none, or has another schema."""

    code = "STO007"
    exit_code = 78

    def __init__(self, path: str, reason: str, hint: str) -> None:
        super().__init__(f"the truth file {path} {reason}", hint)


class NoDataError(StoreError):
    """There is no data root where one was named; nothing was created."""

    code = "STO008"
    exit_code = 65
    status = 404

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"there is no data at {folder} yet",
            "check --data-dir, or add documents first: "
            "elt-llm ingest PATH --collection NAME",
        )


class IngestError(EltLlmError):
    """A document could not be taken in; the others go on."""

    code = "ING001"
    exit_code = 65
    status = 422


class LoadError(IngestError):
    """A file could not be read as a document."""

    code = "ING002"

    def __init__(self, path: str, reason: str, hint: str = "") -> None:
        super().__init__(f"cannot read {path}: {reason}", hint)
        self.path = path
        self.reason = reason


class EmbedError(IngestError):
    """A text could not be embedded."""

    code = "ING003"


class QueryError(EltLlmError):
    """A question could not be answered for a reason that is ours."""

    code = "QRY001"


class ModelError(EltLlmError):
    """The model server failed."""

    code = "MOD001"
    exit_code = 69
    status = 503


class ModelUnavailableError(ModelError):
    """Nobody answers at the model server's address."""

    code = "MOD002"

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"no model server answers at {url} ({reason})",
            "start it (ollama serve), or do without: --profile default",
        )


class ModelMissingError(ModelError):
    """The server runs but does not have the model."""

    code = "MOD003"

    def __init__(self, model: str, known: Iterable[str]) -> None:
        names = ", ".join(sorted(known)) or "none"
        super().__init__(
            f"the model server has no model {model!r} (it has: {names})",
            f"fetch it: ollama pull {model}",
        )


class ModelTimeoutError(ModelError):
    """The server accepted the request and then said nothing for too long."""

    code = "MOD004"

    def __init__(self, model: str, seconds: float) -> None:
        super().__init__(
            f"{model!r} sent nothing for {seconds:g} s",
            "use a smaller model or raise ollama.request_timeout",
        )


class PromptTruncatedError(ModelError):
    """The server cut the prompt to its window; its answer is not to be believed."""

    code = "MOD005"

    def __init__(self, model: str, sent: int, read: int) -> None:
        super().__init__(
            f"{model!r} read {read} tokens of a prompt of about {sent}",
            "raise ollama.context_window or lower query.reranker_top_k",
        )


class PortTakenError(EltLlmError):
    """Another program listens on the address the server was given."""

    code = "API001"
    exit_code = 69
    status = 503

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"port {port} on {host} is taken", "choose another: --port 0")

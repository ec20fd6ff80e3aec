"""Every error this project raises, in one tree.

EltLlmError                                  code; what happened, the value, the cure
├── ConfigError                 CFG001       exit 78: fix the file and start again
│   ├── UnknownStrategyError    CFG002
│   ├── MissingExtraError       CFG003
│   ├── UnknownProfileError     CFG004
│   ├── InvalidNameError        CFG005
│   ├── NameTakenError          CFG006
│   ├── MissingModelError       CFG007
│   └── UnknownModelsError      CFG008
├── UsageError                  USE001       exit 64: the call contradicts itself
├── OutputFileError             USE002       exit 73: a file that was asked for
├── ExchangeError               EXC001       exit 65: no glossary of that format
├── StoreError                  STO001       exit 1
│   ├── CollectionNotFoundError STO002       exit 65
│   ├── CollectionMismatchError STO003       exit 78
│   ├── StoreLockedError        STO004       exit 75: another process writes
│   ├── StoreWriteError         STO005       exit 73: disk full, read-only folder
│   ├── GenerationError         STO006       a derived index is damaged
│   ├── TruthError              STO007       exit 78: damaged, or another schema
│   ├── NoDataError             STO008       exit 65: a data root that is not there
│   ├── ConversationNotFoundError STO009     exit 65
│   ├── ForeignConversationError STO010      exit 65: it belongs to somebody else
│   ├── TurnReplacedError       STO011       exit 75: it went on without the answer
│   ├── JobNotFoundError        STO012       exit 65
│   └── VersionNotFoundError    STO013       exit 65: no such report or summary
├── UnknownElementError         GRA001       exit 65: the model has no such element
├── ReviewError                 REV001       exit 65: of a product's items
│   ├── UnknownProductError     REV002
│   ├── UnknownItemError        REV003
│   ├── StaleReviewError        REV004       exit 75: somebody decided meanwhile
│   ├── SheetError              REV005
│   └── EditedSheetError        REV006       exit 73: a sheet not imported yet
├── IngestError                 ING001       exit 65: one document; others go on
│   ├── LoadError               ING002
│   ├── EmbedError              ING003
│   └── NothingTakenError       ING004       not one of them all
├── QueryError                  QRY001       exit 1
│   └── AbandonedError          QRY002       nobody waits for the answer
├── ModelError                  MOD001       exit 69: the model server
│   ├── ModelUnavailableError   MOD002
│   ├── ModelMissingError       MOD003
│   ├── ModelTimeoutError       MOD004
│   ├── PromptTruncatedError    MOD005
│   ├── OutOfTimeError          MOD006
│   ├── EndlessAnswerError      MOD007
│   ├── SilentServerError       MOD008
│   ├── ModelBusyError          MOD009
│   ├── RunnerDiedError         MOD010
│   ├── BrokenAnswerError       MOD011
│   ├── BudgetSpentError        MOD012
│   └── AnswerShapeError        MOD013
├── PortTakenError              API001       exit 69: another program listens there
└── RequestError                API002       HTTP only: not as the schema asks
    ├── ForeignHostError        API003
    ├── TokenNeededError        API004
    ├── ForeignSiteError        API005
    ├── NothingThereError       API006
    ├── MethodError             API007
    ├── TooLargeError           API008
    ├── BusyError               API009
    ├── TooManyGuessesError     API010
    └── RevisionNeededError     API011

A message is one or two sentences: what happened with the value, then the cure.
What is not an error but made the result poorer is a `Degradation` in the result.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from elt_llm_core.shipped_model import MODEL_NAME


class EltLlmError(Exception):
    """The root: `code` names the docs entry, `hint` the cure.

    `details` are more sentences of the same kind, where several things went wrong.
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
    """A phrase that names the nearest known value, or all of them."""
    from difflib import get_close_matches  # noqa: PLC0415 - no good call needs it

    names = sorted(known)
    near = get_close_matches(value, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(names)}" if names else "none are known yet"


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
    """A choice of models that names no strategy."""

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
    """A name from which no collection id can be made."""

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
    """Two names for people lead to one collection id."""

    code = "CFG006"
    exit_code = 64
    status = 409

    def __init__(self, title: str, name: str, known: str) -> None:
        super().__init__(
            f"{title!r} would be the collection {name!r}, which is called {known!r}",
            f"use another name, or {name!r} if it is meant",
        )


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
    """The server cut the prompt to its window; its answer is not to be believed.

    `room` is the length in tokens that it may read, as far as is known.
    """

    code = "MOD005"

    def __init__(self, model: str, sent: int, read: int) -> None:
        self.room = min(sent, read)
        super().__init__(
            f"{model!r} read {read} tokens of a prompt of about {sent}",
            "raise ollama.context_window or lower query.reranker_top_k",
        )


class OutOfTimeError(ModelError):
    """A question has used up its time; what its models would still say is left out."""

    code = "MOD006"

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the question took more than {seconds:g} s",
            "raise query.question_timeout, or use a smaller model",
        )


class EndlessAnswerError(ModelError):
    """A model server sent more, or for longer, than it was asked for."""

    code = "MOD007"

    def __init__(self, url: str, amount: str) -> None:
        super().__init__(
            f"the answer of the model server at {url} does not end ({amount})",
            "update the server: it must keep to num_predict or max_tokens",
        )


class SilentServerError(ModelError):
    """A model server failed or kept silent a moment ago and is left alone for now."""

    code = "MOD008"

    def __init__(self, url: str, seconds: float, reason: str) -> None:
        super().__init__(
            f"the model server at {url} is left alone for {max(seconds, 1):.0f} s "
            f"({reason})",
            "look at the server's log, or do without: --profile default",
        )


class ModelBusyError(ModelError):
    """A model server has as many calls as it takes.

    `seconds` says when to ask again; 0 where the server does not say.
    """

    code = "MOD009"
    status = 429

    def __init__(self, url: str, seconds: int, reason: str) -> None:
        when = f"in {seconds} s" if seconds else "later"
        super().__init__(
            f"the model server at {url} is busy ({reason})",
            f"try again {when}, with fewer requests at a time",
        )
        self.seconds = seconds


class RunnerDiedError(ModelError):
    """The process that runs the model ended inside the server."""

    code = "MOD010"

    def __init__(self, model: str, message: str) -> None:
        super().__init__(
            f"the process that ran {model!r} ended ({message})",
            "it may lack memory: use a smaller model or context_window",
        )


class BrokenAnswerError(ModelError):
    """The connection ended before the answer was whole."""

    code = "MOD011"


class BudgetSpentError(ModelError):
    """A question, a job or a day has spent what it may on models."""

    code = "MOD012"

    def __init__(self, account: str, unit: str, spent: str, limit: str) -> None:
        key = f"gateway.{account.partition(' ')[0]}_{unit}"
        super().__init__(
            f"the {account} has spent {spent} of {limit} {unit} of models",
            f"raise {key}, or set it to 0 for no limit",
        )


class AnswerShapeError(ModelError):
    """A model was asked for JSON of a schema and wrote something else, twice.

    `text` is what it wrote, `faults` what is wrong with it.
    """

    code = "MOD013"

    def __init__(self, model: str, shape: str, text: str, faults: str) -> None:
        super().__init__(
            f"{model!r} did not answer in the shape {shape!r} ({faults})",
            "try again, or use another model",
        )
        self.text = text
        self.faults = faults


class RequestError(EltLlmError):
    """A request whose fields are not as the schema asks, or cannot be read."""

    code = "API002"
    exit_code = 64
    status = 422


class ForeignHostError(RequestError):
    """The request names a host that this server does not answer for."""

    code = "API003"
    status = 400

    def __init__(self, host: str) -> None:
        super().__init__(
            f"the host {host[:80]!r} is not served here",
            "ask at a host that api.allowed_hosts names",
        )


class TokenNeededError(RequestError):
    """The server asks for a token, and this is none or another."""

    code = "API004"
    status = 401

    def __init__(self) -> None:
        super().__init__("a token is needed", "send it as Authorization: Bearer TOKEN")


class ForeignSiteError(RequestError):
    """A page of another site asks, in a browser of ours."""

    code = "API005"
    status = 403

    def __init__(self) -> None:
        super().__init__(
            "requests from other sites are not served",
            "open the page of this server itself, or ask from a program",
        )


class NothingThereError(RequestError):
    """No route, document, page or job of that address."""

    code = "API006"
    status = 404


class MethodError(RequestError):
    """The route is there, and does not take this method."""

    code = "API007"
    status = 405


class TooLargeError(RequestError):
    """The body is larger than the server takes."""

    code = "API008"
    status = 413


class BusyError(RequestError):
    """More questions or jobs wait than the server lets wait."""

    code = "API009"
    status = 429

    def __init__(self, seconds: int, work: str = "answering as many questions") -> None:
        super().__init__(f"the server is {work} as it can", f"ask again in {seconds} s")
        self.seconds = seconds


class TooManyGuessesError(RequestError):
    """Too many wrong tokens came from one address."""

    code = "API010"
    status = 429

    def __init__(self, seconds: int) -> None:
        super().__init__(
            "too many wrong tokens came from this address", f"wait {seconds} s"
        )
        self.seconds = seconds


class RevisionNeededError(RequestError):
    """A decision names no revision, and could replace one that nobody saw."""

    code = "API011"
    status = 428

    def __init__(self) -> None:
        super().__init__(
            "a decision needs the header If-Match",
            'send the ETag of the item that was seen, such as If-Match: "3"',
        )


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
            f"{_kept_setting(was)}, or index the documents again with these settings: "
            f"elt-llm ingest PATH --collection {name} --rebuild",
        )

    @classmethod
    def of_embedder(
        cls, name: str, was: tuple[str, str], now: tuple[str, str]
    ) -> "CollectionMismatchError":
        """The error of a collection with the vectors of another embedder.

        `was` and `now` are name and digest; an unknown digest is empty. Digests are
        told where the name is the same: a model was replaced behind it.
        """
        pair = map(_with_digest, (was, now)) if was[0] == now[0] else (was[0], now[0])
        return cls(name, "the embedder", *pair)


def _kept_setting(was: str) -> str:
    """What keeps the setting that a collection was indexed with."""
    if was != MODEL_NAME:
        return "restore the setting"
    return (
        "use the models it was indexed with: --models embedded (or embedded+ollama, "
        "where Ollama writes)"
    )


def _with_digest(model: tuple[str, str]) -> str:
    return f"{model[0]} ({model[1][:8] or 'unknown digest'})"


class StoreLockedError(StoreError):
    """Another process writes to this data root."""

    code = "STO004"
    exit_code = 75
    status = 409

    def __init__(self, holder: str, hint: str = "wait for it to finish") -> None:
        super().__init__(f"the data root is being written by {holder}", hint)
        self.holder = holder


# What the operating system, SQLite and numpy say of a disk that is full.
DISK_FULL = (
    *("No space left", "disk full", "disk is full", "Disk quota exceeded"),
    *("File too large", "disk I/O error", " requested and "),  # the last is numpy's
)
_FORBIDDEN = ("Read-only", "readonly", "Permission denied", "not permitted")


def _write_cure(path: str, reason: str) -> str:
    """Return what the user can do about a file that could not be written."""
    link = _dangling_link(Path(path))
    if link:
        return f"{link} is a link to a place that does not exist: make it, or remove it"
    if any(sign in reason for sign in DISK_FULL):
        return "free space or choose another folder with --data-dir"
    if any(sign in reason for sign in _FORBIDDEN):
        return "make the folder writable or choose another one with --data-dir"
    return "choose another folder with --data-dir"


def _dangling_link(path: Path) -> Path | None:
    """Return the part of the path that is a link to nothing, if one is."""
    parts = [path, *path.parents]
    return next((p for p in parts if p.is_symlink() and not p.exists()), None)


class StoreWriteError(StoreError):
    """The disk refused: full, read-only, or not ours."""

    code = "STO005"
    exit_code = 73
    status = 507

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"cannot write {path}: {reason}", _write_cure(path, reason))
        self.reason = reason


class OutputFileError(EltLlmError):
    """A file that was named for an output cannot be written."""

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
    """A file, or a product, is no glossary of the format that was named."""

    code = "EXC001"
    exit_code = 65
    status = 422


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


class ConversationNotFoundError(StoreError):
    """No conversation of that id."""

    code = "STO009"
    exit_code = 65
    status = 404

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no conversation {name[:80]!r}", "list them: elt-llm conversations list"
        )


class ForeignConversationError(StoreError):
    """A conversation belongs to another owner, who alone may use it."""

    code = "STO010"
    exit_code = 65
    status = 403

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the conversation {name[:80]!r} belongs to somebody else",
            "begin one of your own",
        )


class TurnReplacedError(StoreError):
    """A conversation went on, or was deleted, while a question was answered."""

    code = "STO011"
    exit_code = 75
    status = 409

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the conversation {name[:80]!r} went on without this answer",
            "ask one question at a time in a conversation",
        )


class JobNotFoundError(StoreError):
    """No job of that id is kept."""

    code = "STO012"
    exit_code = 65
    status = 404

    def __init__(self, job_id: str) -> None:
        super().__init__(f"no job {job_id[:80]!r}", "list them: elt-llm jobs list")


class VersionNotFoundError(StoreError):
    """No such report, summary or concept report is kept."""

    code = "STO013"
    exit_code = 65
    status = 404

    def __init__(self, kind: str, subject: str, number: int | None = None) -> None:
        which = f" {number}" if number is not None else ""
        super().__init__(
            f"there is no {kind}{which} of {subject[:80]!r}",
            "list them: elt-llm topics list, or elt-llm report --list",
        )


class UsageError(EltLlmError):
    """The request contradicts itself."""

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


class ReviewError(EltLlmError):
    """A review of a product's items cannot be shown or recorded."""

    code = "REV001"
    exit_code = 65
    status = 422


class UnknownProductError(ReviewError):
    """No run generated a product of that name in this data root."""

    code = "REV002"
    status = 404

    def __init__(self, product: str, known: Iterable[str]) -> None:
        hint = suggest(product, known)
        if hint.startswith("none"):
            hint = "generate one first: elt-llm glossary --collection NAME"
        super().__init__(f"no product {product!r} has items to review", hint)


class UnknownItemError(ReviewError):
    """A product has no such item, or nothing to take back of it."""

    code = "REV003"
    status = 404

    def __init__(self, product: str, item: str, reason: str = "") -> None:
        what = reason or f"{product!r} has no item {item!r}"
        head = f"{item!r} of {product!r}: {what}" if reason else what
        super().__init__(head, f"see: elt-llm review list {product}")


class StaleReviewError(ReviewError):
    """Somebody decided on the item since it was read; both are told.

    `current` is the item as it is, `refused` the change that was not made.
    """

    code = "REV004"
    exit_code = 75
    status = 412

    def __init__(
        self,
        label: str,
        revision: int,
        current: Mapping[str, Any],
        refused: Mapping[str, Any],
    ) -> None:
        now = current.get("revision")
        super().__init__(
            f"{label!r} has revision {now} and not {revision}: somebody decided on it "
            "meanwhile",
            "look at both and decide again",
            [f"it is: {_in_short(current)}", f"refused: {_in_short(refused)}"],
        )
        self.current = dict(current)
        self.refused = dict(refused)


def _in_short(one: Mapping[str, Any]) -> str:
    """Return what a decision says, without what is empty."""
    names = ("status", "edited", "notes", "reviewer", "at")
    return ", ".join(f"{n} {one[n]!r}" for n in names if one.get(n)) or "as generated"


class SheetError(ReviewError):
    """A sheet cannot be read as an export that came back."""

    code = "REV005"

    def __init__(self, path: str, reason: str, hint: str = "") -> None:
        super().__init__(f"cannot import {path}: {reason}", hint)
        self.reason = reason


class EditedSheetError(ReviewError):
    """A sheet that people edited is in the place of an export; it was not replaced."""

    code = "REV006"
    exit_code = 73
    status = 409

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} was edited, or is no export of ours, and was not replaced",
            f"take its decisions first: elt-llm review import {path}, "
            "or name another file with --to",
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


class NothingTakenError(IngestError):
    """Not one document could be taken in; each one's reason is told."""

    code = "ING004"

    def __init__(self, count: int, reasons: Sequence[str]) -> None:
        super().__init__(f"no file could be taken in, {count} failed", details=reasons)


class EmbedError(IngestError):
    """A text could not be embedded."""

    code = "ING003"


class QueryError(EltLlmError):
    """A question could not be answered for a reason that is ours."""

    code = "QRY001"


class AbandonedError(QueryError):
    """Nobody waits for the answer any more; the work on it stops."""

    code = "QRY002"
    status = 503

    def __init__(self) -> None:
        super().__init__("nobody waits for this answer any more", "ask again")


class PortTakenError(EltLlmError):
    """Another program listens on the address the server was given."""

    code = "API001"
    exit_code = 69
    status = 503

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"port {port} on {host} is taken", "choose another: --port 0")


__all__ = [
    "AbandonedError",
    "AnswerShapeError",
    "BrokenAnswerError",
    "BudgetSpentError",
    "BusyError",
    "CollectionMismatchError",
    "CollectionNotFoundError",
    "ConfigError",
    "EditedSheetError",
    "EltLlmError",
    "EmbedError",
    "EndlessAnswerError",
    "ForeignHostError",
    "ForeignSiteError",
    "GenerationError",
    "IngestError",
    "InvalidNameError",
    "LoadError",
    "MethodError",
    "MissingExtraError",
    "MissingModelError",
    "ModelBusyError",
    "ModelError",
    "ModelMissingError",
    "ModelTimeoutError",
    "ModelUnavailableError",
    "NameTakenError",
    "NoDataError",
    "NothingTakenError",
    "NothingThereError",
    "OutOfTimeError",
    "PortTakenError",
    "PromptTruncatedError",
    "QueryError",
    "RequestError",
    "ReviewError",
    "RevisionNeededError",
    "RunnerDiedError",
    "SheetError",
    "SilentServerError",
    "StaleReviewError",
    "StoreError",
    "StoreLockedError",
    "StoreWriteError",
    "TokenNeededError",
    "TooLargeError",
    "TooManyGuessesError",
    "TruthError",
    "UnknownItemError",
    "UnknownModelsError",
    "UnknownProductError",
    "UnknownProfileError",
    "UnknownStrategyError",
    "UsageError",
    "installs",
    "suggest",
]

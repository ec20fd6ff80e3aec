"""Errors of the data root: database, indexes, collections, conversations, jobs."""

from collections.abc import Iterable
from pathlib import Path

from elt_llm_core.errors.base_error import EltLlmError, suggest
from elt_llm_core.shipped_model import MODEL_NAME


class StoreError(EltLlmError):
    """The data root cannot be read or written."""

    code = "STO001"


class CollectionNotFoundError(StoreError):
    """There is no collection of that name; nothing was created."""

    code = "STO002"
    exit_code = 65
    status = 404

    def __init__(self, name: str, known: Iterable[str]) -> None:
        hint = suggest(name, known)
        if hint.startswith("none"):
            hint = f"add documents first: elt-llm ingest PATH --collection {name}"
        super().__init__(f"no collection {name!r}", hint)


class CollectionMismatchError(StoreError):
    """A collection was indexed with settings that differ from the configuration."""

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
        """Return the error for a collection that another embedder indexed.

        `was` and `now` are name and digest; an unknown digest is empty. Digests are
        shown if the names are equal: the model behind the name was replaced.
        """
        pair = map(_with_digest, (was, now)) if was[0] == now[0] else (was[0], now[0])
        return cls(name, "the embedder", *pair)


def _kept_setting(was: str) -> str:
    """Return the hint that restores the setting a collection was indexed with."""
    if was != MODEL_NAME:
        return "restore the setting"
    return (
        "use the models it was indexed with: --models embedded (or "
        "embedded+ollama, if Ollama writes the answers)"
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


# Messages of the operating system, SQLite and numpy about a full disk.
DISK_FULL = (
    *("No space left", "disk full", "disk is full", "Disk quota exceeded"),
    *("File too large", "disk I/O error", " requested and "),  # the last is numpy's
)


_FORBIDDEN = ("Read-only", "readonly", "Permission denied", "not permitted")


def _write_cure(path: str, reason: str) -> str:
    """Return what the user can do about a file that could not be written."""
    link = _dangling_link(Path(path))
    if link:
        return f"{link} is a broken symbolic link: create its target, or remove it"
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
    """A file could not be written: disk full, read-only, or no permission."""

    code = "STO005"
    exit_code = 73
    status = 507

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"cannot write {path}: {reason}", _write_cure(path, reason))
        self.reason = reason


class GenerationError(StoreError):
    """An index is missing, damaged or of another database; it can be rebuilt."""

    code = "STO006"

    def __init__(self, collection: str, reason: str) -> None:
        super().__init__(
            f"the index of {collection!r} cannot be used: {reason}",
            "rebuild it: elt-llm doctor --repair",
        )
        self.reason = reason


class UnusableDatabaseError(StoreError):
    """The database file is damaged, not a database, or has another schema."""

    code = "STO007"
    exit_code = 78

    def __init__(self, path: str, reason: str, hint: str) -> None:
        super().__init__(f"the database {path} {reason}", hint)


class NoDataError(StoreError):
    """There is no data root in the given folder; nothing was created."""

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
    """There is no conversation with that id."""

    code = "STO009"
    exit_code = 65
    status = 404

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no conversation {name[:80]!r}", "list them: elt-llm conversations list"
        )


class ForeignConversationError(StoreError):
    """The conversation belongs to another user."""

    code = "STO010"
    exit_code = 65
    status = 403

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the conversation {name[:80]!r} belongs to another user",
            "start a conversation of your own",
        )


class TurnReplacedError(StoreError):
    """A conversation was changed or deleted while a question was being answered."""

    code = "STO011"
    exit_code = 75
    status = 409

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the conversation {name[:80]!r} was changed while this question was "
            "being answered",
            "ask one question at a time in a conversation",
        )


class JobNotFoundError(StoreError):
    """There is no job with that id."""

    code = "STO012"
    exit_code = 65
    status = 404

    def __init__(self, job_id: str) -> None:
        super().__init__(f"no job {job_id[:80]!r}", "list them: elt-llm jobs list")


class VersionNotFoundError(StoreError):
    """There is no such report, summary or concept report."""

    code = "STO013"
    exit_code = 65
    status = 404

    def __init__(self, kind: str, subject: str, number: int | None = None) -> None:
        which = f" {number}" if number is not None else ""
        super().__init__(
            f"there is no {kind}{which} of {subject[:80]!r}",
            "list them: elt-llm topics list, or elt-llm report --list",
        )

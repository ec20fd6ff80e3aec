"""Errors of the data root."""

from collections.abc import Iterable

from elt_llm_core.errors.base import EltLlmError, suggest


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

"""Errors of ingesting documents and of answering questions."""

from collections.abc import Sequence

from elt_llm_core.errors.base_error import EltLlmError


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

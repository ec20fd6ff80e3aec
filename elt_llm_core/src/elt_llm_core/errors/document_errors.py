"""Errors of ingesting documents and of answering questions."""

from collections.abc import Sequence

from elt_llm_core.errors.base_error import EltLlmError


class IngestError(EltLlmError):
    """A document could not be ingested; the other documents are not affected."""

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
    """No document could be ingested; `details` has the reason for each."""

    code = "ING004"

    def __init__(self, count: int, reasons: Sequence[str]) -> None:
        super().__init__(f"no file could be ingested; {count} failed", details=reasons)


class EmbedError(IngestError):
    """A text could not be embedded."""

    code = "ING003"


class QueryError(EltLlmError):
    """A question could not be answered because of an internal error."""

    code = "QRY001"


class AbandonedError(QueryError):
    """The client no longer waits for the answer, so the question was stopped."""

    code = "QRY002"
    status = 503

    def __init__(self) -> None:
        super().__init__("the client no longer waits for this answer", "ask again")

"""Stored traces of questions, if `query.trace` is `store`.

The newest traces are kept in the journal of the data root, with the questions: `elt-llm
store purge --journal` deletes them.
"""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from elt_llm_core.errors import StoreError
from elt_llm_core.records import Record
from elt_llm_core.results import (
    Degradation,
    DegradationKind,
    QueryResult,
    QueryTrace,
    Status,
)
from elt_llm_core.store import Store

RUN = "traces"


class StoredTrace(Record):
    """The trace of an answered question."""

    asked: str
    question: str
    collections: tuple[str, ...]
    status: Status
    statements: int
    citations: int
    degradations: tuple[Degradation, ...]
    trace: QueryTrace

    @property
    def milliseconds(self) -> float:
        """Return the time of all stages together."""
        return sum(stage.milliseconds for stage in self.trace.stages)


def keep_trace(
    store: Store, result: QueryResult, collections: Sequence[str], most: int
) -> QueryResult:
    """Store the trace of a question, and delete the oldest beyond `most`.

    Args:
        store: The data root.
        result: The answer.
        collections: The searched collections.
        most: Maximum number of stored traces.

    Returns:
        The result; with a degradation if the database cannot be written.
    """
    row = StoredTrace(
        asked=datetime.now(UTC).isoformat(timespec="milliseconds"),
        question=result.question,
        collections=tuple(collections),
        status=result.status,
        statements=len(result.statements),
        citations=len(result.citations),
        degradations=result.degradations,
        trace=result.trace,
    )
    key = f"{RUN}-{secrets.token_hex(16)}"
    try:
        plain = row.model_dump(mode="json")
        store.journal.append(RUN, key, row.question, result=plain, most=most)
    except StoreError as error:
        kind = DegradationKind.SETTING_UNUSED
        note = Degradation(kind=kind, detail=f"its trace was not stored: {error}")
        return result.model_copy(update={"degradations": (*result.degradations, note)})
    return result


def read_traces(store: Store, last: int) -> tuple[StoredTrace, ...]:
    """Return the stored traces, at most `last` of them, the newest first."""
    rows = store.journal.rows(RUN)[-last:]
    return tuple(StoredTrace.model_validate(row["result"]) for row in reversed(rows))

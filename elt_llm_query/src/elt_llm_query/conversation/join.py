"""Join the answers to the parts of a message, each with its own sources."""

from collections.abc import Iterable, Sequence, Set
from itertools import chain
from typing import TypeVar

from elt_llm_core.results import (
    Citation,
    ModelCost,
    QueryResult,
    ReplyKind,
    Source,
    Statement,
    Status,
)
from elt_llm_query.grounding.statements import LABEL

L = TypeVar("L", Source, Citation)
GAP = "\n\n"  # between the answers of two parts
_REFUSED = frozenset({Status.INSUFFICIENT, Status.VALIDATION_FAILED, Status.NO_SOURCES})


def join_results(results: Sequence[QueryResult]) -> QueryResult:
    """Join the results of the parts of a message.

    Args:
        results: One for each part, in order; at least one.

    Returns:
        One result: labels of later parts are renumbered, so that each resolves to a
        source of its own part. It is `partial` if a part was not answered, and a
        refusal begins with the question that it refuses.
    """
    if len(results) == 1:
        return results[0]
    moved = []
    used = 0
    for result in map(_name_refused, results):
        moved.append(_shift(result, used))
        used += len(result.sources)
    first = moved[0]
    answer, statements = _join_statements(moved)
    trace = first.trace.model_copy(
        update={
            "stages": tuple(chain.from_iterable(r.trace.stages for r in moved)),
            "models": sum((r.trace.models for r in moved), ModelCost()),
            "generations": {
                k: v for r in moved for k, v in r.trace.generations.items()
            },
        }
    )
    return QueryResult(
        question=" ".join(result.question for result in results),
        status=_status([result.status for result in results]),
        answer=answer,
        statements=statements,
        sources=tuple(chain.from_iterable(r.sources for r in moved)),
        citations=tuple(chain.from_iterable(r.citations for r in moved)),
        removed=tuple(chain.from_iterable(r.removed for r in moved)),
        nearest=tuple(chain.from_iterable(r.nearest for r in moved)),
        lists=tuple(chain.from_iterable(r.lists for r in moved)),
        reply=_reply({result.reply for result in moved}),
        sure=min((r.sure for r in moved if r.sure is not None), default=None),
        conflicts=tuple(chain.from_iterable(r.conflicts for r in moved)),
        degradations=tuple(
            dict.fromkeys(chain.from_iterable(r.degradations for r in moved))
        ),
        trace=trace,
    )


def _name_refused(result: QueryResult) -> QueryResult:
    """Return a refusal with its question before it; any other result unchanged.

    "No passage answers this" below another answer does not say what "this" is.
    """
    if result.status not in _REFUSED or result.reply or not result.statements:
        return result
    lead = f"{result.question} "
    first, *rest = result.statements
    named = first.model_copy(
        update={"text": lead + first.text, "end": first.end + len(lead)}
    )
    later = (
        s.model_copy(update={"start": s.start + len(lead), "end": s.end + len(lead)})
        for s in rest
    )
    update = {"answer": lead + result.answer, "statements": (named, *later)}
    return result.model_copy(update=update)


def _status(parts: Sequence[Status]) -> Status:
    if len(set(parts)) == 1:
        return parts[0]
    good = {Status.ANSWERED, Status.PARTIAL}
    return Status.PARTIAL if good & set(parts) else Status.INSUFFICIENT


def _reply(kinds: Set[ReplyKind | None]) -> ReplyKind | None:
    """Return the kind of all parts; with an answer or a refusal it is none."""
    return next(iter(kinds)) if len(kinds) == 1 else None


def _join_statements(
    results: Iterable[QueryResult],
) -> tuple[str, tuple[Statement, ...]]:
    """Return the answers one below the other, and statements with new spans."""
    text = ""
    statements: list[Statement] = []
    for result in results:
        text += GAP if text else ""
        begin = len(text)
        for s in result.statements:
            update = {"start": s.start + begin, "end": s.end + begin}
            statements.append(s.model_copy(update=update))
        text += result.answer
    return text, tuple(statements)


def _shift(result: QueryResult, by: int) -> QueryResult:
    """Return the result with increased label numbers."""
    if not by:
        return result
    labels = _LabelShift(by)
    answer, statements = labels.of_statements(result)
    return result.model_copy(
        update={
            "answer": answer,
            "statements": statements,
            "sources": tuple(labels.of(s) for s in result.sources),
            "citations": tuple(labels.of(c) for c in result.citations),
            "nearest": tuple(labels.of(c) for c in result.nearest),
            "removed": tuple(
                r.model_copy(update={"text": labels.in_text(r.text)})
                for r in result.removed
            ),
            "conflicts": tuple(
                c.model_copy(
                    update={
                        "statement": labels.in_text(c.statement),
                        "quotes": tuple(labels.of(q) for q in c.quotes),
                    }
                )
                for c in result.conflicts
            ),
        }
    )


class _LabelShift:
    """Labels with increased numbers: S2 becomes S10 after eight sources."""

    def __init__(self, by: int) -> None:
        self._by = by

    def of(self, labelled: L) -> L:
        """A source or citation under its new label."""
        return labelled.model_copy(update={"label": self._raise(labelled.label)})

    def in_text(self, text: str) -> str:
        """A text with its labels raised."""
        return LABEL.sub(lambda match: f"[{self._raise(match[1])}]", text)

    def of_statements(self, result: QueryResult) -> tuple[str, tuple[Statement, ...]]:
        """The answer and its statements, whose spans grow with their labels."""
        answer, position = "", 0
        statements = []
        for s in result.statements:
            answer += result.answer[position : s.start]
            text = self.in_text(s.text)
            update = {
                "text": text,
                "start": len(answer),
                "end": len(answer) + len(text),
                "citations": tuple(self.of(c) for c in s.citations),
            }
            statements.append(s.model_copy(update=update))
            answer, position = answer + text, s.end
        return answer + self.in_text(result.answer[position:]), tuple(statements)

    def _raise(self, label: str) -> str:
        number = label[1:]
        return f"{label[0]}{int(number) + self._by}" if number.isdigit() else label

"""The outcome of a turn: its answer, its parts, and what is shown without an answer."""

from dataclasses import dataclass

from elt_llm_core.identifiers import item_key
from elt_llm_core.records import Record
from elt_llm_core.results import (
    QueryResult,
    QueryTrace,
    ReplyKind,
    Statement,
    Status,
    Support,
)


class Part(Record):
    """One question of a message, and its outcome."""

    question: str
    status: Status
    answer: str


@dataclass(frozen=True)
class TurnOutcome:
    """The outcome of a turn.

    Attributes:
        result: The answer to all parts; its question is the searched one.
        parts: Each part by itself; one for most messages.
        unclear: The words that the reply asks about, if it asks back.
        follow_ups: Questions that may be asked next.
        courtesy: Whether it is only a reply to a greeting or thanks.
    """

    result: QueryResult
    parts: tuple[Part, ...]
    unclear: str = ""
    follow_ups: tuple[str, ...] = ()
    courtesy: bool = False


def without_search(
    question: str, text: str, kind: ReplyKind, config_hash: str
) -> QueryResult:
    """Return a result without a search: a courtesy, or what is asked back.

    Args:
        question: The message, or the part of it.
        text: What is replied.
        kind: The kind of reply.
        config_hash: The hash of the settings.
    """
    return QueryResult(
        question=question,
        status=Status.INSUFFICIENT,
        answer=text,
        statements=(_notice(text),),
        reply=kind,
        trace=QueryTrace(
            query_id=item_key(question, config_hash)[:16], config_hash=config_hash
        ),
    )


def refuse(result: QueryResult, text: str, words: str) -> QueryResult:
    """Return a result without its answer; its quotes are the nearest passages.

    Args:
        result: The answered result.
        text: Why it is refused.
        words: Unclear words of the question; with them the reply asks back what they
            are about.
    """
    return result.model_copy(
        update={
            "status": Status.INSUFFICIENT,
            "answer": text,
            "statements": (_notice(text),),
            "citations": (),
            "lists": (),
            "conflicts": (),
            "nearest": result.citations,
            "reply": ReplyKind.CLARIFICATION if words else None,
        }
    )


def _notice(text: str) -> Statement:
    return Statement(text=text, start=0, end=len(text), verdict=Support.NOTICE)

"""Answers and passages without details of this machine, such as paths and addresses."""

from collections.abc import Mapping, Sequence
from typing import Any

from elt_llm_api.problems import redact_result
from elt_llm_core.results import QueryResult, SearchResult
from elt_llm_query import Library
from elt_llm_query.conversation.turn import ChatResult
from elt_llm_query.plan import NO_LIMITS, SourceLimits
from elt_llm_query.step_events import Watch


def answer_question(
    library: Library,
    question: str,
    names: Sequence[str] = (),
    *,
    turns: Sequence[tuple[str, str]] = (),
    where: Mapping[str, Any] | None = None,
    limits: SourceLimits = NO_LIMITS,
) -> QueryResult:
    """Answer a question; see `Library.ask`, or `Library.reply` with earlier turns.

    Args:
        library: The documents, with a profile's configuration and models.
        question: The question.
        names: Ids or titles of collections; none means all.
        turns: Earlier questions and answers, used to resolve it.
        where: Limits the sources.
        limits: Number of sources for this question, and whether they are reranked.
    """
    if turns:
        result = library.reply(question, turns, names, where=where, limits=limits)
    else:
        result = library.ask(question, names, where=where, limits=limits)
    return redact_result(result)


def answer_message(  # noqa: PLR0913 - what may be said of a message
    library: Library,
    message: str,
    names: Sequence[str] = (),
    *,
    conversation: str,
    owner: str,
    where: Mapping[str, Any] | None = None,
    limits: SourceLimits = NO_LIMITS,
    watch: Watch | None = None,
) -> ChatResult:
    """Answer a message of a conversation; see `Library.chat` and `answer_question`.

    Args:
        library: The documents, with a profile's configuration and models.
        message: The message.
        names: Ids or titles of collections; none means all.
        conversation: Its id; empty to begin one.
        owner: The user whose conversation it is.
        where: Limits the sources.
        limits: Number of sources for this message, and whether they are reranked.
        watch: Receives the events of the turn.

    Returns:
        The turn; details of this machine are not stored either.
    """
    return library.chat(
        message,
        conversation,
        names,
        where=where,
        limits=limits,
        owner=owner,
        watch=watch,
        revise=redact_result,
    )


def find_passages(
    library: Library,
    question: str,
    names: Sequence[str] = (),
    *,
    limit: int | None = None,
    where: Mapping[str, Any] | None = None,
) -> SearchResult:
    """Find the best passages for a question; see `Library.search`."""
    return redact_result(library.search(question, names, limit=limit, where=where))

"""Events of a running question for observers: its steps, and tokens as they arrive.

An observer registers a function with `watched_by`; any code that runs below it, also in
threads that copy its context, calls it through `report`. It need not be passed along.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar, Literal

from pydantic import Field

from elt_llm_core.records import Record

# Descriptions of steps; for others the name is shown.
_WORDS = {
    "contextualise": "reading the question",
    "decompose": "looking for several questions in it",
    "embed": "understanding the question",
    "route": "choosing collections",
    "dense": "searching by meaning",
    "keyword": "searching by words",
    "fuse": "joining what was found",
    "fetch": "reading what was found",
    "rerank": "ordering what was found",
    "tables": "looking into tables",
    "synthesize": "writing the answer",
    "verify": "checking every statement against its source",
    "earlier": "reading what was cited before",
    "agent": "looking further with tools",
    "tool": "looking something up",
    "check_subject": "checking what the answer is about",
}


State = Literal["begun", "ended"]


class TurnEvent(Record):
    """One event; `name` is its kind."""

    name: ClassVar[str]


class StepEvent(TurnEvent):
    """A step begins, or ends with its results."""

    name: ClassVar[str] = "status"

    step: str = Field(description="as in the trace")
    state: State
    text: str = Field(default="", description="what it does, for people")
    n_in: int = Field(default=0, ge=0, description="questions, searches or passages")
    n_out: int = Field(default=0, ge=0, description="what it brought")
    milliseconds: float = Field(default=0.0, ge=0)


class TokenEvent(TurnEvent):
    """Tokens that a model has just written; provisional and unchecked."""

    name: ClassVar[str] = "token"

    text: str
    restart: bool = Field(
        default=False, description="what was shown before is written again from here"
    )


Watch = Callable[[TurnEvent], None]

_CURRENT: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched_by(watch: Watch | None) -> Iterator[None]:
    """Register an observer for this block and for threads that copy its context.

    Args:
        watch: Called by `report`. It must return at once, because the question waits
            for it. None registers nobody.
    """
    before = _CURRENT.set(watch)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def is_watched() -> bool:
    """Return whether the current question has an observer."""
    return _CURRENT.get() is not None


def report(event: TurnEvent) -> None:
    """Send an event to the observer of the current question."""
    watch = _CURRENT.get()
    if watch is not None:
        watch(event)


def report_step(
    step: str,
    state: State,
    text: str = "",
    *,
    n_in: int = 0,
    n_out: int = 0,
    milliseconds: float = 0.0,
) -> None:
    """Send the event of a step to the observer, if there is one.

    Args:
        step: Its name, as in the trace.
        state: Whether it begins or ends.
        text: What it does, for people; by default the description of the step.
        n_in: Questions, searches or passages that it was given.
        n_out: What it brought.
        milliseconds: The time it took.
    """
    watch = _CURRENT.get()
    if watch is None:
        return
    plain = step.partition(":")[0]
    watch(
        StepEvent(
            step=step,
            state=state,
            text=text or _WORDS.get(plain, plain.replace("_", " ")),
            n_in=n_in,
            n_out=n_out,
            milliseconds=milliseconds,
        )
    )

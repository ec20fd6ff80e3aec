"""What somebody who watches a question is told: its steps, and words as they come.

Who watches applies a function with `watched_by`; whatever runs below it, in threads
that copy its context too, tells it with `report`. Nobody has to pass it on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar, Literal

from pydantic import Field

from elt_llm_core.records import Record

# What a step does, in words for people; of others the name is shown.
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
    "check_subject": "checking what the answer is about",
}


class TurnEvent(Record):
    """One thing that is told; `name` is its kind."""

    name: ClassVar[str]


class StepEvent(TurnEvent):
    """A step begins, or ends with what it brought."""

    name: ClassVar[str] = "status"

    step: str = Field(description="as in the trace")
    state: Literal["begun", "ended"]
    text: str = Field(default="", description="what it does, for people")
    n_in: int = Field(default=0, ge=0, description="questions, searches or passages")
    n_out: int = Field(default=0, ge=0, description="what it brought")
    milliseconds: float = Field(default=0.0, ge=0)


class TokenEvent(TurnEvent):
    """Words that a model has just written; provisional, nothing was checked yet."""

    name: ClassVar[str] = "token"

    text: str
    restart: bool = Field(
        default=False, description="what was shown before is written again from here"
    )


Watch = Callable[[TurnEvent], None]

_CURRENT: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched_by(watch: Watch | None) -> Iterator[None]:
    """Inside it, and in threads that copy its context, `report` tells this function.

    Args:
        watch: It must return at once: the question waits for it. None is nobody.
    """
    before = _CURRENT.set(watch)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def is_watched() -> bool:
    """Whether anybody is told of the current question."""
    return _CURRENT.get() is not None


def report(event: TurnEvent) -> None:
    """Tell whoever watches the current question."""
    watch = _CURRENT.get()
    if watch is not None:
        watch(event)


def describe_step(step: str) -> str:
    """Return what a step of the trace does, in words for people."""
    plain = step.partition(":")[0]
    return _WORDS.get(plain, plain.replace("_", " "))

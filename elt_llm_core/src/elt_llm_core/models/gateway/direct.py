"""Calls to a model: direct, or through a gateway."""

# ruff: noqa: ARG002 - a gateway needs to know the server

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import TypeVar

from elt_llm_core.models.gateway.kept_answers import Memo
from elt_llm_core.models.gateway.spending import note_answer

T = TypeVar("T")

Stream = Generator[T, None, None]
AsyncStream = AsyncGenerator[T, None]


@dataclass(frozen=True)
class Target:
    """The server and the model of a call."""

    url: str
    model: str


class Direct:
    """Makes each call once. A `Gateway` has the same four methods."""

    def call(
        self, target: Target, send: Callable[[], T], memo: Memo | None = None
    ) -> T:
        """Return the complete answer.

        Args:
            target: Server and model.
            send: Makes the call.
            memo: How the answer can be cached and reused.
        """
        note_answer(asked=memo is not None)
        return send()

    async def acall(
        self, target: Target, send: Callable[[], Awaitable[T]], memo: Memo | None = None
    ) -> T:
        """Like `call`."""
        note_answer(asked=memo is not None)
        return await send()

    def stream(self, target: Target, begin: Callable[[], Stream[T]]) -> Stream[T]:
        """Yield the parts of an answer; closing it ends the call.

        Args:
            target: Server and model.
            begin: Makes the call.
        """
        with closing(begin()) as parts:
            yield from parts

    async def astream(
        self, target: Target, begin: Callable[[], AsyncStream[T]]
    ) -> AsyncStream[T]:
        """Like `stream`."""
        async with aclosing(begin()) as parts:
            async for part in parts:
                yield part


DIRECT = Direct()

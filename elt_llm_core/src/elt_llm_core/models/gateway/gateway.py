"""The gateway of a configuration."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from itertools import islice
from typing import TypeVar

import httpx
from typing_extensions import override

from elt_llm_core.config.sections import GatewaySection
from elt_llm_core.errors import ModelUnavailableError, RunnerDiedError
from elt_llm_core.models.bounds import SILENCES, server_of
from elt_llm_core.models.gateway.direct import AsyncStream, Direct, Stream
from elt_llm_core.models.gateway.retry import acall_again, call_again
from elt_llm_core.models.gateway.slots import Room, slots_of
from elt_llm_core.models.http import is_loopback

T = TypeVar("T")

# A model on this machine has its cores: two calls at a time take twice as long each,
# and on small machines the server wedges. A server elsewhere batches calls.
AT_ONCE_HERE, AT_ONCE_ELSEWHERE = 1, 8


class Gateway(Direct):
    """Makes calls in turn, again where a failure may pass, and rests failing servers.

    What is known of a server (its queue, its failures) is shared by all gateways of
    the process.
    """

    def __init__(self, settings: GatewaySection) -> None:
        self._settings = settings

    @override
    def call(self, url: str, send: Callable[[], T]) -> T:
        """Return the whole answer.

        Raises:
            ModelBusyError: if too many calls wait for the server.
            ModelError: what the last try raised.
        """

        def once() -> T:
            with self._turn(url):
                return send()

        return call_again(self._settings, once)

    @override
    async def acall(self, url: str, send: Callable[[], Awaitable[T]]) -> T:
        """As `call`."""

        async def once() -> T:
            async with self._aturn(url):
                return await send()

        return await acall_again(self._settings, once)

    @override
    def stream(self, url: str, begin: Callable[[], Stream[T]]) -> Stream[T]:
        """Give the parts of an answer; what came is never asked for again."""

        def once() -> tuple[Stream[T], list[T]]:
            parts = self._turn_stream(url, begin)
            return parts, list(islice(parts, 1))

        parts, first = call_again(self._settings, once)
        with closing(parts):
            yield from first
            yield from parts

    @override
    async def astream(
        self, url: str, begin: Callable[[], AsyncStream[T]]
    ) -> AsyncStream[T]:
        """As `stream`."""

        async def once() -> tuple[AsyncStream[T], list[T]]:
            parts = self._aturn_stream(url, begin)
            try:
                return parts, [await anext(parts)]
            except StopAsyncIteration:
                return parts, []

        parts, first = await acall_again(self._settings, once)
        async with aclosing(parts):
            for part in first:
                yield part
            async for part in parts:
                yield part

    def _turn_stream(self, url: str, begin: Callable[[], Stream[T]]) -> Stream[T]:
        with self._turn(url), closing(begin()) as parts:
            yield from parts

    async def _aturn_stream(
        self, url: str, begin: Callable[[], AsyncStream[T]]
    ) -> AsyncStream[T]:
        async with self._aturn(url), aclosing(begin()) as parts:
            async for part in parts:
                yield part

    @contextmanager
    def _turn(self, url: str) -> Iterator[None]:
        with self._watch(url), slots_of(_server(url)).turn(self._room(url)):
            yield

    @asynccontextmanager
    async def _aturn(self, url: str) -> AsyncIterator[None]:
        with self._watch(url):
            async with slots_of(_server(url)).aturn(self._room(url)):
                yield

    def _room(self, url: str) -> Room:
        here = AT_ONCE_HERE if is_loopback(url) else AT_ONCE_ELSEWHERE
        return Room(self._settings.calls_at_once or here, self._settings.calls_waiting)

    @contextmanager
    def _watch(self, url: str) -> Iterator[None]:
        """Count what fails in the body; the breaker opens at the configured number."""
        try:
            yield
        except (ModelUnavailableError, RunnerDiedError):
            most = self._settings.breaker_failures
            SILENCES.fail(_server(url), most, self._settings.breaker_seconds)
            raise
        SILENCES.succeed(_server(url))


def _server(url: str) -> str:
    return server_of(httpx.URL(url))

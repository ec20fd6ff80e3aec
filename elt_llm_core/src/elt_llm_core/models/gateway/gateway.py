"""The gateway of a configuration."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from itertools import islice
from time import monotonic
from typing import Any, TypeVar, cast

import httpx
from typing_extensions import override

from elt_llm_core.config.sections import GatewaySection
from elt_llm_core.errors import EltLlmError, ModelUnavailableError, RunnerDiedError
from elt_llm_core.models.bounds import SILENCES, server_of
from elt_llm_core.models.gateway.answers import (
    cut_to_statement,
    reached_limit,
    tokens_of,
)
from elt_llm_core.models.gateway.direct import AsyncStream, Direct, Stream, Target
from elt_llm_core.models.gateway.kept_answers import Memo
from elt_llm_core.models.gateway.retry import acall_again, call_again
from elt_llm_core.models.gateway.slots import Room, slots_of
from elt_llm_core.models.gateway.spending import (
    TOTALS,
    Account,
    note_answer,
    open_accounts,
)
from elt_llm_core.models.http import is_loopback
from elt_llm_core.results import ModelCost

T = TypeVar("T")

# A model on this machine shares its cores: two concurrent calls take twice as long
# each, and on small machines the server hangs. A remote server batches calls.
AT_ONCE_HERE, AT_ONCE_ELSEWHERE = 1, 8


class Gateway(Direct):
    """Queues calls, retries temporary failures, and suspends failing servers.

    The state of a server (its queue, its failures) is shared by all gateways of the
    process.
    """

    def __init__(self, settings: GatewaySection) -> None:
        self._settings = settings

    @override
    def call(
        self, target: Target, send: Callable[[], T], memo: Memo | None = None
    ) -> T:
        """Return the complete answer, or a cached one.

        Raises:
            ModelBusyError: If too many calls wait for the server.
            ModelError: The error of the last attempt.
        """

        def once() -> T:
            with self._turn(target) as reading:
                return reading.finish(send())

        note_answer(asked=memo is not None)
        memo = self._memo(memo)
        if memo is not None and (known := memo.find()) is not None:
            note_answer(cut=reached_limit(known))
            return cast("T", known)
        answer = call_again(self._settings, once)
        if memo is not None:
            memo.keep(answer)
        return answer

    @override
    async def acall(
        self, target: Target, send: Callable[[], Awaitable[T]], memo: Memo | None = None
    ) -> T:
        """Like `call`."""

        async def once() -> T:
            async with self._aturn(target) as reading:
                return reading.finish(await send())

        note_answer(asked=memo is not None)
        memo = self._memo(memo)
        if memo is not None:
            known = await asyncio.to_thread(memo.find)
            if known is not None:
                note_answer(cut=reached_limit(known))
                return cast("T", known)
        answer = await acall_again(self._settings, once)
        if memo is not None:
            await asyncio.to_thread(memo.keep, answer)
        return answer

    @override
    def stream(self, target: Target, begin: Callable[[], Stream[T]]) -> Stream[T]:
        """Yield the parts of an answer; a stream that has begun is not retried."""

        def once() -> tuple[Stream[T], list[T]]:
            parts = self._turn_stream(target, begin)
            return parts, list(islice(parts, 1))

        parts, first = call_again(self._settings, once)
        with closing(parts):
            yield from first
            yield from parts

    @override
    async def astream(
        self, target: Target, begin: Callable[[], AsyncStream[T]]
    ) -> AsyncStream[T]:
        """Like `stream`."""

        async def once() -> tuple[AsyncStream[T], list[T]]:
            parts = self._aturn_stream(target, begin)
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

    def _memo(self, memo: Memo | None) -> Memo | None:
        """Return the memo if the answer to such a request is cached."""
        kept = self._settings.keep_answers
        if memo is None or kept == "none":
            return None
        return memo if kept == "all" or memo.temperature == 0 else None

    def _turn_stream(self, target: Target, begin: Callable[[], Stream[T]]) -> Stream[T]:
        with self._turn(target) as reading, closing(begin()) as parts:
            for part in parts:
                reading.add(part)
                yield part

    async def _aturn_stream(
        self, target: Target, begin: Callable[[], AsyncStream[T]]
    ) -> AsyncStream[T]:
        async with self._aturn(target) as reading, aclosing(begin()) as parts:
            async for part in parts:
                reading.add(part)
                yield part

    @contextmanager
    def _turn(self, target: Target) -> Iterator["Reading"]:
        slots = slots_of(_server(target))
        with (
            self._watch(target),
            slots.turn(self._room(target)),
            self._charge(target, self._accounts()) as reading,
        ):
            yield reading

    @asynccontextmanager
    async def _aturn(self, target: Target) -> AsyncIterator["Reading"]:
        with self._watch(target):
            async with slots_of(_server(target)).aturn(self._room(target)):
                # It may write to the database.
                accounts = await asyncio.to_thread(self._accounts)
                with self._charge(target, accounts) as reading:
                    yield reading

    def _room(self, target: Target) -> Room:
        here = AT_ONCE_HERE if is_loopback(target.url) else AT_ONCE_ELSEWHERE
        return Room(self._settings.calls_at_once or here, self._settings.calls_waiting)

    @contextmanager
    def _watch(self, target: Target) -> Iterator[None]:
        """Count failures in this block; the circuit opens at the configured number."""
        server = _server(target)
        try:
            yield
        except (ModelUnavailableError, RunnerDiedError) as error:
            most = self._settings.breaker_failures
            rest = self._settings.breaker_seconds
            SILENCES.fail(server, most, rest, error.message)
            raise
        SILENCES.succeed(server)

    def _accounts(self) -> tuple[Account, ...]:
        """Return the open accounts. Raises BudgetSpentError if nothing is left."""
        accounts = open_accounts(self._settings)
        for account in accounts:
            account.check()
        return accounts

    @contextmanager
    def _charge(
        self, target: Target, accounts: tuple[Account, ...]
    ) -> Iterator["Reading"]:
        """Charge the call in this block to accounts."""
        reading = Reading(self._settings.cut_answers)
        outcome = "left"
        try:
            yield reading
            outcome = "ok"
        except EltLlmError as error:
            outcome = error.code
            raise
        finally:
            used = reading.cost()
            TOTALS.add(target.model, outcome, used)
            for account in accounts:
                account.add(used)


class Reading:
    """Reads the usage of one answer as it arrives."""

    def __init__(self, cut: bool) -> None:
        self._cut = cut
        self._started = monotonic()
        self._read = self._written = 0
        self._limited = False

    def add(self, part: Any) -> None:
        """Read an answer or a part of one."""
        read, written = tokens_of(part)
        self._read, self._written = max(self._read, read), max(self._written, written)
        self._limited = self._limited or reached_limit(part)

    def finish(self, answer: T) -> T:
        """Read a complete answer; return it, cut to whole statements if requested."""
        self.add(answer)
        if self._limited and self._cut:
            cut_to_statement(answer)
        return answer

    def cost(self) -> ModelCost:
        """Return the cost of the call so far."""
        return ModelCost(
            calls=1,
            read=self._read,
            written=self._written,
            seconds=monotonic() - self._started,
            cut=int(self._limited),
        )


def _server(target: Target) -> str:
    return server_of(httpx.URL(target.url))

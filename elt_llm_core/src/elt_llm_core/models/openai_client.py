"""Requests in the OpenAI shape over httpx, with failures told apart."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
from pydantic import SecretStr

from elt_llm_core.errors import EltLlmError, ModelError
from elt_llm_core.models.bounds import async_bounds, bounds
from elt_llm_core.models.wire import (
    WIRE_ERRORS,
    client_options,
    says_too_long,
    status_error,
    wire_error,
)

Json = dict[str, Any]

_NOT_FOUND = 404
_END = "[DONE]"


class HttpModel:
    """One model of one server. `url` ends in `/v1`, `seconds` limits each silence."""

    def __init__(
        self, url: str, model: str, seconds: float, api_key: SecretStr | None = None
    ) -> None:
        self.url = url.rstrip("/")
        self.model = model
        self._seconds = seconds
        key = api_key.get_secret_value() if api_key else ""
        options = client_options(url, seconds)
        self._client = httpx.Client(**options, **bounds(seconds))
        self._async_client = httpx.AsyncClient(**options, **async_bounds(seconds))
        if key:
            for client in (self._client, self._async_client):
                client.headers["Authorization"] = f"Bearer {key}"

    def post(self, path: str, body: Json, too_long: EltLlmError) -> Json:
        """The answer. Raises `too_long` if the server says so, else ModelError."""
        with self._translated():
            answer = self._client.post(f"{self.url}{path}", json=body)
            if answer.is_error:
                raise self._refusal(answer, too_long, self._names(answer))
            return _object(answer.json())

    async def apost(self, path: str, body: Json, too_long: EltLlmError) -> Json:
        """As `post`."""
        with self._translated():
            answer = await self._async_client.post(f"{self.url}{path}", json=body)
            if answer.is_error:
                raise self._refusal(answer, too_long, await self._anames(answer))
            return _object(answer.json())

    def stream(
        self, path: str, body: Json, too_long: EltLlmError
    ) -> Generator[Json, None, None]:
        """The events of an answer. Raises as `post`, also while it is read."""
        with self._translated(), self._opened(path, body) as answer:
            if answer.is_error:
                answer.read()
                raise self._refusal(answer, too_long, self._names(answer))
            for line in answer.iter_lines():
                event = _event(line)
                if event == _END:
                    return
                if event:
                    yield _object(json.loads(event))

    async def astream(
        self, path: str, body: Json, too_long: EltLlmError
    ) -> AsyncGenerator[Json, None]:
        """As `stream`; closing it closes the connection, which stops the server."""
        with self._translated():
            async with self._aopened(path, body) as answer:
                if answer.is_error:
                    await answer.aread()
                    raise self._refusal(answer, too_long, await self._anames(answer))
                async for line in answer.aiter_lines():
                    event = _event(line)
                    if event == _END:
                        return
                    if event:
                        yield _object(json.loads(event))

    @contextmanager
    def _opened(self, path: str, body: Json) -> Iterator[httpx.Response]:
        with self._client.stream("POST", f"{self.url}{path}", json=body) as answer:
            yield answer

    @asynccontextmanager
    async def _aopened(self, path: str, body: Json) -> AsyncIterator[httpx.Response]:
        address = f"{self.url}{path}"
        async with self._async_client.stream("POST", address, json=body) as answer:
            yield answer

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except WIRE_ERRORS as error:
            raise wire_error(error, self.url, self.model, self._seconds) from error

    def _refusal(
        self, answer: httpx.Response, too_long: EltLlmError, known: tuple[str, ...]
    ) -> EltLlmError:
        if says_too_long(answer.status_code, answer.text):
            return too_long
        return status_error(answer.status_code, answer.text, self.model, known)

    def _names(self, answer: httpx.Response) -> tuple[str, ...]:
        if answer.status_code != _NOT_FOUND:
            return ()
        try:
            return _listed(self._client.get(f"{self.url}/models").json())
        except (ModelError, *WIRE_ERRORS):
            return ()

    async def _anames(self, answer: httpx.Response) -> tuple[str, ...]:
        if answer.status_code != _NOT_FOUND:
            return ()
        try:
            return _listed((await self._async_client.get(f"{self.url}/models")).json())
        except (ModelError, *WIRE_ERRORS):
            return ()


def _event(line: str) -> str:
    return line.removeprefix("data:").strip() if line.startswith("data:") else ""


def _object(body: Any) -> Json:
    if not isinstance(body, dict):
        raise ModelError(
            "the model server sent no JSON object",
            "check that base_url is that of a model server and ends in /v1",
        )
    return body


def _listed(body: Any) -> tuple[str, ...]:
    entries = body.get("data") if isinstance(body, dict) else None
    return tuple(
        sorted(str(e["id"]) for e in entries or () if isinstance(e, dict) and "id" in e)
    )

"""The models of an Ollama server, and its availability."""

from typing import Any

import httpx

from elt_llm_core.errors import (
    ModelError,
    ModelUnavailableError,
)
from elt_llm_core.models.bounds import bounds
from elt_llm_core.models.http import (
    PROBE_SECONDS,
    WIRE_ERRORS,
    client_options,
    hide_credentials,
)
from elt_llm_core.records import Record


class LoadedModel(Record):
    """A model in the server's memory; `context_length` in tokens, 0 if unknown."""

    name: str
    context_length: int = 0


class ServerStatus(Record):
    """The server's own report; empty if it does not answer."""

    reachable: bool
    version: str = ""
    models: tuple[str, ...] = ()
    loaded: tuple[LoadedModel, ...] = ()
    detail: str = ""


def canonical(name: str) -> str:
    """Return the name with its tag: `x` is `x:latest`."""
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


def server_status(base_url: str) -> ServerStatus:
    """Return version, installed (sorted) and loaded models. Never raises.

    `detail` is the reason if the server is not reachable. Waits at most five seconds
    per request.
    """
    options = client_options(base_url, PROBE_SECONDS)
    try:
        with httpx.Client(**options, **bounds(PROBE_SECONDS)) as client:
            models = [
                _get(client, f"{base_url.rstrip('/')}/api/{what}")
                for what in ("version", "tags", "ps")
            ]
            return _status(*models)
    except (ModelError, httpx.InvalidURL, *WIRE_ERRORS) as error:
        return ServerStatus(reachable=False, detail=str(error) or type(error).__name__)


def _status(
    version: dict[str, Any], tags: dict[str, Any], running: dict[str, Any]
) -> ServerStatus:
    return ServerStatus(
        reachable=True,
        version=str(version.get("version", "")),
        models=tuple(sorted(_name(entry) for entry in _models(tags))),
        loaded=tuple(
            LoadedModel(
                name=_name(entry), context_length=int(entry.get("context_length") or 0)
            )
            for entry in _models(running)
        ),
    )


def check_ollama_connection(base_url: str) -> ServerStatus:
    """Return the server's status. Raises ModelUnavailableError."""
    status = server_status(base_url)
    if not status.reachable:
        raise ModelUnavailableError(hide_credentials(base_url), status.detail)
    return status


def _get(client: httpx.Client, url: str) -> dict[str, Any]:
    answer = client.get(url)
    answer.raise_for_status()
    body = answer.json()
    if not isinstance(body, dict):
        raise ValueError(f"{url} did not send a JSON object")  # noqa: TRY004 - their fault
    return body


def _models(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in body.get("models") or () if isinstance(entry, dict)]


def _name(entry: dict[str, Any]) -> str:
    return str(entry.get("model") or entry.get("name") or "")

"""Answers the commands of this user over a Unix socket in the data root.

The mode of the socket is 0600, and the kernel reports the user of the other process, so
no token and no Host are checked. A command is answered by the code that it would run
itself, and only if the server has the same version and settings.
"""

import json
import logging
import os
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from typing_extensions import override

from elt_llm_api.api_context import ApiContext
from elt_llm_api.server.question_queue import QuestionQueue, Ticket
from elt_llm_api.services.profile_registry import DEFAULT_PROFILE
from elt_llm_core.cli.served import (
    PATIENCE,
    PROTOCOL,
    SOCKET,
    address_of,
    ask_server,
    peer_of,
)
from elt_llm_core.config.loader import RagConfig, load_config
from elt_llm_core.errors import EltLlmError
from elt_llm_query.render import CommandQuestion, print_answer

MOST_BYTES = 1_000_000  # of a request
VERSION = version("elt-llm-core")  # that runs; the installed one may be replaced
OTHER_VERSION = "it has a different version and must be restarted"
SIGN_SECONDS = PATIENCE / 4
ROOT_SECONDS = 0.5  # seconds between two checks for a data root that does not exist yet

log = logging.getLogger(__name__)


class Settings(BaseModel):
    """The options and environment from which a command builds its configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path
    config_file: Path | None = None
    pack: str | None = None
    profile: str | None = None
    models: str | None = None
    data_dir: Path | None = None
    environ: dict[str, str]

    def config(self) -> RagConfig:
        """Return the configuration of the command. Raises ConfigError."""
        over: dict[str, Any] = {}
        if self.data_dir:
            over["stores"] = {"data_dir": self.data_dir}
        pack = self.pack or self.environ.get("ELT_LLM_CONSUMER__PACK")
        if pack:
            own = self.folder / pack  # a folder of the one who asks, or a name
            place = str(own) if (own / "pack.yaml").is_file() else pack
            over["consumer"] = {"pack": place}
        profile = self.profile or self.environ.get("ELT_LLM_PROFILE")
        if profile and profile.endswith((".yaml", ".yml")):
            profile = str(self.folder / profile)
        file = self.folder / self.config_file if self.config_file else None
        return load_config(file, profile, self.environ, over, self.models)


class CommandRequest(BaseModel):
    """The request that a command sends, one line of JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    protocol: int
    version: str
    settings: Settings
    asked: CommandQuestion


@contextmanager
def serving_commands(context: ApiContext, queue: QuestionQueue) -> Iterator[None]:
    """Answer commands in this block, if a socket can be created.

    A data root that does not exist is not created, and is served once it exists. If no
    socket can be created, or another server of the data root has one, commands run on
    their own, and the log has the reason.

    Args:
        context: The documents and what answers from them.
        queue: The queue that the questions of commands share with all others.
    """
    if context.store.data_dir.is_dir():
        with _listening(context, queue):
            yield
        return
    ended = threading.Event()
    arguments = (context, queue, ended)
    thread = threading.Thread(target=_serve_later, args=arguments, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def reply_to(
    line: bytes,
    context: ApiContext,
    queue: QuestionQueue,
    entered: Callable[[Ticket], None] = lambda _: None,
) -> dict[str, Any]:
    """Return the reply to a request.

    Args:
        line: The request as JSON.
        context: The documents and what answers from them.
        queue: The queue that admits the question.
        entered: Receives the ticket of the question once it is admitted.

    Returns:
        `stdout`, the command's output; or `fault`, an error of the command; or
        `declined`, the reason why the command must run on its own; empty if the
        command's own error states it.
    """
    try:
        request, config, chosen = _read_request(line, context)
        ticket, outcome = queue.submit(
            lambda: print_answer(
                request.asked,
                store=context.store,
                config=config,
                models=lambda: context.profiles.models(*chosen),
            ),
            config.query.question_timeout,
        )
        entered(ticket)
        text = outcome.result()
    except CancelledError:
        return {"declined": "it is stopping"}
    except _DeclinedError as error:
        return {"declined": str(error)}
    except EltLlmError as error:
        fields = ("code", "message", "hint", "exit_code", "details")
        return {"fault": {name: getattr(error, name) for name in fields}}
    return {"stdout": text}


class _DeclinedError(Exception):
    """The reason why a command must run on its own."""


def _read_request(
    line: bytes, context: ApiContext
) -> tuple[CommandRequest, RagConfig, tuple[str, str]]:
    """Return the request, its configuration, and the matching profile and models."""
    try:
        request = CommandRequest.model_validate_json(line)
    except ValidationError as error:
        raise _DeclinedError(OTHER_VERSION) from error
    if (request.protocol, request.version) != (PROTOCOL, VERSION):
        raise _DeclinedError(OTHER_VERSION)
    try:
        config = request.settings.config()
    except EltLlmError as error:
        raise _DeclinedError("") from error  # the command itself reports the error
    chosen = _models_of(context, config, request.settings)
    if chosen is None:
        raise _DeclinedError("it has other settings")
    return request, config, chosen


class _Listener(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, context: ApiContext, queue: QuestionQueue) -> None:
        self.context = context
        self.queue = queue
        self.data_dir = context.store.data_dir
        super().__init__(str(self.data_dir / SOCKET), _Conversation)
        self._file = (self.data_dir / SOCKET).lstat().st_ino

    @override
    def server_bind(self) -> None:
        with address_of(self.data_dir) as address:
            self.socket.bind(address)
        # Nobody can connect before it listens.
        (self.data_dir / SOCKET).chmod(0o600)

    @override
    def verify_request(self, request: Any, client_address: Any) -> bool:
        return peer_of(request) == os.geteuid()

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("a command failed", exc_info=sys.exc_info())

    def close(self) -> None:
        """Stop, and remove the socket if it is still this one."""
        self.shutdown()
        self.server_close()
        path = self.data_dir / SOCKET
        with suppress(OSError):
            if path.lstat().st_ino == self._file:
                path.unlink()


class _Conversation(socketserver.StreamRequestHandler):
    timeout = PATIENCE
    server: _Listener

    @override
    def handle(self) -> None:
        line = self.rfile.readline(MOST_BYTES)
        if not line:
            return  # the command does not trust this server, or has ended
        tickets: list[Ticket] = []
        with self._signs_of_life(tickets):
            reply = reply_to(
                line, self.server.context, self.server.queue, tickets.append
            )
        self.wfile.write(json.dumps(reply).encode() + b"\n")

    @contextmanager
    def _signs_of_life(self, tickets: list[Ticket]) -> Iterator[None]:
        """Send an empty line at intervals during this block.

        If the command has ended, writing fails and its question is stopped.
        """
        done = threading.Event()

        def send() -> None:
            gone = False
            while not done.is_set():
                try:
                    self.wfile.write(b"\n")
                except OSError:
                    gone = True
                # The question may be admitted after its command has ended.
                if gone and tickets:
                    tickets[0].leave()
                    return
                done.wait(SIGN_SECONDS)

        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _serve_later(
    context: ApiContext, queue: QuestionQueue, ended: threading.Event
) -> None:
    """Answer commands as soon as the data root exists, until `ended`."""
    log.info("commands wait: there is no data at %s yet", context.store.data_dir)
    while not context.store.data_dir.is_dir():
        if ended.wait(ROOT_SECONDS):
            return
    with _listening(context, queue):
        ended.wait()


@contextmanager
def _listening(context: ApiContext, queue: QuestionQueue) -> Iterator[None]:
    """Answer commands in this block, unless no socket can be created."""
    listener = _listener(context, queue)
    if listener is None:
        yield
        return
    thread = threading.Thread(target=listener.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        listener.close()
        thread.join()


def _listener(context: ApiContext, queue: QuestionQueue) -> _Listener | None:
    data_dir = context.store.data_dir
    path = data_dir / SOCKET
    try:
        if path.is_socket():
            if _is_served(data_dir):
                log.warning("commands are served by another server of %s", data_dir)
                return None
            path.unlink()
        return _Listener(context, queue)
    except OSError as error:
        log.warning("commands are not served, no socket at %s: %s", path, error)
        return None


def _is_served(data_dir: Path) -> bool:
    """Return whether a server listens at the socket; a killed one leaves it."""
    try:
        return ask_server(data_dir, {}) is not None
    except EltLlmError:
        return True


def _models_of(
    context: ApiContext, config: RagConfig, settings: Settings
) -> tuple[str, str] | None:
    """Return the matching profile and models of a command's configuration, if any."""
    root = (settings.folder / config.stores.data_dir).resolve()
    if root != context.store.data_dir.resolve():
        return None
    if settings.folder.resolve() != Path.cwd() and _names_files(config):
        return None
    wanted, profiles = _comparable(config), context.profiles
    models = settings.models or settings.environ.get("ELT_LLM_MODELS") or ""
    for profile in dict.fromkeys((DEFAULT_PROFILE, settings.profile or "")):
        for chosen in dict.fromkeys(("", models)):
            if profile not in profiles.names():
                continue
            if _comparable(profiles.config_of(profile, chosen)) == wanted:
                return profile, chosen
    return None


def _comparable(config: RagConfig) -> RagConfig:
    """Return the configuration without settings that do not affect an answer."""
    plain = RagConfig()
    stores = config.stores.model_copy(update={"data_dir": plain.stores.data_dir})
    update = {"api": plain.api, "logging": plain.logging, "stores": stores}
    return config.model_copy(update=update)


def _names_files(config: RagConfig) -> bool:
    """Return whether options may name a file relative to the process's folder."""
    sections = config.model_dump(include={"models", "query"}).values()
    options = [
        value
        for section in sections
        for key, value in section.items()
        if key.endswith("_options")
    ]
    return any(map(_is_relative, options))


def _is_relative(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_relative, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_is_relative, value))
    if not isinstance(value, str | Path):
        return False
    path = Path(value)
    return not path.is_absolute() and bool(path.suffix or len(path.parts) > 1)

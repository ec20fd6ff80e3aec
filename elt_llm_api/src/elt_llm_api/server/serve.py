"""Opens the socket, refuses unsafe addresses, and runs the server."""

import errno
import ipaddress
import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from elt_llm_core.config.sections import ApiSection, RagConfig
from elt_llm_core.errors import ConfigError, PortTakenError

if TYPE_CHECKING:
    from elt_llm_core.store import Store

BACKLOG = 128
# 16 random letters cannot be guessed over a network; shorter tokens tend to be words.
SHORTEST_TOKEN = 16
MAKES_ONE = (
    "this makes one: python3 -c 'import secrets; print(secrets.token_urlsafe())'"
)


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    Raises:
        PortTakenError: If another program listens there.
        ConfigError: If this machine does not have the address.
    """
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTakenError(host, port) from error
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror}",
            "choose another --host or --port",
        ) from error
    return sock


def server_url(sock: socket.socket) -> str:
    """The URL of the page."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_loopback(host: str) -> bool:
    """Whether a server on `host` can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_exposure(api: ApiSection) -> None:
    """Check that a server which other machines can reach has a token.

    Raises:
        ConfigError: If the token is missing or short, or no client can send it.
    """
    token = api.token.get_secret_value()
    if not all("!" <= character <= "~" for character in token):
        raise ConfigError(
            "api.token has a blank or a character that a client cannot send",
            f"use letters, digits and marks of ASCII; {MAKES_ONE}",
        )
    if is_loopback(api.host):
        return
    if not token:
        raise ConfigError(
            f"api.host {api.host!r} can be reached from other machines "
            "and api.token is empty",
            "set a token (ELT_LLM_API__TOKEN), or listen on 127.0.0.1",
        )
    if len(token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"api.token has {len(token)} characters, and api.host {api.host!r} can be "
            "reached from other machines",
            f"use at least {SHORTEST_TOKEN}; {MAKES_ONE}",
        )


STOP_SECONDS = 3  # seconds; the page keeps streams open that never end by themselves


def run(
    config: RagConfig,
    open_store: "Callable[[], Store]",
    started: Callable[[str], None],
) -> None:
    """Serve until interrupted.

    Args:
        config: The configuration in force.
        open_store: Opens the data root, after the address has been checked.
        started: Is called with the URL once the socket listens.

    Raises:
        ConfigError: If the address is not allowed or not on this machine.
        PortTakenError: If another program listens there.
    """
    check_exposure(config.api)
    sock = listen(config.api.host, config.api.port)
    try:
        # After the checks, because loading all this takes seconds.
        import uvicorn  # noqa: PLC0415

        from elt_llm_api.app import create_app  # noqa: PLC0415
        from elt_llm_api.server.command_socket import serving_commands  # noqa: PLC0415

        app = create_app(config, open_store())
        started(server_url(sock))
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level=logging.getLevelName(config.logging.level),
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )
        with serving_commands(app.state.service, app.state.queue):
            server.run(sockets=[sock])
    finally:
        sock.close()

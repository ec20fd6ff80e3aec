"""Opens the socket of the server, and refuses unsafe addresses."""

import errno
import ipaddress
import socket

from elt_llm_core.config.sections import ApiSection
from elt_llm_core.errors import ConfigError, PortTakenError

BACKLOG = 128  # connections waiting to be accepted: the kernel's old default
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

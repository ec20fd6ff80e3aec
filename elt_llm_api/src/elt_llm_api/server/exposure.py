"""Open the socket of the server, and refuse unsafe addresses."""

import errno
import ipaddress
import socket

from elt_llm_core.config.sections import ApiSection
from elt_llm_core.conversation import check_name
from elt_llm_core.errors import ConfigError, PortTakenError

BACKLOG = 128  # connections waiting to be accepted: the kernel's old default
# 16 random letters cannot be guessed over a network; shorter tokens tend to be words.
SHORTEST_TOKEN = 16
MAKES_ONE = "create one: python3 -c 'import secrets; print(secrets.token_urlsafe())'"


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
    """Return whether a server on `host` can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_exposure(api: ApiSection) -> None:
    """Check that a server reachable from other machines has a token per user.

    Raises:
        ConfigError: If a token is missing, short or cannot be sent, or two users have
            the same.
    """
    tokens = {f"api.users.{name}": token for name, token in api.users.items()}
    for name in api.users:
        check_name(name, "user")
    if api.token.get_secret_value() or not tokens:
        tokens["api.token"] = api.token
    owners: dict[str, str] = {}
    for key, secret in tokens.items():
        token = secret.get_secret_value()
        _check_token(key, token, api.host)
        if token and token in owners:
            raise ConfigError(
                f"{key} and {owners[token]} are the same",
                f"use a different token for each user; {MAKES_ONE}",
            )
        owners[token] = key


def _check_token(key: str, token: str, host: str) -> None:
    """Raise ConfigError for a token that is missing, short or cannot be sent."""
    if not all("!" <= character <= "~" for character in token):
        raise ConfigError(
            f"{key} contains a space or a character that a client cannot send",
            f"use ASCII letters, digits and punctuation; {MAKES_ONE}",
        )
    if not token and key != "api.token":
        raise ConfigError(f"{key} is empty", f"set a token; {MAKES_ONE}")
    if is_loopback(host):
        return
    if not token:
        raise ConfigError(
            f"api.host {host!r} can be reached from other machines "
            "and api.token is empty",
            "set a token (ELT_LLM_API__TOKEN), or listen on 127.0.0.1",
        )
    if len(token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"{key} has {len(token)} characters, and api.host {host!r} can be "
            "reached from other machines",
            f"use at least {SHORTEST_TOKEN}; {MAKES_ONE}",
        )

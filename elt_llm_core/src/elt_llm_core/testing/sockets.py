"""A guard against network access in tests."""

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch


class NetworkBlockedError(OSError):
    """Code tried to access the network."""


def _is_local(host: str) -> bool:
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check(family: int, address: Any) -> None:
    if family in {socket.AF_INET, socket.AF_INET6} and not _is_local(str(address[0])):
        raise NetworkBlockedError(f"a connection to {address[0]!r} was blocked")


@contextmanager
def no_network() -> Iterator[None]:
    """Raise in this block for connections and lookups beyond this machine.

    The error is NetworkBlockedError, an OSError. Sockets of native code are not
    detected.
    """
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex
    look_up = socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _check(self.family, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _check(self.family, address)
        return connect_ex(self, address)

    def guarded_look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host or "")
        if not _is_local(name):
            raise NetworkBlockedError(f"looking up {name!r} was blocked")
        return look_up(host, *args, **kwargs)

    with (
        patch.object(socket.socket, "connect", guarded_connect),
        patch.object(socket.socket, "connect_ex", guarded_connect_ex),
        patch.object(socket, "getaddrinfo", guarded_look_up),
    ):
        yield

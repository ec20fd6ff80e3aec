"""Send a question to a running server of the same data root, over a Unix socket in it.

The client imports hardly anything. The server runs the same code with the configuration
that the command would have, and replies with the output of the command.

A request is one line of JSON; the reply is one line of JSON, preceded by an empty line
every half second as a heartbeat.
"""

import json
import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from elt_llm_core.errors import EltLlmError

SOCKET = "serve.sock"
PROTOCOL = 1  # incremented on incompatible changes of the protocol
PATIENCE = 2.0  # seconds without a heartbeat; a server sends two per second
LONGEST_ADDRESS = 100  # bytes; a socket's address may have 107
MOST_BYTES = 64_000_000  # of a reply
_CREDENTIALS = struct.Struct("3i")
_PRIVATE = "ELT_LLM_PASSWORD"  # of protected documents; a question needs none


class Served(NamedTuple):
    """The reply of a server: the text to print, or the reason why there is none.

    Without a server, both are empty.
    """

    text: str | None = None
    declined: str = ""


class ServerSilentError(EltLlmError):
    """A server exists but cannot be used; the message has the reason."""


def ask_server(data_dir: Path, request: dict[str, Any]) -> dict[str, Any] | None:
    """Send a request to the server of a data root and return its reply.

    Args:
        data_dir: The data root.
        request: The request; protocol and version are added.

    Returns:
        The reply, or None if no server listens.

    Raises:
        ServerSilentError: If a server exists but sends no heartbeat, belongs to another
            user, or sends an invalid reply.
    """
    if not is_ours(data_dir / SOCKET) or not hasattr(socket, "SO_PEERCRED"):
        return None
    whole = {**request, "protocol": PROTOCOL, "version": version("elt-llm-core")}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE)
        try:
            with address_of(data_dir) as address:
                connection.connect(address)
        except TimeoutError as error:
            raise ServerSilentError("does not answer") from error
        except OSError:
            return None  # left behind by a server that was killed
        if peer_of(connection) != os.geteuid():
            raise ServerSilentError("belongs to another user")
        try:
            connection.sendall(json.dumps(whole).encode() + b"\n")
            reply = json.loads(_last_line(connection))
        except TimeoutError as error:
            raise ServerSilentError("does not answer") from error
        except (OSError, ValueError) as error:
            raise ServerSilentError(
                "closed the connection before it answered"
            ) from error
    if not isinstance(reply, dict):
        raise ServerSilentError("sent a malformed reply")
    return reply


def error_of(fault: dict[str, Any]) -> EltLlmError:
    """Return the error that a server reported, as this process would raise it.

    Args:
        fault: Its code, message, hint, exit code and details.
    """
    error = EltLlmError(fault["message"], fault["hint"], fault["details"])
    error.code, error.exit_code = fault["code"], fault["exit_code"]
    return error


def settings_of_process() -> dict[str, str]:
    """Return the environment variables that affect the configuration."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("ELT_LLM_") and name != _PRIVATE
    }


def is_ours(path: Path) -> bool:
    """Return whether `path` is a socket of this user, closed to others."""
    try:
        info = path.lstat()
    except OSError:
        return False
    private = not stat.S_IMODE(info.st_mode) & 0o077
    return stat.S_ISSOCK(info.st_mode) and private and info.st_uid == os.geteuid()


def peer_of(connection: socket.socket) -> int:
    """Return the user id of the process at the other end of a connection."""
    credentials = connection.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size
    )
    _, user, _ = _CREDENTIALS.unpack(credentials)
    return int(user)


@contextmanager
def address_of(data_dir: Path) -> Iterator[str]:
    """Yield an address of the socket that is short enough.

    Args:
        data_dir: The data root, whose path may be longer than an address.

    Raises:
        OSError: If the folder cannot be opened.
    """
    plain = str(data_dir.absolute() / SOCKET)
    if len(os.fsencode(plain)) <= LONGEST_ADDRESS:
        yield plain
        return
    folder = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{SOCKET}"
    finally:
        os.close(folder)


def _last_line(connection: socket.socket) -> bytes:
    """Return the only non-empty line. Raises TimeoutError, OSError, ValueError."""
    line = bytearray()
    while not line.endswith(b"\n"):
        part = connection.recv(1 << 16)
        if not part or len(line) > MOST_BYTES:
            raise ValueError
        line += part if line else part.lstrip(b"\n")
    return bytes(line)

"""Real processes without the seconds that imports take.

A warm server imports everything once, while it has one thread and no file open. A
command is then a fork of it: its own process, in a process group of its own, that can
be killed like any other. What a command starts by `sys.executable` is a fork of the
same server, in the group that the command chose for it.
"""

import atexit
import contextlib
import gc
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOCKET = "ELT_WARM_SOCKET"
PATCH = "ELT_WARM_PATCH"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
door.connect({door!r})
ask = {{"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(),
       "group": os.getpgrp()}}
data = json.dumps(ask).encode()
socket.send_fds(door, [len(data).to_bytes(8, "big")], [0, 1, 2])
door.sendall(data)
with door.makefile("rb") as answer:
    next(answer)
    code = int(next(answer))
if code < 0:
    signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@dataclass(eq=False)
class Command:
    """One command that was started. `out` and `err` are where it writes."""

    door: socket.socket
    pid: int
    out: Path
    err: Path

    def kill(self) -> None:
        """Kill the whole group at once; a builder beside it ends with its input."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Send a signal to the group, as a terminal does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def wait(self, timeout: float = 120.0) -> int:
        """The exit code; negative for a signal. Raises TimeoutError."""
        self.door.settimeout(timeout)
        with self.door, self.door.makefile("rb") as answer:
            line = answer.readline()
        if not line:
            raise EOFError("the warm server is gone")
        return int(line)

    def running(self, seconds: float) -> bool:
        """Whether it still runs after so many seconds; returns as soon as it ends."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.door, selectors.EVENT_READ)
            return not waiting.select(seconds)


class Warm:
    """The warm server of one test session, and the commands it runs."""

    def __init__(self, modules: Sequence[str], path: Sequence[Path] = ()) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="elt-warm-"))
        self._socket = self.folder / "door"
        self._commands: list[Command] = []
        self.python = client = self.folder / "python"
        client.write_text(CLIENT.format(python=sys.executable, door=str(self._socket)))
        client.chmod(0o755)
        before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        pythonpath = os.pathsep.join(filter(None, map(str, [*path, HERE, *before])))
        self._base = {**os.environ, **ONE_THREAD, "PYTHONPATH": pythonpath}
        (self.folder / "tmp").mkdir()
        self._base |= {SOCKET: str(self._socket), "TMPDIR": str(self.folder / "tmp")}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "crash_warm.py"), str(client), *modules],
            env=self._base,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != b"ready\n":
            self.close()
            raise RuntimeError("the warm server cannot start")

    @property
    def environment(self) -> dict[str, str]:
        """What commands find in their environment."""
        return dict(self._base)

    def start(self, arguments: Sequence[str], **env: str) -> Command:
        """Start `python …arguments` with more in its environment."""
        number = len(self._commands)
        out, err = (self.folder / f"{number}.{end}" for end in ("out", "err"))
        door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        door.connect(str(self._socket))
        ask = {
            "argv": list(arguments),
            "env": {**self._base, **env},
            "cwd": str(self.folder),
            "group": 0,
        }
        data = json.dumps(ask).encode()
        with Path(os.devnull).open() as none, out.open("wb") as o, err.open("wb") as e:
            fds = [none.fileno(), o.fileno(), e.fileno()]
            socket.send_fds(door, [len(data).to_bytes(8, "big")], fds)
        door.sendall(data)
        pid = b""
        while not pid.endswith(b"\n"):
            pid += door.recv(1)
        command = Command(door, int(pid), out, err)
        self._commands.append(command)
        return command

    def run(self, arguments: Sequence[str], **env: str) -> tuple[int, str, str]:
        """Exit code, standard output and error of a command that is let end."""
        command = self.start(arguments, **env)
        code = command.wait()
        return code, command.out.read_text(), command.err.read_text()

    def close(self) -> None:
        """End the server and everything it started."""
        for command in self._commands:
            command.door.close()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        assert self._process.stdout is not None
        self._process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _serve(client: str, modules: Sequence[str]) -> None:  # noqa: C901, PLR0912
    for module in modules:
        __import__(module)
    if window := sys.modules.get("elt_llm_ingest.window"):
        # How many texts share a batch hangs on the clock, and with it how often a
        # point is passed: here the same command passes each point equally often.
        setattr(window, "MOST_SECONDS", float("inf"))  # noqa: B010
    if languages := sys.modules.get("elt_llm_core.language.detect"):
        languages.detect("Welke taal is dit?")  # loads its model, half a second
    gc.freeze()  # what is never looked at by a collector stays shared
    sys.executable = client
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(os.environ[SOCKET])
    listener.listen(64)
    waiting = selectors.DefaultSelector()
    waiting.register(listener, selectors.EVENT_READ, ("accept", None))
    waiting.register(0, selectors.EVENT_READ, ("end", None))
    # Two threads at a fork would leave locks behind that nobody ever opens.
    assert len(list(Path("/proc/self/task").iterdir())) == 1
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    alive: dict[int, tuple[socket.socket, int]] = {}
    while True:
        for key, _ in waiting.select():
            kind, number = key.data
            if kind == "end":
                for pid in alive:
                    os.kill(pid, signal.SIGKILL)
                os._exit(0)
            elif kind == "accept":
                _accept(listener, waiting, alive)
            elif kind == "ended":
                _ended(number, waiting, alive)
            elif number in alive:
                # Who asked is gone, so what stands for its child goes too.
                waiting.unregister(alive[number][0])
                os.kill(number, signal.SIGKILL)


def _accept(
    listener: socket.socket,
    waiting: selectors.BaseSelector,
    alive: dict[int, tuple[socket.socket, int]],
) -> None:
    door, _ = listener.accept()
    try:
        head, fds, _, _ = socket.recv_fds(door, 8, 3)
        data = b""
        while len(data) < int.from_bytes(head, "big"):
            part = door.recv(1 << 20)
            if not part:
                raise ConnectionError
            data += part
    except OSError:
        door.close()
        return
    ask = json.loads(data)
    pid = os.fork()
    if pid == 0:
        for opened in (listener, door, waiting):
            opened.close()
        _become(ask, fds)
    # Here too: who is told of the process may kill its group before it runs.
    with contextlib.suppress(OSError):
        os.setpgid(pid, ask["group"])
    for number in fds:
        os.close(number)
    try:
        door.sendall(f"{pid}\n".encode())
    except OSError:
        os.kill(pid, signal.SIGKILL)
    handle = os.pidfd_open(pid)
    alive[pid] = (door, handle)
    waiting.register(handle, selectors.EVENT_READ, ("ended", pid))
    waiting.register(door, selectors.EVENT_READ, ("left", pid))


def _ended(
    pid: int,
    waiting: selectors.BaseSelector,
    alive: dict[int, tuple[socket.socket, int]],
) -> None:
    _, status = os.waitpid(pid, 0)
    door, handle = alive.pop(pid)
    waiting.unregister(handle)
    os.close(handle)
    with contextlib.suppress(KeyError):
        waiting.unregister(door)
    with contextlib.suppress(OSError):
        door.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    door.close()


def _become(ask: dict[str, Any], fds: Sequence[int]) -> None:
    """Be the command, in this fork; never returns."""
    code = 1
    try:
        try:
            os.setpgid(0, ask["group"])
        except PermissionError:
            os.setpgid(0, 0)
        for target, source in enumerate(fds):
            os.dup2(source, target)
            os.close(source)
        os.chdir(ask["cwd"])
        os.environ.clear()
        os.environ.update(ask["env"])
        sys.stdin, sys.stdout, sys.stderr = (
            open(0, closefd=False),  # noqa: SIM115
            open(1, "w", closefd=False),  # noqa: SIM115
            open(2, "w", buffering=1, closefd=False),  # noqa: SIM115
        )
        code = _python(ask["argv"])
    except SystemExit as leaving:
        code = _code(leaving)
    except BaseException:  # noqa: BLE001 - process boundary
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            atexit._run_exitfuncs()  # a view of an index is taken away at the exit
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _code(leaving: SystemExit) -> int:
    if leaving.code is None or isinstance(leaving.code, int):
        return leaving.code or 0
    sys.stderr.write(f"{leaving.code}\n")
    return 1


def _python(arguments: list[str]) -> int:
    """What the interpreter does with `-P -m module …` or `script …`."""
    rest = [a for a in arguments[:2] if a not in ("-P", "-B")] + arguments[2:]
    if patch := os.environ.get(PATCH):
        import crash_broken

        getattr(crash_broken, patch)()
    if rest[0] == "-m":
        sys.argv = rest[1:]
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = rest
        runpy.run_path(rest[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2:])

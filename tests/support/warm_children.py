"""Children of the product that begin with their imports done, in tests.

The product reads files, draws pages and builds indexes in processes of their own. Each
imports for half a second to a second and then works for milliseconds, and the tests
start thousands. Here such a process is a fork of one that has imported the same: a
child of the test's process like any other, with its own group, input, output, memory,
limits and end. Only the start of the interpreter is left out; the tests that start
commands as a user does, and those that ask for `cold_children`, have it.

    python -P warm_children.py MODULES…    imports, then forks what its input asks for
"""

import atexit
import contextlib
import ctypes
import gc
import json
import os
import resource
import runpy
import socket
import subprocess
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

LENGTH = 4  # bytes that tell the length of a message
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of <sys/prctl.h>
# Two threads at a fork would leave locks behind that nobody ever opens.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# What a process inherits, and tests lower.
LIMITS = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE)
OF_NO_MATTER = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
READING = (
    "elt_llm_ingest.sandbox.worker",
    "elt_llm_ingest.inspecting.render_page",
)
INDEXING = (
    "elt_llm_core.store.index.build",
    "elt_llm_core.store.index.generation_check",
)
# Commands and scripts, warm only in tests that ask for `warm_commands`.
COMMANDS = ("-c", "elt_llm_core.cli")
# What they import when they are at it; the readers of files seldom met are left out.
AT_WORK = {
    READING: (
        "elt_llm_ingest.readers.image",
        "elt_llm_ingest.readers.markdown",
        "elt_llm_ingest.readers.pdf.document",
        "elt_llm_ingest.readers.text_file",
        "elt_llm_ingest.readers.web.html",
        "pypdfium2",
    ),
    INDEXING: ("bm25s", "chromadb", "chromadb.config"),
    COMMANDS: (
        "bm25s",
        "elt_llm_api.api_context",
        "elt_llm_api.app",
        "elt_llm_api.mcp_server.http_endpoint",
        "elt_llm_api.mcp_server.tool_server",
        "elt_llm_core.cli.doctor",
        "elt_llm_core.cli.failures",
        "elt_llm_core.cli.progress",
        "elt_llm_core.models.factory",
        "elt_llm_core.store.writer",
        "elt_llm_core.testing",
        "elt_llm_ingest.cli",
        "elt_llm_ingest.indexing",
        "elt_llm_ingest.ingest",
        "elt_llm_query.cli",
        "elt_llm_query.engine",
    ),
}


class Forks:
    """A process that has imported, and is forked for every child that is started."""

    def __init__(self, modules: Sequence[str], environment: dict[str, str]) -> None:
        self._door, theirs = socket.socketpair()
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-B", __file__, *modules],
                stdin=theirs,
                start_new_session=True,  # Ctrl-C is for the tests
                env={**environment, **ONE_THREAD},
            )

    def start(self, ask: dict[str, Any], files: Sequence[int]) -> int:
        """Start a child of this process; returns its number."""
        data = json.dumps(ask).encode()
        libc = ctypes.CDLL(None)
        with self._lock:
            head = len(data).to_bytes(LENGTH, "big")
            socket.send_fds(self._door, [head], list(files))
            # Whose parent ends is given to this process, so that it can wait for it.
            libc.prctl(SUBREAPER, 1, 0, 0, 0)
            try:
                self._door.sendall(data)
                number = self._door.recv(LENGTH)
            finally:
                libc.prctl(SUBREAPER, 0, 0, 0, 0)
        if not number:
            raise EOFError("the process that is forked is gone")
        return int.from_bytes(number, "big")

    def close(self) -> None:
        """End it; what was started goes on."""
        self._door.close()
        self._process.wait(timeout=60)


class WarmChildren:
    """Starts those children of this process warm, while it is `on`."""

    def __init__(self) -> None:
        self.on = True
        self.commands = False
        self._forks: dict[Sequence[str], Forks] = {}
        self._environment = dict(os.environ)
        self._cold: Callable[..., None] = subprocess.Popen._execute_child  # type: ignore[attr-defined]

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Stand where `subprocess.Popen` starts a process."""

        def execute(popen: Any, *given: Any) -> None:
            if not self._start(popen, *given):
                self._cold(popen, *given)

        subprocess.Popen._execute_child = execute  # type: ignore[attr-defined]
        try:
            yield
        finally:
            subprocess.Popen._execute_child = self._cold  # type: ignore[attr-defined]
            for forks in self._forks.values():
                forks.close()

    @contextlib.contextmanager
    def cold(self) -> Iterator[None]:
        """Start every child as it starts for a user."""
        self.on = False
        try:
            yield
        finally:
            self.on = True

    def _start(self, popen: Any, *given: Any) -> bool:
        """Start a child warm; false if it is none of ours, or wants what forks lack."""
        if sys.platform != "linux":
            return False
        names = self._cold.__code__.co_varnames[1 : len(given) + 1]
        asked = dict(zip(names, given, strict=True))
        module, rest = _module_of(asked["args"])
        family = next((f for f in AT_WORK if module in f), None)
        env = dict(os.environ if asked["env"] is None else asked["env"])
        wanted = self.commands if family is COMMANDS else self.on
        if family is None or not wanted or not self._suits(env):
            return False
        if family not in self._forks:
            modules = [name for name in family if name != "-c"]
            modules += AT_WORK[family]
            self._forks[family] = Forks(modules, self._environment)
        sys.audit("subprocess.Popen", asked["args"][0], asked["args"], None, env)
        ask = {
            "module": module,
            "arguments": rest,
            "env": env,
            "cwd": str(asked["cwd"] or Path.cwd()),
            "session": asked["start_new_session"],
            "group": asked["process_group"],
            "limits": [resource.getrlimit(kind) for kind in LIMITS],
        }
        ends = ("p2cread", "c2pwrite", "errwrite")
        files = [
            own if asked[end] == -1 else asked[end] for own, end in enumerate(ends)
        ]
        popen.pid = self._forks[family].start(ask, files)
        popen._child_created = True
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        popen._close_pipe_fds(*(asked[pipe] for pipe in pipes))
        return True

    def _suits(self, env: dict[str, str]) -> bool:
        """Whether an interpreter would start with it as the one that is forked did."""
        if any(name.startswith("COV") for name in env):
            return False  # coverage begins with the interpreter and ends with it
        return all(
            value == self._environment.get(name)
            for name, value in env.items()
            if name.startswith(("PYTHON", "LD_")) and name not in OF_NO_MATTER
        )


def _module_of(command: Any) -> tuple[str, list[str]]:
    """The module, or -c, and the arguments of `python -P -B -m module …`."""
    if not isinstance(command, list | tuple) or command[0] != sys.executable:
        return "", []
    first, rest = command[1:3], list(command[3:])
    rest[:0] = [one for one in first if one not in ("-P", "-B")]
    if rest[0] == "-c":
        return "-c", rest[1:]
    return (rest[1], rest[2:]) if rest[0] == "-m" else ("", [])


def _serve(modules: Sequence[str]) -> None:
    for module in modules:
        __import__(module)
    assert len([*Path("/proc/self/task").iterdir()]) == 1
    gc.freeze()  # what no collector looks at stays shared
    with socket.socket(fileno=os.dup(0)) as door:
        while True:
            head, files, _, _ = socket.recv_fds(door, LENGTH, 3)
            if not head:
                os._exit(0)
            size = int.from_bytes(head, "big")
            data = b""
            while len(data) < size:
                data += door.recv(size - len(data))
            door.sendall(_fork(json.loads(data), files).to_bytes(LENGTH, "big"))
            for number in files:
                os.close(number)


def _fork(ask: dict[str, Any], files: Sequence[int]) -> int:
    """Start the child of a child that ends, so that the tests' process inherits it."""
    read, write = os.pipe()
    between = os.fork()
    if between == 0:
        if os.fork() == 0:
            _become(ask, files, write)
        os._exit(0)
    os.close(write)
    os.waitpid(between, 0)
    with os.fdopen(read) as answer:
        return int(answer.read())  # written when it has its group


def _become(ask: dict[str, Any], files: Sequence[int], write: int) -> None:
    """Be the child, in this fork; never returns."""
    code = 1
    try:
        if ask["session"]:
            os.setsid()
        elif ask["group"] >= 0:
            os.setpgid(0, ask["group"])
        for target, source in enumerate(files):
            os.dup2(source, target)
        os.write(write, b"%d" % os.getpid())
        os.closerange(3, 1024)
        for kind, limit in zip(LIMITS, ask["limits"], strict=True):
            resource.setrlimit(kind, limit)
        os.chdir(ask["cwd"])
        os.environ.clear()
        os.environ.update(ask["env"])
        sys.stdin, sys.stdout, sys.stderr = (
            open(0, closefd=False),  # noqa: SIM115
            open(1, "w", closefd=False),  # noqa: SIM115
            open(2, "w", buffering=1, closefd=False),  # noqa: SIM115
        )
        _run(ask["module"], ask["arguments"])
        code = 0
    except SystemExit as leaving:
        code = _code(leaving)
    except BaseException:  # noqa: BLE001 - process boundary
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            threading._shutdown()  # waits for the threads, as an interpreter does
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _run(module: str, arguments: list[str]) -> None:
    """Do what the interpreter does with `-c …` or `-m module …`."""
    if module == "-c":
        sys.argv = ["-c", *arguments[1:]]
        sys.path.insert(0, "")
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(arguments[0], vars(main))  # noqa: S102 - a script of a test
        return
    sys.argv = ["", *arguments]
    for name in (module, f"{module}.__main__"):
        if not hasattr(sys.modules.get(name), "__path__"):
            sys.modules.pop(name, None)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _code(leaving: SystemExit) -> int:
    if leaving.code is None or isinstance(leaving.code, int):
        return leaving.code or 0
    sys.stderr.write(f"{leaving.code}\n")
    return 1


if __name__ == "__main__":
    _serve(sys.argv[1:])

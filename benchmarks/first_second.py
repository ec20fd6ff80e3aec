"""What one question on the command line costs before it is answered.

    uv run python benchmarks/first_second.py [--runs 5] [--imports] [--served]

Takes the shipped sample in once, then runs `elt-llm query` and `elt-llm search` in turn
with a bare `import llama_index.core` in the same interpreter, and prints the median and
the least processor seconds (user and system) of each, and what is left beside that
import, pair by pair. Bytecode is cached, as after any first run. `--imports` prints a
table of the modules that the query imports beside LlamaIndex, by package, with the
processor time of each; `--served` asks a running server of the same data root as well.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

QUESTION = "Which radio channel is kept free for distress calls?"
BARE = (sys.executable, "-c", "import llama_index.core")
OURS = (sys.executable, "-m", "elt_llm_core.cli")
SHOWN = 16  # packages of the table
# Runs a command line with a stopwatch around the body of each module.
TIMED = """
import importlib.machinery, runpy, sys, time
own, inner = {}, []

def watched(loader):
    execute = loader.exec_module

    def exec_module(self, module):
        start = time.process_time()
        inner.append(0.0)
        try:
            return execute(self, module)
        finally:
            spent = time.process_time() - start
            own[module.__name__] = spent - inner.pop()
            if inner:
                inner[-1] += spent

    loader.exec_module = exec_module

watched(importlib.machinery.SourceFileLoader)
watched(importlib.machinery.ExtensionFileLoader)
import llama_index.core
plain = set(own)
sys.argv = ["elt-llm", *sys.argv[1:]]
try:
    runpy.run_module("elt_llm_core.cli", run_name="__main__")
finally:
    for name, spent in own.items():
        print(name, spent, int(name in plain), sep="\\t", file=sys.stderr)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--imports", action="store_true")
    parser.add_argument("--served", action="store_true")
    parser.add_argument("--root", type=Path, help="a data root that is there already")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        environ = os.environ | {"PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode")}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        root = ["--data-dir", str(given.root or Path(folder) / "root"), "--quiet"]
        if given.root is None:
            _run([*OURS, "demo", *root], environ)
        commands = {
            "import llama_index.core": list(BARE),
            "query": [*OURS, "query", QUESTION, "--local", *root],
            "search": [*OURS, "search", QUESTION, "--local", *root],
            "--help": [*OURS, "--help"],
        }
        if given.served:
            stack.callback(_serve(root, environ).terminate)
            for name in ("query", "search"):
                served = [part for part in commands[name] if part != "--local"]
                commands[f"{name}, served"] = served
        _print_costs(commands, given.runs, environ)
        if given.imports:
            _print_imports(commands["query"][len(OURS) :], environ)


def _run(command: list[str], environ: dict[str, str]) -> tuple[float, float]:
    """Processor and wall seconds of one command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environ, check=True, capture_output=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, wall


def _serve(root: list[str], environ: dict[str, str]) -> subprocess.Popen[bytes]:
    """A server of the data root, once it has answered a question."""
    command = [*OURS, "serve", "--port", "0", *root]
    server = subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL)
    socket = Path(root[1]) / "serve.sock"
    while not socket.exists() and server.poll() is None:
        time.sleep(0.2)
    _run([*OURS, "query", QUESTION, *root], environ)
    return server


def _print_costs(
    commands: dict[str, list[str]], runs: int, environ: dict[str, str]
) -> None:
    costs: dict[str, list[float]] = {name: [] for name in commands}
    walls: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            spent, wall = _run(command, environ)
            if turn:  # the first writes bytecode and warms the disk
                costs[name].append(spent)
                walls[name].append(wall)
    bare = costs["import llama_index.core"]
    print("| command | CPU-s, median | least | beside the import | wall s, least |")
    print("|---|---|---|---|---|")
    for name, spent in costs.items():
        beside = statistics.median(a - b for a, b in zip(spent, bare, strict=True))
        cells = (statistics.median(spent), min(spent), beside, min(walls[name]))
        print(f"| `{name}` | {' | '.join(f'{cell:.2f}' for cell in cells)} |")


def _print_imports(arguments: list[str], environ: dict[str, str]) -> None:
    command = [sys.executable, "-c", TIMED, *arguments]
    done = subprocess.run(command, env=environ, check=True, capture_output=True)
    spent: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for line in done.stderr.decode().splitlines():
        name, seconds, plain = line.split("\t")
        package = name.partition(".")[0]
        if plain == "1":
            package = "import llama_index.core, all of it"
        spent[package] += float(seconds)
        modules[package] += 1
    print("\n| package | modules | CPU-ms |\n|---|---|---|")
    for package, seconds in spent.most_common(SHOWN):
        print(f"| {package} | {modules[package]} | {1000 * seconds:.0f} |")


if __name__ == "__main__":
    main()

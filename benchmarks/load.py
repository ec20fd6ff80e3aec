"""Sixty questions at once over HTTP, a slow model behind them, and clients that leave.

    python benchmarks/load.py --data-dir ROOT --collection NAME FILE

FILE holds one question a line. Serves ROOT from a process of its own with Ollama's
protocol behind it, asks all questions at once, then again with clients that leave, and
prints how they ended, the calls that were on their way at a time, and how long `/livez`
took meanwhile, measured by another process.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from ollama_server import Json, OllamaServer

LONG = 300.0  # seconds
LEAVE = 1.0  # seconds after which a client leaves
PROBE = """
import http.client, json, sys, time
host, seconds = sys.argv[1], []
print("ready", flush=True)
import threading
ending = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ending.set()), daemon=True).start()
while not ending.is_set():
    begin = time.perf_counter()
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", "/livez")
    connection.getresponse().read()
    connection.close()
    seconds.append(time.perf_counter() - begin)
    ending.wait(0.02)
print(json.dumps(seconds))
"""


class SlowModel:
    """Repeats its first source after a while, and counts what is on its way."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.calls = self.running = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, messages: list[Json]) -> str:
        """Answer."""
        with self._lock:
            self.calls += 1
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(self.seconds)
        with self._lock:
            self.running -= 1
        source = str(messages[-1]["content"]).partition("\n[S1]")[2]
        return source.partition("\n")[2].partition(".")[0] + " [S1]."


def start_server(
    options: argparse.Namespace, model_url: str
) -> tuple[subprocess.Popen[str], str]:
    """Run `elt-llm serve`; returns its process and its address."""
    settings = {
        "MODELS__LLM_STRATEGY": "ollama",
        "OLLAMA__BASE_URL": model_url,
        "OLLAMA__LLM_MODEL": "smollm2:135m",
        "QUERY__SYNTHESIZER_STRATEGY": options.mode,
        "GATEWAY__KEEP_ANSWERS": "none",
    }
    return serve_root(options.data_dir, settings)


def serve_root(
    root: Path, settings: dict[str, str]
) -> tuple[subprocess.Popen[str], str]:
    """Run `elt-llm serve` on a free port; returns its process and its address."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ELT_LLM_")}
    command = [sys.executable, "-m", "elt_llm_core.cli", "serve", "--port", "0"]
    server = subprocess.Popen(
        [*command, "--data-dir", str(root)],
        stderr=subprocess.PIPE,
        text=True,
        env={**clean, **{f"ELT_LLM_{k}": v for k, v in settings.items()}},
    )
    lines = server.stderr or ()
    line = next(line for line in lines if "serves http" in line)
    return server, line.split("serves ")[1].split()[0].rstrip("/")


@contextmanager
def serving(options: argparse.Namespace, model_url: str) -> Iterator[str]:
    """Run `elt-llm serve` for the body; gives its address."""
    server, url = start_server(options, model_url)
    try:
        yield url
    finally:
        server.terminate()
        server.wait()


@contextmanager
def probing(url: str) -> Iterator[list[float]]:
    """Ask `/livez` from another process; the list has its times afterwards, in ms."""
    times: list[float] = []
    host = url.partition("//")[2]
    with subprocess.Popen(
        [sys.executable, "-c", PROBE, host],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as probe:
        if probe.stdout is not None:
            probe.stdout.readline()
        yield times
        out, _ = probe.communicate()
        times.extend(1000 * seconds for seconds in json.loads(out))


async def ask_all(url: str, options: argparse.Namespace, leave: float) -> Counter[str]:
    """Ask every question at once; a client leaves after so many seconds, if any."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=leave or LONG, limits=limits) as client:

        async def ask(question: str) -> str:
            body = {"question": question, "collections": [options.collection]}
            try:
                answer = await client.post(f"{url}/v1/query", json=body)
            except httpx.ReadTimeout:
                return "left"
            if answer.status_code == 429:
                return "429" if answer.headers.get("retry-after") else "429, no word"
            return str(answer.json().get("status", answer.status_code))

        questions = options.file.read_text(encoding="utf-8").splitlines()
        asked = [questions[at % len(questions)] for at in range(options.questions)]
        named = [f"{text} ({at})" for at, text in enumerate(asked)]
        return Counter(await asyncio.gather(*map(ask, named)))


def measure(url: str, options: argparse.Namespace, leave: float | None) -> list[str]:
    """Return outcomes, the times of `/livez` and the seconds of one round."""
    begun, outcomes = time.perf_counter(), Counter[str]()
    with probing(url) as times:
        if leave is None:
            time.sleep(3)
        else:
            outcomes = asyncio.run(ask_all(url, options, leave))
    spent = time.perf_counter() - begun
    times.sort()
    at = [times[int(share * (len(times) - 1))] for share in (0.5, 0.99, 1)]
    said = ", ".join(f"{n} {name}" for name, n in sorted(outcomes.items()))
    return [said, " / ".join(f"{one:.0f}" for one in at), f"{spent:.1f}"]


def main() -> None:
    """Print a row for idleness, the load, and the clients that leave."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--collection", required=True)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--mode", default="compact")
    parser.add_argument("--seconds", type=float, default=0.3, help="a model call takes")
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    model = SlowModel(options.seconds)
    print("| what | outcomes | /livez p50 / p99 / longest, ms | s | calls, at once |")
    print("|---|---|---|---|---|")
    with (
        OllamaServer(reply=model) as server,
        serving(options, server.base_url) as url,
    ):
        httpx.get(f"{url}/readyz", timeout=LONG)
        for what, leave in (("nothing asked", None), ("load", 0.0), ("leave", LEAVE)):
            before = model.calls
            row = measure(url, options, leave)
            # The server of the protocol goes on with a call that was left.
            most = "" if leave else f", {model.most}"
            calls = f"{model.calls - before}{most}"
            print(f"| {' | '.join([what, *row, calls])} |", flush=True)
        time.sleep(options.seconds + 0.5)  # the call that ran when the last one left
        before = model.calls
        time.sleep(5 * options.seconds + 1)
        print(f"calls after all have left: {model.calls - before}")


if __name__ == "__main__":
    main()

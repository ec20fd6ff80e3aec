"""Memory of a server whose model never ends, and how soon a leaving is noticed.

Run by hand: `uv run --no-sync python benchmarks/endless_answers.py`. It starts a real
server (`elt-llm serve`) in a process of its own and a model server that never ends, and
prints for each way of not ending: the growth of the server's resident memory over
eight questions that nobody leaves, and the seconds from a client's leaving to the close
of the connection that the model server sees.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from endless_server import EndlessServer, Way

LONG = 600.0
QUESTIONS = 8
TEXT = "# Fees\n\nThe fee for an overdue book is 20 cents per day.\n"
BODY = json.dumps({"question": "What is the fee for an overdue book?"}).encode()
COMMAND = (sys.executable, "-m", "elt_llm_core.cli")


def main() -> None:
    """Print one line for each way of not ending."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rules.md"
        source.write_text(TEXT)
        root = ("--data-dir", f"{folder}/data")
        ingest = (*COMMAND, "ingest", str(source), "--collection", "rules", *root)
        subprocess.run(ingest, check=True, capture_output=True)
        print(f"{'answer':10}{'memory, MB':>12}{'left, s':>10}")
        for way in (Way.PARTS, Way.LINE, Way.SILENCE):
            with EndlessServer(way) as model:
                grown = "" if way is Way.SILENCE else f"{growth(model, root):.1f}"
                print(f"{way:10}{grown:>12}{leaving(model, root):>10.2f}", flush=True)


def growth(model: EndlessServer, root: tuple[str, str]) -> float:
    """Megabytes that questions add to the server's memory at its highest."""
    with Served(model, root, num_predict=1024) as server:
        server.ask()  # loads what any question loads
        before = server.peak()
        for _ in range(QUESTIONS):
            server.ask()
        return server.peak() - before


def leaving(model: EndlessServer, root: tuple[str, str]) -> float:
    """Seconds from a client's leaving to the close that the model server sees."""
    with Served(model, root, num_predict=10_000_000) as server:
        model.asked.clear()
        model.left.clear()
        client = server.send()
        need(model.asked.wait(LONG), "it took too long")
        client.close()
        started = time.monotonic()
        need(model.left.wait(LONG), "it took too long")
        return time.monotonic() - started


def need(good: bool, reason: str) -> None:
    """End the measurement where something did not go as it must."""
    if not good:
        raise SystemExit(reason)


class Served:
    """`elt-llm serve` with answers of `model`, in a process of its own."""

    def __init__(
        self, model: EndlessServer, root: tuple[str, str], num_predict: int
    ) -> None:
        settings = {
            "MODELS__LLM_STRATEGY": "ollama",
            "OLLAMA__BASE_URL": model.base_url,
            "OLLAMA__NUM_PREDICT": str(num_predict),
            "OLLAMA__CONTEXT_WINDOW": str(num_predict + 8192),
            "QUERY__SYNTHESIZER_STRATEGY": "compact",
        }
        self.process = subprocess.Popen(
            (*COMMAND, "serve", "--port", "0", *root),
            env={**os.environ, **{f"ELT_LLM_{k}": v for k, v in settings.items()}},
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Served":
        for line in self.process.stderr or ():
            found = re.search(r"http://\S+", line)
            if found:
                self.port = urlsplit(found[0]).port
                return self
        raise SystemExit("the server did not start")

    def __exit__(self, *ending: object) -> None:
        self.process.kill()
        self.process.wait()

    def send(self) -> socket.socket:
        """A question on its way; closing the socket leaves it."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=LONG)
        head = (
            "POST /v1/query HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
        )
        client.sendall(head.encode() + BODY)
        return client

    def ask(self) -> None:
        """Ask and wait for the whole answer."""
        with self.send() as client:
            answer = b""
            while part := client.recv(65_536):
                answer += part
        need(b" 200 " in answer[:20], str(answer[:200]))
        need(b"generation_unavailable" in answer, str(answer[:200]))

    def peak(self) -> float:
        """The highest resident memory so far, in megabytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        return int(found[1]) / 1000 if found else 0.0


if __name__ == "__main__":
    main()

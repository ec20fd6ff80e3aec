"""Conversations over HTTP: a server that is killed, and fifty that go on at once.

    python benchmarks/chats.py --data-dir ROOT --collection NAME --kills 100 FILE
    python benchmarks/chats.py --data-dir ROOT --collection NAME --minutes 10 FILE

FILE holds one question a line. Serves ROOT from a process of its own with Ollama's
protocol behind it; give it a copy, conversations stay in it. With `--kills` clients
converse while the server is killed (SIGKILL) at random moments and started again; what
they were sent as complete has to be stored, and every stored question has its answer.
With `--minutes` so many clients converse; prints how turns ended, the memory of the
server and how long `/livez` took.
"""

import argparse
import asyncio
import json
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from load import LONG, SlowModel, probing, start_server

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from ollama_server import OllamaServer

MOST_WAIT = 3.0  # seconds from the first question to the kill
LOOK = 10  # kills between two looks at what is stored
PAUSE = 20.0  # seconds between two looks at the memory


@dataclass
class Client:
    """One who converses: what it asked, and what it was sent as complete."""

    name: str
    questions: list[str]
    complete: list[tuple[str, str]] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)

    async def ask(self, client: httpx.AsyncClient, collection: str) -> None:
        """Ask the next question of the conversation and read its events to the end."""
        at = len(self.complete)
        question = f"{self.questions[at % len(self.questions)]} ({at})"
        body = {
            "message": question,
            "conversation_id": self.name,
            "collections": [collection],
        }
        try:
            async with client.stream("POST", "/v1/chat/stream", json=body) as reply:
                if reply.status_code != httpx.codes.OK:
                    await self._wait(reply)
                    return
                answer = await _read_answer(reply)
        except httpx.HTTPError:
            self.outcomes["server gone"] += 1
            await asyncio.sleep(0.05)
            return
        if isinstance(answer, str):
            self.outcomes[answer] += 1
            return
        self.outcomes["complete"] += 1
        self.complete.append((question, str(answer["text"])))

    async def _wait(self, reply: httpx.Response) -> None:
        again = reply.headers.get("retry-after")
        told = f"{reply.status_code}" + ("" if again else ", no Retry-After")
        self.outcomes[told] += 1
        await asyncio.sleep(float(again or 1))


async def _read_answer(reply: httpx.Response) -> dict[str, Any] | str:
    """Return the turn that `complete` brings, or how the stream ended without it."""
    name = ""
    async for line in reply.aiter_lines():
        if line.startswith("event:"):
            name = line.partition(":")[2].strip()
        elif line.startswith("data:") and name in {"complete", "error"}:
            data: dict[str, Any] = json.loads(line.partition(":")[2])
            return data if name == "complete" else f"error {data.get('code')}"
    return "cut off"


async def converse(
    url: str, clients: list[Client], collection: str, until: float
) -> None:
    """Let every client ask one question after the other until a moment."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=LONG, limits=limits) as http:

        async def talk(client: Client) -> None:
            while time.monotonic() < until:
                await client.ask(http, collection)

        await asyncio.gather(*map(talk, clients))


def check(url: str, clients: list[Client]) -> Counter[str]:
    """Compare what is stored with what the clients were sent as complete."""
    counts: Counter[str] = Counter()
    for client in clients:
        reply = httpx.get(f"{url}/v1/conversations/{client.name}", timeout=LONG)
        messages = reply.json()["messages"] if reply.status_code == 200 else []
        roles = [message["role"] for message in messages]
        counts["half turns"] += roles != ["user", "assistant"] * (len(roles) // 2)
        texts = [message["text"] for message in messages]
        stored = set(zip(texts[::2], texts[1::2], strict=False))
        counts["lost"] += sum(pair not in stored for pair in client.complete)
        counts["stored"] += len(stored)
    return counts


def measure_kills(options: argparse.Namespace, model_url: str) -> None:
    """Kill the server again and again; print what was lost so far, now and then."""
    chance = random.Random(options.seed)  # noqa: S311 - when to kill, not a secret
    questions = options.file.read_text(encoding="utf-8").splitlines()
    clients = [Client(f"c{n}", questions[n:] + questions[:n]) for n in range(4)]
    print("| kills | turns | complete | stored | half turns | lost | ends of turns |")
    print("|---|---|---|---|---|---|---|")
    for kill in range(options.kills + 1):
        server, url = start_server(options, model_url)
        if kill % LOOK == 0 or kill == options.kills:
            print(_row_of_kills(kill, clients, check(url, clients)), flush=True)
        if kill < options.kills:
            # The models are loaded, so that the kill meets turns.
            body = {"question": questions[0], "collections": [options.collection]}
            httpx.post(f"{url}/v1/query", json=body, timeout=LONG)
            seconds = chance.uniform(0.05, MOST_WAIT)
            asyncio.run(_kill_in(seconds, url, server, clients, options.collection))
        server.kill()
        server.wait()


async def _kill_in(
    seconds: float, url: str, server: Any, clients: list[Client], collection: str
) -> None:
    """Let the clients converse, and kill the server meanwhile."""
    until = time.monotonic() + seconds
    talks = asyncio.ensure_future(converse(url, clients, collection, until))
    await asyncio.sleep(until - time.monotonic())
    server.send_signal(signal.SIGKILL)
    await talks


def _row_of_kills(kills: int, clients: list[Client], stored: Counter[str]) -> str:
    ends = sum((client.outcomes for client in clients), Counter())
    left = (stored["stored"], stored["half turns"], stored["lost"])
    told = ", ".join(f"{n} {name}" for name, n in sorted(ends.items()))
    row = (kills, sum(ends.values()), ends["complete"], *left, told)
    return f"| {' | '.join(map(str, row))} |"


def memory_of(process: int) -> float:
    """Return what a process holds of the memory, in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1000


async def watch_memory(process: int, until: float) -> list[float]:
    """Return the memory of a process, looked at until a moment."""
    seen = []
    while time.monotonic() < until:
        seen.append(memory_of(process))
        await asyncio.sleep(min(PAUSE, max(until - time.monotonic(), 0)))
    return seen


def measure_load(options: argparse.Namespace, model_url: str) -> None:
    """Let many converse for a while; print how it went."""
    questions = options.file.read_text(encoding="utf-8").splitlines()
    clients = [
        Client(f"c{n}", questions[n % len(questions) :] + questions[:n])
        for n in range(options.clients)
    ]
    server, url = start_server(options, model_url)
    try:
        httpx.get(f"{url}/readyz", timeout=LONG)

        async def both() -> list[float]:
            until = time.monotonic() + 60 * options.minutes
            seen = asyncio.ensure_future(watch_memory(server.pid, until))
            await converse(url, clients, options.collection, until)
            return await seen

        with probing(url) as times:
            seen = asyncio.run(both())
        stored = check(url, clients)
    finally:
        server.terminate()
        server.wait()
    times.sort()
    at = [times[int(share * (len(times) - 1))] for share in (0.5, 0.99, 1)]
    outcomes = sum((client.outcomes for client in clients), Counter())
    print(f"turns: {dict(outcomes)}; {dict(stored)}")
    print(f"/livez p50 / p99 / longest, ms: {' / '.join(f'{t:.0f}' for t in at)}")
    print(f"memory, MB, every {PAUSE:.0f} s: {' '.join(f'{m:.0f}' for m in seen)}")


def main() -> None:
    """Measure what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--collection", required=True)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--mode", default="compact")
    parser.add_argument("--seconds", type=float, default=0.1, help="a model call takes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    with OllamaServer(reply=SlowModel(options.seconds)) as model:
        if options.kills:
            measure_kills(options, model.base_url)
        if options.minutes:
            measure_load(options, model.base_url)


if __name__ == "__main__":
    main()

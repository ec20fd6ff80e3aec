"""Speculative turns against sequential ones, with a model server of fixed delay.

    python benchmarks/speculation.py [--seconds 1] [--rounds 5]

Holds the same conversation in both ways, with summary, understanding, clarification and
answer by a model behind Ollama's protocol that takes the same time for every call. The
next message stands by itself, points back, or is asked back. Prints the time until the
checked answer is shown, the calls that the server was sent, how many answers to the
message as written were superseded, and how many the server finished: it looks whether
its client is still there when the answer is due.
"""

import argparse
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from typing_extensions import override

from elt_llm_core.config.sections import RagConfig
from elt_llm_query import Library
from elt_llm_query.conversation.turn_events import CheckedAnswer
from elt_llm_query.step_events import TurnEvent

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from ollama_server import Handler, Json, OllamaServer

TEXTS = Path(__file__).parents[1] / "elt_llm_query" / "tests" / "follow_ups"
BEFORE = (
    "What is oak used for?",
    "What is the weight of oak?",
    "What is larch used for?",
)
BACK = "Do you mean oak or larch?"


class Kind(NamedTuple):
    """A kind of message, and what the model makes of it."""

    name: str
    message: str
    restated: str
    verdict: str = "clear"


KINDS = (
    Kind("stands by itself", "What is the price of larch?", ""),
    Kind("points back", "And its weight?", "What is the weight of larch?"),
    Kind("is asked back", "What is the price of wood?", "", BACK),
)


class SlowDesk:
    """A model that takes its time for every call, and the kind that is measured."""

    def __init__(self, seconds: float) -> None:
        self.seconds = 0.0
        self.delay = seconds
        self.kind = KINDS[0]
        self.calls = 0
        self.answered: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, messages: list[Json]) -> str:
        """Answer after the delay."""
        with self._lock:
            self.calls += 1
        time.sleep(self.seconds)
        prompt = str(messages[-1]["content"])
        if "understood without the conversation" in prompt:
            message = prompt.rpartition("<question>")[2].partition("</question>")[0]
            return self.kind.restated or message.strip() or self.kind.message
        if "clarified first" in prompt:
            return self.kind.verdict
        if "Below is the older part" in prompt:
            return "Oak and larch were spoken of."
        source = prompt.partition("\n[S1]")[2].partition("\n")[2]
        return f"{source.partition('.')[0].strip()} [S1]."

    def note(self, prompt: str) -> None:
        """Note the question of an answer whose client was still there."""
        question = prompt.rpartition("Question: ")[2].partition("\n")[0]
        with self._lock:
            self.answered.append(question)


class LookingHandler(Handler):
    """Answers only a client that is still there, and counts it."""

    @override
    def _stream(self, body: Json, text: str, last: Json, fault: str) -> None:
        desk = self.owner.reply
        if self._is_client_there():
            if isinstance(desk, SlowDesk):
                desk.note(str(body["messages"][-1]["content"]))
            super()._stream(body, text, last, fault)

    def _is_client_there(self) -> bool:
        try:
            flags = socket.MSG_PEEK | socket.MSG_DONTWAIT
            return bool(self.connection.recv(1, flags))
        except BlockingIOError:
            return True
        except OSError:
            return False


class Measured(NamedTuple):
    """The turns of one kind in one way."""

    seconds: list[float]
    calls: int
    superseded: int
    answered: int

    @property
    def median(self) -> float:
        """The median time until the checked answer, in seconds."""
        return sorted(self.seconds)[len(self.seconds) // 2]


def measure(library: Library, desk: SlowDesk, kind: Kind, rounds: int) -> Measured:
    """Hold a conversation and measure its next turn, again and again."""
    seconds = []
    calls = superseded = answered = 0
    for number in range(rounds):
        key = f"{kind.name.split()[0]}-{number}"
        desk.seconds, desk.kind = 0.0, Kind("", "", "")
        for question in BEFORE:
            library.chat(question, key)
        desk.seconds, desk.kind = desk.delay, kind
        desk.calls, desk.answered = 0, []
        shown: list[float] = []

        def watch(event: TurnEvent, shown: list[float] = shown) -> None:
            if isinstance(event, CheckedAnswer):
                shown.append(time.perf_counter())

        start = time.perf_counter()
        turn = library.chat(kind.message, key, watch=watch)
        seconds.append(shown[0] - start)
        time.sleep(2 * desk.delay)  # what was superseded has ended by then
        calls += desk.calls
        superseded += any(s.name == "supersede" for s in turn.result.trace.stages)
        answered += desk.answered.count(kind.message)
    return Measured(seconds, calls, superseded, answered)


def open_library(folder: Path, url: str, *, speculative: bool) -> Library:
    """Open the texts with a model behind the server, and every step of a turn on."""
    config = RagConfig.model_validate(
        {
            "models": {"llm_strategy": "ollama"},
            "ollama": {"base_url": url, "llm_model": "qwen3:8b"},
            "gateway": {"calls_at_once": 4, "keep_answers": "none"},
            "query": {"synthesizer_strategy": "compact"},
            "conversation": {
                "clarify": True,
                "summarise": True,
                "history_window": 1,
                "speculative": speculative,
            },
        }
    )
    return Library(folder, config=config)


def main() -> None:
    """Measure each kind of message in both ways, and print a row a kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="a call takes")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    desk = SlowDesk(options.seconds)
    rows: dict[bool, list[Measured]] = {}
    server = OllamaServer(desk, models=("qwen3:8b",), handler=LookingHandler)
    with server, tempfile.TemporaryDirectory() as temporary:
        for speculative in (False, True):
            folder = Path(temporary) / str(speculative)
            with open_library(
                folder, server.base_url, speculative=speculative
            ) as library:
                library.add(sorted(TEXTS.glob("*.md")), collection="texts")
                rows[speculative] = [
                    measure(library, desk, kind, options.rounds) for kind in KINDS
                ]
    print(
        "| the message | s, sequential | s, speculative | ratio | calls | ratio "
        "| answers superseded | answers to the message as written, finished |"
    )
    print("|---" * 8 + "|")
    for kind, one, other in zip(KINDS, rows[False], rows[True], strict=True):
        print(
            f"| {kind.name} | {one.median:.2f} | {other.median:.2f} "
            f"| {other.median / one.median:.2f} | {one.calls}, {other.calls} "
            f"| {other.calls / one.calls:.2f} | {other.superseded} | {other.answered} |"
        )


if __name__ == "__main__":
    main()

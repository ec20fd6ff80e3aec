"""Work that is begun before it is needed: taken over, or stopped down to the model."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ollama_server import OllamaServer

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import AbandonedError
from elt_llm_core.patience import Patience, check_asker
from elt_llm_core.results import Status
from elt_llm_query import Library
from elt_llm_query.conversation.branch import Branch, BranchState
from elt_llm_query.conversation.turn import ChatResult
from elt_llm_query.step_events import TokenEvent, TurnEvent
from query_world import CONTENT, World, fill

PERIOD = "What is the loan period of a book?"
FEE = "What is the fee for an overdue book?"
WAIT = 60.0


class Desk:
    """A model that restates, clarifies and answers; `hold` keeps answers waiting."""

    def __init__(self, restated: str, verdict: str = "clear") -> None:
        self.restated, self.verdict = restated, verdict
        self.hold: str | None = None
        self.held = threading.Event()
        self.released = threading.Event()
        self.answered: list[str] = []
        self.superseded: threading.Event | None = None

    def reply(self, messages: list[dict[str, Any]]) -> str:
        prompt = str(messages[-1]["content"])
        if "understood without the conversation" in prompt:
            if self.hold is not None:
                self.held.wait(WAIT)
            return self.restated
        if "clarified first" in prompt:
            if self.superseded is not None and not self.superseded.wait(WAIT):
                return "Was it superseded?"
            return self.verdict
        question = prompt.rpartition("Question: ")[2].partition("\n")[0]
        if question == self.hold:
            self.held.set()
            self.released.wait(WAIT)
        self.answered.append(question)
        return "The loan period of a book is 21 days [S1]."


@pytest.fixture
def talk(world: World, tmp_path: Path) -> Iterator[Callable[..., Library]]:
    """Opens a library whose model is a `Desk` behind a real server."""
    opened: list[Any] = []

    def build(desk: Desk, **settings: Any) -> tuple[Library, OllamaServer]:
        server = OllamaServer(desk.reply, models=("qwen3:8b",))
        server.__enter__()
        config = RagConfig.model_validate(
            {
                "models": {"llm_strategy": "ollama"},
                "ollama": {"base_url": server.base_url},
                "gateway": {"calls_at_once": 4, "keep_answers": "none"},
                "query": {"synthesizer_strategy": "compact"},
                "conversation": {"clarify": True, "speculative": True, **settings},
            }
        )
        library = Library(tmp_path / "data", config=config)
        fill(library.store, world.models, CONTENT)
        opened.extend([server, library])
        return library, server

    yield build
    for one in opened:
        one.__exit__(None, None, None)


@pytest.mark.network
def test_an_answer_that_was_begun_is_taken_where_the_message_stands_by_itself(
    talk: Callable[..., Any],
) -> None:
    desk = Desk(restated=FEE)
    library, server = talk(desk)
    library.chat(PERIOD, "c1")
    turn: ChatResult = library.chat(FEE, "c1")
    assert desk.answered == [PERIOD, FEE]  # each once
    assert "supersede" not in [s.name for s in turn.result.trace.stages]
    assert server.aborted == 0


@pytest.mark.network
def test_a_superseded_answer_is_stopped_before_its_call_ends(
    talk: Callable[..., Any],
) -> None:
    message = "And how long for that?"
    desk = Desk(restated=PERIOD)
    library, _ = talk(desk)
    library.chat(PERIOD, "c1")
    desk.hold = message
    told: list[TurnEvent] = []
    turn: ChatResult = library.chat(message, "c1", watch=told.append)
    assert turn.searched == PERIOD
    assert "supersede" in [s.name for s in turn.result.trace.stages]
    restarts = [e for e in told if isinstance(e, TokenEvent) and e.restart]
    assert restarts  # words of the superseded answer are taken back
    assert desk.answered == [PERIOD, PERIOD]  # not the one that was held
    desk.released.set()


@pytest.mark.network
def test_an_answer_is_superseded_without_waiting_for_the_clarification(
    talk: Callable[..., Any],
) -> None:
    message = "And how long for that?"
    desk = Desk(restated=PERIOD)
    library, _ = talk(desk)
    library.chat(PERIOD, "c1")
    desk.hold, superseded = message, threading.Event()
    desk.superseded = superseded

    def watch(event: TurnEvent) -> None:
        if isinstance(event, TokenEvent) and event.restart:
            superseded.set()

    turn: ChatResult = library.chat(message, "c1", watch=watch)
    assert turn.searched == PERIOD
    assert turn.unclear == ""
    assert desk.answered == [PERIOD, PERIOD]
    desk.released.set()


@pytest.mark.network
def test_a_clarification_wins_over_an_answer_that_is_there_already(
    talk: Callable[..., Any],
) -> None:
    back = "Do you mean books or films?"
    desk = Desk(restated=FEE, verdict=back)
    library, _ = talk(desk)
    library.chat(PERIOD, "c1")
    turn: ChatResult = library.chat(FEE, "c1")
    assert (turn.text, turn.result.status) == (back, Status.INSUFFICIENT)
    messages = library.store.conversations.read("c1", "local").messages
    assert messages[-1].text == back


def test_a_branch_is_left_with_the_question_and_can_be_left_alone() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        go_on.wait(WAIT)
        check_asker()
        return "done"

    async def run(leave: Callable[[Patience, Branch[str]], object]) -> BranchState:
        begun.clear()
        go_on.clear()
        patience = Patience(WAIT)
        with patience.apply():
            branch = Branch(work)
        await asyncio.to_thread(begun.wait, WAIT)
        leave(patience, branch)
        go_on.set()
        if branch.state is BranchState.ACTIVE and not patience.is_abandoned:
            assert await branch.result() == "done"
        else:
            with pytest.raises(AbandonedError):
                await branch.result()
        return branch.state

    assert asyncio.run(run(lambda p, b: None)) is BranchState.COMPLETED
    assert asyncio.run(run(lambda p, b: b.supersede())) is BranchState.SUPERSEDED
    assert asyncio.run(run(lambda p, b: p.abandon())) is BranchState.FAILED
    late = Patience(WAIT)
    late.abandon()
    with pytest.raises(AbandonedError):
        late.fork()

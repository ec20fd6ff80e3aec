"""Many questions, stalled models, clients that leave: the server stays itself."""

import asyncio
import gc
import json
import socket
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from endless_server import EndlessServer, Way

from elt_llm_api.chat_turns import ChatTurns
from elt_llm_api.server.question_queue import QuestionQueue
from elt_llm_core.config.sections import (
    ApiSection,
    ModelsSection,
    OllamaSection,
    QuerySection,
    RagConfig,
)
from elt_llm_core.errors import AbandonedError, BusyError
from elt_llm_core.models.bounds import SILENCES
from elt_llm_core.patience import current

pytestmark = pytest.mark.network
QUESTION = {"question": "What is the registration fee for each Player?"}
LONG = 60.0


@pytest.fixture(autouse=True)
def _no_silences():
    yield
    SILENCES._until.clear()


def written_by(url, timeout=300.0, **api):
    return RagConfig(
        models=ModelsSection(llm_strategy="ollama"),
        # Allowed to be long, so that nothing but leaving can end it.
        ollama=OllamaSection(
            base_url=url, num_predict=10_000_000, context_window=20_000_000
        ),
        query=QuerySection(synthesizer_strategy="compact", question_timeout=timeout),
        api=ApiSection(**api),
    )


@pytest.mark.parametrize("way", [Way.PARTS, Way.LINE, Way.SILENCE])
def test_a_client_that_leaves_ends_the_call_to_the_model(serve, root, way):
    body = json.dumps(QUESTION).encode()
    head = (
        "POST /v1/query HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with (
        EndlessServer(way) as model,
        serve(written_by(model.base_url), root) as url,
    ):
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(head.encode() + body)
            assert model.asked.wait(LONG)
        assert model.left.wait(LONG)


def test_more_questions_than_may_wait_are_refused(serve, root):
    model = EndlessServer(Way.SILENCE)
    with model, ThreadPoolExecutor(3) as pool:
        config = written_by(
            model.base_url, questions_at_once=2, questions_waiting=1, timeout=LONG
        )
        with serve(config, root) as url:

            def ask():
                with httpx.Client(timeout=LONG) as client:
                    return client.post(f"{url}/v1/query", json=QUESTION)

            waiting = [pool.submit(ask) for _ in range(3)]
            assert model.asked.wait(LONG)
            refused = httpx.post(f"{url}/v1/query", json=QUESTION, timeout=LONG)
            while refused.status_code != 429:  # until all three are in
                refused = httpx.post(f"{url}/v1/query", json=QUESTION, timeout=LONG)
            assert refused.json()["code"] == "API009"
            assert refused.headers["content-type"] == "application/problem+json"
            assert 1 <= int(refused.headers["retry-after"]) <= 60
            for path in ("/livez", "/readyz", "/healthz"):
                assert httpx.get(f"{url}{path}", timeout=LONG).status_code == 200
            assert not any(one.done() for one in waiting)
        # A server that stops leaves no question behind.
        assert all(one.exception() or one.result().is_error for one in waiting)


def test_a_question_that_is_out_of_time_is_answered_without_its_model(serve, root):
    with EndlessServer(Way.SILENCE) as model:
        config = written_by(model.base_url, timeout=0.5)
        with serve(config, root) as url:
            found = httpx.post(f"{url}/v1/query", json=QUESTION, timeout=LONG).json()
    assert "25 pounds" in found["answer"]
    assert [d["kind"] for d in found["degradations"]] == ["generation_unavailable"]


def test_a_gate_lets_in_what_it_has_room_for():
    gate, hold = QuestionQueue(1, 1), threading.Event()
    first, one = gate.submit(hold.wait, LONG)
    _, two = gate.submit(current, LONG)
    with pytest.raises(BusyError, match="ask again in"):
        gate.submit(hold.wait, LONG)
    hold.set()
    assert one.result(LONG)
    assert two.result(LONG).seconds == LONG
    assert current() is None
    gate.close()
    assert not first.patience.is_abandoned


def test_a_client_that_left_while_it_waited_is_never_answered():
    gate, hold, asked = QuestionQueue(1, 5), threading.Event(), []

    async def gone():
        return {"type": "http.disconnect"}

    async def ask():
        with pytest.raises(AbandonedError):
            await gate.answer(lambda: asked.append(1), LONG, gone)

    gate.submit(hold.wait, LONG)
    asyncio.run(ask())
    hold.set()
    gate.submit(lambda: None, LONG)[1].result(LONG)
    gate.close()
    assert asked == []


def test_a_gate_that_closes_stops_what_it_works_on():
    gate, began, patience = QuestionQueue(1, 5), threading.Event(), []

    def work():
        patience.append(current())
        began.set()

    gate.submit(work, LONG)
    assert began.wait(LONG)
    hold = threading.Event()
    ticket, _ = gate.submit(hold.wait, LONG)
    _, waiting = gate.submit(hold.wait, LONG)
    gate.close()
    hold.set()
    assert ticket.patience.is_abandoned
    assert waiting.cancelled()


def test_an_ended_turn_keeps_nothing_for_the_garbage_collector():
    class Answer(dict):
        """What a work returns, with weak references."""

        def model_dump_json(self) -> str:
            return "{}"

    queue, answers = QuestionQueue(1, 5), []
    turns = ChatTurns(queue)

    def work(_watch):
        answer = Answer()
        answers.append(weakref.ref(answer))
        return answer

    gc.disable()  # whatever is freed now, is freed without a scan
    try:
        turn = turns.begin("someone", work, 60)
        queue._threads.shutdown(wait=True)
        assert turn.events.is_closed
        assert answers[0]() is None
    finally:
        gc.enable()

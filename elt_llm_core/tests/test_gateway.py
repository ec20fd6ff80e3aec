"""Retries, the breaker and the queue, against a server of our own on loopback."""

import asyncio
import gc
import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from datetime import UTC, datetime, timedelta

import pytest
from llama_index.core.llms import ChatMessage
from ollama_server import Fault, OllamaServer

from elt_llm_core.config.sections import GatewaySection, RagConfig
from elt_llm_core.errors import (
    AbandonedError,
    BrokenAnswerError,
    BudgetSpentError,
    ModelBusyError,
    ModelError,
    ModelMissingError,
    ModelTimeoutError,
    ModelUnavailableError,
    OutOfTimeError,
    PromptTruncatedError,
    RunnerDiedError,
    SilentServerError,
    StoreWriteError,
)
from elt_llm_core.models.bounds import SILENCES, retry_after
from elt_llm_core.models.factory import build_models
from elt_llm_core.models.gateway import answers, kept_answers, retry, spending
from elt_llm_core.models.gateway.slots import Room, Slots, slots_of
from elt_llm_core.models.gateway.spending import TOTALS
from elt_llm_core.patience import Patience
from elt_llm_core.store.store import Store
from elt_llm_core.testing import HashEmbedding

pytestmark = pytest.mark.network
ASK = [ChatMessage(role="user", content="What is checked?")]
LONG = 20.0


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(retry, "RUNNER_SECONDS", 0.01)
    yield
    SILENCES._until.clear()
    SILENCES._failures.clear()


@pytest.fixture
def server():
    embedder = HashEmbedding(dimension=32, max_tokens=400)
    with OllamaServer(embedder=embedder, silence=2.0) as running:
        yield running


def models(server, timeout=LONG, **gateway):
    return build_models(
        RagConfig.model_validate(
            {
                "models": {"llm_strategy": "ollama", "embedder_strategy": "ollama"},
                "ollama": {
                    "base_url": server.base_url,
                    "llm_model": "smollm2:135m",
                    "request_timeout": timeout,
                },
                "gateway": {"retry_seconds": 0.01, **gateway},
            }
        )
    )


def whole(llm):
    return llm.chat(ASK).message.content


def streamed(llm):
    return list(llm.stream_chat(ASK))[-1].message.content


def whole_async(llm):
    return asyncio.run(llm.achat(ASK)).message.content


def streamed_async(llm):
    async def read():
        return [part async for part in await llm.astream_chat(ASK)][-1].message.content

    return asyncio.run(read())


ways = pytest.mark.parametrize("way", [whole, streamed, whole_async, streamed_async])


def asked(server, path="/api/chat"):
    return len(server.bodies(path))


@ways
@pytest.mark.parametrize("fault", [Fault.BUSY, Fault.RUNNER_DIED])
def test_what_may_pass_is_tried_again(server, way, fault):
    server.script.append(fault)
    assert way(models(server).llm) == "What is checked?"
    assert asked(server) == 2


@pytest.mark.parametrize("way", [whole, whole_async])
@pytest.mark.parametrize("fault", [Fault.CLOSE, Fault.NO_DONE])
def test_an_answer_that_is_not_whole_is_asked_for_again(server, way, fault):
    server.script.append(fault)
    assert way(models(server).llm) == "What is checked?"
    assert asked(server) == 2


@pytest.mark.parametrize("way", [streamed, streamed_async])
def test_a_stream_that_broke_off_is_not_begun_again(server, way):
    server.script.append(Fault.CLOSE)
    with pytest.raises(BrokenAnswerError):
        way(models(server).llm)
    assert asked(server) == 1


@ways
def test_a_call_leaves_no_cycle_to_the_garbage_collector(server, way):
    llm = models(server).llm
    way(llm)  # imports and opens what the first call needs
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        way(llm)
        gc.collect()
        left = {type(one).__name__ for one in gc.garbage}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert not left & {"Response", "BoundedStream", "Retrying", "AsyncRetrying"}


def test_vectors_are_asked_for_again(server):
    server.script.extend([Fault.BUSY, Fault.BUSY])
    assert models(server).embedder.embed_array(["one"]).shape == (1, 32)
    assert asked(server, "/api/embed") == 3


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.MODEL_MISSING, ModelMissingError),
        (Fault.TOO_LONG, PromptTruncatedError),
        (Fault.NAN, ModelError),
        (Fault.MALFORMED, ModelError),
    ],
)
def test_what_does_not_pass_is_not_tried_again(server, fault, error):
    server.script.append(fault)
    with pytest.raises(error):
        whole(models(server).llm)
    assert asked(server) == 1


def test_a_silence_is_not_waited_for_twice(server):
    server.script.append(Fault.SLOW_FIRST_TOKEN)
    with pytest.raises(ModelTimeoutError):
        whole(models(server, timeout=0.2).llm)
    assert asked(server) == 1


@pytest.mark.parametrize("retries", [0, 3])
def test_how_often_it_is_tried_is_a_setting(server, retries):
    server.script.extend([Fault.BUSY] * 9)
    with pytest.raises(ModelBusyError, match=r"busy \(503: server busy"):
        whole(models(server, retries=retries).llm)
    assert asked(server) == retries + 1


def test_a_runner_that_died_twice_is_not_asked_a_third_time(server):
    server.script.extend([Fault.RUNNER_DIED] * 9)
    with pytest.raises(
        RunnerDiedError, match="smaller model or a smaller context_window"
    ):
        whole(models(server, retries=5).llm)
    assert asked(server) == 2


def test_the_server_says_when_to_ask_again(server, monkeypatch):
    waits = []
    monkeypatch.setattr(retry, "_pause", waits.append)
    server.retry_after = "7"
    server.script.append(Fault.BUSY)
    assert whole(models(server).llm) == "What is checked?"
    assert waits == [7.0]


def test_waits_grow_by_chance_below_a_bound(server, monkeypatch):
    waits = []
    monkeypatch.setattr(retry, "_pause", waits.append)
    server.script.extend([Fault.BUSY] * 9)
    with pytest.raises(ModelBusyError):
        whole(models(server, retry_seconds=4.0, retries=6).llm)
    assert len(set(waits)) == 6
    assert all(0 <= wait <= 4.0 * 2**n for n, wait in enumerate(waits))


def test_a_server_that_asks_for_too_long_a_wait_is_not_asked_again(server):
    server.retry_after = "120"
    server.script.append(Fault.BUSY)
    with pytest.raises(ModelBusyError) as caught:
        whole(models(server, longest_wait=60.0).llm)
    assert caught.value.seconds == 120
    assert asked(server) == 1


def test_a_question_does_not_wait_longer_than_it_has(server):
    server.retry_after = "7"
    server.script.append(Fault.BUSY)
    with Patience(5.0).apply(), pytest.raises(ModelBusyError):
        whole(models(server).llm)
    assert asked(server) == 1


def test_nobody_waits_on_for_an_asker_that_left(server, monkeypatch):
    server.retry_after = "5"
    server.script.append(Fault.BUSY)
    patience = Patience()
    monkeypatch.setattr(retry, "sleep", lambda seconds: patience.abandon())
    with patience.apply(), pytest.raises(AbandonedError):
        whole(models(server).llm)
    assert asked(server) == 1


NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0),
        ("", 0),
        ("soon", 0),
    ],
)
def test_both_forms_of_retry_after_are_read(value, seconds):
    assert retry_after(value, NOW) == seconds
    assert retry_after(value, NOW + timedelta(days=1)) in {seconds, 0}


def test_a_server_that_is_not_there_is_left_alone_after_some_failures():
    with OllamaServer() as gone:
        llm = models(gone, breaker_failures=2, retries=1).llm
    with pytest.raises(ModelUnavailableError):
        whole(llm)
    with pytest.raises(SilentServerError, match="are suspended for 30 s") as caught:
        whole(llm)
    assert "failed 2 times in a row: no model server answers" in str(caught.value)
    assert "in time" not in str(caught.value)
    assert gone.base_url in SILENCES._until


def test_the_breaker_says_that_a_runner_died(server):
    llm = models(server, breaker_failures=2, retries=1).llm
    server.script.extend([Fault.RUNNER_DIED] * 2)
    with pytest.raises(RunnerDiedError):
        whole(llm)
    with pytest.raises(SilentServerError, match="signal: killed"):
        whole(llm)


def test_a_server_that_came_back_is_asked_again(server):
    llm = models(server, breaker_failures=1, breaker_seconds=0.0).llm
    server.script.append(Fault.RUNNER_DIED)
    assert whole(llm) == "What is checked?"
    assert server.base_url not in SILENCES._until
    assert not SILENCES._failures


@pytest.mark.parametrize(("calls_at_once", "most"), [(0, 1), (3, 3)])
@ways
def test_a_server_works_on_so_many_calls_at_a_time(server, way, calls_at_once, most):
    running = []

    def reply(messages):
        running.append(len(slots_of(server.base_url)._running))
        server.wait(0.05)
        return "yes"

    server.reply = reply
    llm = models(server, calls_at_once=calls_at_once).llm
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(way, [llm] * 4)) == ["yes"] * 4
    assert max(running) <= most
    assert len(running) == 4


def test_calls_beyond_the_queue_are_refused_with_a_time(server):
    server.pause = 0.5
    llm = models(server, calls_waiting=0, retries=0).llm
    stream = llm.stream_chat(ASK)
    next(stream)
    with pytest.raises(ModelBusyError, match=r"busy \(our queue\)") as caught:
        whole(llm)
    assert 1 <= caught.value.seconds <= 60
    stream.close()
    assert whole(llm) == "What is checked?"


def test_an_async_call_that_is_cancelled_in_the_queue_leaves_it(server):
    server.pause = 0.3
    llm = models(server).llm

    async def talk():
        stream = await llm.astream_chat(ASK)
        await anext(stream)
        waiting = asyncio.ensure_future(llm.achat(ASK))
        await asyncio.sleep(0.15)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await stream.aclose()

    asyncio.run(talk())
    slots = slots_of(server.base_url)
    assert not slots._queue
    assert not slots._running
    assert asked(server) == 1


def test_a_question_without_time_does_not_stay_in_the_queue():
    slots, room = Slots("here"), Room(1, 5)
    with slots.turn(room):
        with (
            Patience(0.1).apply(),
            pytest.raises(OutOfTimeError),
            slots.turn(room),
        ):
            pass
        assert not slots._queue
    assert not slots._running


def test_calls_run_in_the_order_they_came():
    slots, room, order = Slots("here"), Room(1, 50), []

    def call(number):
        with slots.turn(room):
            order.append(number)

    threads = []
    with slots.turn(room):
        for number in range(8):
            threads.append(threading.Thread(target=call, args=(number,)))
            threads[-1].start()
            while len(slots._queue) <= number:
                pass
    for thread in threads:
        thread.join()
    assert order == list(range(8))


BUDGETS = {
    "question_calls": 2,
    "question_tokens": 10,
    "question_seconds": 1e-6,
    "job_calls": 2,
    "job_tokens": 10,
    "job_seconds": 1e-6,
    "day_calls": 2,
    "day_tokens": 10,
    "day_seconds": 1e-6,
}


@pytest.fixture
def _new_day(monkeypatch):
    monkeypatch.setattr(spending, "DAYS", spending.DayAccounts())


@pytest.mark.usefixtures("_new_day")
@pytest.mark.parametrize(("key", "limit"), BUDGETS.items())
def test_a_budget_that_is_spent_refuses_the_next_call(server, key, limit):
    who, _, unit = key.partition("_")
    made, settings = models(server, **{key: limit}), GatewaySection(**{key: limit})
    cure = rf"the {who}.* exceeds .* of {limit:g} {unit}.*raise gateway\.{key}"
    with spending.open_account(who if who != "day" else "question", settings):
        whole(made.llm)
        if unit != "seconds":  # seven tokens a call
            whole(made.llm)
        calls = asked(server)
        with pytest.raises(BudgetSpentError, match=cure):
            whole(made.llm)
        assert asked(server) == calls
        with pytest.raises(BudgetSpentError):
            made.embedder.embed_array(["one"])
    assert not server.bodies("/api/embed")


@pytest.mark.usefixtures("_new_day")
def test_a_question_of_a_job_counts_for_both(server):
    llm, settings = models(server).llm, GatewaySection()
    with spending.open_account("job", settings) as job:
        with spending.open_account("question", settings) as question:
            streamed(llm)
        whole(llm)
    assert (question.used.calls, job.used.calls) == (1, 2)
    assert question.used.read == question.used.written + 1 == 4
    assert job.used.tokens == 14
    assert 0 < question.used.seconds < job.used.seconds
    assert spending.DAYS.today(settings).used.calls == 2


SPEND = """
import sys
from contextlib import closing
from pathlib import Path
from elt_llm_core.config.sections import GatewaySection
from elt_llm_core.errors import BudgetSpentError
from elt_llm_core.models.gateway.spending import count_days, open_accounts
from elt_llm_core.results import ModelCost
from elt_llm_core.store.store import Store

settings, made = GatewaySection(day_calls=40), 0
with closing(Store(Path(sys.argv[1]))) as store, count_days(store.day_ledger):
    sys.stdin.readline()
    try:
        while True:
            (day,) = open_accounts(settings)
            day.check()
            day.add(ModelCost(read=2, written=1))
            made += 1
    except BudgetSpentError:
        print(made)
"""


@pytest.mark.usefixtures("warm_commands")
def test_two_processes_share_the_budget_of_a_day(published):
    begin = [sys.executable, "-c", SPEND, str(published.data_dir)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(begin, **pipes) for _ in range(2)]
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    made = [int(process.communicate(timeout=60)[0]) for process in both]
    assert sum(made) == 40
    today = datetime.now(UTC).date().isoformat()
    assert published.day_ledger.sums(today) == {
        "calls": 40,
        "seconds": 0,
        "tokens": 120,
    }


@pytest.mark.usefixtures("_new_day")
@pytest.mark.parametrize("unit", ["calls", "tokens", "seconds"])
def test_a_day_that_another_process_spent_refuses_the_call(server, published, unit):
    today = datetime.now(UTC).date().isoformat()
    published.day_ledger.add("2026-01-31", {"calls": 9})
    published.day_ledger.add(today, {unit: 5})
    llm = models(server, **{f"day_{unit}": 5}).llm
    with spending.count_days(published.day_ledger):
        for way in (whole, streamed, whole_async, streamed_async):
            with pytest.raises(
                BudgetSpentError, match=rf"model budget \(5 of 5 {unit}\)"
            ):
                way(llm)
    assert asked(server) == 0
    assert published.day_ledger.sums("2026-01-31") == {}


def test_a_day_that_cannot_be_counted_refuses_the_call(server, tmp_path):
    llm = models(server, day_calls=5).llm
    with (
        closing(Store(tmp_path)) as empty,
        spending.count_days(empty.day_ledger),
        pytest.raises(ModelError, match=r"cannot be counted .*no data"),
    ):
        whole(llm)
    assert asked(server) == 0


def test_failed_tries_are_counted_too(server):
    server.script.append(Fault.BUSY)
    with spending.open_account("question", GatewaySection()) as account:
        whole(models(server).llm)
    assert account.used.calls == 2
    outcomes = {
        outcome for model, outcome, _ in TOTALS.rows() if model == "smollm2:135m"
    }
    assert {"ok", "MOD009"} <= outcomes


HALF = 'The pump is checked. "Each week." [S1] The val'


@pytest.mark.parametrize("way", [whole, whole_async])
@pytest.mark.parametrize(
    ("text", "cut_answers", "kept"),
    [
        (HALF, True, 'The pump is checked. "Each week." [S1]'),
        (HALF, False, HALF),
        ("The pump is", True, "The pump is"),
        ('{"a": "One. Tw', True, '{"a": "One. Tw'),
    ],
)
def test_an_answer_that_was_too_long_ends_at_a_whole_statement(
    server, way, text, cut_answers, kept
):
    server.reply = lambda messages: text
    server.script.append(Fault.LENGTH)
    with spending.open_account("question", GatewaySection()) as account:
        assert way(models(server, cut_answers=cut_answers).llm) == kept
    assert account.used.cut == 1


def test_an_openai_answer_is_read_and_cut_too():
    message = {"role": "assistant", "content": "One. Tw"}
    body = {
        "choices": [{"message": message, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }
    assert answers.tokens_of(body) == (7, 3)
    assert answers.reached_limit(body)
    answers.cut_to_statement(body)
    assert message["content"] == "One."


class Kept(dict):
    """A journal in memory."""

    def put(self, run, key, ordinal, item, *, result):
        self[key] = json.loads(json.dumps(result))


def ask_twice(way, llm, journal):
    with kept_answers.keep_answers(journal):
        return way(llm), way(llm)


@pytest.mark.parametrize("way", [whole, whole_async])
@pytest.mark.parametrize(
    ("keep_answers", "temperature", "calls"),
    [("exact", 0.0, 1), ("exact", 0.5, 2), ("all", 0.5, 1), ("none", 0.0, 2)],
)
def test_an_answer_is_kept_and_given_again(
    server, way, keep_answers, temperature, calls
):
    made = models(server, keep_answers=keep_answers).llm
    made.temperature = temperature
    assert ask_twice(way, made, Kept()) == ("What is checked?",) * 2
    assert asked(server) == calls


def test_without_a_database_nothing_is_kept(server):
    llm = models(server).llm
    assert whole(llm) == whole(llm)
    assert asked(server) == 2


def test_an_answer_of_other_weights_or_options_is_not_given(server):
    journal, llm = Kept(), models(server).llm
    ask_twice(whole, llm, journal)
    ask_twice(whole, llm.model_copy(update={"num_predict": 9}), journal)
    assert asked(server) == 2
    server.digests["smollm2:135m"] = "0" * 64  # pulled again, under the same name
    ask_twice(whole, llm, journal)
    assert asked(server) == 3


def test_an_answer_that_was_cut_is_kept_and_said_to_be_cut_each_time(server):
    server.script.append(Fault.LENGTH)
    with spending.open_account("question", GatewaySection()) as account:
        ask_twice(whole, models(server).llm, Kept())
    assert asked(server) == 1
    assert (account.used.calls, account.used.cut, account.asked) == (1, 2, 2)


def test_what_a_question_asked_for_counts_also_where_it_was_kept(server):
    journal, llm = Kept(), models(server).llm
    assert spending.answers_left(4) == 4  # of no question
    for calls in (1, 0):
        with spending.open_account("question", GatewaySection()) as account:
            ask_twice(whole, llm, journal)
            assert account.used.calls == calls
            assert spending.answers_left(4) == 2
    with spending.open_account("question", GatewaySection(question_calls=2)) as account:
        whole(llm)
        assert spending.answers_left(4) == 1


def test_a_database_that_cannot_be_written_keeps_nothing(server):
    class Full(Kept):
        def put(self, *given, **named):
            raise StoreWriteError("here", "disk full")

    assert ask_twice(whole, models(server).llm, Full()) == ("What is checked?",) * 2
    assert asked(server) == 2


def test_kept_answers_are_in_the_database_until_they_are_purged(server, published):
    llm = models(server).llm
    ask_twice(whole, llm, published.journal)
    (row,) = published.journal.rows("answers")
    assert row["item"] == "smollm2:135m"
    with published.writer() as writer:
        assert writer.purge(journal=True).journal == 1
    ask_twice(whole, llm, published.journal)
    assert asked(server) == 2


def test_an_asker_that_left_in_the_queue_costs_no_call(server):
    server.pause = 0.2
    llm = models(server).llm
    stream = llm.stream_chat(ASK)
    next(stream)
    patience = Patience()
    with ThreadPoolExecutor(1) as pool, patience.apply():
        waiting = pool.submit(copy_context().run, whole, llm)
        while not slots_of(server.base_url)._queue:
            time.sleep(0.01)
        patience.abandon()
        with pytest.raises(AbandonedError):
            waiting.result(LONG)
    stream.close()
    assert asked(server) == 1


def test_leaving_a_call_closes_its_connection(server):
    server.pause = 0.1
    server.reply = lambda messages: "word " * 200
    llm = models(server).llm
    stream = llm.stream_chat(ASK)
    next(stream)
    stream.close()
    ends = time.monotonic() + LONG
    while not server.aborted and time.monotonic() < ends:
        time.sleep(0.05)
    assert server.aborted == 1
    assert not slots_of(server.base_url)._running

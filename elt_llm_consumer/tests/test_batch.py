"""The batch engine: the journal, threads, stops, budgets, servers that are away."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from elt_llm_consumer.batch import WorkItem, run_items
from elt_llm_core.crash import VARIABLE, CrashPoint
from elt_llm_core.errors import (
    BudgetSpentError,
    ModelUnavailableError,
    StoreError,
)
from elt_llm_core.job_records import JobRecord, JobState
from elt_llm_core.job_runs import run_recorded_job
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.store import Store

pytestmark = pytest.mark.usefixtures("warm_commands")


def items(count):
    return [WorkItem(name=f"item {n}", parts=(str(n),)) for n in range(count)]


class Work:
    """Returns the number of an item; `faults` are raised once each."""

    def __init__(self, **faults):
        self.calls = []
        self.faults = {int(key[1:]): value for key, value in faults.items()}

    def __call__(self, number):
        self.calls.append(number)
        if fault := self.faults.pop(number, None):
            raise fault
        return {"number": number}


def settings(context, **changes):
    config = context.config
    consumer = config.consumer.model_copy(update=changes)
    gateway = config.gateway.model_copy(update={"breaker_seconds": 0.01})
    parts = {"consumer": consumer, "gateway": gateway}
    return replace(context, config=config.model_copy(update=parts))


@pytest.mark.parametrize("at_once", [1, 3])
def test_the_second_run_does_nothing_and_gives_the_same(context, at_once):
    work = Work()
    first = run_items(context, "job", items(7), work, at_once=at_once)
    again = run_items(context, "job", items(7), work, at_once=at_once)
    assert [r["number"] for r in again.results] == list(range(7))
    assert first.results == again.results
    assert sorted(work.calls) == list(range(7))
    assert again.counts == {"done": 0, "reused": 7, "failed": 0}


def test_a_changed_item_is_done_anew_and_fresh_does_all(context):
    run_items(context, "job", items(3), Work())
    changed = [*items(2), WorkItem(name="item 2", parts=("2", "other model"))]
    work = Work()
    run_items(context, "job", changed, work)
    assert work.calls == [2]
    run_items(context, "job", changed, work, fresh=True)
    assert work.calls == [2, 0, 1, 2]


def test_items_are_worked_on_at_the_same_time_and_no_more_than_allowed(context):
    meeting, most = threading.Barrier(3, timeout=20), []

    def work(number):
        most.append(sum(t.name.startswith("batch") for t in threading.enumerate()))
        if number < 3:
            meeting.wait()
        return {"number": number}

    batch = run_items(context, "job", items(6), work, at_once=3)
    assert len(batch.successes) == 6
    assert max(most) == 3


def test_a_failed_item_is_reported_and_tried_again(context):
    first = run_items(context, "job", items(3), Work(_1=StoreError("torn")))
    assert first.counts == {"done": 2, "reused": 0, "failed": 1}
    assert [(f.name, f.detail) for f in first.failures] == [("item 1", "torn")]
    assert first.results[1] is None
    assert not first.stopped
    work = Work()
    second = run_items(context, "job", items(3), work)
    assert work.calls == [1]
    assert second.counts["failed"] == 0


def test_a_stop_leaves_the_rest_for_the_next_run(context):
    work = Work()
    asked = replace(context, stopped=lambda: len(work.calls) >= 2)
    batch = run_items(asked, "job", items(5), work)
    assert (batch.counts["done"], batch.counts["left"]) == (2, 3)
    assert batch.stopped
    assert batch.early_report("job").exit_code == 130
    run_items(context, "job", items(5), work)
    assert work.calls == list(range(5))


def test_a_spent_budget_ends_the_batch_and_fails_no_item(context):
    spent = BudgetSpentError("job", "calls", "3", "3")
    batch = run_items(context, "job", items(5), Work(_2=spent))
    assert batch.counts == {"done": 2, "reused": 0, "failed": 0, "left": 3}
    assert "calls" in batch.degradations[0].detail


def test_a_server_that_comes_back_fails_no_item(context):
    seen = []
    heard = replace(settings(context), progress=lambda *step: seen.append(step[-1]))
    away = ModelUnavailableError("http://localhost", "refused")
    work = Work(_2=away)
    batch = run_items(heard, "job", items(4), work)
    assert work.calls == [0, 1, 2, 2, 3]
    assert batch.counts == {"done": 4, "reused": 0, "failed": 0}
    assert any("model server is unreachable" in detail for detail in seen)


def test_a_server_that_stays_away_ends_the_batch(context):
    class Gone(Work):
        def __call__(self, number):
            super().__call__(number)
            if number:
                raise ModelUnavailableError("http://localhost", "refused")
            return {"number": number}

    short = settings(context, server_patience=0.03)
    batch = run_items(short, "job", items(3), Gone())
    assert batch.counts == {"done": 1, "reused": 0, "failed": 0, "left": 2}
    with pytest.raises(ModelUnavailableError):
        run_items(short, "other", items(3)[1:], lambda _: Gone()(1))


def test_a_fault_of_the_program_ends_all_threads(context):
    with pytest.raises(ZeroDivisionError):
        run_items(context, "job", items(9), lambda n: {"n": 1 / (n - 4)}, at_once=2)
    assert not [t for t in threading.enumerate() if t.name.startswith("batch")]


SCRIPT = """
import sys
from pathlib import Path
from elt_llm_consumer.batch import WorkItem, run_items
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import JobContext
from elt_llm_core.store import Store

def call(number):
    with Path(sys.argv[2]).open("a") as calls:
        calls.write(f"{number}\\n")
    return {"number": number}

items = [WorkItem(name=str(n), parts=(str(n),)) for n in range(12)]
context = JobContext(RagConfig(), Store(Path(sys.argv[1])))
print(len(run_items(context, "killed", items, call).successes))
"""


def test_a_killed_batch_loses_nothing_and_repeats_no_call(tmp_path):
    data, calls = tmp_path / "data", tmp_path / "calls"
    with Store(data).writer():
        pass
    outcomes = []
    for at in ("3", "5", "99"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(data), str(calls)],
            env={**os.environ, VARIABLE: f"{CrashPoint.ITEM_DONE}:{at}"},
            capture_output=True,
            text=True,
            check=False,
        )
        outcomes.append((done.returncode, done.stdout.strip()))
    killed = (-signal.SIGKILL, "")
    assert outcomes == [killed, killed, (0, "12")]
    assert calls.read_text().split() == [str(n) for n in range(12)]


def test_a_job_asked_to_stop_by_another_process_keeps_what_it_did(context):
    begun = threading.Event()

    def runner(own: JobContext) -> JobReport:
        def work(number):
            if number == 2:
                other = Store(context.store.data_dir)
                other.jobs.ask_to_stop(other.jobs.all()[0].job_id)
                other.close()
                for _ in range(2000):
                    if own.stopped():
                        break
                    begun.wait(0.01)
            return {"number": number}

        batch = run_items(own, "job", items(5), work)
        return batch.early_report("job")

    report = run_recorded_job(context, JobRecord(job_id="", kind="glossary"), runner)
    (record,) = context.store.jobs.all()
    assert record.state is JobState.CANCELLED
    assert report.counts == {"done": 3, "reused": 0, "failed": 0, "left": 2}
    assert record.report == report

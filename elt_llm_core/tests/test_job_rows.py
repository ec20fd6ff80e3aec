"""Jobs in the database, numbered versions, and the commands about jobs."""

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.crash import VARIABLE, CrashPoint
from elt_llm_core.errors import (
    AbandonedError,
    JobNotFoundError,
    StoreError,
    StoreLockedError,
    UsageError,
    VersionNotFoundError,
)
from elt_llm_core.job_records import JobRecord, JobState
from elt_llm_core.job_runs import run_recorded_job
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.patience import Patience, at_most, check_asker
from elt_llm_core.store import Store
from elt_llm_core.store.database import job_rows
from elt_llm_core.versions import VersionKind

pytestmark = pytest.mark.usefixtures("warm_commands")


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "data")
    with made.writer():
        pass
    yield made
    made.close()


@pytest.fixture
def context(store):
    return JobContext(RagConfig(), store)


def wait_for(condition):
    pause = threading.Event()
    for _ in range(2000):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError


JOB = JobRecord(job_id="", kind="glossary", options={"collections": ["a"]})


def test_a_job_is_kept_with_its_progress_and_its_report(context):
    seen = []

    def runner(own):
        own.progress("terms", 1, 4, "kite")
        (record,) = context.store.jobs.all()
        seen.append(record.state)
        return JobReport(job="glossary", counts={"done": 4})

    run_recorded_job(context, JOB, runner)
    (record,) = context.store.jobs.all()
    assert seen == [JobState.RUNNING]
    assert (record.state, record.report.counts) == (JobState.SUCCEEDED, {"done": 4})
    assert record.progress.stage == "terms"
    assert record.options == {"collections": ["a"]}
    assert not context.store.jobs.folder(record.job_id).exists()


@pytest.mark.parametrize(
    ("report", "state"),
    [
        (JobReport(job="x", counts={"failed": 1}), JobState.PARTIAL),
        (JobReport(job="x", counts={}, stopped=True), JobState.CANCELLED),
    ],
)
def test_the_report_decides_the_state(context, report, state):
    run_recorded_job(context, JOB, lambda _: report)
    assert context.store.jobs.all()[0].state is state


def test_an_error_is_kept_and_raised(context):
    def runner(_):
        raise StoreError("torn", "mend it")

    with pytest.raises(StoreError):
        run_recorded_job(context, JOB, runner)
    (record,) = context.store.jobs.all()
    assert record.state is JobState.FAILED
    assert record.problem == {"code": "STO001", "detail": "torn", "hint": "mend it"}


def test_a_job_without_a_process_is_interrupted(store):
    with store.jobs.hold(JOB) as record:
        assert store.jobs.get(record.job_id).state is JobState.RUNNING
        with pytest.raises(StoreLockedError), store.jobs.hold(record):
            pass
        with pytest.raises(UsageError):
            store.jobs.forget(record.job_id)
    assert store.jobs.get(record.job_id).state is JobState.INTERRUPTED
    store.jobs.forget(record.job_id)
    with pytest.raises(JobNotFoundError):
        store.jobs.get(record.job_id)


def test_a_row_of_an_earlier_version_is_a_cancelled_job(context):
    record = JOB.model_copy(update={"job_id": "0"}).model_dump(mode="json")
    assert JobRecord.model_validate({**record, "state": "stopped"}).state is (
        JobState.CANCELLED
    )


def test_a_stop_in_the_database_abandons_the_work(context):
    def runner(own):
        context.store.jobs.ask_to_stop(context.store.jobs.all()[0].job_id)
        with at_most(60):
            wait_for(own.stopped)
            check_asker()

    report = run_recorded_job(context, JOB, runner)
    assert report.stopped
    assert context.store.jobs.all()[0].state is JobState.CANCELLED


def test_the_patience_of_a_question_ends_with_that_of_its_job():
    job = Patience()
    with job.apply(), at_most(60) as question:
        assert question is not job
        assert question.seconds_left() <= 60
        job.abandon()
        with pytest.raises(AbandonedError):
            question.seconds_left()


def test_old_jobs_are_forgotten_with_their_folders(store, monkeypatch):
    kept = []
    for _ in range(4):
        with store.jobs.hold(JOB) as record:
            kept.append(record.job_id)
            (store.jobs.folder(record.job_id) / "upload.txt").touch()
            store.jobs.update(record.model_copy(update={"state": JobState.SUCCEEDED}))
    store.jobs.forget_old(2)
    assert [r.job_id for r in store.jobs.all()] == kept[:1:-1]
    assert [store.jobs.folder(k).exists() for k in kept] == [False, False, True, True]
    monkeypatch.setattr(job_rows, "KEPT", 1)
    with store.jobs.hold(JOB) as record:  # a new one takes the place of an old one
        assert [r.job_id for r in store.jobs.all()] == [record.job_id]


def test_numbers_are_given_once_among_many_writers(store):
    def write(number):
        content = {"title": "Kites", "text": number, "sources_digest": ""}
        return store.versions.add(VersionKind.TOPIC, "kites", "key", content).number

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(write, range(20))) == list(range(1, 21))


def test_an_equal_text_gets_no_new_number_and_a_deleted_one_is_not_reused(store):
    add, kind = store.versions.add, VersionKind.CONCEPT
    content = {"title": "Kite", "collections": ["a"], "sources_digest": "1"}
    assert add(kind, "kite", "k", content).number == 1
    assert add(kind, "kite", "k", content).number == 1
    assert add(kind, "kite", "k", content, again=True).number == 2
    store.versions.delete(kind, "kite", 2)
    assert add(kind, "kite", "other", content).number == 3
    assert [row.number for row in store.versions.rows(kind)] == [1, 3]
    assert store.versions.get(kind, "kite").content == content
    with pytest.raises(VersionNotFoundError):
        store.versions.get(kind, "kite", 2)
    with pytest.raises(VersionNotFoundError):
        store.versions.get(VersionKind.TOPIC, "kite")
    with pytest.raises(VersionNotFoundError):
        store.versions.delete(kind, "kite", 2)


def printed(capsys, *arguments):
    code = run(elt_llm, ["jobs", *map(str, arguments)])
    return code, capsys.readouterr().out


def test_the_commands_list_show_and_stop_jobs(context, capsys):
    root = ("--data-dir", context.store.data_dir)
    seen = {}

    def runner(own):
        own.progress("terms", 1, 4)
        (record,) = context.store.jobs.all()
        seen["running"] = printed(capsys, "list", *root)[1]
        seen["cancel"] = printed(capsys, "cancel", record.job_id, *root)[0]
        wait_for(own.stopped)
        return JobReport(job="glossary", counts={"left": 3}, stopped=True)

    run_recorded_job(context, JOB.model_copy(update={"label": "rules"}), runner)
    (record,) = context.store.jobs.all()
    assert "running" in seen["running"]
    assert seen["cancel"] == 0
    code, text = printed(capsys, "show", record.job_id, *root)
    assert code == 0
    assert f"elt-llm jobs retry {record.job_id}" in text
    listed = json.loads(printed(capsys, "list", "--json", *root)[1])["jobs"]
    assert [one["state"] for one in listed] == ["cancelled"]
    assert "cancelled already" in printed(capsys, "cancel", record.job_id, *root)[1]
    assert printed(capsys, "show", "nothing", *root)[0] == 65
    assert printed(capsys, "retry", *root)[0] == 64


def test_only_the_newest_run_of_a_job_is_retried(context, capsys):
    failed = JobReport(job="glossary", counts={"failed": 1})
    run_recorded_job(context, JOB, lambda _: failed)
    run_recorded_job(
        context, JOB, lambda _: JobReport(job="glossary", counts={"done": 1})
    )
    root = ("--data-dir", context.store.data_dir)
    assert "No job" in printed(capsys, "retry", "--failed", *root)[1]
    again = context.store.jobs.all()[1].again()
    assert again.options == JOB.options
    assert again.resumes == context.store.jobs.all()[1].job_id


def test_a_job_that_cannot_run_does_not_keep_the_others_from_a_retry(context, capsys):
    kinds = ("first_gone", "second_gone")  # of a plugin that is no longer installed
    for kind in kinds:
        failed = JobReport(job=kind, counts={"failed": 1})
        record = JobRecord(job_id="", kind=kind, label="a")
        run_recorded_job(context, record, lambda _, failed=failed: failed)
    root = ("--data-dir", context.store.data_dir)
    code, text = printed(capsys, "retry", "--failed", "--json", *root)
    assert code == 2
    assert [one["job"] for one in json.loads(text)["problems"]] == list(kinds)
    _, text = printed(capsys, "retry", "--failed", *root)
    assert all(f"{kind} a: " in text for kind in kinds)
    assert printed(capsys, "retry", context.store.jobs.all()[0].job_id, *root)[0] > 2


def test_a_data_root_without_a_database_keeps_no_job(tmp_path: Path, context):
    bare = replace(context, store=Store(tmp_path / "none"))
    report = JobReport(job="glossary", counts={})
    assert run_recorded_job(bare, JOB, lambda _: report) is report
    assert not (tmp_path / "none").exists()


WRITER = """
import sys
from pathlib import Path
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.job_records import JobRecord
from elt_llm_core.job_runs import run_recorded_job
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.store import Store
from elt_llm_core.versions import VersionKind

store = Store(Path(sys.argv[1]))

def write(own):
    content = {"title": "Tides", "collections": [], "sources_digest": ""}
    store.versions.add(VersionKind.REPORT, "tides", "key", content)
    return JobReport(job="tides", counts={}, files={})

record = JobRecord(job_id="", kind="tides")
run_recorded_job(JobContext(RagConfig(), store), record, write)
"""


@pytest.mark.parametrize(
    ("point", "versions"),
    [
        (CrashPoint.JOB_BEGUN, 0),
        (CrashPoint.VERSION_WRITTEN, 0),
        (CrashPoint.JOB_DONE, 1),
    ],
)
def test_a_killed_job_is_interrupted_and_a_version_is_whole_or_not_there(
    store, point, versions
):
    def write(**environment):
        return subprocess.run(
            [sys.executable, "-c", WRITER, str(store.data_dir)],
            env={**os.environ, **environment},
            capture_output=True,
            check=False,
        ).returncode

    assert write(**{VARIABLE: str(point)}) == -signal.SIGKILL
    (job,) = store.jobs.all()
    assert job.state is not JobState.RUNNING
    assert len(store.versions.rows(VersionKind.REPORT)) == versions
    assert write() == 0
    assert [row.number for row in store.versions.rows(VersionKind.REPORT)] == [1]

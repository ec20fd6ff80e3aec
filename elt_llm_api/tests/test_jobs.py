"""One job at a time; every end is told; nothing of the machine is."""

import threading

import pytest

from elt_llm_api import job_registry
from elt_llm_api.job_registry import WRITTEN_AT_ONCE, JobRegistry, remove_folder
from elt_llm_core.errors import (
    BusyError,
    LoadError,
    NothingTakenError,
    StoreLockedError,
)
from elt_llm_core.job_records import JobState
from elt_llm_core.jobs import JobReport
from elt_llm_core.results import Degradation, DegradationKind


@pytest.fixture
def jobs():
    registry = JobRegistry()
    yield registry
    for job in registry.all():
        assert job.finished.wait(10)
    registry.close()


def ended(job):
    assert job.finished.wait(10)
    return job


def test_a_job_reports_progress_files_and_success(jobs):
    def work(folder, progress):
        progress("reading", 1, 2, "a.pdf")
        (folder / "out.csv").write_text("x")
        return JobReport(
            job="x", counts={"ok": 1}, files={"out.csv": str(folder / "out.csv")}
        )

    job = ended(jobs.submit("x", work))
    assert job.state is JobState.SUCCEEDED
    assert (job.stage, job.done, job.total, job.detail) == ("reading", 1, 2, "a.pdf")
    assert job.file("out.csv").read_text() == "x"
    assert job.file("other.csv") is None
    assert jobs.get(job.job_id) is job


def test_who_reads_that_a_job_ended_may_start_the_next(jobs, monkeypatch):
    seen = []

    def look(folder):
        seen.append(jobs.all()[0].state)
        remove_folder(folder)

    monkeypatch.setattr(job_registry, "remove_folder", look)
    first = jobs.submit("x", lambda *_: JobReport(job="x"))
    while first.state is JobState.RUNNING:
        first.finished.wait(0.001)
    jobs.submit("y", lambda *_: JobReport(job="y"))
    assert seen[0] is JobState.RUNNING  # its folder is not removed yet


def test_failed_items_make_it_partial(jobs):
    job = ended(jobs.submit("x", lambda *_: JobReport(job="x", counts={"failed": 1})))
    assert job.state is JobState.PARTIAL


def test_what_a_job_could_not_do_is_told_without_its_folder(jobs):
    def work(folder, progress):
        detail = f"cannot read {folder}/trunc.pdf: it is damaged"
        kind = DegradationKind.DOCUMENT_FAILED
        worse = (Degradation(kind=kind, detail=detail),)
        return JobReport(job="x", counts={"failed": 1}, degradations=worse)

    report = ended(jobs.submit("x", work)).report
    assert report.degradations[0].detail == "cannot read trunc.pdf: it is damaged"


def test_a_file_outside_the_jobs_folder_is_not_given(jobs, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    report = JobReport(job="x", counts={}, files={"s": str(secret)})
    assert ended(jobs.submit("x", lambda *_: report)).file("s") is None


def test_a_second_job_is_refused_while_the_first_runs(jobs):
    go = threading.Event()

    def work(folder, progress):
        go.wait(10)
        return JobReport(job="x", counts={})

    first = jobs.submit("x", work)
    with pytest.raises(StoreLockedError, match=first.job_id):
        jobs.submit("x", work)
    go.set()
    ended(first)
    assert ended(jobs.submit("x", work)).state is JobState.SUCCEEDED


def test_texts_are_written_beside_a_writer_and_only_so_many_at_once(jobs):
    go = threading.Event()

    def work(folder, progress):
        go.wait(10)
        return JobReport(job="x", counts={})

    running = [jobs.submit("ingest", work)]
    running += [
        jobs.submit("report", work, exclusive=False) for _ in range(WRITTEN_AT_ONCE)
    ]
    with pytest.raises(BusyError, match="writing as many texts"):
        jobs.submit("report", work, exclusive=False)
    go.set()
    for job in running:
        ended(job)
    assert ended(jobs.submit("report", work, exclusive=False)).report


def test_a_failure_tells_the_cause_without_the_folder(jobs):
    def work(folder, progress):
        raise LoadError(str(folder / "a.pdf"), "it is empty", "save it again")

    job = ended(jobs.submit("x", work))
    assert job.state is JobState.FAILED
    assert job.problem["detail"] == "cannot read a.pdf: it is empty"
    assert job.problem["code"] == "ING002"


def test_all_that_failed_is_told_without_the_folder(jobs):
    def work(folder, progress):
        raise NothingTakenError(2, [f"cannot read {folder}/{n}" for n in ("a", "b")])

    job = ended(jobs.submit("x", work))
    assert job.problem["details"] == ["cannot read a", "cannot read b"]


def test_an_unexpected_failure_tells_only_its_number(jobs, caplog):
    def work(folder, progress):
        raise RuntimeError("secret in /srv/private")

    job = ended(jobs.submit("x", work))
    assert job.state is JobState.FAILED
    assert job.problem["status"] == 500
    assert "secret" not in str(job.problem)
    assert "secret in /srv/private" in caplog.text

"""Files that were sent: taken in, opened with a password, and gone afterwards."""

import logging
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from elt_llm_api.job_registry import JobRegistry
from elt_llm_api.uploads import Upload, Workspace, move_uploads
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_core.files.scratch import LOCK
from elt_llm_core.jobs import JobReport
from elt_llm_ingest import SUFFIXES
from samples import locked_pdf

PASSWORD = "open sesame"  # noqa: S105 - of a file made here
FORMATS = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files in which nothing else is put."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def left(folder: Path) -> list[str]:
    files = (p.name for p in folder.rglob("*") if p.is_file())
    return sorted(name for name in files if name != LOCK)


def sent(client: httpx.Client, **fields: str) -> dict:
    reply = client.post(
        "/v1/jobs",
        data={"kind": "ingest", "collection": "pool", **fields},
        files={"files": ("locked.pdf", locked_pdf(PASSWORD))},
    )
    assert reply.status_code == 202, reply.text
    for _ in range(300):
        job = client.get(reply.headers["location"]).json()
        if job["state"] != "running":
            return job
        time.sleep(0.1)
    pytest.fail(f"the job did not end: {job}")


@pytest.mark.network
def test_a_locked_file_is_taken_in_with_its_password_and_none_is_left(
    serve, root, temporary, caplog
):
    caplog.set_level(logging.DEBUG)
    with serve(RagConfig(), root) as url, httpx.Client(base_url=url, timeout=30) as c:
        refused = sent(c)
        assert refused["state"] == "failed"
        problem = refused["problem"]
        assert problem["detail"].startswith("cannot read locked.pdf: it is protected")
        assert "field password" in problem["hint"]
        assert "--password" not in str(refused)
        assert str(temporary) not in str(refused)
        assert left(temporary) == []
        assert sent(c, password=PASSWORD[1:])["state"] == "failed"
        assert sent(c, password=PASSWORD)["state"] == "succeeded"
        assert left(temporary) == []
        assert PASSWORD not in c.get("/v1/jobs").text
    assert PASSWORD not in caplog.text
    kept = b"".join(p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file())
    assert PASSWORD.encode() not in kept
    assert list(temporary.iterdir()) == []


def test_what_a_job_was_sent_goes_however_it_ends(temporary):
    jobs = JobRegistry()

    def work(folder, progress):
        (folder / "sent.pdf").write_text("x")
        if progress.__self__.kind == "bad":
            raise RuntimeError("worse")
        return JobReport(job="x", counts={})

    for kind in ("good", "bad"):
        assert jobs.submit(kind, work).finished.wait(10)
        assert left(temporary) == []
    jobs.close()


@pytest.mark.network
def test_a_refused_job_leaves_no_files(serve, root, temporary, monkeypatch):
    def busy(*_):
        raise UsageError("busy")

    monkeypatch.setattr(JobRegistry, "submit", busy)
    with serve(RagConfig(), root) as url, httpx.Client(base_url=url) as client:
        reply = client.post(
            "/v1/jobs",
            data={"kind": "ingest", "collection": "pool"},
            files={"files": ("a.txt", b"x")},
        )
        assert reply.status_code == 422
        assert left(temporary) == []


def test_the_folder_of_a_killed_server_is_removed_by_the_next(temporary):
    program = (
        "import os, signal; from elt_llm_api.uploads import Workspace\n"
        "w = Workspace(); (w.new_folder() / 'secret.pdf').write_text('x')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TMPDIR": str(temporary)},
        timeout=60,
        check=False,
    )
    assert killed.returncode == -9
    assert left(temporary) == ["secret.pdf"]
    other = temporary / "elt-llm-other"
    other.mkdir()
    first = Workspace()
    assert left(temporary) == []
    (first.new_folder() / "mine.pdf").write_text("x")
    second = Workspace()
    assert left(temporary) == ["mine.pdf"], "the folder of a living server stays"
    for one in (second, first, first):
        one.close()
    assert list(temporary.iterdir()) == [other]


def test_a_file_that_another_took_is_told(tmp_path):
    gone = Upload("pool.pdf", tmp_path / "pool.pdf")
    with pytest.raises(UsageError, match="choose it again"):
        move_uploads([gone], tmp_path)


def test_every_ending_that_is_read_is_documented():
    table = FORMATS.read_text().split("## What is told")[0]
    assert set(SUFFIXES) <= set(re.findall(r"\.[a-z]+\b", table))

"""A server of our own, and what is asked of it."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from crash_root import Root


@contextmanager
def serving(root: Root, **env: str) -> Iterator[str]:
    """The address of `elt-llm serve` on a root, a process of its own."""
    command = [sys.executable, "-c", "from elt_llm_core.cli import main; main()"]
    shared = ["--data-dir", str(root.data), "--config", str(root.config)]
    with subprocess.Popen(
        [*command, "serve", "--port", "0", *shared],
        env={**root.warm.environment, **env},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"http://\S+/", line)
            assert found, line
            yield found[0]
        finally:
            process.kill()
            process.communicate(timeout=20)


def upload(url: str, *names: str) -> httpx.Response:
    """Ask for an ingest over HTTP."""
    told = "The {} file tells of a heron on the quay."
    return httpx.post(
        f"{url}v1/jobs",
        data={"kind": "ingest", "collection": "rules"},
        files=[("files", (name, told.format(name).encode())) for name in names],
        timeout=30,
    )


def finished(url: str, job: str) -> dict:
    """The job when it is done."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = httpx.get(f"{url}v1/jobs/{job}", timeout=30).json()
        if found["state"] != "running":
            return found
        time.sleep(0.1)
    pytest.fail("the job does not end")


def until_gone(url: str) -> None:
    """Wait until nobody answers there any more."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{url}livez", timeout=30)
        except httpx.TransportError:
            return
        time.sleep(0.1)
    pytest.fail("the server does not end")

"""`elt-llm serve`: tells its address, ends cleanly, says why it cannot start."""

import gc
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import pairwise

import httpx
import pytest

from elt_llm_api import serve
from elt_llm_api.server.exposure import listen, server_url
from elt_llm_core.errors import ConfigError, EltLlmError

pytestmark = pytest.mark.usefixtures("warm_commands")
COMMAND = [sys.executable, "-c", "from elt_llm_core.cli import main; main()", "serve"]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )


@contextmanager
def started(*arguments: str):
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=20)


def url_of(process: subprocess.Popen[str]) -> str:
    line = process.stderr.readline()
    found = re.search(r"http://\S+/", line)
    assert found, line + process.stderr.read()
    return found[0]


@pytest.mark.network
def test_it_tells_its_address_and_ends_on_ctrl_c(tmp_path):
    missing = tmp_path / "data"
    with started("--port", "0", "--data-dir", str(missing)) as process:
        url = url_of(process)
        assert httpx.get(f"{url}readyz", timeout=20).status_code == 200
        assert httpx.get(url, timeout=20).headers["location"] == "/workspace"
        with httpx.stream("GET", f"{url}ui/", timeout=20) as page:
            assert page.status_code == 200
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - begun < 10
    assert process.returncode in {0, 130}
    assert "Traceback" not in err
    assert out == ""
    assert not missing.exists()


@pytest.mark.network
def test_a_taken_port_is_told(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = run("--port", port, "--data-dir", str(tmp_path))
    assert ended.returncode == 69
    assert f"port {port} on 127.0.0.1 is already in use" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_beyond_loopback_without_a_token_it_does_not_start(tmp_path):
    ended = run("--host", "192.0.2.1", "--data-dir", str(tmp_path))
    assert ended.returncode == 78
    assert "token" in ended.stderr


def test_beyond_loopback_it_says_that_plain_http_can_be_read():
    told = serve.announce("http://0.0.0.0:7860/", "0.0.0.0")  # noqa: S104
    assert told.splitlines()[1:] == [serve.UNENCRYPTED]
    for host in ("127.0.0.1", "localhost", "::1"):
        assert serve.announce("http://localhost:7860/", host).count("\n") == 0


@pytest.mark.network
def test_the_address_names_the_real_port():
    with listen("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        assert server_url(sock) == f"http://127.0.0.1:{port}/"
        with pytest.raises(EltLlmError, match="already in use") as caught:
            listen("127.0.0.1", port)
    assert caught.value.exit_code == 69


def test_an_address_that_is_not_ours_is_refused():
    with pytest.raises(ConfigError, match="cannot listen"):
        listen("203.0.113.7", 0)


@pytest.fixture
def own_collector():
    """A garbage collector that is as it was afterwards."""
    before, scans = sys.getswitchinterval(), gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*scans)
    sys.setswitchinterval(before)


def test_what_was_imported_is_set_aside_from_the_collector(own_collector):
    before = sys.getswitchinterval()
    with serve.keep_answering():
        assert gc.get_freeze_count() > 0
        assert sys.getswitchinterval() < before


def test_scans_of_new_objects_are_short_while_it_serves(own_collector):
    gc.set_threshold(20_000, 20, 20)  # as the command line does
    with serve.keep_answering():
        assert gc.get_threshold() == (700, 10, 200)
    assert gc.get_threshold() == (20_000, 20, 20)


def test_what_questions_load_is_set_aside_at_ever_rarer_collections(own_collector):
    with serve.keep_answering():
        counts, kept = [gc.get_freeze_count()], []
        for number in range(9):
            kept.append([[number, one] for one in range(1000)])
            gc.collect()
            counts.append(gc.get_freeze_count())
    grown = [after > before + 900 for before, after in pairwise(counts)]
    assert [number for number, yes in enumerate(grown, 1) if yes] == [1, 2, 4, 8]
    assert not [one for one in gc.callbacks if "keep_answering" in repr(one)]

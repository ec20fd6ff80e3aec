"""A child that begins warm is a process as any other."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from warm_children import WarmChildren

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import StoreError
from elt_llm_core.store.index.child import run_child
from elt_llm_ingest.sandbox.client import ReadingProcess

BUILDER = "elt_llm_core.store.index.build"
READER = [sys.executable, "-P", "-m", "elt_llm_ingest.sandbox.worker"]


def parent_group_session(pid: int) -> list[int]:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    return [int(number) for number in after_name.split()[1:4]]


def read_one() -> tuple[bool, ParsedDocument]:
    """Whether the reading process began warm, and what it reads."""
    with ReadingProcess() as process:
        (document,) = process.parse(Path("a.md"), b"# Rule\n\nA fee is due.\n")
        child = process._child
        assert child is not None
        assert parent_group_session(child.pid) == [os.getpid(), child.pid, child.pid]
        command = Path(f"/proc/{child.pid}/cmdline").read_bytes()
    assert child.returncode == -signal.SIGKILL
    return b"warm_children" in command, document


def test_it_reads_what_a_cold_one_reads_and_is_waited_for(
    warm_children: WarmChildren,
) -> None:
    with warm_children.cold():
        was_warm, document = read_one()
        assert not was_warm
    assert read_one() == (True, document)


def last_words() -> str:
    with pytest.raises(StoreError) as caught:
        run_child(BUILDER, ["build"])
    return caught.value.message


def test_its_last_words_and_its_end_by_a_signal_are_told(
    warm_children: WarmChildren,
) -> None:
    warm = last_words()
    with warm_children.cold():
        assert last_words() == warm != ""
    with subprocess.Popen(READER, stdin=subprocess.PIPE, stdout=-1) as child:
        assert child.stdout is not None
        assert child.stdout.read(13)[8:] == b"ready"
        child.send_signal(signal.SIGTERM)
    assert child.returncode == -signal.SIGTERM

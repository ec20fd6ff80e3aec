"""What an ingest starts before LlamaIndex is there."""

import gc
import subprocess
import sys

import pytest

from elt_llm_ingest.warming import pause_garbage_collection

ENGLISH = (
    "The fee for a berth is due in June, and it is paid to the office of the port."
)
FOREIGN = "Kvalifikovaný poskytovatel oznámí změnu služby orgánu dohledu do měsíce."
STARTED = """
import sys
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_ingest.sandbox.client import ReadingProcess

start = ReadingProcess.start

def noted(self):
    if self._child is None:
        heavy = {"llama_index.core", "onnxruntime", "chromadb"} & sys.modules.keys()
        print("child started after", sorted(heavy))
    start(self)

ReadingProcess.start = noted
sys.exit(run(elt_llm))
"""
GLANCED = """
import sys
from pathlib import Path
from elt_llm_ingest.warming import warm_up
warm_up(Path(sys.argv[1])).join()
print("llama_index" in sys.modules, "py3langid" in sys.modules)
"""


def output_of(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_reading_process_starts_before_llamaindex_is_imported(tmp_path):
    path = tmp_path / "a.md"
    path.write_text(ENGLISH)
    root = ["--collection", "harbour", "--data-dir", str(tmp_path / "data"), "--quiet"]
    said = output_of(STARTED, "ingest", str(path), *root)
    assert said.splitlines()[0] == "child started after []"
    assert "1 added" in said


@pytest.mark.parametrize(
    ("name", "data", "loaded"),
    [
        ("foreign.md", FOREIGN.encode(), True),
        ("foreign.txt", FOREIGN.encode(), True),
        ("english.md", ENGLISH.encode(), False),
        ("cut.txt", (ENGLISH + " \N{EURO SIGN}").encode()[:-1], False),
        ("scan.png", b"\x89PNG\r\n\x1a\n" + FOREIGN.encode(), False),
        ("zero.txt", b"\x00" * 9, False),
        ("missing.md", None, False),
    ],
)
def test_the_detector_is_loaded_where_the_first_file_needs_it(
    tmp_path, name, data, loaded
):
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    assert output_of(GLANCED, str(path)) == f"False {loaded}\n"


def test_the_collector_goes_on_after_a_failed_import():
    with pytest.raises(ZeroDivisionError), pause_garbage_collection():
        assert 1 / gc.isenabled()
    assert gc.isenabled()

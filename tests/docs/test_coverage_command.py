"""The measurement of what tests reach, which is no part of the gate."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_package_is_measured_in_child_processes_too(tmp_path):
    environ = {**os.environ, "COVERAGE_FOLDER": str(tmp_path)}
    # The outer process imports nothing of ours; what is measured ran in its child.
    child = "import subprocess, sys; subprocess.run([sys.executable, '-m', {!r}, '-h'])"
    script = tmp_path / "outer.py"
    script.write_text(child.format("elt_llm_core.cli"))
    commands = [
        ["run", str(script)],
        ["combine", "--quiet"],
        ["json", "--quiet", "-o", str(tmp_path / "report.json")],
    ]
    for arguments in commands:
        subprocess.run(
            [sys.executable, "-m", "coverage", *arguments],
            cwd=ROOT,
            env=environ,
            check=True,
            capture_output=True,
        )
    files = json.loads((tmp_path / "report.json").read_text())["files"]
    reached = {path for path, one in files.items() if one["summary"]["covered_lines"]}
    assert any(path.endswith("elt_llm_core/cli/__init__.py") for path in reached)
    packages = {Path(path).parts[0] for path in files}
    assert packages == {
        "elt_llm_api",
        "elt_llm_consumer",
        "elt_llm_core",
        "elt_llm_ingest",
        "elt_llm_query",
    }


def test_the_gate_does_not_measure():
    for script in ("check", "test"):
        assert "coverage" not in (ROOT / "scripts" / script).read_text()

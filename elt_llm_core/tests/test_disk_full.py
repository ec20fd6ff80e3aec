"""A full disk at every stage: told with exit 73, nothing lost, nothing half-made."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DISK_FULL = 73
SIZE = "24m"
ON_DISK = ("preflight", "build begun", "seal")
SCRIPT = Path(__file__).with_name("disk_script.py")


def stages(folder: Path, kind: str) -> dict[str, dict[str, Any]]:
    """What the script tells, by stage."""
    command = [sys.executable, str(SCRIPT), str(folder), kind]
    if kind == "tmpfs":
        mount = f'mount -t tmpfs -o size={SIZE} none "$1" && shift && exec "$@"'
        command = ["unshare", "-Urm", "sh", "-c", mount, "-", str(folder), *command]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=200, check=False,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return {stage["name"]: stage for stage in told}


def best_kind(kind: str, folder: Path) -> str:
    """A real small disk where one can be mounted, else a limit on every file."""
    if kind == "limit" or shutil.which("unshare") is None:
        return "limit"
    command = ["unshare", "-Urm", "mount", "-t", "tmpfs", "none", str(folder)]
    tried = subprocess.run(command, capture_output=True, timeout=20, check=False)
    return "limit" if tried.returncode else "tmpfs"


@pytest.mark.parametrize("kind", ["tmpfs", "limit"])
def test_a_full_disk_loses_nothing_at_any_stage(tmp_path: Path, kind: str) -> None:
    kind = best_kind(kind, tmp_path)
    told = stages(tmp_path, kind)
    seen = {*("document", "vectors", "build", "manifest", "backup")}
    assert told.keys() >= seen | ({*ON_DISK} if kind == "tmpfs" else set())
    for name, stage in told.items():
        assert stage["failed"]["exit"] == DISK_FULL, (name, stage["failed"])
        assert stage["during"] == stage["before"], name
        assert stage["again"] == {"exit": 0, "told": ""}, name
        assert stage["after"]["sound"], name
        assert stage["after"]["left"] == [], name
    if kind == "tmpfs":
        for name in ("preflight", "build begun", "build"):
            message = told[name]["failed"]["told"]
            assert "disk full, need ~" in message
            assert "MB free" in message

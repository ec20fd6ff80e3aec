"""The count of names that tell too little finds them, and holds the line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "names.py"
sys.path.insert(0, str(SCRIPT.parent))
import names  # noqa: E402


def test_no_count_is_above_its_baseline() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _tree(root: Path, **modules: str) -> Path:
    for name, code in modules.items():
        path = root / "elt_llm_a" / "src" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    return root


def test_each_kind_of_name_is_counted(tmp_path: Path) -> None:
    code = "class Row: ...\ndef routed(told): found = said = told\ndef choose(): ..."
    root = _tree(tmp_path, a__rows=code, b__rows="class Row: ...", c__cells="")
    assert names.count_names(names.collect_names(root)) == {
        "shared_classes": 1,
        "shared_modules": 2,
        "participle_functions": 1,
        "vague_assignments": 3,
    }


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("routed", True),
        ("_held", True),
        ("_open", False),
        ("embed", False),
        ("is_opened", False),
        ("choose_route", False),
    ],
)
def test_participles(name: str, is_one: bool) -> None:
    assert names.is_participle(name) is is_one


def test_a_rise_fails_and_the_baseline_only_falls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = tmp_path / "names.json"
    limits = dict.fromkeys(names.count_names(names.collect_names(tmp_path)), 1)
    baseline.write_text(json.dumps(limits))
    monkeypatch.setattr(names, "BASELINE", baseline)
    root = _tree(tmp_path, a__rows="def routed(): ...\ndef ranked(): ...")
    assert names.main([str(root), "--write"]) == 1
    assert "participle_functions: 2, the baseline is 1" in capsys.readouterr().err
    assert json.loads(baseline.read_text()) == {
        "shared_classes": 0,
        "shared_modules": 0,
        "participle_functions": 1,
        "vague_assignments": 0,
    }

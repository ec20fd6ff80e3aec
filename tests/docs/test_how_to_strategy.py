"""The package that the how-to writes passes the contract that the how-to names."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-strategy.md"
FILE = re.compile(r"`(\w+\.py)`:\n```python\n(.*?)```", re.DOTALL)


def test_the_strategy_of_the_how_to_keeps_its_contract(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, code in FILE.findall(text):
        (tmp_path / name).write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "--rootdir=."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    (promised,) = re.findall(r"^\d+ passed$", text, re.MULTILINE)
    assert promised in done.stdout

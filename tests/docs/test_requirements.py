"""Every row of the requirements has a state, tests that exist, or a reason."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "requirements.md"
STATES = ("works", "differently", "missing")
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


def cells() -> list[list[str]]:
    """The cells of each row of the requirements, without headers and counts."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [
        [c.strip() for c in line.split("|")[1:-1]] for line in lines if line[:1] == "|"
    ]
    return [row for row in rows if len(row) > 2 and row[1] not in {"state", "---"}]


def test_every_row_has_a_state_and_what_the_state_needs() -> None:
    wrong = []
    for row in cells():
        requirement, state, shown, reason = row
        good = requirement and state in STATES
        good = good and bool(TEST.search(shown)) == (state != "missing")
        if not good or bool(reason) == (state == "works"):
            wrong.append(row)
    assert cells()
    assert not wrong


def test_every_named_test_exists() -> None:
    missing = []
    for path, name in TEST.findall(PAGE.read_text(encoding="utf-8")):
        file = ROOT / path
        if not file.exists() or f"def {name}(" not in file.read_text(encoding="utf-8"):
            missing.append(f"{path}::{name}")
    assert not missing


def test_the_counts_are_those_of_the_rows() -> None:
    text = PAGE.read_text(encoding="utf-8")
    told = dict(
        re.findall(r"^\| (works|differently|missing) \| (\d+) \|$", text, re.MULTILINE)
    )
    counted = Counter(row[1] for row in cells())
    assert told == {state: str(counted[state]) for state in STATES}

"""Every crash point is called, and nothing depends on the clock on the wall."""

import ast
from collections.abc import Iterator
from pathlib import Path

from elt_llm_core.crash import CrashPoint

PROJECT = Path(__file__).parents[2]
WALL = {
    "time": {"time", "time_ns", "localtime", "gmtime", "ctime", "strftime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}
# A backup is called after the hour it was made in, and due some hours after the last; a
# budget is that of a calendar day; Retry-After may be a date; a kept trace and a
# message say when, and so do the decision of a reviewer, a job and a report.
NAMED_AFTER_THE_HOUR = {
    "elt_llm_core/doctor/store.py",
    "elt_llm_core/models/bounds.py",
    "elt_llm_core/models/gateway/spending.py",
    "elt_llm_core/question_traces.py",
    "elt_llm_core/store/database/conversations.py",
    "elt_llm_core/store/database/job_rows.py",
    "elt_llm_core/store/database/review_rows.py",
    "elt_llm_core/store/database/version_rows.py",
    "elt_llm_core/store/maintenance/backup.py",
}


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PROJECT.glob("elt_llm_*/src/**/*.py")):
        name = str(path).partition("/src/")[2]
        yield name, ast.parse(path.read_text(encoding="utf-8"))


def called(tree: ast.Module) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def test_every_crash_point_is_passed_somewhere_and_has_a_name() -> None:
    found = []
    for name, tree in sources():
        for call in called(tree):
            if isinstance(call.func, ast.Name) and call.func.id == "crash_point":
                (argument,) = call.args
                shown = ast.unparse(argument)
                assert shown.startswith("CrashPoint."), f"{name}: {shown}"
                found.append(shown.partition(".")[2])
    assert set(found) == {point.name for point in CrashPoint}


def wall_clocks(tree: ast.Module) -> Iterator[str]:
    """Calls that ask what time it is: `time.time()`, `datetime.now()` and the like."""
    for call in called(tree):
        if isinstance(call.func, ast.Attribute):
            owner = ast.unparse(call.func.value).rpartition(".")[2]
            if call.func.attr in WALL.get(owner, ()):
                yield ast.unparse(call.func)


def test_the_clock_on_the_wall_decides_nothing() -> None:
    asked = {
        name: sorted(wall_clocks(tree))
        for name, tree in sources()
        if any(wall_clocks(tree))
    }
    assert asked.keys() <= NAMED_AFTER_THE_HOUR, asked


def test_a_clock_is_seen_by_this_test() -> None:
    text = "import time, datetime\ntime.time()\ndatetime.datetime.now()\n"
    assert list(wall_clocks(ast.parse(text))) == ["time.time", "datetime.datetime.now"]
    assert not list(wall_clocks(ast.parse("time.monotonic()")))

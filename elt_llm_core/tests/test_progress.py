"""Progress as people see it, and the report a job ends with."""

import io
import sys
from collections.abc import Sequence

import pytest
from rich.console import Console

from elt_llm_core.cli import progress
from elt_llm_core.cli.progress import BarProgress, LineProgress, make_progress
from elt_llm_core.errors import UnknownStrategyError
from elt_llm_core.jobs import JOBS, JobReport, Pace, format_duration, silent


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    listener = make_progress(quiet=True)
    assert listener is silent
    listener("embed", 1, 2, "a.pdf")
    assert capsys.readouterr() == ("", "")


def test_the_listener_suits_where_stderr_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(make_progress(quiet=False), LineProgress)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(make_progress(quiet=False), BarProgress)


def test_lines_come_every_ten_seconds_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    listener = LineProgress()
    for second in range(25):
        now[0] = 100.0 + second
        listener("embed", second, 30, "a.pdf")
    listener("embed", 30, 30)
    listener("search", 1)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "embed: 10 of 30 a.pdf",
        "embed: 20 of 30 a.pdf",
        "embed: 30 of 30",
    ]


def test_a_stage_of_unknown_length_is_told_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    LineProgress()("read", 7)
    assert capsys.readouterr().err == "read: 7\n"


def forecasts(total: int, seconds: Sequence[float], done: int = 0) -> list[str]:
    """The estimate before each item and at the end; items take so many seconds."""
    now = [0.0]
    pace = Pace(total, lambda: now[0])
    shown = [pace.time_left(done)]
    for number, one in enumerate(seconds, start=done + 1):
        now[0] += one
        shown.append(pace.time_left(number))
    return shown


def test_what_the_first_item_sets_up_is_not_in_the_estimate() -> None:
    # The first of 49 items loads a model for 22 s, the others take a quarter second.
    shown = forecasts(49, [22.0] + [0.25] * 48)
    assert shown[:13] == [""] * 13
    assert shown[13] == "about 10 s left"  # 36 items of .25 s
    assert shown[-1] == ""
    assert {one for one in shown if one} <= {"about 10 s left", "about 5 s left"}


def test_an_estimate_waits_for_some_items() -> None:
    assert forecasts(100, [10.0] * 4) == ["", "", "", "", "about 16 min left"]


def test_an_estimate_waits_for_a_share_of_the_work() -> None:
    shown = forecasts(1000, [10.0] * 21)
    assert shown[20] == ""
    assert shown[21] == "about 3 h left"


def test_work_of_an_earlier_run_is_no_pace() -> None:
    shown = forecasts(100, [2.0] * 5, done=90)
    assert shown == ["", "", "", "", "about 10 s left", "about 10 s left"]


def test_the_pace_of_the_last_items_counts() -> None:
    shown = forecasts(100, [1.0] * 20 + [20.0] * 30)
    assert shown[50] == "about 17 min left"
    assert shown[20] == "about 1 min left"


def test_a_stage_that_begins_again_is_estimated_anew() -> None:
    now = [0.0]
    pace = Pace(10, lambda: now[0])
    for done in (0, 1, 2, 3, 4):
        now[0] += 5.0
        pace.seconds_left(done)
    assert pace.seconds_left(4) == 30.0
    assert pace.seconds_left(0) is None


def test_durations_are_no_more_precise_than_an_estimate() -> None:
    assert [format_duration(s) for s in (3, 42, 130, 3 * 3600)] == [
        "5 s",
        "40 s",
        "2 min",
        "3 h",
    ]


def test_a_line_knows_the_items_between_two_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "Pace", lambda total: Pace(total, lambda: now[0]))
    listener = LineProgress()
    listener("glossary", 0, 49)
    for number in range(1, 48):
        now[0] += 8.0 if number == 1 else 0.5
        listener("glossary", number, 49)
    lines = capsys.readouterr().err.splitlines()
    # The first is two seconds after the first item, too early for an estimate.
    assert lines[:2] == ["glossary: 5 of 49", "glossary: 25 of 49 about 10 s left"]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """What a terminal of 100 columns is sent."""
    sent = Terminal()
    console = Console(file=sent, width=100, force_terminal=True)
    monkeypatch.setattr(progress, "Console", lambda **options: console)
    return sent


def test_a_bar_a_stage_on_a_terminal(screen: Terminal) -> None:
    bars = BarProgress()
    bars("parse", 1, 2, "x" * 60 + "/the-end-of-a-path.pdf")
    bars("parse", 2, 2)
    bars("embed", 5, None)
    bars("embed", 9, 10)
    bars.close()
    shown = screen.getvalue()
    assert "parse" in shown
    assert "2/2" in shown
    assert "9/10" in shown


def test_bars_can_be_closed_twice_and_used_again(screen: Terminal) -> None:
    bars = BarProgress()
    bars.close()
    bars("parse", 1, 2)
    bars.close()
    bars.close()
    bars("embed", 3, 4)
    bars.close()
    assert "3/4" in screen.getvalue()


def test_a_report_with_failures_leaves_with_two() -> None:
    assert JobReport(job="ingest", counts={"added": 3}).exit_code == 0
    assert JobReport(job="ingest", counts={"added": 3, "failed": 0}).exit_code == 0
    assert JobReport(job="ingest", counts={"failed": 1}).exit_code == 2


def test_jobs_come_through_the_one_door() -> None:
    assert JOBS.group == "elt_llm.jobs"
    with pytest.raises(UnknownStrategyError, match="no jobs strategy 'ingst'"):
        JOBS.load("ingst")

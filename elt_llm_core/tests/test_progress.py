"""Progress as people see it, and the report a job ends with."""

import io
import sys

import pytest
from rich.console import Console

from elt_llm_core.cli import progress
from elt_llm_core.cli.progress import BarProgress, LineProgress, make_progress
from elt_llm_core.errors import UnknownStrategyError
from elt_llm_core.jobs import JOBS, JobReport, silent


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

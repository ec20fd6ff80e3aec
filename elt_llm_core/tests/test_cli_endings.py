"""How a command ends: its exit code, and what is told."""

import signal
import subprocess
import sys

import click
import pytest
from pydantic import BaseModel

from elt_llm_core.cli.common import CommandContext, common_options
from elt_llm_core.cli.failures import run
from elt_llm_core.errors import StoreWriteError


@click.command()
@click.argument("what")
@common_options
def odd(ctx: CommandContext, what: str) -> None:
    """End in the way that is asked for."""
    raised = {
        "interrupt": KeyboardInterrupt(),
        "abort": click.Abort(),
        "bug": RuntimeError("nobody thought of it"),
        "disk": StoreWriteError("/x", "No space left on device"),
    }
    if what in raised:
        raise raised[what]
    if what == "record":
        ctx.emit(Answer(value=1), "one")
    else:
        ctx.exit(int(what))


class Answer(BaseModel):
    """A record to print."""

    value: int


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("interrupt", 130),
        ("abort", 130),
        ("bug", 1),
        ("disk", 73),
        ("0", 0),
        ("2", 2),
        ("record", 0),
    ],
)
def test_how_a_command_ends_is_its_exit_code(
    what: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(odd, [what]) == code
    assert run(odd, [what, "--json"]) == code
    out, err = capsys.readouterr()
    if what == "record":
        assert out == 'one\n{\n  "value": 1\n}\n'
    if what == "bug":
        assert "unexpected RuntimeError: nobody thought of it" in err
        assert "Traceback" not in err


INTERRUPTED = """
import signal, sys, time, click
from elt_llm_core.cli.failures import run
# A shell starts what runs in the background deaf to Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
@click.command()
def wait():
    click.echo("waiting")
    time.sleep(60)
sys.exit(run(wait, []))
"""


def test_control_c_leaves_with_130_and_no_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "elt-llm: interrupted" in told
    assert "Traceback" not in told


TALKING = """
import sys, click
from elt_llm_core.cli.failures import run
@click.command()
def talk():
    for _ in range(int(sys.argv[1])):
        click.echo("x" * 80)
sys.exit(run(talk, []))
"""


@pytest.mark.parametrize("lines", ["1", "100000"])
def test_a_reader_that_goes_away_is_no_error(lines: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TALKING, lines],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        told = process.stderr.read()
        assert process.wait(timeout=20) == 0
    assert told == b""

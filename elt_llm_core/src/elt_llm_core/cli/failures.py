"""Report failures of commands: a sentence on stderr, and a documented exit code."""

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import click

from elt_llm_core.cli.common import complete_hint, read_shared_options
from elt_llm_core.cli.terminal import escape_controls, escape_line, json_text
from elt_llm_core.errors import EltLlmError

OK = 0
UNEXPECTED = 1
PARTIAL = 2
USAGE = 64
INTERRUPTED = 130

log = logging.getLogger(__name__)


def run(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run a click command and return its exit code; never raises.

    0 success or help, 2 some items failed, 64 wrong usage, 130 interrupted, the error's
    own code for an EltLlmError, 1 for unexpected errors.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in arguments
    stdout = sys.stdout
    try:
        result = command.main(args=list(arguments), standalone_mode=False)
        stdout.flush()
    except SystemExit as leaving:
        # click replaces stdout and exits when the reader of a pipe has closed it.
        return OK if sys.stdout is not stdout else int(leaving.code or OK)
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.ctx.get_help())
        return OK
    except BrokenPipeError:
        _silence_stdout()
        return OK
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - process boundary
        return report_failure(error, read_shared_options(arguments), as_json=as_json)
    return result if isinstance(result, int) else OK


def report_failure(
    error: BaseException,
    options: Mapping[str, str],
    *,
    as_json: bool,
    indent: int | None = 2,
) -> int:
    """Print an error: a sentence on stderr, with JSON also an object on stdout.

    Args:
        error: The error.
        options: The options of the command, which its hint repeats.
        as_json: Whether to print the object.
        indent: Indentation of the object; None for one line.

    Returns:
        The exit code of the error.
    """
    fault = _fault(error)
    hint = complete_hint(fault.hint, options)
    return _tell(fault._replace(hint=hint), as_json, indent)


class Fault(NamedTuple):
    """The printed parts of an error."""

    code: str
    message: str
    hint: str
    exit_code: int
    details: tuple[str, ...] = ()


def _fault(error: BaseException) -> Fault:
    if isinstance(error, EltLlmError):
        return Fault(
            error.code, error.message, error.hint, error.exit_code, error.details
        )
    if isinstance(error, click.UsageError):
        hint = f"see {error.ctx.command_path} --help" if error.ctx else ""
        return Fault("USE001", error.format_message().rstrip("."), hint, USAGE)
    if isinstance(error, click.Abort | KeyboardInterrupt):
        hint = "the same command resumes where it stopped"
        return Fault("INTERRUPTED", "interrupted", hint, INTERRUPTED)
    log.debug("unexpected", exc_info=error)
    hint = "this is a bug in this program; run again with --log-level DEBUG for details"
    message = f"unexpected {type(error).__name__}: {error}"
    return Fault("ELT000", message, hint, UNEXPECTED)


def _tell(fault: Fault, as_json: bool, indent: int | None) -> int:
    text = f"elt-llm: {fault.message}"
    click.echo(
        escape_controls(f"{text}; {fault.hint}" if fault.hint else text), err=True
    )
    for detail in fault.details:
        click.echo(f"  {escape_line(detail)}", err=True)
    if as_json:
        fields = fault._asdict()
        if not fault.details:
            del fields["details"]
        click.echo(json_text({"error": fields}, indent))
    return fault.exit_code


def _silence_stdout() -> None:
    """Discard the interpreter's final flush if the reader of a pipe has closed it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

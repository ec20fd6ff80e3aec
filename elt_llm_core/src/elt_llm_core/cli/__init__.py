"""The umbrella command `elt-llm`.

Commands are entry points of the group `elt_llm.commands`, so each package defines its
own. Their modules import dependencies when they run, so that `--help` is fast.
"""

import gc
import sys

import click
from typing_extensions import override

from elt_llm_core.cli.failures import run
from elt_llm_core.errors import ConfigError
from elt_llm_core.points import points_of

GROUP = "elt_llm.commands"
# A typing error leaves more alike; "list" and "ingest" have 0.6 and nothing in common.
_ALIKE = 0.7
# What other programs call these commands.
_MEANT = {
    "add": "ingest",
    "ask": "query",
    "delete": "remove",
    "list": "collections",
    "ls": "collections",
}


class Umbrella(click.Group):
    """A group whose commands are found through entry points."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({point.name for point in points_of(GROUP)})

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for point in points_of(GROUP):
            if point.name != cmd_name:
                continue
            try:
                command: click.Command = point.load()
            except (ImportError, AttributeError) as error:
                return _broken_command(cmd_name, error)
            return command
        return None

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            wanted, known = args[0], self.list_commands(ctx)
            near = get_close_matches(wanted, known, n=1, cutoff=_ALIKE)
            if _MEANT.get(wanted) in known:
                near = [_MEANT[wanted]]
            if not near:
                raise
            raise click.UsageError(
                f"no command {args[0]!r}; did you mean {near[0]!r}?", ctx
            ) from error


def _broken_command(name: str, error: Exception) -> click.Command:
    """Return a placeholder for a command that cannot be loaded."""

    def fail() -> None:
        raise ConfigError(
            f"the command {name!r} cannot be loaded: {error}",
            "reinstall the package that provides it",
        ) from error

    rest = click.Argument(
        ["arguments"], nargs=-1, type=click.UNPROCESSED, expose_value=False
    )
    return click.Command(
        name,
        callback=fail,
        params=[rest],
        context_settings={"ignore_unknown_options": True, "help_option_names": []},
        short_help="(cannot be loaded)",
    )


@click.group(cls=Umbrella, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="elt-llm-core", prog_name="elt-llm")
def elt_llm() -> None:
    """Handbooks and enterprise models in; answers, glossaries and catalogues out.

    Every statement carries its proof, and nothing leaves this machine.
    """


def main() -> None:
    """Run the command line and exit with its exit code."""
    # A product keeps some hundred thousand records until it is written. At the default,
    # a scan for cycles after each 700 new objects, the scans are a tenth of its time.
    gc.set_threshold(20_000, 20, 20)
    code = run(elt_llm)
    # The interpreter would scan every object once more before it exits.
    gc.freeze()
    sys.exit(code)

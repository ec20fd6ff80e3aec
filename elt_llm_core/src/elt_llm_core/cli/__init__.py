"""The umbrella command `elt-llm`.

Commands are entry points of the group `elt_llm.commands`, so each package brings its
own. Their modules import what they need when they run: `--help` answers at once.
"""

import sys
from difflib import get_close_matches
from importlib.metadata import entry_points

import click
from typing_extensions import override

from elt_llm_core.cli.failures import run


class Umbrella(click.Group):
    """A group whose commands are found through entry points."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({point.name for point in entry_points(group="elt_llm.commands")})

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for point in entry_points(group="elt_llm.commands", name=cmd_name):
            command: click.Command = point.load()
            return command
        return None

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            if not near:
                raise
            raise click.UsageError(
                f"no command {args[0]!r}; did you mean {near[0]!r}?", ctx
            ) from error


@click.group(cls=Umbrella, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="elt-llm-core", prog_name="elt-llm")
def elt_llm() -> None:
    """Handbooks and enterprise models in; answers, glossaries and catalogues out.

    Every statement carries its proof, and nothing leaves this machine.
    """


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(elt_llm))

"""`elt-llm eval`: its sub-commands are the entry points of `elt_llm.eval`."""

from importlib.metadata import entry_points

import click
from typing_extensions import override

GROUP = "elt_llm.eval"


class Evaluations(click.Group):
    """A group that loads a sub-command from its entry point when it is named."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({point.name for point in entry_points(group=GROUP)})

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for point in entry_points(group=GROUP, name=cmd_name):
            command: click.Command = point.load()
            return command
        return None


@click.group(name="eval", cls=Evaluations)
def evaluate() -> None:
    """Measure how well questions are answered."""

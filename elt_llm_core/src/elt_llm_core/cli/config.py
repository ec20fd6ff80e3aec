"""`elt-llm config`: what is in force."""

import click

from elt_llm_core.cli.common import CommandContext, common_options


@click.group()
def config() -> None:
    """Show the configuration and its profiles."""


@config.command()
@common_options
def show(ctx: CommandContext) -> None:
    """Print the merged configuration; secrets are masked."""
    import yaml

    merged = ctx.config.model_dump(mode="json")
    ctx.emit(merged, lambda: yaml.safe_dump(merged, sort_keys=False).rstrip())


@config.command()
@common_options
def profiles(ctx: CommandContext) -> None:
    """List the profiles that --profile takes."""
    from elt_llm_core.config import known_profiles

    names = ["default", *known_profiles()]
    ctx.emit({"profiles": names}, "\n".join(names))

"""`elt-llm config`: the configuration in force."""

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
@click.argument("name", metavar="[PROFILE]", default="default")
@common_options
def shipped(ctx: CommandContext, name: str) -> None:
    """Print the shipped configuration, or a PROFILE, with its comments.

    To customise: elt-llm config shipped > my.yaml, then --config my.yaml.
    """
    from elt_llm_core.config.loader import known_profiles, profile_file, reference_file
    from elt_llm_core.errors import ConfigError

    pack = ctx.config.consumer.pack
    files = known_profiles(pack=pack)
    file = (
        reference_file() if name == "default" else files.get(name) or profile_file(name)
    )
    if file is None:
        raise ConfigError("no configuration is shipped", "install elt-llm-ingest")
    text = file.read_text(encoding="utf-8")
    ctx.emit({"file": str(file), "text": text}, text.rstrip())


@config.command()
@common_options
def profiles(ctx: CommandContext) -> None:
    """List the profiles for --profile."""
    from elt_llm_core.profile_notes import profile_notes

    notes = profile_notes(ctx.config.consumer.pack)
    shown = "\n".join(f"{n.name}\n    {n.does}\n    {n.needs}" for n in notes)
    plain = {n.name: {"does": n.does, "needs": n.needs} for n in notes}
    ctx.emit({"profiles": list(plain), "about": plain}, shown)

"""The command `elt-llm serve`."""

import click

from elt_llm_core.cli.common import CommandContext, common_options


@click.command()
@click.option("--host", help="Address to listen on; beyond loopback needs a token.")
@click.option("--port", type=click.IntRange(0, 65535), help="0 takes a free one.")
@common_options
def serve(ctx: CommandContext, host: str | None, port: int | None) -> None:
    """Serve the HTTP API and the page.

    Exits 69 where the port is taken, 78 for an address beyond this machine without a
    token.
    """
    from elt_llm_api.serve import run

    given = {"host": host, "port": port}
    api = ctx.config.api.model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    run(
        ctx.config.model_copy(update={"api": api}),
        lambda: ctx.store,
        lambda url: click.echo(f"elt_llm serves {url}  (Ctrl-C stops)", err=True),
    )

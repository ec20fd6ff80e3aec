"""`elt-llm search` and `elt-llm query`."""

import sys

import click

from elt_llm_core.cli.common import CommandContext, common_options

_collections = click.option(
    "--collection",
    "collections",
    multiple=True,
    help="Collection to ask; may be given again.  [default: all]",
)


@click.command()
@click.argument("question")
@_collections
@click.option("--top-k", type=click.IntRange(1, 1000), help="How many sources to show.")
@common_options
def search(
    ctx: CommandContext, question: str, collections: tuple[str, ...], top_k: int | None
) -> None:
    """Find the passages that fit a QUESTION best."""
    from elt_llm_query.query import search_collections
    from elt_llm_query.render import sources_text

    result = search_collections(
        names_of(ctx, collections),
        question,
        store=ctx.store,
        config=ctx.config,
        models=ctx.models,
        k=top_k,
    )
    ctx.emit(result, lambda: sources_text(result, colour=sys.stdout.isatty()))


@click.command()
@click.argument("question")
@_collections
@common_options
def query(ctx: CommandContext, question: str, collections: tuple[str, ...]) -> None:
    """Answer a QUESTION with citations, or say that the documents do not."""
    from elt_llm_query.query import query_collections
    from elt_llm_query.render import answer_text

    result = query_collections(
        names_of(ctx, collections),
        question,
        store=ctx.store,
        config=ctx.config,
        models=ctx.models,
    )
    ctx.emit(result, lambda: answer_text(result, colour=sys.stdout.isatty()))


def names_of(ctx: CommandContext, given: tuple[str, ...]) -> list[str]:
    """The collections given, else all. Raises UsageError where there are none."""
    from elt_llm_core.errors import UsageError

    names = list(given) or [card.name for card in ctx.store.collections()]
    if not names:
        raise UsageError(
            "there are no collections yet",
            "add documents first: elt-llm ingest PATH --collection NAME",
        )
    return names

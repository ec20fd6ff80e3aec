"""`elt-llm search` and `elt-llm query`."""

import sys

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options

_collections = click.option(
    "--collection",
    "collections",
    type=COLLECTION,
    multiple=True,
    help="Collection to ask; may be given again.  [default: all]",
)


_where = click.option(
    "--where",
    "filters",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only chunks of this document, section, page, kind, rule, date or source; "
    "the same key again is an alternative.",
)


@click.command()
@click.argument("question")
@_collections
@_where
@click.option(
    "--top-k",
    type=click.IntRange(1, 1000),
    help="Most sources to show. What the configuration brings beside them (neighbours, "
    "rules they refer to) is not counted.",
)
@common_options
def search(
    ctx: CommandContext,
    question: str,
    collections: tuple[str, ...],
    filters: tuple[str, ...],
    top_k: int | None,
) -> None:
    """Find the passages that fit a QUESTION best."""
    with ctx.loading():
        from elt_llm_query.query import search_collections
        from elt_llm_query.render import sources_text

        models = ctx.models
    with ctx.working("searching"):
        result = search_collections(
            names_of(ctx, collections),
            question,
            store=ctx.store,
            config=ctx.config,
            models=models,
            k=top_k,
            where=where_of(filters),
        )
    ctx.emit(result, lambda: sources_text(result, colour=sys.stdout.isatty()))


@click.command()
@click.argument("question")
@_collections
@_where
@common_options
def query(
    ctx: CommandContext,
    question: str,
    collections: tuple[str, ...],
    filters: tuple[str, ...],
) -> None:
    """Answer a QUESTION with citations, or say that the documents do not."""
    with ctx.loading():
        from elt_llm_query.query import query_collections
        from elt_llm_query.render import answer_text

        models = ctx.models
    with ctx.working("answering"):
        result = query_collections(
            names_of(ctx, collections),
            question,
            store=ctx.store,
            config=ctx.config,
            models=models,
            where=where_of(filters),
        )
    ctx.emit(result, lambda: answer_text(result, colour=sys.stdout.isatty()))


def where_of(given: tuple[str, ...]) -> dict[str, list[str]]:
    """Filters by key, as they were given. Raises UsageError for one without `=`."""
    from elt_llm_core.errors import UsageError

    where: dict[str, list[str]] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not (key and equals and value):
            raise UsageError(
                f"the filter {one!r} names no key and value", "write --where KEY=VALUE"
            )
        where.setdefault(key, []).append(value)
    return where


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

"""`elt-llm search` and `elt-llm query`."""

import sys
from typing import Any

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

_local = click.option(
    "--local",
    is_flag=True,
    help="Answer in this process, even where a server of the data root runs.",
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
@_local
@common_options
def search(
    ctx: CommandContext,
    question: str,
    collections: tuple[str, ...],
    filters: tuple[str, ...],
    top_k: int | None,
    *,
    local: bool,
) -> None:
    """Find the passages that fit a QUESTION best."""
    asked = {"command": "search", "question": question, "top_k": top_k}
    _answer(ctx, asked, collections, filters, local=local)


@click.command()
@click.argument("question")
@_collections
@_where
@_local
@common_options
def query(
    ctx: CommandContext,
    question: str,
    collections: tuple[str, ...],
    filters: tuple[str, ...],
    *,
    local: bool,
) -> None:
    """Answer a QUESTION with citations, or say that the documents do not."""
    asked = {"command": "query", "question": question}
    _answer(ctx, asked, collections, filters, local=local)


def _answer(
    ctx: CommandContext,
    asked: dict[str, Any],
    collections: tuple[str, ...],
    filters: tuple[str, ...],
    *,
    local: bool,
) -> None:
    """Print the answer of a running server of the data root, else one made here."""
    whole = {
        **asked,
        "collections": collections,
        "filters": filters,
        "as_json": ctx.as_json,
        "colour": sys.stdout.isatty(),
    }
    text, declined = (None, "") if local else ctx.served(whole)
    if text is None:
        with ctx.loading():
            from elt_llm_query.render import CommandQuestion, print_answer
        with ctx.working("answering"):
            text = print_answer(
                CommandQuestion(**whole, declined=declined),
                store=ctx.store,
                config=ctx.config,
                models=lambda: ctx.models,
            )
    click.echo(text)

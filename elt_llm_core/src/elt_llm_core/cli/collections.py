"""`elt-llm collections`: what is there."""

import click

from elt_llm_core.cli.common import CommandContext, common_options


@click.command()
@click.argument("name", required=False)
@common_options
def collections(ctx: CommandContext, name: str | None) -> None:
    """List the collections, or the documents of one."""
    if name:
        _documents(ctx, name)
        return
    cards = ctx.store.collections()
    generations = {card.name: ctx.store.open(card.name).generation for card in cards}
    rows = [
        {**card.model_dump(mode="json"), "generation": generations[card.name]}
        for card in cards
    ]

    def human() -> str:
        if not rows:
            return "No collections yet. Add one: elt-llm ingest PATH --collection NAME"
        head = f"{'collection':<24}{'documents':>10}{'chunks':>9}{'index':>7}  embedder"
        lines = [
            f"{r['name']:<24}{r['documents']:>10}{r['chunks']:>9}"
            f"{r['generation']:>7}  {r['embedder']}"
            for r in rows
        ]
        return "\n".join([head, *lines])

    ctx.emit({"collections": rows}, human)


def _documents(ctx: CommandContext, name: str) -> None:
    rows = ctx.store.documents(name)

    def human() -> str:
        lines = [
            f"{r.name}  {r.page_count or '-'} pages  {r.nodes} chunks" for r in rows
        ]
        return "\n".join(lines) or f"{name} holds no documents."

    ctx.emit({"documents": [r.model_dump(mode="json") for r in rows]}, human)

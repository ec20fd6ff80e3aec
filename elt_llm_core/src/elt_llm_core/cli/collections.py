"""`elt-llm collections`: what is there."""

from typing import Any

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options
from elt_llm_core.cli.terminal import in_line


@click.command()
@click.argument("name", required=False, type=COLLECTION)
@click.option("--check", is_flag=True, help="Open each index, not only its manifest.")
@common_options
def collections(ctx: CommandContext, name: str | None, *, check: bool) -> None:
    """List the collections, or the documents of one."""
    ctx.require_named_data()
    if name:
        _documents(ctx, name)
        return
    index = _opened_index if check else _told_index
    rows = [
        {**card.model_dump(mode="json"), **index(ctx, card.name)}
        for card in ctx.store.collections()
    ]

    def human() -> str:
        if not rows:
            told = "No collections yet. Add one: "
            return told + ctx.hint("elt-llm ingest PATH --collection NAME")
        head = f"{'collection':<24}{'documents':>10}{'chunks':>9}{'index':>7}  embedder"
        lines = [
            f"{r['name']:<24}{r['documents']:>10}{r['chunks']:>9}"
            f"{r['generation']:>7}  {r['embedder']}"
            + (f"  {in_line(r['title'])!r}" if r["title"] else "")
            for r in rows
        ]
        problems = [f"{r['name']}: {r['problem']}" for r in rows if r["problem"]]
        return "\n".join([head, *lines, *problems])

    ctx.emit({"collections": rows}, human)


def _told_index(ctx: CommandContext, name: str) -> dict[str, Any]:
    """What the manifest tells; no index is opened."""
    from elt_llm_core.errors import GenerationError
    from elt_llm_core.store.index.manifest import IndexFolder

    try:
        manifest = IndexFolder(ctx.store.data_dir, name).manifest()
    except GenerationError as error:
        return {"generation": 0, "problem": f"{error.message}; {error.hint}"}
    return {"generation": manifest.generation if manifest else 0, "problem": ""}


def _opened_index(ctx: CommandContext, name: str) -> dict[str, Any]:
    """What a search would find."""
    opened = ctx.store.open(name)
    problem = opened.degradations[0].detail if opened.degradations else ""
    return {"generation": opened.generation, "problem": problem}


def _documents(ctx: CommandContext, name: str) -> None:
    rows = ctx.store.documents(name)

    def human() -> str:
        lines = [
            f"{in_line(r.name)}  {r.page_count or '-'} pages  {r.nodes} chunks"
            for r in rows
        ]
        return "\n".join(lines) or f"{name} holds no documents."

    ctx.emit({"documents": [r.model_dump(mode="json") for r in rows]}, human)

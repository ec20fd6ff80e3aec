"""`elt-llm collections`: list collections and documents."""

from typing import TYPE_CHECKING, Any

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options
from elt_llm_core.cli.terminal import escape_line, text_table

if TYPE_CHECKING:
    from elt_llm_core.store import DocumentRow


@click.command()
@click.argument("name", required=False, type=COLLECTION)
@click.option(
    "--check",
    is_flag=True,
    help="Open each index instead of reading only its manifest.",
)
@common_options
def collections(ctx: CommandContext, name: str | None, *, check: bool) -> None:
    """List the collections, or the documents of one."""
    ctx.require_named_data()
    if name:
        _documents(ctx, name)
        return
    index = _opened_index if check else _told_index
    rows = [
        {
            **card.model_dump(mode="json"),
            # One file may be several documents: the elements of a model, its relations.
            "files": len({row.uri for row in ctx.store.documents(card.name)}),
            **index(ctx, card.name),
        }
        for card in ctx.store.collections()
    ]

    def human() -> str:
        if not rows:
            lines = "No collections yet. Add one: "
            return lines + ctx.hint("elt-llm ingest PATH --collection NAME")
        columns = {
            "name": "collection",
            "files": "files",
            "documents": "documents",
            "chunks": "chunks",
            "generation": "index",
            "embedder": "embedder",
            "title": "title",
        }
        cells = [[str(row[key]) for key in columns] for row in rows]
        table = text_table(tuple(columns.values()), cells)
        problems = [f"{r['name']}: {r['problem']}" for r in rows if r["problem"]]
        return "\n".join([table, *problems])

    ctx.emit({"collections": rows}, human)


def _told_index(ctx: CommandContext, name: str) -> dict[str, Any]:
    """Return the index state from the manifest, without opening the index."""
    from elt_llm_core.errors import GenerationError
    from elt_llm_core.store.index.manifest import IndexFolder

    try:
        manifest = IndexFolder(ctx.store.data_dir, name).manifest()
    except GenerationError as error:
        return {"generation": 0, "problem": f"{error.message}; {error.hint}"}
    return {"generation": manifest.generation if manifest else 0, "problem": ""}


def _opened_index(ctx: CommandContext, name: str) -> dict[str, Any]:
    """Return the index state that a search would find."""
    opened = ctx.store.open(name)
    problem = opened.degradations[0].detail if opened.degradations else ""
    return {"generation": opened.generation, "problem": problem}


def _name_of(row: "DocumentRow") -> str:
    """Return the file name, with the part that the document is of the file."""
    part = f" ({escape_line(row.part)})" if row.part else ""
    return f"{escape_line(row.name)}{part}"


def _documents(ctx: CommandContext, name: str) -> None:
    rows = ctx.store.documents(name)

    def human() -> str:
        lines = [
            f"{_name_of(r)}  {r.page_count or '-'} pages  {r.nodes} chunks"
            for r in rows
        ]
        return "\n".join(lines) or f"{name} holds no documents."

    ctx.emit({"documents": [r.model_dump(mode="json") for r in rows]}, human)

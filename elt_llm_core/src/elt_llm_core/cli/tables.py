"""`elt-llm tables`: the tables of a collection as relations, and SQL over one."""

from typing import TYPE_CHECKING, Any

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options

if TYPE_CHECKING:
    from elt_llm_core.tables import Relation, Selected


@click.group()
def tables() -> None:
    """List the tables of documents, and query one of them with SQL."""


@tables.command("list")
@click.argument("collection", type=COLLECTION)
@common_options
def list_tables(ctx: CommandContext, collection: str) -> None:
    """List the tables of a COLLECTION: columns with types, clean or why not."""
    from elt_llm_core.store.stored_tables import stored_tables

    rows = [
        _describe_relation(stored) for stored in stored_tables(ctx.store, collection)
    ]

    def human() -> str:
        if not rows:
            return f"{collection} holds no tables."
        clean = sum(row["clean"] for row in rows)
        shown = [_format_source(row) for row in rows]
        return "\n".join([f"{len(rows)} tables, {clean} of them clean", *shown])

    ctx.emit({"tables": rows}, human)


@tables.command("query")
@click.argument("collection", type=COLLECTION)
@click.argument("table")
@click.argument("select")
@common_options
def query_table(ctx: CommandContext, collection: str, table: str, select: str) -> None:
    """Run one SELECT over a TABLE of a COLLECTION; it is called t in SQL.

    Its columns are n (the row's number), c0, c1 ... (values) and c0_text, c1_text ...
    (cells as written). If n is in the result, the cells behind each row are shown.
    """
    from elt_llm_core import tables as typed
    from elt_llm_core.store.stored_tables import stored_table

    relation = stored_table(ctx.store, collection, table)
    selected = typed.select(relation, select)
    rows = [
        {"values": list(values), "row": n, "cells": _cells(relation, n)}
        for values, n in zip(selected.rows, selected.sources, strict=True)
    ]
    fields = {
        "table": relation.id,
        "problems": list(relation.problems),
        "columns": list(selected.columns),
        "rows": rows,
        "cut": selected.cut,
    }
    ctx.emit(fields, lambda: _result(relation, selected))


def _describe_relation(relation: "Relation") -> dict[str, Any]:
    fields = relation.model_dump(mode="json", exclude={"rows"})
    return {**fields, "rows": len(relation.rows), "clean": relation.clean}


def _format_source(row: dict[str, Any]) -> str:
    page = f", p. {row['page']}" if row["page"] else ""
    if row["end_page"] and row["end_page"] != row["page"]:
        page += f"-{row['end_page']}"
    state = "clean" if row["clean"] else f"not clean: {'; '.join(row['problems'])}"
    head = f"\n{row['id']}  {row['document']}{page}  {row['rows']} rows  {state}"
    columns = [
        f"    {c['name']:<4}{c['kind']:<8} {' '.join([c['header'], c['unit']]).strip()}"
        for c in row["columns"]
    ]
    return "\n".join([head, f"  {row['title'] or '(no title)'}", *columns])


def _cells(relation: "Relation", n: int | None) -> list[dict[str, Any]]:
    """Return the cells of a row with their places; empty for an unknown row."""
    if n is None:
        return []
    row = relation.rows[n - 1]
    return [
        {"column": column.name, "page": row.page, **field.model_dump(mode="json")}
        for column, field in zip(relation.columns, row.fields, strict=True)
        if field is not None and field.text
    ]


def _result(relation: "Relation", selected: "Selected") -> str:
    lines = ["\t".join(selected.columns)]
    lines += [
        "\t".join("" if v is None else str(v) for v in row) for row in selected.rows
    ]
    for n in dict.fromkeys(n for n in selected.sources if n is not None):
        cells = " | ".join(cell["text"] for cell in _cells(relation, n))
        page = relation.rows[n - 1].page
        lines.append(f"row {n}{f', p. {page}' if page else ''}: {cells}")
    if selected.cut:
        lines.append(f"(only the first {len(selected.rows)} rows)")
    if selected.rows and "n" not in selected.columns:
        lines.append("(select n as well to see the cells behind each row)")
    lines += [f"not clean: {problem}" for problem in relation.problems]
    return "\n".join(lines)

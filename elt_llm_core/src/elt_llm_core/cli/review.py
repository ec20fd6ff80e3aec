"""`elt-llm review`: decisions on the items of a product."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elt_llm_core.cli.common import CommandContext, common_options
from elt_llm_core.cli.review_texts import (
    STATUSES,
    decision_line,
    import_text,
    item_row,
    item_text,
    progress_line,
    revision_line,
)
from elt_llm_core.cli.terminal import escape_line, text_table

if TYPE_CHECKING:
    from elt_llm_core.reviews.review_records import ReviewItem
    from elt_llm_core.sheets.sheet_import import ImportReport

SHORTEST_ID = 4  # minimum characters of an abbreviated id

reviewer_option = click.option(
    "--reviewer",
    envvar="ELT_LLM_REVIEWER",
    help="Name of the reviewer. [default: $ELT_LLM_REVIEWER, else the login name]",
)
status_option = click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(STATUSES),
    help="Only items with this status (repeatable).",
)
FILE = click.Path(path_type=Path, dir_okay=False)


@click.group()
def review() -> None:
    """Review the items of glossary, catalogue and coverage.

    A decision survives new runs while its evidence is unchanged; if the evidence
    changes, the item is reopened with both texts. PRODUCT is a name such as
    glossary:handbook, or its beginning. Exit codes: 0 done, 2 an import has conflicts
    or rejected rows, 64 wrong usage, 65 no such product, item or sheet, 73 an edited
    file would be overwritten, 75 a newer decision exists.
    """


@review.command("list")
@click.argument("product", required=False)
@status_option
@click.option("--search", default="", help="Only items that contain this text.")
@click.option(
    "--changed",
    is_flag=True,
    help="Only items whose generated text changed since the decision.",
)
@click.option("--conflicts", is_flag=True, help="Only items with conflicting texts.")
@click.option(
    "--unclear",
    is_flag=True,
    help="Only undecided items that the run marks NEEDS_CLARIFICATION.",
)
@click.option(
    "--gone", is_flag=True, help="Only decisions whose item no longer exists."
)
@common_options
def list_items(ctx: CommandContext, /, product: str | None, **filters: Any) -> None:
    """List the products with their progress, or the items of one."""
    ctx.require_named_data()
    if product is None:
        _list_products(ctx)
        return
    name = _product(ctx, product)
    items = [i for i in ctx.store.reviews.items(name) if _matches(i, **filters)]
    progress = ctx.store.reviews.progress(name)

    def human() -> str:
        head = ("id", "status", "item", "text", "by", "note")
        rows = [item_row(item) for item in items]
        table = text_table(head, rows) if rows else "No item matches."
        return f"{table}\n\n{progress_line(progress)}"

    ctx.emit(
        {
            "product": name,
            "progress": progress.model_dump(mode="json"),
            "items": [item.summary() for item in items],
        },
        human,
    )


def _list_products(ctx: CommandContext) -> None:
    products = ctx.store.reviews.products()

    def human() -> str:
        if not products:
            none = "No product has items yet. Generate one: "
            return none + ctx.hint("elt-llm glossary --collection NAME")
        return "\n".join(
            f"{escape_line(p.product)}: {progress_line(p)}"
            + (f", {p.conflicts} conflicts" if p.conflicts else "")
            + (f", {p.gone} decisions on items that no longer exist" if p.gone else "")
            for p in products
        )

    ctx.emit({"products": [p.model_dump(mode="json") for p in products]}, human)


@review.command()
@click.argument("product")
@click.argument("item")
@common_options
def show(ctx: CommandContext, product: str, item: str) -> None:
    """Show one item: generated text, decision and place in the document."""
    one = _item(ctx, _product(ctx, product), item)
    content = one.proposal.content if one.proposal else {}
    ctx.emit({**one.summary(), "content": content}, lambda: item_text(one))


@review.command("set")
@click.argument("product")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@click.option("--status", type=click.Choice(STATUSES[:-1]), help="The decision.")
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="NAME=TEXT",
    help="Set the text of a field (repeatable); NAME= clears it.",
)
@click.option(
    "--take-generated",
    "generated",
    multiple=True,
    metavar="NAME",
    help="Revert a field to the generated text (repeatable).",
)
@click.option("--notes", help="Note; an empty one removes it.")
@click.option(
    "--revision", type=int, help="Fail if the item's revision differs from this one."
)
@reviewer_option
@common_options
def set_items(
    ctx: CommandContext,
    /,
    product: str,
    items: Sequence[str],
    *,
    reviewer: str | None,
    **options: Any,
) -> None:
    """Save a decision on items, given by id, id prefix or name; all of them or none."""
    from elt_llm_core.reviews.review_records import ReviewChange

    name = _product(ctx, product)
    change = _change(options)
    changes = [
        ReviewChange(item_id=_item(ctx, name, item).item_id, **change)
        for item in dict.fromkeys(items)
    ]
    made = ctx.store.reviews.change(name, changes, _reviewer(reviewer))
    ctx.emit(
        {"items": [item.summary() for item in made]},
        lambda: "\n".join(revision_line(item) for item in made),
    )


@review.command()
@click.argument("product")
@click.argument("item")
@click.option(
    "--revision", type=int, help="Fail if the item's revision differs from this one."
)
@reviewer_option
@common_options
def undo(
    ctx: CommandContext,
    product: str,
    item: str,
    revision: int | None,
    reviewer: str | None,
) -> None:
    """Withdraw the last decision on an item; repeat for the one before."""
    name = _product(ctx, product)
    item_id = _item(ctx, name, item).item_id
    made = ctx.store.reviews.undo(name, item_id, _reviewer(reviewer), revision)
    ctx.emit(made.summary(), lambda: revision_line(made))


@review.command()
@click.argument("product")
@click.option("--to", "target", type=FILE, required=True, help="A .xlsx or .csv file.")
@status_option
@common_options
def export(
    ctx: CommandContext, product: str, target: Path, statuses: Sequence[str]
) -> None:
    """Write a sheet for reviewers to edit and `import` to read back."""
    from elt_llm_core.sheets.exchange import export_sheet

    name = _product(ctx, product)
    report = export_sheet(
        ctx.store, name, target, lambda i: not statuses or i.status in statuses
    )
    ctx.emit(
        report,
        lambda: (
            (
                f"{report.file}: {report.rows} rows\nEdit the columns status and notes "
                "and the text columns, then import the file: "
            )
            + ctx.hint(f"elt-llm review import {report.file}")
        ),
    )


@review.command("import")
@click.argument("file", type=FILE)
@click.option(
    "--product", help="Product of a file that names no export of this data root."
)
@click.option("--dry-run", is_flag=True, help="Record nothing.")
@reviewer_option
@common_options
def import_file(
    ctx: CommandContext,
    file: Path,
    product: str | None,
    *,
    dry_run: bool,
    reviewer: str | None,
) -> None:
    """Import the decisions of a sheet, cell by cell; other decisions are kept."""
    report = _import(ctx, file, product, reviewer, dry_run=dry_run)
    ctx.emit(report, lambda: import_text(report))
    ctx.exit(report.exit_code)


@review.command()
@click.argument("product_or_file")
@common_options
def diff(ctx: CommandContext, product_or_file: str) -> None:
    """Show what changed since the review, or what a sheet would change."""
    file = Path(product_or_file)
    if file.suffix.lower() in {".csv", ".xlsx"}:
        report = _import(ctx, file, None, None, dry_run=True)
        ctx.emit(report, lambda: import_text(report))
        return
    name = _product(ctx, product_or_file)
    items = [
        item
        for item in ctx.store.reviews.items(name)
        if item.merge.changed or item.conflicts
    ]
    none = "No generated text has changed since its review."
    ctx.emit(
        {"product": name, "items": [item.summary() for item in items]},
        lambda: "\n\n".join(item_text(item) for item in items) or none,
    )


@review.command()
@click.argument("product")
@click.argument("item", required=False)
@common_options
def history(ctx: CommandContext, product: str, item: str | None) -> None:
    """List every decision of a product, or of one item, the oldest first."""
    name = _product(ctx, product)
    item_id = _item(ctx, name, item).item_id if item else ""
    made = ctx.store.reviews.history(name, item_id)
    ctx.emit(
        {"product": name, "decisions": [one.model_dump(mode="json") for one in made]},
        lambda: (
            "\n".join(decision_line(one) for one in made)
            or "There are no decisions yet."
        ),
    )


def _product(ctx: CommandContext, name: str) -> str:
    """Return the product of that name, or the only one that starts with it."""
    from elt_llm_core.errors import UnknownProductError

    ctx.require_named_data()
    known = [p.product for p in ctx.store.reviews.products()]
    if name in known:
        return name
    near = [one for one in known if one.startswith(name)]
    if len(near) != 1:
        raise UnknownProductError(name, near or known)
    return near[0]


def _item(ctx: CommandContext, product: str, key: str) -> "ReviewItem":
    """Return the item by id, id prefix or name, or by an id that it had before.

    Raises UnknownItemError, or UsageError for an ambiguous key.
    """
    from elt_llm_core.errors import UnknownItemError, UsageError

    items = ctx.store.reviews.items(product)
    exact = [item for item in items if item.item_id == key]
    near = exact or [
        item
        for item in items
        if item.label.casefold() == key.casefold()
        or (len(key) >= SHORTEST_ID and item.item_id.startswith(key))
    ]
    if not near and len(key) >= SHORTEST_ID:
        moved = ctx.store.reviews.successor(product, key)
        near = [item for item in items if item.item_id == moved]
    if not near:
        raise UnknownItemError(product, key)
    if len(near) > 1:
        ids = ", ".join(item.item_id for item in near)
        raise UsageError(f"{key!r} is {len(near)} items", f"name one by its id: {ids}")
    return near[0]


def _reviewer(given: str | None) -> str:
    """Return the reviewer, on one line.

    Raises UsageError if neither the option nor the system defines it.
    """
    import getpass

    from elt_llm_core.errors import UsageError

    try:
        name = given or getpass.getuser()
    except (OSError, KeyError):
        name = ""
    name = " ".join(escape_line(name).split())[:200]
    if not name:
        raise UsageError("no reviewer is given", "pass --reviewer NAME")
    return name


def _change(options: dict[str, Any]) -> dict[str, Any]:
    """Return the change that the options of `set` describe."""
    from elt_llm_core.errors import UsageError

    edited: dict[str, str | None] = {}
    for pair in options["fields"]:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UsageError(f"--field {pair!r} has no =", "write --field NAME=TEXT")
        edited[name.strip()] = text
    edited.update(dict.fromkeys(options["generated"]))
    change = {
        "status": options["status"],
        "edited": edited,
        "notes": options["notes"],
        "revision": options["revision"],
    }
    if not edited and change["status"] is None and change["notes"] is None:
        raise UsageError(
            "there is nothing to change",
            "pass --status, --field, --take-generated or --notes",
        )
    return change


def _matches(
    item: "ReviewItem",
    *,
    statuses: Sequence[str],
    search: str,
    changed: bool,
    conflicts: bool,
    unclear: bool,
    gone: bool,
) -> bool:
    texts = " ".join([item.label, *item.merge.fields.values()]).casefold()
    return (
        (not statuses or item.status.value in statuses)
        and search.casefold() in texts
        and (not changed or bool(item.merge.changed))
        and (not conflicts or bool(item.conflicts))
        and (not unclear or item.unclear)
        and (not gone or item.proposal is None)
    )


def _import(
    ctx: CommandContext,
    file: Path,
    product: str | None,
    reviewer: str | None,
    *,
    dry_run: bool,
) -> "ImportReport":
    from elt_llm_core.sheets.exchange import import_sheet

    ctx.require_named_data()
    name = _product(ctx, product) if product else ""
    who = _reviewer(reviewer)
    return import_sheet(ctx.store, file, who, name, dry_run=dry_run)

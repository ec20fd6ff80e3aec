"""`elt-llm ingest` and `elt-llm remove`."""

from typing import TYPE_CHECKING

import click

from elt_llm_core.cli.common import CommandContext, common_options

if TYPE_CHECKING:
    from elt_llm_core.jobs import JobReport


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--collection", required=True, help="Where the documents go.")
@click.option("--rebuild", is_flag=True, help="Read and embed unchanged files again.")
@click.option("--wait", default=0.0, help="Seconds to wait for another writer.")
@click.option("--dry-run", is_flag=True, help="Read and count; store nothing.")
@common_options
def ingest(
    ctx: CommandContext,
    paths: tuple[str, ...],
    collection: str,
    rebuild: bool,
    wait: float,
    dry_run: bool,
) -> None:
    """Take files and folders into a collection.

    PDF, Word, PowerPoint, Excel, HTML, Markdown, text, CSV and draw.io files are read.
    Unchanged files are left alone; a file that cannot be read is reported and the
    others go on.
    """
    from elt_llm_core.names import collection_name
    from elt_llm_ingest.ingest import IngestJob

    collection_name(collection)
    job = IngestJob(
        paths=paths, collection=collection, rebuild=rebuild, wait=wait, dry_run=dry_run
    )
    report = job.build(ctx.models)(ctx.job_context)
    ctx.emit(report, lambda: summary(report, collection, dry_run=dry_run))
    ctx.exit(report.exit_code)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--collection", required=True, help="Where the documents are.")
@click.option("--all", "everything", is_flag=True, help="The whole collection.")
@click.option("--wait", default=0.0, help="Seconds to wait for another writer.")
@common_options
def remove(
    ctx: CommandContext,
    names: tuple[str, ...],
    collection: str,
    everything: bool,
    wait: float,
) -> None:
    """Take documents out of a collection, by file name, address or id."""
    from elt_llm_core.errors import UsageError
    from elt_llm_ingest import removal

    if bool(names) == everything:
        raise UsageError("name the documents to remove, or pass --all")
    if everything:
        card = ctx.store.card(collection)
        removal.drop(ctx.store, [collection], wait)
        gone = card.documents
    else:
        rows = removal.matching(ctx.store, collection, names)
        removal.remove(ctx.store, collection, rows, wait)
        gone = len(rows)
    ctx.emit(
        {"collection": collection, "removed": gone},
        f"{gone} documents removed from {collection}.",
    )


def summary(report: "JobReport", collection: str, *, dry_run: bool = False) -> str:
    """What happened, one line, then a line for each thing to know."""
    counts = report.counts
    done = "Would take" if dry_run else "Took"
    head = (
        f"{done} into {collection}: {counts['added']} added, {counts['updated']} "
        f"updated, {counts['unchanged']} unchanged, {counts['failed']} failed; "
        f"{counts['chunks']} chunks, {counts['embedded']} embedded."
    )
    return "\n".join([head, *(f"  {d.detail}" for d in report.degradations)])

"""`elt-llm ingest`, `inspect`, `watch`, `remove` and `rename`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options
from elt_llm_core.cli.terminal import count_of, escape_controls, escape_line, json_text

if TYPE_CHECKING:
    from elt_llm_core.cli.interrupt import Stop
    from elt_llm_core.errors import EltLlmError
    from elt_llm_core.jobs import ItemOutcome, JobReport


ASK = "-"

password_option = click.option(
    "--password",
    multiple=True,
    metavar="TEXT",
    help="Password for encrypted PDFs (repeatable); - prompts. Also read from "
    "ELT_LLM_PASSWORD.",
)


def ask_passwords(words: Sequence[str]) -> tuple[str, ...]:
    """Return the passwords of a command line; each `-` prompts for one."""
    return tuple(
        click.prompt("Password", hide_input=True, err=True) if word == ASK else word
        for word in words
    )


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--collection", required=True, help="Collection to ingest into.")
@click.option("--rebuild", is_flag=True, help="Read and embed unchanged files again.")
@click.option("--prune", is_flag=True, help="Remove documents whose files are gone.")
@click.option(
    "--replace",
    is_flag=True,
    help="Remove documents with the name of an ingested file from other folders.",
)
@click.option(
    "--wait", default=0.0, help="Seconds to wait for another process that writes."
)
@click.option(
    "--dry-run", is_flag=True, help="Report what would be done; store nothing."
)
@password_option
@common_options
def ingest(ctx: CommandContext, /, paths: tuple[str, ...], **options: Any) -> None:
    """Ingest files, folders and patterns into a collection.

    PDF, Word, PowerPoint, Excel, HTML, EPUB, e-mail, Markdown, text, CSV, JATS,
    draw.io, ADE and Docling JSON files are read, and scans with the extra `ocr`.
    Unchanged files are skipped and renamed ones recognised; a file that cannot be read
    is reported and the rest continues. Ctrl-C stops after the current file, twice at
    once; the same command resumes where it stopped. An ingest file, which lists
    documents, goes to `elt-llm-ingest --cfg FILE`.
    """
    from elt_llm_core.cli.interrupt import stop_on_signals
    from elt_llm_core.identifiers import collection_id
    from elt_llm_ingest.runner import refuse_ingest_files

    collection_id(options["collection"])
    refuse_ingest_files(paths)
    ctx.require_writer(options["wait"], needed=not options["dry_run"])
    options["password"] = ask_passwords(options["password"])
    with stop_on_signals() as stop:
        report = _run(ctx, paths, options, stop)
    dry = options["dry_run"]
    name = options["collection"]
    ctx.emit(report, lambda: summary_text(report, name, dry_run=dry))
    ctx.exit(stop.exit_code if report.stopped else report.exit_code)


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--collection", required=True, help="Collection to ingest into.")
@click.option("--interval", default=2.0, help="Seconds between two scans.")
@click.option("--prune", is_flag=True, help="Remove documents whose files are gone.")
@password_option
@common_options
def watch(
    ctx: CommandContext, /, paths: tuple[str, ...], interval: float, **options: Any
) -> None:
    """Ingest files whenever they change, until Ctrl-C.

    A change is ingested after one interval without further changes. An error is
    reported and the file tried again later. While another process writes, it waits.
    With --json, a line for each ingest.
    """
    from elt_llm_core.cli.interrupt import stop_on_signals
    from elt_llm_core.errors import EltLlmError, UsageError
    from elt_llm_core.identifiers import collection_id
    from elt_llm_ingest.runner import refuse_ingest_files
    from elt_llm_ingest.watch import FOREVER, Watch

    collection_id(options["collection"])
    refuse_ingest_files(paths)
    if interval <= 0:
        raise UsageError(
            f"--interval is {interval:g}", "use a positive number of seconds"
        )
    options["wait"] = FOREVER
    options["password"] = ask_passwords(options["password"])
    with stop_on_signals() as stop:
        output = _WatchOutput(ctx, options["collection"])
        for report_failure in Watch(paths, interval, stop).changes():
            try:
                output.print_report(_run(ctx, paths, options, stop))
            except EltLlmError as error:
                output.print_error(error)
                report_failure(error)


class _WatchOutput:
    """Prints the events of a watch, line by line."""

    def __init__(self, ctx: CommandContext, collection: str) -> None:
        self._ctx = ctx
        self._collection = collection

    def print_report(self, report: "JobReport") -> None:
        """Print the result of one ingest."""
        self._ctx.end_progress()
        if self._ctx.as_json:
            click.echo(json_text(report.model_dump(mode="json"), indent=None))
        else:
            click.echo(escape_controls(summary_text(report, self._collection)))

    def print_error(self, error: "EltLlmError") -> None:
        """Print an error; the watch continues."""
        self._ctx.end_progress()
        click.echo(escape_controls(f"elt-llm: {error}"), err=True)
        if self._ctx.as_json:
            problem: dict[str, Any] = {
                "code": error.code,
                "message": error.message,
                "hint": error.hint,
            }
            if error.details:
                problem["details"] = error.details
            click.echo(json_text({"error": problem}, indent=None))


def _run(
    ctx: CommandContext,
    paths: tuple[str, ...],
    options: dict[str, Any],
    stop: "Stop",
) -> "JobReport":
    from elt_llm_core.jobs import run_job
    from elt_llm_core.models.factory import LateModels
    from elt_llm_ingest.ingest import IngestJob

    fields = {name: value for name, value in options.items() if name != "password"}
    job = IngestJob(paths=paths, passwords=options["password"], **fields)
    context = replace(ctx.job_context, stopped=stop)
    return run_job(job.build(LateModels(ctx.config)), context)


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--collection", required=True, type=COLLECTION, help="Collection of the documents."
)
@click.option("--all", "everything", is_flag=True, help="The whole collection.")
@click.option(
    "--wait", default=0.0, help="Seconds to wait for another process that writes."
)
@common_options
def remove(
    ctx: CommandContext,
    names: tuple[str, ...],
    collection: str,
    everything: bool,
    wait: float,
) -> None:
    """Remove documents from a collection, by file name, path, address or id."""
    from elt_llm_core.errors import UsageError
    from elt_llm_core.store import editing

    if bool(names) == everything:
        raise UsageError("name the documents to remove, or pass --all")
    if everything:
        card = ctx.store.card(collection)
        editing.drop_collections(ctx.store, [collection], wait)
        gone = card.documents
    else:
        rows = editing.select_documents(ctx.store, collection, names)
        editing.remove_documents(ctx.store, collection, rows, wait)
        gone = len(rows)
    ctx.emit(
        {"collection": collection, "removed": gone},
        f"{count_of(gone, 'document')} removed from {collection}.",
    )


@click.command()
@click.argument("title")
@click.option("--collection", required=True, type=COLLECTION, help="The collection.")
@click.option("--document", help="A document of it: file name, address or id.")
@click.option(
    "--wait", default=0.0, help="Seconds to wait for another process that writes."
)
@common_options
def rename(
    ctx: CommandContext, title: str, collection: str, document: str | None, wait: float
) -> None:
    """Change the TITLE of a collection or of one of its documents.

    The id of the collection and the name of the file do not change.
    """
    from elt_llm_core.store import editing

    rows = (
        editing.select_documents(ctx.store, collection, [document]) if document else []
    )
    editing.rename(ctx.store, collection, title, rows, wait)
    subject = f"{document} of {collection}" if document else collection
    ctx.emit(
        {"collection": collection, "document": document, "title": title.strip()},
        f"{subject} is now called {title.strip()!r}.",
    )


@click.command()
@click.argument("priority", type=click.IntRange(0, 100))
@click.option("--collection", required=True, type=COLLECTION, help="The collection.")
@click.option("--document", help="A document of it: file name, address or id.")
@click.option(
    "--wait", default=0.0, help="Seconds to wait for another process that writes."
)
@common_options
def priority(
    ctx: CommandContext,
    priority: int,
    collection: str,
    document: str | None,
    wait: float,
) -> None:
    """Set the priority of a collection or of one of its documents.

    A PRIORITY of 0 excludes it from all answers, 50 is the default, 100 is the highest
    weight.
    """
    from elt_llm_core.store import editing

    rows = (
        editing.select_documents(ctx.store, collection, [document]) if document else []
    )
    editing.set_priority(ctx.store, collection, priority, rows, wait)
    subject = f"{document} of {collection}" if document else collection
    effect = "" if priority else " and is excluded from all answers"
    ctx.emit(
        {"collection": collection, "document": document, "priority": priority},
        f"{subject} has the priority {priority} now{effect}.",
    )


def summary_text(report: "JobReport", collection: str, *, dry_run: bool = False) -> str:
    """Return a line with the outcome, then a line for each notice."""
    counts = report.counts
    done = "Would take" if dry_run else "Took"
    seldom = "".join(
        f", {counts[name]} {name}"
        for name in ("renamed", "replaced", "removed")
        if name in counts
    )
    documents = f"{counts['documents']} documents, " if "documents" in counts else ""
    embedded = f"{counts['embedded']} embedded"
    if dry_run:
        embedded = f"{sum(item.to_embed for item in report.items)} texts to embed"
    head = (
        f"{done} into {collection}: {counts['added']} added, {counts['updated']} "
        f"updated, {counts['unchanged']} unchanged{seldom}, {counts['failed']} failed; "
        f"{documents}{counts['chunks']} chunks, {embedded}."
    )
    items = [_line(item) for item in report.items if item.outcome != "unchanged"]
    notes = [f"  {escape_line(d.detail)}" for d in report.degradations]
    if counts.get("reindexed"):
        notes.append("  The keyword index was rebuilt by the `keywords` settings.")
    if report.expected is not None:
        from elt_llm_ingest.timing import describe_duration

        notes.append(f"  {describe_duration(report.expected)}")
    if report.stopped:
        notes.append("  Stopped; the same command resumes from here.")
    return "\n".join([head, *items, *notes])


def _line(item: "ItemOutcome") -> str:
    name = escape_line(item.name)
    if item.outcome == "failed":
        return f"  failed     {name}"
    size = f"{item.chunks} chunks, {item.to_embed} to embed" if item.chunks else ""
    detail = "; ".join(filter(None, (size, escape_line(item.detail))))
    return f"  {item.outcome:<10} {name}" + (f": {detail}" if detail else "")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Every block, row and chunk.")
@click.option(
    "--page", type=click.IntRange(min=1), help="The whole text of this page only."
)
@click.option(
    "--png",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw what was read on --page into this file.",
)
@click.option(
    "--part", default="", help="Part of a file that contains several documents."
)
@password_option
@common_options
def inspect(
    ctx: CommandContext,
    /,
    file: Path,
    everything: bool,
    page: int | None,
    png: Path | None,
    **options: Any,
) -> None:
    """Show what is extracted from a file; store nothing.

    Sections, blocks with their places, tables with their cells, figures, running heads,
    warnings, and the chunks as configured. With --page, the text of the page; with
    --png too, a picture of it with all boxes.
    """
    from elt_llm_core.errors import UsageError
    from elt_llm_core.files.atomic import write_atomic
    from elt_llm_ingest.chunking import Chunking
    from elt_llm_ingest.discovery import read_bytes
    from elt_llm_ingest.inspecting.inspection import (
        inspection_record,
        keep_page,
        render_page,
        render_view,
    )
    from elt_llm_ingest.inspecting.picture import draw_boxes
    from elt_llm_ingest.limits import limits_of
    from elt_llm_ingest.sandbox.client import ReadingProcess
    from elt_llm_ingest.sandbox.passwords import load_passwords

    if png and not page:
        raise UsageError("--png needs a page", "name it: --page 1")
    data, part = read_bytes(file), options["part"]
    passwords = load_passwords(ctx.config, ask_passwords(options["password"]))
    with ReadingProcess(limits_of(ctx.config), passwords) as reading:
        loader, documents = reading.read(file, data)
    chosen = next((d for d in documents if d.part == part), None)
    if part and chosen is None:
        parts = ", ".join(repr(d.part) for d in documents if d.part) or "none"
        raise UsageError(f"{file.name} has no part {part!r}", f"its parts: {parts}")
    if png is not None and page is not None:
        shown_one, tried = chosen or documents[0], passwords.of(file)
        write_atomic(png, draw_boxes(file, data, shown_one, page, tried))
    chunking = Chunking(ctx.config, ctx.models)
    wanted = [chosen] if part and chosen else documents
    records = [
        inspection_record(document, loader, chunking.cut(document))
        for document in wanted
    ]
    if page is not None and png is None:
        records = keep_page(records, page, file.name)
    views = (
        render_view(one, everything=everything)
        if page is None or png is not None
        else render_page(one, page)
        for one in records
    )
    ctx.emit({"file": file.name, "documents": records}, lambda: "\n\n".join(views))

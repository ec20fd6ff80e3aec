"""`elt-llm report` and `elt-llm topics`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from elt_llm_consumer.product_commands import run_command
from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options

FORMATS = ("json", "markdown", "html", "docx")
_file = click.Path(path_type=Path, dir_okay=False)


def _writing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every command that writes."""
    options = [
        click.option(
            "--collection",
            "collections",
            type=COLLECTION,
            multiple=True,
            help="Collection to read (repeatable).  [default: all]",
        ),
        click.option(
            "--gap-rounds",
            type=click.IntRange(0, 5),
            default=0,
            help="Rounds of further searches for missing parts of a section, two "
            "searches each.",
        ),
        click.option(
            "--format",
            "formats",
            type=click.Choice(FORMATS),
            multiple=True,
            help="Formats to write (repeatable). [default: all four]",
        ),
        click.option(
            "--output", type=_file, help="File to write.  [default: DATA-DIR/output]"
        ),
        click.option("--fresh", is_flag=True, help="Write every section again."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@click.command()
@click.argument("template", required=False)
@click.option("--list", "listed", is_flag=True, help="List templates and reports.")
@_writing_options
@common_options
def report(
    ctx: CommandContext, /, template: str | None, listed: bool, **options: Any
) -> None:
    """Write a report from documents by TEMPLATE, each statement with its proof.

    TEMPLATE is the name of a shipped template or a YAML, JSON or Markdown file of
    sections with guidance. Parts that the documents do not cover are listed as missing.
    An interrupted report resumes where it stopped; an unchanged one makes no model
    calls.
    """
    if listed == bool(template):
        raise click.UsageError("pass a template, or --list")
    if listed:
        _list_reports(ctx)
        return
    options["formats"] = options["formats"] or FORMATS
    name = str(template)
    path = Path(name)
    given = str(path.absolute()) if path.is_file() else name
    run_command(ctx, "report", {**options, "template": given}, name)


def _list_reports(ctx: CommandContext) -> None:
    from elt_llm_consumer.writing.report_template import (
        find_template,
        known_templates,
    )
    from elt_llm_core.cli.terminal import escape_line, text_table
    from elt_llm_core.versions import VersionKind

    titles = {name: find_template(name).title for name in known_templates()}
    rows = ctx.store.versions.rows(VersionKind.REPORT)

    def human() -> str:
        lines = [f"  {name:<24} {escape_line(title)}" for name, title in titles.items()]
        table = [
            (r.subject, str(r.number), r.created, escape_line(r.title)) for r in rows
        ]
        head = ("report", "version", "written", "title")
        kept = text_table(head, table) if table else "There are no reports."
        return "\n".join(["Templates:", *lines, "", kept])

    kept = [row.model_dump(mode="json") for row in rows]
    ctx.emit({"templates": titles, "reports": kept}, human)


@click.group()
def topics() -> None:
    """Summarise topics of documents, and report on a concept.

    Topics come from a file, from a pack (--pack), or are the main sections of the
    documents. Summaries are numbered by topic; one whose documents changed since is
    marked stale.
    """


@topics.command("list")
@click.option(
    "--collection",
    "collections",
    type=COLLECTION,
    multiple=True,
    help="Collection to read (repeatable).  [default: all]",
)
@click.option("--file", type=_file, help="YAML file of topics.")
@common_options
def list_topics(ctx: CommandContext, /, **options: Any) -> None:
    """List the topics with the numbers of their summaries."""
    import json
    import tempfile

    from elt_llm_core.cli.terminal import escape_line, text_table
    from elt_llm_core.jobs import JOBS

    ctx.require_named_data()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "topics.json"
        job = JOBS.load("topic_list", {**options, "output": path})
        job.build(ctx.models)(ctx.job_context)
        listed = json.loads(path.read_text(encoding="utf-8"))["topics"]

    def human() -> str:
        rows = [
            (
                one["id"],
                escape_line(one["name"]),
                escape_line(one["category"]),
                _numbers(one),
            )
            for one in listed
        ]
        return text_table(("id", "topic", "category", "summaries"), rows)

    ctx.emit({"topics": listed}, human)


@topics.command()
@click.argument("topics", nargs=-1, metavar="[TOPIC]...")
@click.option("--file", type=_file, help="YAML file of topics.")
@_writing_options
@common_options
def summarize(ctx: CommandContext, /, **options: Any) -> None:
    """Write a summary of each TOPIC, or of all topics, under the next number."""
    options["formats"] = options["formats"] or ("markdown",)
    label = ", ".join(options["topics"]) or "all topics"
    run_command(ctx, "topics", options, label)


@topics.command("report")
@click.argument("concept")
@click.option("--aliases", type=_file, help="YAML file that maps names to synonyms.")
@_writing_options
@common_options
def report_concept(ctx: CommandContext, /, concept: str, **options: Any) -> None:
    """Report on every passage that mentions CONCEPT, grouped into parts."""
    options["formats"] = options["formats"] or FORMATS
    run_command(ctx, "concept", {**options, "concept": concept}, concept)


@topics.command()
@click.argument("topic")
@click.option("--number", type=int, help="Number of the summary. [default: the newest]")
@click.option("--concept", is_flag=True, help="Show the report of a concept instead.")
@common_options
def show(ctx: CommandContext, /, topic: str, number: int | None, concept: bool) -> None:
    """Show the summary of TOPIC with its sources."""
    from elt_llm_consumer.writing.report_template import make_slug
    from elt_llm_consumer.writing.written_formats import format_markdown
    from elt_llm_core.versions import VersionKind
    from elt_llm_core.written import WrittenText

    kind = VersionKind.CONCEPT if concept else VersionKind.TOPIC
    version = ctx.store.versions.get(kind, make_slug(topic), number)
    text = WrittenText.model_validate(version.content)
    ctx.emit(version, lambda: format_markdown(text))


@topics.command()
@click.argument("topic")
@click.argument("number", type=int)
@click.option("--concept", is_flag=True, help="Delete the report of a concept.")
@common_options
def delete(ctx: CommandContext, /, topic: str, number: int, concept: bool) -> None:
    """Delete one summary of TOPIC; its number is not reused."""
    from elt_llm_consumer.writing.report_template import make_slug
    from elt_llm_core.versions import VersionKind

    kind = VersionKind.CONCEPT if concept else VersionKind.TOPIC
    ctx.store.versions.delete(kind, make_slug(topic), number)
    ctx.emit({"deleted": number}, f"Deleted {number} of {topic}.")


def _numbers(topic: dict[str, Any]) -> str:
    return ", ".join(
        f"{one['number']}{' (stale)' if one['stale'] else ''}"
        for one in topic["summaries"]
    )

"""`elt-llm glossary`, `catalog`, `coverage`, `draft-model` and `demo`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from typing_extensions import override

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options


def _product_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every product has."""
    file = click.Path(path_type=Path, dir_okay=False)
    options = [
        click.option(
            "--collection",
            "collections",
            type=COLLECTION,
            required=True,
            multiple=True,
            help="Collection with handbooks (repeatable).",
        ),
        click.option(
            "--model",
            type=COLLECTION,
            multiple=True,
            help="Collection with the enterprise model: a drawing, an inventory or "
            "both (repeatable; all are joined into one model).",
        ),
        click.option(
            "--output", type=file, help="File to write.  [default: DATA-DIR/output]"
        ),
        click.option(
            "--aliases", type=file, help="YAML file that maps entity names to synonyms."
        ),
        click.option("--fresh", is_flag=True, help="Process every item again."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@click.command()
@_product_options
@common_options
def glossary(ctx: CommandContext, /, **options: Any) -> None:
    """Write every defined term with its quote, page and entity as CSV and JSON."""
    _run(ctx, "glossary", options)


class _CatalogGroup(click.Group):
    """`elt-llm catalog` builds one; `elt-llm catalog diff` compares two."""

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = args and args[0] in self.commands
        return super().parse_args(ctx, args if known else ["build", *args])


@click.group("catalog", cls=_CatalogGroup)
def catalog() -> None:
    """Write a catalogue of model and handbook with evidence, or compare two."""


@catalog.command("build")
@_product_options
@click.option(
    "--domain",
    "domains",
    multiple=True,
    help="Only the entities of this domain, in a file of its own (repeatable).",
)
@click.option(
    "--entity", "entities", multiple=True, help="Only this entity (repeatable)."
)
@click.option(
    "--skip-relationships", is_flag=True, help="Neither read nor write relationships."
)
@click.option(
    "--skip-handbook", is_flag=True, help="Use only the model; read no document."
)
@click.option(
    "--force",
    "forced",
    multiple=True,
    metavar="ENTITY",
    help="Count this entity as named by the handbook (repeatable).",
)
@click.option(
    "--static-context",
    type=click.Path(path_type=Path, dir_okay=False),
    help="YAML file that maps an entity to fields and the texts that hold for them.",
)
@common_options
def build_catalog(ctx: CommandContext, /, **options: Any) -> None:
    """Write a catalogue of model and handbook with evidence.

    JSON as a hierarchy and as a list, CSV, XLSX, a page to search (HTML), Mermaid and
    PlantUML, and the relationships as JSON and CSV. `elt-llm catalog diff OLD NEW`
    compares two of its JSON files.
    """
    _run(ctx, "catalog", options)


@catalog.command("diff")
@click.argument("old", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("new", type=click.Path(path_type=Path, dir_okay=False))
@common_options
def diff_catalogs(ctx: CommandContext, /, old: Path, new: Path) -> None:
    """Tell what differs between the JSON files of two catalogues.

    Exit codes: 0 compared, 65 a file is no catalogue.
    """
    from elt_llm_consumer.catalog_diff import (
        compare_catalogs,
        diff_text,
        read_catalog_rows,
    )

    diff = compare_catalogs(read_catalog_rows(old), read_catalog_rows(new))
    ctx.emit(diff, lambda: diff_text(diff))


@click.command()
@_product_options
@common_options
def coverage(ctx: CommandContext, /, **options: Any) -> None:
    """Report how well handbooks cover a model, and the gaps in both."""
    _run(ctx, "coverage", options)


@click.command("draft-model")
@click.option(
    "--collection",
    "collections",
    type=COLLECTION,
    required=True,
    multiple=True,
    help="Collection with the documents (repeatable).",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write.  [default: DATA-DIR/output]",
)
@click.option("--fresh", is_flag=True, help="Process every item again.")
@common_options
def draft_model(ctx: CommandContext, /, **options: Any) -> None:
    """Draft a model from documents alone: entities and relations with quotes.

    Entities are the terms that the documents define, relations what their sentences
    and definitions state. Writes JSON, CSV, Mermaid, and an ArchiMate exchange file
    (XML) to edit in a modelling tool and to take in as a model.
    """
    _run(ctx, "model_draft", options)


@click.command()
@common_options
def demo(ctx: CommandContext) -> None:
    """Ingest a domain pack, ask its questions and build every product.

    Without --pack it is the shipped sample.
    """
    from elt_llm_consumer.demo import demo_text, run_demo
    from elt_llm_core.config.domain_packs import DEFAULT, find_pack

    ctx.use_pack(DEFAULT)
    chosen = find_pack(ctx.config.consumer.pack)
    report = run_demo(chosen, ctx.job_context, ctx.models)
    ctx.emit(report, lambda: demo_text(report, chosen, ctx.config.stores.data_dir))
    ctx.exit(report.exit_code)


def _run(ctx: CommandContext, job: str, options: Mapping[str, Any]) -> None:
    run_command(ctx, job, options, ", ".join(options["collections"]))


def run_command(
    ctx: CommandContext, job: str, options: Mapping[str, Any], label: str
) -> None:
    """Run a job, print its report, and end the command with its exit code."""
    from elt_llm_core.cli.job_commands import report_text, run_job_command
    from elt_llm_core.files.atomic import require_writable
    from elt_llm_core.job_records import JobRecord

    if options.get("output"):
        require_writable(options["output"], "--output")
    record = JobRecord(job_id="", kind=job, label=label, options=_plain(options))
    report = run_job_command(ctx, record)
    ctx.emit(report, lambda: report_text(report))
    ctx.exit(report.exit_code)


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options with absolute paths, for another process."""
    return {
        key: str(value.absolute()) if isinstance(value, Path) else value
        for key, value in options.items()
        if value not in (None, False, ())
    }

"""`elt-llm glossary`, `catalog`, `coverage` and `demo`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options
from elt_llm_core.cli.terminal import in_line

if TYPE_CHECKING:
    from elt_llm_core.jobs import JobReport


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


@click.command()
@_product_options
@common_options
def catalog(ctx: CommandContext, /, **options: Any) -> None:
    """Write a catalogue of model and handbook with evidence."""
    _run(ctx, "catalog", options)


@click.command()
@_product_options
@common_options
def coverage(ctx: CommandContext, /, **options: Any) -> None:
    """Report how well handbooks cover a model, and the gaps in both."""
    _run(ctx, "coverage", options)


@click.command()
@click.option("--pack", default=None, help="Name of a shipped pack, or a folder.")
@common_options
def demo(ctx: CommandContext, pack: str | None) -> None:
    """Ingest the shipped sample, ask it questions and build every product."""
    from elt_llm_consumer.demo import demo_text, run_demo
    from elt_llm_consumer.domain_packs import DEFAULT, find_pack

    chosen = find_pack(pack or DEFAULT)
    report = run_demo(chosen, ctx.job_context, ctx.models)
    ctx.emit(report, lambda: demo_text(report, chosen, ctx.config.stores.data_dir))
    ctx.exit(report.exit_code)


def _run(ctx: CommandContext, job: str, options: Mapping[str, Any]) -> None:
    from elt_llm_core.jobs import JOBS

    report = JOBS.load(job, options).build(ctx.models)(ctx.job_context)
    ctx.emit(report, lambda: _report_text(report))
    ctx.exit(report.exit_code)


def _report_text(report: "JobReport") -> str:
    counts = ", ".join(f"{value} {name}" for name, value in report.counts.items())
    lines = [f"{report.job}: {counts}"]
    lines += [f"  {name:<20} {path}" for name, path in sorted(report.files.items())]
    lines += [f"  {d.kind.value}: {in_line(d.detail)}" for d in report.degradations]
    return "\n".join(lines)

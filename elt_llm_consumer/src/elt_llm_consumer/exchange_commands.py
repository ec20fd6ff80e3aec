"""`elt-llm export` and `elt-llm import`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options
from elt_llm_core.cli.terminal import escape_line

if TYPE_CHECKING:
    from elt_llm_consumer.exchange.glossary_format import GlossaryFormat
    from elt_llm_core.product_exports import ExchangeReport, FormatNote, Problem

_FILE = click.Path(path_type=Path, dir_okay=False)
_STATUSES = (
    *("PENDING", "APPROVED", "REJECTED", "NEEDS_CLARIFICATION"),
    *("PROPOSED_NEW_TAXONOMY", "REOPENED"),
)
_SHOWN = 20  # problems and terms on the screen; --json has them all


def _exchange_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that both commands have."""
    options = [
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="KEY=VALUE",
            help="An option of the format (repeatable); --list names them.",
        ),
        click.option("--output", type=_FILE, help="File to write."),
        click.option(
            "--check",
            is_flag=True,
            help="Report what the target would reject; write nothing.",
        ),
        click.option(
            "--list",
            "show_list",
            is_flag=True,
            help="List the formats with their fields and options.",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@click.command("export")
@click.argument("format_name", metavar="FORMAT", required=False)
@click.option(
    "--collection",
    "collections",
    type=COLLECTION,
    multiple=True,
    help="The collections of the product (repeatable, as for `elt-llm glossary`).",
)
@click.option(
    "--product",
    type=click.Choice(["glossary", "catalog"]),
    default="glossary",
    show_default=True,
    help="Which product to export.",
)
@click.option(
    "--from", "source", type=_FILE, help="Product file outside the data root."
)
@click.option("--name", help="Title of the glossary. [default: collection]")
@click.option(
    "--status",
    "statuses",
    type=click.Choice(_STATUSES, case_sensitive=False),
    multiple=True,
    help="Only terms of this review status (repeatable).  [default: all but REJECTED]",
)
@click.option(
    "--baseline",
    type=_FILE,
    help="Glossary read by `elt-llm import`, to be kept and completed.",
)
@click.option(
    "--leave-out",
    is_flag=True,
    help="Omit terms that the target would reject, instead of writing nothing.",
)
@_exchange_options
@common_options
def export_glossary(ctx: CommandContext, /, **options: Any) -> None:
    """Write a glossary or catalogue in the FORMAT of another catalogue.

    The file is validated against the rules of the target before anything is written,
    and read back: lost information is reported. Exit codes: 0 written, 2 written
    without the omitted terms, 65 the target would reject the file (nothing is written),
    64 wrong usage, 73 the file cannot be written.
    """
    from elt_llm_consumer.exchange.exporting import ExportOptions, export_product

    if options["show_list"] or not options["format_name"]:
        _show_formats(ctx)
        return
    chosen = _load(ctx, options["format_name"], options["settings"])
    report = export_product(
        chosen,
        ExportOptions(
            format=options["format_name"],
            collections=options["collections"],
            product=options["product"],
            source=options["source"],
            output=options["output"],
            name=options["name"] or "",
            statuses=tuple(options["statuses"]),
            baseline=options["baseline"],
            leave_out=options["leave_out"],
            check=options["check"],
        ),
        ctx.store,
    )
    ctx.emit(report, lambda: _report_text(report))
    ctx.exit(report.exit_code)


@click.command("import")
@click.argument("format_name", metavar="FORMAT", required=False)
@click.argument("file", type=_FILE, required=False)
@click.option(
    "--collection",
    "collections",
    type=COLLECTION,
    multiple=True,
    help="The collections whose glossary is merged with it (repeatable).",
)
@_exchange_options
@common_options
def import_glossary(ctx: CommandContext, /, **options: Any) -> None:
    """Read a glossary FILE of another catalogue as the baseline of an export.

    Exit codes: 0 read, 65 the file is not of that format or breaks its rules (nothing
    is written), 64 wrong usage, 73 the baseline cannot be written.
    """
    from elt_llm_consumer.exchange.importing import ImportOptions, import_baseline
    from elt_llm_core.errors import UsageError

    if options["show_list"] or not options["format_name"]:
        _show_formats(ctx)
        return
    if options["file"] is None:
        raise UsageError("no file is given", "elt-llm import FORMAT FILE")
    chosen = _load(ctx, options["format_name"], options["settings"])
    report = import_baseline(
        chosen,
        ImportOptions(
            format=options["format_name"],
            file=options["file"],
            collections=options["collections"],
            output=options["output"],
            check=options["check"],
        ),
        ctx.store,
    )
    ctx.emit(report, lambda: _report_text(report))
    ctx.exit(report.exit_code)


def _load(ctx: CommandContext, name: str, settings: Sequence[str]) -> "GlossaryFormat":
    from elt_llm_consumer.exchange.glossary_format import load_format
    from elt_llm_core.product_exports import parse_options

    allow = ctx.config.allowed_plugins()
    return load_format(name, parse_options(settings), allow)


def _show_formats(ctx: CommandContext) -> None:
    """Name, what it is, what it holds and its options."""
    from elt_llm_core.product_exports import load_exporter

    allow = ctx.config.allowed_plugins()
    notes = load_exporter(allow).formats(allow)
    listed = [note.model_dump(mode="json") for note in notes]
    ctx.emit({"formats": listed}, lambda: "\n".join(_format_lines(notes)))


def _format_lines(notes: "Sequence[FormatNote]") -> list[str]:
    lines = []
    for note in notes:
        lines.append(f"{note.name:<18} {note.title or note.needs}")
        if note.holds:
            lines.append(f"  holds   {', '.join(note.holds)}")
        if note.options:
            lines.append(f"  options {', '.join(one.name for one in note.options)}")
    return lines


def _report_text(report: "ExchangeReport") -> str:
    counts = ", ".join(f"{number} {name}" for name, number in report.counts.items())
    lines = [f"{report.action} {report.format}: {counts}"]
    lines += [f"  {name:<10} {path}" for name, path in sorted(report.files.items())]
    lines += [f"  {escape_line(note)}" for note in report.notes]
    refused = [one for one in report.problems if one.is_error]
    unsure = [one for one in report.problems if not one.is_error]
    lines += _list_lines("the target would reject", [one.sentence() for one in refused])
    lines += _list_lines("the target requires", _group_problems(unsure))
    lines += _list_lines("left out", report.left_out)
    lines += _list_lines("not in the file", [one.sentence() for one in report.losses])
    return "\n".join(lines)


def _group_problems(problems: "Sequence[Problem]") -> list[str]:
    """A sentence per value, with the number of rows where there are several."""
    groups: dict[tuple[str, str], list[Problem]] = {}
    for one in problems:
        groups.setdefault((one.column, one.value), []).append(one)
    return [
        group[0].sentence()
        + (f" (and in {len(group) - 1} more rows)" * (len(group) > 1))
        for group in groups.values()
    ]


def _list_lines(title: str, sentences: Sequence[str]) -> list[str]:
    lines = [f"  {title}: {escape_line(one)}" for one in sentences[:_SHOWN]]
    more = len(sentences) - _SHOWN
    return [*lines, f"  {title}: {more} more (--json has all)"] if more > 0 else lines

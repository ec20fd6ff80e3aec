"""`elt-llm eval`: measures of quality. Sub-commands are entry points `elt_llm.eval`."""

import contextlib
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import click
from typing_extensions import override

from elt_llm_core.cli.terminal import json_text

if TYPE_CHECKING:
    from elt_llm_ingest.evaluation.parsing import Figure

GROUP = "elt_llm.eval"


class Evaluations(click.Group):
    """A group whose commands are found through entry points."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({point.name for point in entry_points(group=GROUP)})

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for point in entry_points(group=GROUP, name=cmd_name):
            command: click.Command = point.load()
            return command
        return None


@click.group(name="eval", cls=Evaluations)
def evaluate() -> None:
    """Measure how well documents are read and questions answered."""


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="Folder with evaluation data: PDFs, tables_icdar2013_eu, financebench.",
)
@click.option(
    "--only",
    default="",
    help="tables, tables-unruled, words, evidence, speed, bulk, ade, mutations, scans "
    "or definitions.",
)
@click.option(
    "--hide-lines",
    is_flag=True,
    help="Read PDFs as if no page drew a line: what the words alone make of tables.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def parsing(data: Path, only: str, hide_lines: bool, as_json: bool) -> None:
    """Measure how PDFs are read, against the bars.

    Exit code 1 if a bar is missed.
    """
    from elt_llm_ingest.evaluation.parsing import measured
    from elt_llm_ingest.evaluation.unruled import without_lines

    with without_lines() if hide_lines else contextlib.nullcontext():
        figures = measured(data, only)
    if as_json:
        rows = [{**f.model_dump(mode="json"), "passed": f.passed} for f in figures]
        click.echo(json_text({"figures": rows}))
    else:
        head = f"{'measure':<28}{'value':>12}   bar"
        click.echo("\n".join([head, *map(_line, figures)]))
    for figure in figures:
        for left in figure.detail.get("left_out", ()):
            said = f"{left['document']}: left out of {figure.measure}: {left['reason']}"
            click.echo(said, err=True)
    if any(figure.passed is False for figure in figures):
        raise SystemExit(1)


def _line(figure: "Figure") -> str:
    bar = ""
    if figure.bar is not None:
        met = "met" if figure.passed else "missed"
        bar = f"{'<=' if figure.at_most else '>='} {figure.bar:g}  {met}"
    return f"{figure.measure:<28}{figure.value:>12g}   {bar}"

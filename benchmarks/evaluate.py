"""Measures how documents are read, against the bars that are set for it.

uv run --group dev python benchmarks/evaluate.py [MEASURE] --data DIR
    [--hide-lines] [--json]

DIR holds the evaluation data. Without MEASURE every measure is taken whose data is
there. The exit code is 1 if a bar is missed.
"""

import contextlib
from pathlib import Path

import click

from elt_llm_core.cli.terminal import json_text
from elt_llm_core.errors import EltLlmError
from evaluation.figures import MEASURES, Figure, measure
from evaluation.tables import without_lines


@click.command()
@click.argument("name", metavar="[MEASURE]", default="")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="Folder with the evaluation data.",
)
@click.option(
    "--hide-lines",
    is_flag=True,
    help="Ignore the lines that pages draw: tables are found by alignment alone.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(name: str, data: Path, hide_lines: bool, as_json: bool) -> None:
    """Measure how documents are read, and compare the figures with their bars.

    MEASURE is one of: {measures}. Without it all are taken. The exit code is 1 if a
    bar is missed.
    """
    try:
        with without_lines() if hide_lines else contextlib.nullcontext():
            figures = measure(data, name)
    except EltLlmError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        rows = [{**f.model_dump(mode="json"), "passed": f.passed} for f in figures]
        click.echo(json_text({"figures": rows}))
    else:
        head = f"{'measure':<28}{'value':>12}   bar"
        click.echo("\n".join([head, *map(_line, figures)]))
    for figure in figures:
        for row in figure.detail.get("left_out", ()):
            message = (
                f"{row['document']}: left out of {figure.measure}: {row['reason']}"
            )
            click.echo(message, err=True)
    if any(figure.passed is False for figure in figures):
        raise SystemExit(1)


evaluate.help = (evaluate.help or "").format(measures=", ".join(MEASURES))


def _line(figure: Figure) -> str:
    bar = ""
    if figure.bar is not None:
        verdict = "met" if figure.passed else "missed"
        bar = f"{'<=' if figure.at_most else '>='} {figure.bar:g}  {verdict}"
    return f"{figure.measure:<28}{figure.value:>12g}   {bar}"


if __name__ == "__main__":
    evaluate()

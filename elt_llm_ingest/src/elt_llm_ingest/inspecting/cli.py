"""`elt-llm inspect`."""

from pathlib import Path
from typing import Any

import click

from elt_llm_core.cli.common import CommandContext, common_options
from elt_llm_ingest.cli import ask_passwords, password_option


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Every block, row and chunk.")
@click.option("--page", type=click.IntRange(min=1), help="The page to draw.")
@click.option(
    "--png",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw what was read on the page into this file.",
)
@click.option("--part", default="", help="Of a file that holds several documents.")
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
    """Show what is read of a file, and store nothing.

    Sections, blocks with their places, tables with their cells, figures, running heads,
    warnings, and the chunks as configured. With --png, the page with all boxes.
    """
    from elt_llm_core.errors import UsageError
    from elt_llm_core.files.atomic import write_atomic
    from elt_llm_ingest.chunking import Chunking
    from elt_llm_ingest.discovery import read_bytes
    from elt_llm_ingest.inspecting.picture import draw
    from elt_llm_ingest.inspecting.view import shown, view
    from elt_llm_ingest.limits import limits_of
    from elt_llm_ingest.sandbox.client import ReadingProcess
    from elt_llm_ingest.sandbox.passwords import load_passwords

    if bool(page) != bool(png):
        raise UsageError("--page and --png belong together", "give both or neither")
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
        write_atomic(png, draw(file, data, shown_one, page, tried))
    chunking = Chunking(ctx.config, ctx.models)
    wanted = [chosen] if part and chosen else documents
    found = [view(document, loader, chunking.cut(document)) for document in wanted]
    ctx.emit(
        {"file": file.name, "documents": found},
        lambda: "\n\n".join(shown(one, everything=everything) for one in found),
    )

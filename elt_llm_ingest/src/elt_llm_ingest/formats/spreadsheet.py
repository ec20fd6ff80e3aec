"""Excel workbooks: every sheet is a page, every row of a table a row."""

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from elt_llm_core.document import BlockKind, Page, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.results import Box
from elt_llm_ingest.formats import inventory
from elt_llm_ingest.formats.build import TextBuilder, with_sections
from elt_llm_ingest.formats.rows import header_rows
from elt_llm_ingest.formats.workbook import Rows, read_sheets
from elt_llm_ingest.safety import Limits, hidden_characters

PARSER = f"calamine {version('python-calamine')}, layer 1"


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
    """The document of a workbook, or of an inventory where a sheet is one.

    Raises LoadError for bombs, sheets that span too many cells and damaged files.
    """
    sheets = read_sheets(path, data, limits)
    if inventory.is_inventory(sheets):
        return inventory.documents(path, sheets)
    builder = TextBuilder()
    pages = []
    for number, (name, rows) in enumerate(sheets, start=1):
        width = max((len(row) for row in rows), default=0)
        pages.append(
            Page(
                number=number, width=max(width, 1), height=max(len(rows), 1), label=name
            )
        )
        if any(cell for row in rows for cell in row):
            builder.add(BlockKind.HEADING, name, level=1, page=number, end_page=number)
            _write(builder, number, rows, width)
    if not builder.blocks:
        raise LoadError(path.name, "no text: no sheet has a filled cell")
    return [
        ParsedDocument(
            title=path.stem,
            text=builder.text,
            blocks=with_sections(builder.text, builder.blocks),
            pages=pages,
            parser=PARSER,
            warnings=hidden_characters([builder.text]),
        )
    ]


def _write(builder: TextBuilder, page: int, rows: Rows, width: int) -> None:
    """The tables of a sheet, which blank rows separate; a lone cell is a paragraph."""
    for start, table in _tables(rows):
        used = [i for i in range(width) if any(_at(row, i) for row in table)]
        cut = [[_at(row, i) for i in used] for row in table]
        lead = _lead(cut)
        for offset, row in enumerate(cut[:lead]):
            box = _box(page, start + offset, used[0], len(rows), width)
            text = next(cell for cell in row if cell)
            builder.add(
                BlockKind.PARAGRAPH, text, page=page, end_page=page, boxes=(box,)
            )
        body = cut[lead:]
        header = header_rows(body)
        for offset, row in enumerate(body):
            at = start + lead + offset
            builder.add_row(
                row,
                body[0] if header else [],
                f"{page}.{start}",
                page=page,
                end_page=page,
                boxes=(_box(page, at, used[0], len(rows), width, used[-1]),),
                table=cut[lead - 1][0] if lead else "",
                attributes={"row": "header"} if offset < header else {},
            )


def _tables(rows: Rows) -> Iterator[tuple[int, Rows]]:
    start: int | None = None
    for index, row in enumerate([*rows, []]):
        filled = any(cell.strip() for cell in row)
        if filled and start is None:
            start = index
        elif not filled and start is not None:
            yield start, rows[start:index]
            start = None


def _lead(rows: Sequence[Sequence[str]]) -> int:
    """How many rows at the top are titles: one filled cell above wider rows."""
    if max(sum(1 for cell in row if cell) for row in rows) <= 1:
        return 0 if len(rows[0]) > 1 else len(rows)
    return next(i for i, row in enumerate(rows) if sum(1 for cell in row if cell) > 1)


def _at(row: Sequence[str], index: int) -> str:
    return row[index] if index < len(row) else ""


def _box(
    page: int, row: int, column: int, rows: int, columns: int, last: int | None = None
) -> Box:
    end = column if last is None else last
    return Box(
        page=page,
        left=round(column / columns, 5),
        top=round(row / rows, 5),
        right=round((end + 1) / columns, 5),
        bottom=round((row + 1) / rows, 5),
    )

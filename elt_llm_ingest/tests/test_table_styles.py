"""The same table gives the same cells, whichever of its lines are drawn."""

from collections import defaultdict

import pytest

from pdf_pages import parsed, rows_of
from table_styles import STYLES, TABLES, Logical, page_of

# What stands over two columns is not told from a wrapped name where these are drawn.
UNSURE = {
    ("two_levels", style) for style in ("header_box", "columns_only", "label_line")
}
Seen = list[list[tuple[int, int, str]]]


def seen(path) -> list[Seen]:
    """The filled cells of each table: column, number of columns, text."""
    document = parsed(path)
    tables: dict[int, Seen] = defaultdict(list)
    for block in rows_of(document):
        cells = [
            (cell.column, cell.columns, document.text[cell.start : cell.end])
            for cell in block.cells
        ]
        tables[block.table_number].append([cell for cell in cells if cell[2]])
    return [rows for _, rows in sorted(tables.items())]


def meant(table: Logical) -> Seen:
    return [
        [
            (column, table.wide.get((row, column), 1), " ".join(text.split()))
            for column, text in enumerate(texts)
            if text
        ]
        for row, texts in enumerate(table.rows)
    ]


@pytest.mark.parametrize(
    ("name", "style"),
    [(n, s) for n in TABLES for s in STYLES if (n, s) not in UNSURE],
)
def test_every_style_of_lines_gives_the_same_cells(tmp_path, name, style):
    path = page_of(tmp_path / "a.pdf", style, (TABLES[name], 72.0))
    assert seen(path) == [meant(TABLES[name])]


@pytest.mark.parametrize("style", STYLES)
def test_two_side_by_side_stay_two_in_every_style(tmp_path, style):
    table = TABLES["narrow"]
    path = page_of(tmp_path / "a.pdf", style, (table, 60.0), (table, 310.0))
    assert seen(path) == [meant(table)] * 2

"""Two tables without lines side by side are two, and a wide one stays one."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluation.figures import Data, table_figures, unruled_figures
from pdf_pages import WORDS, canvas_of, headers, parsed, prose, rows_of, said

COAST = ("North", "South", "East", "West", "Isle")
BOATS = ("Sloops", "Ketches", "Yawls", "Tugs", "Barges")
Side = tuple[float, Sequence[str], Sequence[str]]  # left, what is over it, labels


def made(path: Path, *sides: Side) -> list[tuple[int, list[str], list[str]]]:
    """Number, cells and headers of every row of tables beside each other."""
    canvas = canvas_of(path)
    prose(canvas, 780, [WORDS, WORDS])
    for left, over, labels in sides:
        canvas.drawString(left, 700, over[0])
        for column, name in enumerate(over[1:]):
            canvas.drawRightString(left + 100 + 50 * column, 700, name)
        for row, label in enumerate(labels):
            y = 684 - 16 * row
            canvas.drawString(left, y, label)
            for column in range(len(over) - 1):
                number = str((row + 3) * (column + 7) * 11)
                canvas.drawRightString(left + 100 + 50 * column, y, number)
    prose(canvas, 560, [WORDS, WORDS])
    canvas.save()
    document = parsed(path)
    rows = rows_of(document)
    return [(b.table_number, said(document, b), headers(b)) for b in rows]


@pytest.mark.parametrize("count", [5, 3])
@pytest.mark.parametrize("over", ["", "Place"])
def test_a_gutter_between_two_with_own_headers_sets_them_apart(tmp_path, count, over):
    rows = made(
        tmp_path / "a.pdf",
        (72, (over, "2023", "2024"), COAST),
        (280, (over, "Boats", "Crews"), BOATS[:count]),
    )
    left = [cells for number, cells, _ in rows if number == 1]
    right = [cells for number, cells, _ in rows if number == 2]
    assert [cells[0] for cells in left] == [over, *COAST]
    assert [cells[0] for cells in right] == [over, *BOATS[:count]]
    assert rows[1] == (1, ["North", "231", "264"], [over, "2023", "2024"])
    assert rows[-1][2] == [over, "Boats", "Crews"]


@pytest.mark.parametrize(
    "right",
    [
        (280, ("Kind", "Boats", "Crews"), BOATS),  # a column of its own name
        (280, ("", "Boats", "Crews"), ("kg", "t", "kg", "t", "kg")),  # units
        (225, ("", "Boats", "Crews"), BOATS),  # no gutter
    ],
)
def test_without_all_of_these_it_is_one_table(tmp_path, right):
    rows = made(tmp_path / "a.pdf", (72, ("", "2023", "2024"), COAST), right)
    assert {number for number, _, _ in rows} == {1}


def test_three_beside_each_other_are_three(tmp_path):
    thirds = [(left, ("", "Boats"), COAST) for left in (60, 230, 400)]
    rows = made(tmp_path / "a.pdf", *thirds)
    assert [number for number, _, _ in rows] == [1] * 6 + [2] * 6 + [3] * 6
    assert rows[-1] == (3, ["Isle", "539"], ["", "Boats"])


def test_tables_are_measured_without_their_lines(tmp_path, monkeypatch):
    seen = []

    def measured(folder):
        rows = made(tmp_path / "b.pdf", (72, ("", "2023", "2024"), COAST))
        seen.append((folder.name, len(rows)))
        return []

    (tmp_path / "tables_icdar2013_eu").mkdir()
    monkeypatch.setattr("evaluation.tables.measure_tables", measured)
    (figure,) = unruled_figures(Data(tmp_path))
    assert (figure.measure, figure.bar) == ("table_f1_unruled", None)
    assert next(table_figures(Data(tmp_path))).measure == "table_f1"
    assert seen == [("tables_icdar2013_eu", 6)] * 2

"""The measures of reading: their arithmetic, and the command that prints them."""

import json
import shutil

import pytest
from click.testing import CliRunner

from evaluate import evaluate
from evaluation.adjacency import (
    GridCell,
    Score,
    compare,
    compare_page,
    normal,
    relations,
)
from evaluation.lost_words import compare_words
from pdf_pages import ruled_pdf

REGIONS = """<document><table id='1'><region id='1' page='1'>
<bounding-box x1='80' y1='590' x2='420' y2='700'/></region></table></document>"""
CELL = "<cell start-row='{0}' start-col='{1}'{2}><content>{3}</content></cell>"


def cell(row, column, text, end_row=None, end_column=None):
    last_row = row if end_row is None else end_row
    last_column = column if end_column is None else end_column
    return GridCell(row, last_row, column, last_column, text)


def test_neighbours_are_the_next_cells_with_content_and_blanks_are_counted():
    cells = [cell(0, 0, "a b"), cell(0, 1, " "), cell(0, 2, "c"), cell(2, 0, "d")]
    assert set(relations(cells)) == {("right", "AB", "C", 1), ("down", "AB", "D", 1)}


def test_a_spanning_cell_has_each_neighbour_once():
    cells = [cell(0, 0, "head", end_column=1), cell(1, 0, "x"), cell(1, 1, "y")]
    assert sorted(relations(cells).elements()) == [
        ("down", "HEAD", "X", 0),
        ("down", "HEAD", "Y", 0),
        ("right", "X", "Y", 0),
    ]


def test_content_is_compared_without_blanks_case_and_marks():
    assert normal("a-b\n(c)") == "A_B_C_"


def test_a_missing_table_costs_recall_and_an_invented_one_precision():
    true = [cell(0, 0, "a"), cell(0, 1, "b"), cell(1, 0, "c")]
    wrong = [cell(0, 0, "z"), cell(0, 1, "y")]
    assert compare(true, true).f1 == 1
    other = [cell(0, 0, "q"), cell(0, 1, "r")]
    score, taken = compare_page([wrong, true], [true, other])
    assert taken == [1, None]
    assert score == Score(right=2, found=3, true=3)


def test_lost_words_are_those_the_page_has_in_no_form():
    found = compare_words(
        "the fo od was good on day one", "The food was good on day 24 one"
    )
    assert (found.words, found.lost, found.examples) == (8, 1, ("24",))


def test_moved_words_are_those_out_of_the_longest_order():
    found = compare_words("one two four three", "one two three four")
    assert (found.comparable, found.moved) == (4, 1)


def table_folder(root):
    folder = root / "tables_icdar2013_eu"
    folder.mkdir()
    ruled_pdf(folder / "eu-900.pdf")
    (folder / "eu-900-reg.xml").write_text(REGIONS)
    rows = [["", "Boats", None, "Crews"], ["Harbour", "2023", "2024", "2024"]]
    rows += [["North", "12", "14", "30"], [None, "9", "8", "17"]]
    rows += [["South", "3", "5", "a line that is wrapped"]]
    spans = {(0, 1): " end-col='2'", (2, 0): " end-row='3'"}
    cells = [
        CELL.format(r, c, spans.get((r, c), ""), text)
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
        if text is not None
    ]
    (folder / "eu-900-str.xml").write_text(
        "<document><table id='1'><region id='1' page='1'>"
        f"{''.join(cells)}</region></table></document>"
    )
    return root


def test_the_command_prints_figures_and_bars(tmp_path):
    arguments = ["tables", "--data", str(table_folder(tmp_path))]
    shown = CliRunner().invoke(evaluate, arguments)
    assert shown.exit_code == 0, shown.output
    assert "table_f1" in shown.output
    assert ">= 0.85  met" in shown.output
    told = CliRunner().invoke(evaluate, [*arguments, "--json"])
    figures = {f["measure"]: f for f in json.loads(told.output)["figures"]}
    assert figures["table_f1"]["value"] == 1.0
    assert figures["table_f1_regions_given"]["value"] == 1.0
    assert figures["cells_inside_region"]["passed"] is True


@pytest.mark.skipif(not shutil.which("pdftotext"), reason="compares with pdftotext")
def test_a_truth_that_cannot_be_used_is_told_and_the_others_are_measured(tmp_path):
    folder = table_folder(tmp_path) / "tables_icdar2013_eu"
    ruled_pdf(folder / "eu-901.pdf")
    (folder / "eu-901-reg.xml").write_text(REGIONS)
    (folder / "eu-901-str.xml").write_text("<document/>")
    (folder / "eu-902.pdf").write_bytes(b"%PDF-1.4\nnothing")
    arguments = ["--data", str(tmp_path)]
    shown = CliRunner().invoke(evaluate, [*arguments, "tables"])
    assert shown.exit_code == 0, shown.output
    assert shown.stderr == (
        "eu-901: left out of table_f1: its -reg.xml and -str.xml describe different "
        "tables\n"
    )
    told = CliRunner().invoke(evaluate, [*arguments, "words", "--json"])
    (lost, _) = json.loads(told.stdout)["figures"]
    assert lost["detail"]["words"] > 0
    (left,) = lost["detail"]["left_out"]
    assert left["document"] == "eu-902.pdf"


def test_lines_can_be_hidden_from_every_measure(tmp_path):
    arguments = ["tables", "--data", str(table_folder(tmp_path))]
    told = CliRunner().invoke(evaluate, [*arguments, "--hide-lines", "--json"])
    figures = {f["measure"]: f for f in json.loads(told.output)["figures"]}
    assert figures["table_f1"]["value"] < 1.0  # the drawn spans are not seen


def test_an_unknown_measure_is_refused_with_the_known_ones(tmp_path):
    result = CliRunner().invoke(evaluate, ["tabels", "--data", str(tmp_path)])
    assert result.exit_code != 0
    known = "tables, tables-unruled, words, evidence, speed, bulk"
    assert known in result.output

"""Which first rows name the columns of a table."""

import pytest

from elt_llm_ingest.readers.cell_grid import header_rows, resembles_rows
from pdf_pages import canvas_of, headers, parsed, prose, rows_of, said

DOSES = [
    ["Rats", "125 mg/kg", "for one year"],
    ["Rabbits", "100 mg/kg", "for one year"],
    ["Dogs", "50 mg/kg", "for 2 years"],
]


@pytest.mark.parametrize(
    ("first", "below"),
    [
        (["Rats", "125 mg/kg"], ["Dogs", "50 mg/kg"]),
        (["1st Group", "control"], ["2nd Group", "treated"]),
        (["Fees", "1,103.92 USD"], ["Taxes", "4 USD"]),
    ],
)
def test_a_row_with_a_quantity_as_below_it_is_no_header(first, below):
    assert resembles_rows(first, [below])
    assert header_rows([first, below]) == 0


@pytest.mark.parametrize(
    ("first", "below"),
    [
        (["Animal", "Dose in mg"], ["Rat", "125"]),
        (["Year ended 2021", "Year ended 2022"], ["Year ended 2019", "4"]),
        (["Grade", "Step 1"], ["N4", "1,200"]),
    ],
)
def test_names_with_a_number_stay_headers(first, below):
    assert not resembles_rows(first, [below])
    assert header_rows([first, below]) == 1


def test_the_first_of_several_doses_in_a_pdf_is_a_row(tmp_path):
    canvas = canvas_of(tmp_path / "doses.pdf")
    prose(canvas, 780, ["These doses of the drug harmed no organ:"])
    for at, row in enumerate(DOSES):
        for x, text in zip((90, 220, 330), row, strict=True):
            canvas.drawString(x, 750 - 14 * at, text)
    canvas.save()
    document = parsed(tmp_path / "doses.pdf")
    rows = rows_of(document)
    assert [said(document, row) for row in rows] == DOSES
    assert not any(headers(row)[0] for row in rows)


def test_one_cell_of_several_that_is_like_the_header_makes_it_no_row():
    rows = [["Name", "Version 3"], ["Old", "Version 2"], ["Colour", "red"]]
    assert header_rows(rows) == 1

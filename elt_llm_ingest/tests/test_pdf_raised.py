"""Raised digits of a PDF: marks of notes stand apart, powers are raised characters."""

from pathlib import Path

import pytest

from pdf_pages import canvas_of, parsed


def text_of(path: Path, *runs: str, rise: float = 4, size: float = 6) -> str:
    """The text of a line of runs, every second of which is raised and smaller."""
    canvas = canvas_of(path)
    line = canvas.beginText(72, 700)
    for at, run in enumerate(runs):
        line.setFont("Helvetica", size if at % 2 else 10)
        line.setRise(rise if at % 2 else 0)
        line.textOut(run)
    canvas.drawText(line)
    canvas.save()
    return parsed(path).text.strip()


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (("The harbour paid for the project.", "10"), "project. 10"),
        (("The harbour paid for the project", "10", " in full"), "project 10 in full"),
        (("It was counted by Smith (2004)", "22", " and others"), "(2004) 22 and"),
        (("It was counted in the EU", "38", " and abroad"), "EU 38 and"),
        (("Both say so,", "8,13", " but not all"), "so, 8,13 but"),
        (("A berth of 40 m", "2", " is let"), "40 m² is"),
        (("A town of 40 kilometres", "2", " is small"), "kilometres² is"),
        (("It holds 10", "6", " litres"), "10⁶ litres"),
        (("It is let on the 1", "st", " of May"), "1st of"),
        (("The gas CO", "x", " is measured"), "COx is"),
    ],
)
def test_raised_digits_are_marks_or_powers(tmp_path, runs, text):
    assert text in text_of(tmp_path / "a.pdf", *runs)


@pytest.mark.parametrize("rise", [0, -3])
def test_digits_that_are_not_raised_stay_with_their_word(tmp_path, rise):
    said = text_of(tmp_path / "a.pdf", "The gas CO", "2", " is counted", rise=rise)
    assert "CO2 is counted" in said


def test_each_mark_has_a_box_of_its_own(tmp_path):
    text_of(tmp_path / "a.pdf", "The harbour paid for the project.", "10")
    document = parsed(tmp_path / "a.pdf")
    (page,) = document.pages
    word, mark = list(page.words)[-2:]
    assert [document.text[row[0] : row[1]] for row in (word, mark)] == [
        "project.",
        "10",
    ]
    assert word[4] <= mark[2] < mark[4]

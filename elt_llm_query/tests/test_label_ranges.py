"""A row for several labels is also about those between them; a bare number is not."""

import pytest

from answer_world import node, respond
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.document import Cell
from elt_llm_core.models.factory import build_models
from elt_llm_query.analysis.label_ranges import labels_within
from elt_llm_query.analysis.question import analyse
from elt_llm_query.synthesizers.extractive.form_fit import form_fit


@pytest.fixture(scope="module")
def embedded():
    return build_models(RagConfig()).embedder


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Berth B1 to B4", "Berth B2 Berth B3"),
        ("Class 1 - 3", "Class 2"),
        ("from 5 to 8 years", ""),
        ("Class 1990 to 1999", ""),
        ("$200 to $300", ""),
        ("B1 and B2", ""),
    ],
)
def test_labels_between_the_ends_of_a_range(text, labels):
    assert labels_within(text) == labels


def test_labels_from_one_on():
    assert labels_within("B4 & above").split()[:2] == ["B5", "B6"]
    assert labels_within("4 and above") == ""


def row(headers, values, ordinal):
    cells, start = [], 0
    for header, value in zip(headers, values, strict=True):
        cells.append(Cell(header=header, start=start, end=start + len(value)))
        start += len(value) + 1
    shown = " | ".join(f"{h}: {v}" for h, v in zip(headers, values, strict=True))
    return node(
        "\t".join(values),
        kind="table_row",
        section="Harbour rules > 4. Mooring fee",
        document_id="harbour",
        ordinal=ordinal,
        cells=tuple(cells),
        index_text=f"4. Mooring fee - {shown}",
    )


def rows(headers, *values):
    return [row(headers, one, at) for at, one in enumerate(values, start=2)]


def test_a_row_answers_for_a_label_inside_its_range(embedded):
    table = rows(
        ("Berth", "Mooring fee"), ("B1 to B4", "12 euros"), ("B5 to B9", "30 euros")
    )
    asked = "What is the mooring fee of berth B7?"
    found = respond(asked, *table, embedder=embedded)
    assert found.response.splitlines() == [
        "4. Mooring fee - Berth: B5 to B9 | Mooring fee: 30 euros [S2]"
    ]


def test_a_number_names_no_row_under_a_header_of_another_quantity(embedded):
    table = rows(
        ("Months of membership", "Mooring fee"), ("7", "12 euros"), ("8", "30 euros")
    )
    by_age = "How much is the mooring fee for a child aged 8?"
    assert respond(by_age, *table, embedder=embedded).metadata["claims"] == []
    by_month = "How much is the mooring fee after 8 months of membership?"
    assert "30 euros" in respond(by_month, *table, embedder=embedded).response


@pytest.mark.parametrize(
    ("text", "fit"),
    [
        ("The berth is inspected every two years.", 1.0),
        ("It is inspected three times a month.", 1.0),
        ("It is inspected at least every one to two years.", 1.0),
        ("Reports of the inspection are kept for 8 years.", 0.0),
    ],
)
def test_a_period_does_not_say_how_often(text, fit):
    assert form_fit(analyse("How often is the berth inspected?"), text) == fit

"""Questions for what was never done: which empty cells tell it."""

import pytest

from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.tables import relations
from elt_llm_query.synthesizers.table_qa.selected_answer import compute_selection
from elt_llm_query.synthesizers.table_qa.selection import plan_selection


def relation_of(header, cells):
    text, blocks = "", []
    for n, value in enumerate([header, *cells]):
        name = f"Barge {'ABCDEF'[n - 1]}" if n else "Barge"
        start, end = len(text), len(text) + len(name)
        text += f"{name}\t{value}"
        blocks.append(
            Block(
                kind=BlockKind.TABLE_ROW,
                start=start,
                end=len(text),
                table="Barges",
                table_number=1,
                cells=(
                    Cell(header="Barge", start=start, end=end, column=0),
                    Cell(header=header, start=end + 1, end=len(text), column=1),
                ),
                attributes={} if n else {"row": "header"},
            )
        )
        text += "\n"
    (relation,) = relations("d", "d.xlsx", text, blocks)
    return relation


def answer(header, cells, question):
    plan = plan_selection(question, relation_of(header, cells))
    computed = compute_selection(plan) if plan and not plan.subject else None
    return computed.text if computed else ""


@pytest.mark.parametrize(
    ("header", "cells", "question"),
    [
        ("Completed", ["0", "100", "", "40"], "Which barges are not completed?"),
        ("Loaded (%)", ["0", "80", "", "35"], "Which barges have not been loaded?"),
        (
            "Tested",
            ["pending", "2024-05-01", "", "2023-02-02"],
            "Which barges were not tested?",
        ),
        ("Painted", ["0", "20", "", "15"], "How many barges were never painted?"),
        ("Cost", ["0", "20", "", "7"], "Which barges do not cost anything?"),
        (
            "Approved by",
            ["Ann Lee", "pending", ""],
            "Which barges have not been approved?",
        ),
        # below an occasion: neither days nor years, or one is still to come
        (
            "Last inspection",
            ["31/12/2024", "planned for 3/2027", ""],
            "Which barges have never been inspected?",
        ),
        (
            "Last inspection",
            ["31/12/2024", "00/00/0000", ""],
            "Which barges have never been inspected?",
        ),
        (
            "Last inspection",
            ["31/12/2024", "No - cancelled 2019", ""],
            "Which barges have never been inspected?",
        ),
        ("Last loading", ["12", "2019", ""], "Which barges were never loaded?"),
        ("Last inspection", ["good", ""], "Which were never inspected?"),
        # a word that ends in "t" is no participle
        ("Last audit", ["2024-05-01", "2024-05-02", ""], "Which have not audit?"),
    ],
)
def test_an_empty_cell_beside_figures_or_states_does_not_tell_it(
    header, cells, question
):
    assert answer(header, cells, question) == ""


@pytest.mark.parametrize(
    ("header", "cells", "question", "start"),
    [
        (
            "Tested",
            ["2024-05-01", "", "2023-02-02"],
            "Which barges were never tested?",
            "1 of 3 rows where Tested is empty: Barge B",
        ),
        (
            "Last overhaul date",
            ["2024-05-01", "", "2023-02-02"],
            "Which barges have never been overhauled?",
            "1 of 3 rows where Last overhaul date is empty: Barge B",
        ),
        (
            "Built by",
            ["Kern Ltd", "Dahl & Co", ""],
            "Which barges are not built by anyone?",
            "1 of 3 rows where Built by is empty: Barge C",
        ),
        (
            "Last inspection",
            ["31/12/2024", "", "05/11/2023"],
            "Which barges have never been inspected?",
            "1 of 3 rows where Last inspection is empty: Barge B",
        ),
        (
            "Latest repair",
            ["12. M\u00e4rz 2024", "3. Mai 2023", ""],
            "Which barges have not been repaired?",
            "1 of 3 rows where Latest repair is empty: Barge C",
        ),
        (
            "Previous survey date",
            ["2024-01-31 10:00", "", "2023-02-28 09:30"],
            "How many barges were never surveyed?",
            "1 of 3 rows where Previous survey date is empty: Barge B",
        ),
        (
            "Last cleaning",
            ["2024", "", "2019"],
            "Which barges have never been cleaned?",
            "1 of 3 rows where Last cleaning is empty: Barge B",
        ),
        (
            "Last refit",
            ["11.2024", "06.2019", ""],
            "Which barges were never refitted?",
            "1 of 3 rows where Last refit is empty: Barge C",
        ),
    ],
)
def test_an_empty_cell_beside_dates_or_names_tells_it(header, cells, question, start):
    assert answer(header, cells, question).startswith(start)

"""A table answers how many only if it counts what is asked about."""

import pytest

from elt_llm_query.analysis.question import analyse
from elt_llm_query.synthesizers.extractive.candidates import (
    Candidate,
    Passage,
    PlacedCell,
)
from elt_llm_query.synthesizers.extractive.counting_tables import drop_uncounted_tables
from elt_llm_query.synthesizers.extractive.whole_tables import read_tables

FEES = (("Item", "Full member"), [("Joining fee", "\u00a325"), ("Work hours", "12")])
BERTHS = (("Boat", "Berths"), [("Heron", "4"), ("Bittern", "2")])
LEAVE = (("Staff", "Leave"), [("New", "25 days"), ("Others", "30 days")])
CLUBS = (("Group", "2024"), [("Members", "120"), ("Teams", "7")])


def rows_of(headers, rows):
    for number, row in enumerate(rows):
        starts = [0, len(row[0]) + 1]
        cells = tuple(
            PlacedCell(start, start + len(text), header)
            for start, text, header in zip(starts, row, headers, strict=True)
        )
        yield Passage(
            f"S{number}", str(number), "\t".join(row), whole=True, cells=cells,
            place=("d", number),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("question", "table", "kept"),
    [
        ("How many members are there?", FEES, False),
        ("How many guests are there?", BERTHS, False),
        ("How many berths do the boats have?", BERTHS, True),
        ("How many days of leave do I get?", LEAVE, True),
        ("How many members are there?", CLUBS, True),
        ("What do members pay?", FEES, True),
    ],
)
def test_a_table_must_count_the_noun(question, table, kept):
    passages = [*rows_of(*table)]
    passages += read_tables(passages)
    whole = Candidate(len(passages) - 1, 0, 5, 1.0, 1.0)
    assert passages[-1].parts
    left = drop_uncounted_tables(analyse(question), [whole], passages)
    assert bool(left) is kept

"""Questions that select, count, group or compare the rows of a table first."""

import pytest

from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.tables import relations
from elt_llm_query.analysis.date_limits import date_range_of
from elt_llm_query.analysis.question import analyse
from elt_llm_query.synthesizers.extractive.candidates import (
    Candidate,
    Passage,
    PlacedCell,
)
from elt_llm_query.synthesizers.extractive.single_rows import (
    drop_single_rows,
    selects_rows,
)
from elt_llm_query.synthesizers.extractive.whole_tables import (
    keep_unnamed_tables,
    read_tables,
)
from elt_llm_query.synthesizers.table_qa.answer import compute_answer
from elt_llm_query.synthesizers.table_qa.planner import (
    TableWords,
    plan_sum,
    plan_table,
)
from elt_llm_query.synthesizers.table_qa.selected_answer import compute_selection
from elt_llm_query.synthesizers.table_qa.selection import plan_selection

PRICES = [
    ["Seed", "Family", "Small bag (\u20ac)", "Large bag (\u20ac)", "Origin", "Note"],
    ["Radish", "Brassica", "2.10", "7.50", "France", ""],
    ["Kale", "Brassica", "2.40", "8.00", "Italy", "sow late"],
    ["Leek", "Allium", "1.90", "not offered", "France", ""],
    ["Chive", "Allium", "1.60", "on request", "Poland", "perennial"],
    ["Beet", "Amaranth", "2.00", "6.90", "Italy", ""],
]
STAFF = [
    ["Name", "Team", "Joined", "Left", "Shifts", "Fire warden"],
    ["R. Ahn", "Press", "2014-05-02", "", "5", "yes"],
    ["S. Birk", "Press", "2018-01-22", "2023-06-30", "3", "no"],
    ["T. Cole", "Stores", "2020-12-31", "", "5", "no"],
    ["U. Drew", "Stores", "2021-01-01", "", "4", "yes"],
    ["V. Ek", "Stores", "2023-09-15", "2024-02-01", "5", "yes"],
]
RETENTION = [
    ["Record", "Held by", "Retention", "Class"],
    ["Deeds", "Registrar", "permanent", "A"],
    ["Ledgers", "Bursar", "10 years", "A"],
    ["Receipts", "Bursar", "7 years", "B"],
    ["Rotas", "Warden", "2 years", "C"],
    ["Keys log", "Warden", "2 years", "C"],
]
GAMES = [
    ["Date", "Host", "Guest", "Goals", "Cards", "Umpire"],
    ["3 May 2024", "Elms", "Oaks", "3", "0", "P. Roy"],
    ["10 May 2024", "Oaks", "Pines", "1", "2", "Q. Sen"],
    ["17 May 2024", "Pines", "Elms", "4", "2", "P. Roy"],
    ["7 June 2025", "Elms", "Pines", "0", "1", "P. Roy"],
]
LOANS = [
    ["Loan", "Rate %", "2023", "2024", "change since 2020"],
    ["Loan A", "1.25", "500", "500", "3"],
    ["Loan B", "2.50", "350", "350", "5"],
    ["Loan C", "3.90", "850", "850", "4"],
]
SERVERS = [
    ["Server", "Site", "State", "Team", "Defects", "Recorded", "Certificate"],
    ["S-1", "Leeds", "Up", "IT", "0", "2015-03-01", "until 2027"],
    ["S-2", "Leeds", "Down", "Finance", "2", "2019-03-01", "No - expired"],
    ["S-3", "York", "Down", "IT", "0", "2020-03-01", ""],
]
GUIDES = [
    ["Guide", "Languages", "Date of birth", "Grade", "Licensed"],
    ["A. Fox", "German", "1980-01-01", "4", "ja"],
    ["B. Gray", "German, French", "1990-01-01", "5", "nein"],
    ["C. Hill", "", "1995-01-01", "5", "ja"],
    ["D. Ives", "French", "1999-01-01", "7", "nein"],
]
YARDS = [
    ["Yard", "Town", "Boats", "Opened"],
    ["North yard", "Leeds", "2", "2001-01-01"],
    ["South yard", "Leeds", "3", "2002-01-01"],
    ["Main yard", "York", "90", "2003-01-01"],
]
MONTHS = [
    ["Route", "Trips 2019", "Trips 2020", "Month", "Date"],
    ["Alpha", "5", "7", "May", "2020-02-01"],
    ["Beta", "8", "6", "June", "2021-02-01"],
]
BUSES = [
    ["Bus type", "Number in service", "Seats"],
    ["Type K", "14", "40"],
    ["Type L", "6", "70"],
]
PIERS = [
    ["Code", "Pier", "Berths", "Slips"],
    ["NRT", "North pier", "9", "2"],
    ["EST", "East pier", "12", "1"],
    ["OLD", "Old quay", "4", "3"],
]
TABLES = {
    "Buses": BUSES,
    "Piers": PIERS,
    "Loans": LOANS,
    "Servers": SERVERS,
    "Guides": GUIDES,
    "Boats of the yards": YARDS,
    "Trips": MONTHS,
    "Seed prices": PRICES,
    "Staff": STAFF,
    "Retention of records": RETENTION,
    "Games": GAMES,
}


def relation_of(title):
    text, blocks, rows = "", [], TABLES[title]
    for index, row in enumerate(rows):
        start, cells = len(text), []
        for place, (header, value) in enumerate(zip(rows[0], row, strict=True)):
            text += ("\t" if place else "") + value
            end = len(text)
            begin = end - len(value)
            cells.append(Cell(header=header, start=begin, end=end, column=place))
        blocks.append(
            Block(
                kind=BlockKind.TABLE_ROW,
                start=start,
                end=len(text),
                table=title,
                table_number=1,
                cells=tuple(cells),
                attributes={"row": "header"} if index == 0 else {},
            )
        )
        text += "\n"
    (relation,) = relations("d", "d.pdf", text, blocks)
    assert relation.clean
    return relation


def answer(title, question):
    """Return the text of the computed answer and its cells; empty if refused."""
    relation = relation_of(title)
    wanted = analyse(question).table
    plan = plan_table(wanted, relation) if wanted else None
    selection = None if plan else plan_selection(question, relation)
    plan = plan or (None if selection else plan_sum(wanted, relation))
    computed = compute_answer(plan) if plan else None
    if selection is not None:
        # What the table does not name is compared by meaning; here it is no match.
        computed = None if selection.subject else compute_selection(selection)
    if computed is None:
        return "", []
    return computed.text, [cell.text for cell in computed.cells]


@pytest.mark.parametrize(
    ("title", "question", "start", "cells"),
    [
        # a value of one column
        ("Seed prices", "Which seeds are from Italy?", "2 of 5 rows", ["Kale", "Beet"]),
        (
            "Seed prices",
            "List the seeds of the Allium family.",
            "2 of 5 rows",
            ["Leek", "Chive"],
        ),
        (
            "Staff",
            "Who works in Stores?",
            "3 of 5 rows",
            ["T. Cole", "U. Drew", "V. Ek"],
        ),
        (
            "Retention of records",
            "Which records are in class C?",
            "2 of 5 rows",
            ["Rotas", "Keys log"],
        ),
        (
            "Retention of records",
            "Which records are held by the Bursar?",
            "2 of 5 rows",
            ["Ledgers", "Receipts"],
        ),
        (
            "Retention of records",
            "What records have a retention of 2 years?",
            "2 of 5 rows",
            ["Rotas", "Keys log"],
        ),
        (
            "Games",
            "Which games had P. Roy as umpire?",
            "3 of 4 rows",
            ["3 May 2024", "17 May 2024", "7 June 2025"],
        ),
        (
            "Retention of records",
            "Which records are permanent?",
            "1 of 5 rows",
            ["Deeds"],
        ),
        # not a value
        (
            "Seed prices",
            "Which seeds are not from Italy?",
            "3 of 5 rows where Origin is not Italy",
            ["Radish", "Leek", "Chive"],
        ),
        ("Staff", "Who isn't a fire warden?", "2 of 5 rows", ["S. Birk", "T. Cole"]),
        (
            "Staff",
            "Which staff are fire wardens?",
            "3 of 5 rows",
            ["R. Ahn", "U. Drew", "V. Ek"],
        ),
        (
            "Retention of records",
            "Which records are not held by the Warden?",
            "3 of 5 rows",
            ["Deeds", "Ledgers", "Receipts"],
        ),
        # an empty cell, and words that stand for one
        (
            "Seed prices",
            "Which seeds have no note?",
            "3 of 5 rows where Note is empty",
            ["Radish", "Leek", "Beet"],
        ),
        (
            "Games",
            "How many games had no cards?",
            "1 of 4 rows where Cards is 0",
            ["3 May 2024"],
        ),
        # dates
        (
            "Staff",
            "Who joined before 2018?",
            "1 of 5 rows where Joined is before 2018",
            ["R. Ahn"],
        ),
        (
            "Staff",
            "How many staff joined after 2020?",
            "2 of 5 rows",
            ["U. Drew", "V. Ek"],
        ),
        (
            "Staff",
            "Which staff joined since 31 December 2020?",
            "3 of 5 rows",
            ["T. Cole", "U. Drew", "V. Ek"],
        ),
        (
            "Staff",
            "Which staff joined between 2018 and 2020?",
            "2 of 5 rows",
            ["S. Birk", "T. Cole"],
        ),
        (
            "Staff",
            "Who left before 2024?",
            "1 of 5 rows where Left is before 2024 (3 without a value)",
            ["S. Birk"],
        ),
        (
            "Games",
            "Which games were played after 10 May 2024?",
            "2 of 4 rows",
            ["17 May 2024", "7 June 2025"],
        ),
        ("Games", "How many games were there in May 2024?", "3 of 4 rows", []),
        # counts of rows
        (
            "Seed prices",
            "How many seeds are there?",
            "5 rows",
            ["Radish", "Kale", "Leek", "Chive", "Beet"],
        ),
        (
            "Seed prices",
            "What is the number of seeds of the Brassica family?",
            "2 of 5 rows",
            ["Radish", "Kale"],
        ),
        (
            "Staff",
            "How many staff are in the Press team?",
            "2 of 5 rows",
            ["R. Ahn", "S. Birk"],
        ),
        ("Games", "How many games did Q. Sen umpire?", "1 of 4 rows", ["10 May 2024"]),
        # different values, and sums of counts
        (
            "Seed prices",
            "How many families are there?",
            "Family: 3 different values in 5 rows: Brassica; Allium; Amaranth",
            [],
        ),
        (
            "Seed prices",
            "How many different origins are listed?",
            "Origin: 3 different",
            [],
        ),
        ("Staff", "How many teams are there?", "Team: 2 different", []),
        (
            "Retention of records",
            "How many classes are there?",
            "Class: 3 different",
            [],
        ),
        ("Games", "How many umpires were there?", "Umpire: 2 different", []),
        ("Games", "How many goals were there?", "Goals: 8 - the sum of 4 rows", []),
        (
            "Games",
            "How many cards were there on 17 May 2024?",
            "17 May 2024 - Cards: 2",
            [],
        ),
        (
            "Games",
            "How many goals were there in 2024?",
            "Goals: 8 - the sum of 3 rows",
            [],
        ),
        # groups
        (
            "Staff",
            "Which team has the most staff?",
            "Stores: 3 rows - the most of 2 values of Team in 5 rows (",
            [],
        ),
        (
            "Games",
            "Which umpire had the fewest games?",
            "Q. Sen: 1 row - the fewest",
            [],
        ),
        (
            "Seed prices",
            "Which family has the most seeds?",
            "Brassica: 2 rows; Allium: 2 rows - the most, tied",
            [],
        ),
        # one cell of one row, by any of its cells
        ("Games", "Who was the umpire on 10 May 2024?", "Umpire: 1 value in 1 row", []),
        ("Retention of records", "Who holds the Deeds?", "Held by: 1 value", []),
        ("Staff", "Is U. Drew a fire warden?", "U. Drew - Fire warden: yes", []),
        ("Seed prices", "Is Kale an Allium?", "Kale - Family: Brassica", []),
        # extremes and sums of selected rows
        (
            "Seed prices",
            "Which Brassica has the highest price for a large bag?",
            "Kale: 8.00 - the highest of 2 rows",
            [],
        ),
        (
            "Staff",
            "Who has the most shifts in Stores?",
            "T. Cole: 5; V. Ek: 5 - the highest, tied of 3 rows",
            [],
        ),
        ("Staff", "What is the total of shifts?", "Shifts: 22 - the sum of 5 rows", []),
        (
            "Staff",
            "What are the total shifts of the Press team?",
            "Shifts: 8 - the sum of 2 rows",
            [],
        ),
    ],
)
def test_rows_are_selected_by_their_cells(title, question, start, cells):
    text, quoted = answer(title, question)
    assert text.startswith(start), text
    for row in TABLES[title][1:]:
        if cells:
            assert (row[0] in quoted) == (row[0] in cells), quoted


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Seed prices", "Which seeds are not from Italy or not Brassica?"),
        ("Seed prices", "Which seeds are only from Italy?"),
        ("Seed prices", "Which organic seeds are from Italy?"),
        ("Seed prices", "Which origins have no Brassica?"),
        ("Seed prices", "Which seeds are from Italy or Allium?"),
        ("Seed prices", "How many small bags are there?"),
        ("Seed prices", "How many bags are there?"),
        ("Seed prices", "Which origin has the lowest price of a small bag?"),
        ("Seed prices", "Which seeds are from Spain?"),
        ("Seed prices", "Which seeds cost more than Kale?"),
        ("Staff", "Who left or joined before 2018?"),
        ("Staff", "Which staff were born before 1990?"),
        ("Staff", "Who joined before Cole?"),
        ("Staff", "Which staff never joined Stores?"),
        (
            "Retention of records",
            "Which records are class A and not held by the Bursar?",
        ),
        ("Retention of records", "How many keepers are there?"),
        ("Games", "Which games were at Elms?"),
        ("Games", "Who played Elms before 2025?"),
        ("Games", "Which games are there?"),
        ("Staff", "What is the total number of staff?"),
        ("Staff", "How many members does R. Ahn have?"),
        ("Seed prices", "How many seeds does Kale have?"),
        # the row itself is asked about, not its label
        ("Piers", "What should I do about NRT?"),
        ("Piers", "What does EST mean?"),
    ],
)
def test_a_selection_in_doubt_is_refused(title, question):
    assert answer(title, question) == ("", [])


@pytest.mark.parametrize(
    ("title", "question"),
    [
        # an "or" or a "not" beside a date
        ("Servers", "Which servers are in Leeds or were recorded before 2016?"),
        ("Servers", "Which servers were not recorded after 2018 in Leeds?"),
        # values that are stop words
        ("Servers", "Which servers in Leeds are down?"),
        ("Servers", "Which servers of IT are in Leeds?"),
        ("Servers", "Which servers in Leeds are there in May?"),
        # zeros, and cells that begin with "no"
        ("Servers", "Which servers have a defect?"),
        ("Servers", "Which servers have a certificate?"),
        ("Servers", "Which servers have no certificate?"),
        # a date that is another one
        ("Guides", "Which guides worked before 1992?"),
        ("Boats of the yards", "Which yard had the most boats in 2002?"),
        ("Trips", "Which routes were there in 2020?"),
        # several values in a cell
        ("Guides", "Which guides have the language German?"),
        # numbers that are no counts, and counts that are numbers
        ("Guides", "How many grades are there?"),
        ("Boats of the yards", "Which town has the most boats?"),
    ],
)
def test_what_the_cells_do_not_tell_is_refused(title, question):
    assert answer(title, question) == ("", [])


@pytest.mark.parametrize(
    ("title", "question", "start"),
    [
        ("Servers", "Which servers were recorded before 2016?", "1 of 3 rows"),
        ("Guides", "How many different grades are there?", "Grade: 3 different values"),
        ("Guides", "Which guides are licensed?", "2 of 4 rows where Licensed is ja"),
        ("Trips", "Which routes were there before 2021?", "1 of 2 rows where Date is"),
        (
            "Boats of the yards",
            "Which yards are in Leeds?",
            "2 of 3 rows where Town is Leeds",
        ),
    ],
)
def test_what_the_cells_tell_is_answered(title, question, start):
    text, _ = answer(title, question)
    assert text.startswith(start), text


def test_a_kind_that_sounds_like_a_table_word_is_a_kind():
    assert answer("Seed prices", "How many rowing seeds are there?") == ("", [])


def test_a_row_without_a_value_is_counted_apart():
    text, _ = answer("Seed prices", "Which seeds have the note perennial?")
    assert "(3 without a value)" in text


@pytest.mark.parametrize("label", ["Gesamt", "Summe", "Suma", "\u2211"])
def test_a_total_is_known_by_its_label_in_other_languages(label, monkeypatch):
    monkeypatch.setitem(TABLES, "Staff", [*STAFF[:4], [label, "", "", "", "9", ""]])
    assert TableWords(relation_of("Staff")).totals == {4}


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Which seed has the lowest price for a small bag?", "Chive: 1.60"),
        ("Which seed has the highest price for a large bag?", ""),  # one on request
        (
            "What is the lowest price of the Radish?",
            "Radish - Small bag (\u20ac): 2.10",
        ),
        ("What is the highest price of the Leek?", "Leek - Small bag (\u20ac): 1.90"),
        ("What is the lowest price of the Leek?", ""),  # may not be offered at all
        ("What is the average price of a large bag?", ""),
        (
            "What is the price of a large bag of Leek?",
            "Leek - Large bag (\u20ac): not offered",
        ),
    ],
)
def test_words_in_a_column_of_numbers_do_not_hide_it(question, start):
    text, _ = answer("Seed prices", question)
    assert text.startswith(start) if start else not text


def test_a_row_of_goals_is_no_total_by_chance():
    text, _ = answer("Games", "Which game had the most goals?")
    assert text.startswith("17 May 2024: 4 - the highest of 4 rows")


def test_a_sum_that_is_the_same_in_each_year_is_no_total():
    text, _ = answer("Loans", "Which loan has the highest rate?")
    assert text.startswith("Loan C: 3.90 - the highest of 3 rows")


def test_a_date_in_a_header_is_no_comparison():
    text, _ = answer("Loans", "Which loan had the largest change since 2020?")
    assert text.startswith("Loan B: 5 - the highest of 3 rows")
    assert answer("Loans", "Which loan had the largest change since 2019?") == ("", [])


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("sold before 2018?", "", "2017-12-31"),
        ("prior to May 2018", "", "2018-04-30"),
        ("after 2 May 2018", "2018-05-03", ""),
        ("later than 2018-05-02", "2018-05-03", ""),
        ("since 2018", "2018-01-01", ""),
        ("no earlier than 2018", "2018-01-01", ""),
        ("not older than 2 May 2018", "2018-05-02", ""),
        ("no newer than 2018", "", "2018-12-31"),
        ("until February 2020", "", "2020-02-29"),
        ("on or before March 4, 2020", "", "2020-03-04"),
        ("between 2018 and 2020", "2018-01-01", "2020-12-31"),
        ("from 1 May 2019 to June 2020", "2019-05-01", "2020-06-30"),
    ],
)
def test_a_comparison_with_a_date_is_a_range_of_days(question, first, last):
    dates, rest = date_range_of(question)
    assert (dates.first, dates.last, dates.compared) == (first, last, True)
    assert "20" not in rest


@pytest.mark.parametrize(
    "question", ["before 31 February 2020", "before lunch", "after the end of 2020"]
)
def test_what_is_no_date_is_no_range(question):
    dates, rest = date_range_of(question)
    assert dates is None
    assert rest == question


def passages_of(title):
    rows = TABLES[title]
    for number, row in enumerate(rows[1:], start=1):
        text, cells = "\t".join(row), []
        for header, value in zip(rows[0], row, strict=True):
            start = cells[-1].end + 1 if cells else 0
            cells.append(PlacedCell(start, start + len(value), header))
        said = " | ".join(f"{h}: {v}" for h, v in zip(rows[0], row, strict=True))
        yield Passage(
            f"S{number}",
            f"n{number}",
            text,
            reading=f"{title} - {said}",
            heading=title,
            whole=True,
            cells=tuple(cells),
            place=("d", number),
        )


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Seed prices", "Which seeds are from Italy?"),
        ("Seed prices", "Which seeds are not from Italy?"),
        ("Seed prices", "Which seeds have no note?"),
        ("Seed prices", "How many families are there?"),
        ("Seed prices", "Which family has the most seeds?"),
        ("Staff", "How many staff are fire wardens?"),
        ("Staff", "Which staff joined before 2018?"),
        ("Staff", "Who joined after 2020?"),
        ("Retention of records", "Which records are permanent?"),
        ("Retention of records", "How many records does the Bursar hold?"),
        ("Games", "How many games did P. Roy umpire?"),
        ("Games", "Which umpire had the most games?"),
    ],
)
def test_neither_a_row_nor_a_whole_table_is_a_selection(title, question):
    rows = [*passages_of(title)]
    passages = [*rows, *read_tables(rows)]
    assert len(passages) == len(rows) + 1
    every = [Candidate(i, 0, len(p.text), 1.0, 1.0) for i, p in enumerate(passages)]
    asked = analyse(question)
    assert drop_single_rows(asked, every[:-1], passages) == []
    assert keep_unnamed_tables(asked, every[-1:], passages) == []


@pytest.mark.parametrize(
    ("question", "selects"),
    [
        ("Which record is kept by the Bursar?", False),
        ("What is the class of the ledgers?", False),
        ("What are the notes of the Kale?", False),
        ("Who holds the deeds?", False),
        ("Which boss is in Leeds?", False),
        ("Which records are kept by the Bursar?", True),
        ("What seeds come from Italy?", True),
        ("List all families.", True),
        ("Who does not hold a key?", True),
        ("In which cities is it sold?", True),
    ],
)
def test_what_asks_to_select_rows(question, selects):
    assert selects_rows(analyse(question)) is selects


@pytest.mark.parametrize(
    ("title", "question", "start"),
    [
        ("Buses", "How many type L buses are there?", "Type L - Number in service: 6"),
        ("Piers", "How many berths are there at all piers together?", "Berths: 25"),
        ("Piers", "Which pier has the most slips?", "Old quay: 3"),
        # Drivers are no buses, harbours are no piers, and no bus is type Q.
        ("Buses", "How many type L drivers are there?", ""),
        ("Piers", "How many berths are there at all harbours together?", ""),
        ("Buses", "How many type Q buses are there?", ""),
    ],
)
def test_a_number_of_a_named_row_and_a_sum_over_all_rows(title, question, start):
    text, *_ = answer(title, question)
    assert text.startswith(start)
    assert bool(text) == bool(start), text

"""Tables as typed relations, and the SQL that may be asked of them."""

import json

import pytest

from core_stores import parsed, put
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import CollectionNotFoundError, UsageError
from elt_llm_core.identifiers import digest
from elt_llm_core.store import NewDocument, Store
from elt_llm_core.store.stored_tables import stored_table, stored_tables
from elt_llm_core.tables import Kind, relations, select, total_rows
from elt_llm_core.tables.column_types import infer_types
from elt_llm_core.tables.numbers import (
    COMMA,
    ENGLISH,
    Notation,
    column_notation,
    figures,
    style_among,
)
from table_blocks import table

BOATS = [
    ["Boat", "Length (m)", "Price", "Built"],
    ["Gull", "7.5", "$ 1,200", "3 May 2001"],
    ["Heron", "12", "3,400", "2019-11-30"],
    ["Tern", "n.a.", "$ (50)", "June 1, 1999"],
]


def relation(rows, **told):
    (found,) = relations("d" * 32, "fleet.pdf", *table(rows, **told))
    return found


def column(*cells, style=ENGLISH, signs=False):
    found = infer_types(cells, style, signs=signs)
    return found.kind, list(found.values), found.unit


@pytest.mark.parametrize(
    ("cells", "kind", "values", "unit"),
    [
        (("1", "2", "30"), Kind.INTEGER, [1, 2, 30], ""),
        (("1,234", "2"), Kind.INTEGER, [1234, 2], ""),
        (("10 000", "1 649 692"), Kind.INTEGER, [10_000, 1_649_692], ""),
        (("1.5", "2"), Kind.NUMBER, [1.5, 2.0], ""),
        (("0,5", "1.234,5"), Kind.NUMBER, [0.5, 1234.5], ""),
        (("(12)", "3", "\u22124"), Kind.INTEGER, [-12, 3, -4], ""),
        (("$ (5)", "(6)%"), Kind.TEXT, ["$ (5)", "(6)%"], ""),
        (("$ 5", "6"), Kind.INTEGER, [5, 6], "$"),
        (("$ 5", "\u20ac 6"), Kind.TEXT, ["$ 5", "\u20ac 6"], ""),
        (("5 %", "6%"), Kind.INTEGER, [5, 6], "%"),
        (("5 %", "6"), Kind.TEXT, ["5 %", "6"], ""),
        (("3 months", "1 month"), Kind.INTEGER, [3, 1], "month"),
        (("3 months", "48 hours"), Kind.TEXT, ["3 months", "48 hours"], ""),
        (("100 million", "7"), Kind.INTEGER, [100_000_000, 7], ""),
        (("1.0*", "2\u2020"), Kind.NUMBER, [1.0, 2.0], ""),
        (("7", "-", "n.a.", "..", "", ":"), Kind.INTEGER, [7, *[None] * 5], ""),
        (("12", "about 3"), Kind.TEXT, ["12", "about 3"], ""),
        (("200 (as BTEX)", "1"), Kind.TEXT, ["200 (as BTEX)", "1"], ""),
        (("1990-96", "1988-92"), Kind.TEXT, ["1990-96", "1988-92"], ""),
        (("Q2", "Q 1"), Kind.TEXT, ["Q2", "Q 1"], ""),
        (("", "-"), Kind.TEXT, [None, "-"], ""),
        (
            ("3 May 2001", "2019-11-30", "30.06.2022"),
            Kind.DATE,
            ["2001-05-03", "2019-11-30", "2022-06-30"],
            "",
        ),
        (("31 February 2001",), Kind.TEXT, ["31 February 2001"], ""),
    ],
)
def test_a_column_is_what_all_its_cells_are(cells, kind, values, unit):
    assert column(*cells) == (kind, values, unit)


def test_the_table_decides_how_an_ambiguous_number_is_read():
    assert column("1.234", "2.500")[1] == [1.234, 2.5]
    assert column("1.234", "2.500", style=COMMA)[1] == [1234, 2500]
    assert column("0,5", "1.5") == (Kind.TEXT, ["0,5", "1.5"], "")


@pytest.mark.parametrize(
    ("cells", "style"),
    [
        (("3.597", "1.215", "556"), COMMA),  # 556 would have decimals too
        (("3,597", "1,215", "556"), ENGLISH),
        (("3.597", "0.5", "556"), ENGLISH),
        (("3.597", "1.25"), ENGLISH),
        (("3,597", "12,5", "x", ""), COMMA),
        (("1.234.567", "1.234"), COMMA),
        (("0.125", "1.234"), ENGLISH),  # no group of thousands begins with zero
        (("3.597", "1.215"), ""),
        (("3,597", "1,215"), ""),
        (("3.597", "2019"), ""),  # 2019 has no separator: neither fits
        (("3.597", "0"), ""),  # zero is written short
        (("3.597", "1,215", "5"), ""),
        (("0,5", "1.5", "1.234"), ""),  # both ways: nothing is decided
    ],
)
def test_the_cells_of_a_column_decide_its_notation(cells, style):
    assert column_notation(cells).style == style


def test_a_column_that_is_open_is_as_the_others_of_its_table():
    open_one = column_notation(["3.597", "1.215"])
    whole = Notation(COMMA)
    decimal = Notation(ENGLISH, decisive=True)
    assert style_among(open_one, [open_one]) == ""
    assert style_among(open_one, [open_one, whole]) == COMMA
    assert style_among(open_one, [open_one, decimal]) == ENGLISH
    assert style_among(whole, [whole, decimal]) == ""  # they contradict each other
    assert style_among(decimal, [whole, decimal]) == ENGLISH


def test_points_between_thousands_are_no_decimals():
    found = relation([["Topic", "Enquiries"], ["a", "3.597"], ["b", "556"]])
    assert found.clean
    assert [row.fields[1].value for row in found.rows] == [3597, 556]
    assert found.columns[1].kind is Kind.INTEGER


def test_a_table_whose_numbers_may_be_either_is_not_clean():
    rows = [["Topic", "Enquiries"], ["a", "3.597"], ["b", "1.215"]]
    found = relation(rows)
    assert found.problems == (
        "numbers of column c1 are ambiguous: '3.597' is 3.597 or 3597",
    )
    assert found.columns[1].kind is Kind.TEXT


def test_another_table_of_the_document_settles_the_notation():
    text, first = table([["Topic", "Enquiries"], ["a", "3.597"], ["b", "1.215"]])
    for cell, value in (("556", 3597), ("0.5", 3.597)):
        rows = [["Topic", "Visits"], ["a", "1.250"], ["b", cell]]
        both, second = table(rows, number=2, before=text)
        found, _ = relations("d" * 32, "x", both, [*first, *second])
        assert found.clean
        assert found.field(1, 1).value == value


def test_commas_are_thousands_only_in_an_english_document():
    rows = [["Topic", "Enquiries"], ["a", "3,597"], ["b", "1,215"]]
    english = "The following table has the number of enquiries of each of the topics. "
    german = (
        "Die folgende Tabelle zeigt die Anzahl der Anfragen zu jedem der Themen, "
        "die bei uns im letzten Jahr eingegangen sind, und wie sie verteilt waren. "
    )
    assert relation(rows, before=english * 3).field(1, 1).value == 3597
    assert not relation(rows, before=german * 3).clean


def test_parentheses_are_no_sign_where_signs_are_written():
    assert column("(78)", "79")[1] == [-78, 79]
    assert column("(78)", "79", signs=True)[0] is Kind.TEXT


@pytest.mark.parametrize("text", ["", "(5", "5)", "1,23,456", "1 23", "5 6", "--5"])
def test_what_is_no_number_is_none(text):
    assert figures(text) == {}


def test_a_clean_table_has_types_and_places():
    found = relation(BOATS)
    assert found.clean
    assert found.id == "d" * 12 + "-1"
    assert [(c.name, c.kind, c.unit) for c in found.columns] == [
        ("c0", Kind.TEXT, ""),
        ("c1", Kind.NUMBER, ""),
        ("c2", Kind.INTEGER, "$"),
        ("c3", Kind.DATE, ""),
    ]
    text, _ = table(BOATS)
    for row in found.rows:
        for field in row.fields:
            assert text[field.start : field.end] == field.text
            assert field.boxes[0].page == 1
    assert found.field(3, 1).value is None
    assert found.field(3, 2).value == -50


@pytest.mark.parametrize(
    ("rows", "headers", "problem"),
    [
        ([["a", "1"], ["b", "2"]], 0, "no headers were found"),
        ([["x", "", "y"], ["a", "1", "2"]], 1, "column c1 has no header"),
        ([["x", "y", "y"], ["a", "1", "2"]], 1, "has the same header as another"),
        ([["x", "13.9 %"], ["a", "1"]], 1, "is a number"),
        ([["x", "(N = 4) -33* +4"], ["a", "1"]], 1, "contains numbers"),
        ([["Results 2022", "2023"], ["a", "1"]], 1, "label column contains a year"),
        ([["x", "y"]], 1, "no data row"),
        ([["x"], ["a"]], 1, "one column"),
    ],
)
def test_a_table_in_doubt_says_why(rows, headers, problem):
    found = relation(rows, headers=headers)
    assert not found.clean
    assert any(problem in said for said in found.problems)


@pytest.mark.parametrize(
    "header", ["1995*", "1990-94 growth", "ISCED 0-2", "Q2", "July 1"]
)
def test_years_and_names_with_digits_are_headers(header):
    assert relation([["x", header], ["a", "1"], ["b", "2"]]).clean


@pytest.mark.parametrize(
    ("last", "totals"),
    [
        (["Alle", "13", "27"], {3}),
        (["Dohle", "13", "28"], set()),
        (["Dohle", "12", "27"], set()),
    ],
)
def test_a_last_row_of_small_numbers_may_be_the_sum_of_all_others(last, totals):
    rows = [["Boot", "Fahrten", "Tage"], ["Amsel", "6", "20"], ["Buche", "7", "7"]]
    assert total_rows(relation([*rows, last])) == totals
    later = ["Elster", "50", "1"]
    assert total_rows(relation([*rows, last, later])) == set()


def test_serial_numbers_do_not_name_the_rows():
    rows = [["No.", "Boat", "Crew"], ["1", "Gull", "2"], ["2", "Tern", "6"]]
    found = relation(rows)
    assert (found.labels, [r.label for r in found.rows]) == (1, ["Gull", "Tern"])
    assert relation([["Year", "Name"], ["2001", "a"], ["2002", "b"]]).labels == 0


def test_a_merged_cell_and_a_missing_one_are_not_clean():
    rows = [["x", "y", "z"], ["a", "1", "2"], ["b", "3", "4"], ["c", "5", "6"]]
    text, blocks = table(rows)
    wide = blocks[1].cells[1].model_copy(update={"columns": 2})
    merged = blocks[1].model_copy(update={"cells": (blocks[1].cells[0], wide)})
    lost = blocks[2].model_copy(update={"cells": blocks[2].cells[:2]})
    (found,) = relations("d" * 32, "x", text, [blocks[0], merged, lost, blocks[3]])
    assert found.problems == (
        "row 1 has a cell that spans several columns",
        "row 2 does not have every column",
    )


def test_a_heading_row_over_all_columns_is_no_fault():
    text, blocks = table([["x", "y", "z"], ["Assets", "", ""], ["b", "3", "4"]])
    head = blocks[1].cells[0].model_copy(update={"columns": 3})
    wide = blocks[1].model_copy(update={"cells": (head,)})
    (found,) = relations("d" * 32, "x", text, [blocks[0], wide, blocks[2]])
    assert found.clean
    assert found.rows[0].fields[1] is None


def test_a_table_over_pages_is_one_without_its_repeated_headers():
    rows = [["x", "y"], ["a", "1"], ["X", "Y"], ["b", "2"]]
    found = relation(rows, pages=(1, 1, 2, 2))
    assert [r.label for r in found.rows] == ["a", "b"]
    assert (found.page, found.end_page) == (1, 2)
    assert [r.page for r in found.rows] == [1, 2]


def test_headers_that_stand_again_on_a_page_begin_another_table():
    rows = [["x", "y"], ["a", "1"], ["x", "y"], ["b", "2"]]
    found = relation(rows)
    assert any("repeated" in problem for problem in found.problems)


def test_tables_are_told_apart_by_number():
    text, first = table(BOATS)
    text, second = table(BOATS[:2], number=2, before=text)
    found = relations("d" * 32, "x", text, [*first, *second])
    assert [(r.id[-2:], len(r.rows)) for r in found] == [("-1", 3), ("-2", 1)]


def test_select_tells_the_rows_behind_its_result():
    found = select(relation(BOATS), "select n, c0, max(c2) from t")
    assert found.columns == ("n", "c0", "max(c2)")
    assert found.rows == ((2, "Heron", 3400),)
    assert found.sources == (2,)
    assert select(relation(BOATS), "select sum(c2) from t").sources == (None,)
    assert select(relation(BOATS), "select c2_text from t where n = 1").rows == (
        ("$ 1,200",),
    )


@pytest.mark.parametrize(
    ("sql", "sources"),
    [
        ("select n from t limit 1", (1,)),
        ("SELECT c0, T.N -- the row\nFROM t WHERE c2 > 3000;", (2,)),
        ("select distinct n as n from t order by n limit 1", (1,)),
        ("select * from t where c0 = 'Tern'", (3,)),
        ("select max(c1, 1), n from t where n in (select 2)", (2,)),
        ("select n+1 as n from t limit 1", (None,)),
        ("select -n as n from t", (None,) * 3),
        ("select 1 as n from t limit 1", (None,)),
        ("select c2 n, n from t limit 1", (1,)),
        ("select n from (select 3 as n from t) limit 1", (None,)),
        ("select n from t union select 3 limit 1", (None,)),
        ("with t as (select 2 as n) select n from t", (None,)),
        ("select 'select n from t' as n from t limit 1", (None,)),
        ("select (select n from t) as n", (None,)),
        ("select a.n from t a, t b limit 1", (None,)),
    ],
)
def test_only_the_number_of_the_row_is_evidence(sql, sources):
    assert select(relation(BOATS), sql).sources == sources


def test_values_are_parameters():
    evil = "x'); drop table t; --"
    found = relation([["Boat", evil], [evil, "1"], ['"', "2"]])
    assert select(found, "select n from t where c0 = ?", [evil]).rows == ((1,),)
    assert select(found, "select c0 from t").rows == ((evil,), ('"',))


@pytest.mark.parametrize(
    "sql",
    [
        "drop table t",
        "delete from t",
        "update t set c0 = 1",
        "insert into t(n) values(9)",
        "create table u(a)",
        "create temp view v as select 1",
        "attach ':memory:' as other",
        "pragma query_only = off",
        "pragma table_info(t)",
        "select * from sqlite_master",
        "select * from pragma_table_info('t')",
        "select load_extension('x')",
        "select writefile('x', 'y')",
        "select randomblob(100000000)",
        "select random()",
        "vacuum",
        "explain select n from t",
        "-- why\n; EXPLAIN QUERY PLAN select n from t",
        "begin",
        "with recursive r(x) as (select 1 union all select x+1 from r) select x from r",
        "select 1; drop table t",
        "select nothing from t",
        "selct",
        "",
        "-- nothing",
        "select '" + "x" * 20_000 + "'",
        "select c0 from t where c0 like '" + "%a" * 200 + "'",
        "select replace(replace(c0, '', 'x'), 'l', replace(c0, 'l', ?)) from t",
    ],
)
def test_only_a_select_over_the_table_passes(sql):
    with pytest.raises(UsageError) as caught:
        select(relation(BOATS), sql)
    assert "its columns: n, c0, c1, c2, c3" in caught.value.hint


@pytest.mark.parametrize(
    "sql",
    [
        'select max("Fee crown") from t',
        'select c0 from t where c0 = "Heron"',
        'select "it""s" from t',
        'select /* "c0" */ "c9" from t',
        'select "a`b" from t',
        "select `Fee crown` from t",
    ],
)
def test_a_name_that_no_column_has_is_no_string(sql):
    with pytest.raises(UsageError, match="no such column") as caught:
        select(relation(BOATS), sql)
    assert "its columns: n, c0, c1, c2, c3" in caught.value.hint


def test_names_between_double_quotes_are_columns_and_aliases():
    sql = """select "c0" as "a ""name" from t where c0 = 'He"r"on' or "c0" = 'Heron'"""
    found = select(relation(BOATS), sql)
    assert found.columns == ('a "name',)
    assert found.rows == (("Heron",),)


def test_a_select_is_cut_in_time_and_rows():
    many = relation([["x", "y"], *([f"r{i}", str(i)] for i in range(300))])
    with pytest.raises(UsageError, match=r"longer than 0\.05 s"):
        select(many, "select count(*) from t a, t b, t c, t d", seconds=0.05)
    found = select(many, "select n from t", most=10)
    assert len(found.rows) == 10
    assert found.cut


def test_wide_numbers_do_not_overflow():
    found = relation([["x", "y"], ["a", "123456789012345678901234567890"], ["b", "2"]])
    assert found.columns[1].kind is Kind.NUMBER
    assert select(found, "select n, max(c1) from t").sources == (1,)


def stored(store, rows, name="fleet"):
    text, blocks = table(rows)
    document = ParsedDocument(title=name, text=text, blocks=blocks, parser="test 1")
    new = NewDocument(
        uri=f"test:{name}",
        name=name,
        sha256=digest(text),
        mime="text/plain",
        parsed=document,
        nodes=[],
        config_key="test",
    )
    return put(store, "fleet", new, publish=False)


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "data")
    yield opened
    opened.close()


def test_the_tables_are_those_of_the_document_as_it_is_now(store):
    document = stored(store, BOATS)
    (found,) = stored_tables(store, "fleet")
    assert stored_table(store, "fleet", found.id) == found
    stored(store, BOATS[:3])
    (changed,) = stored_tables(store, "fleet")
    assert (changed.id, len(changed.rows)) == (found.id, 2)
    with store.writer() as writer:
        writer.remove_document(document)
    assert list(stored_tables(store, "fleet")) == []
    with pytest.raises(UsageError, match="has no table"):
        stored_table(store, "fleet", found.id)


def ran(capsys, *arguments):
    code = run(elt_llm, arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_the_commands_list_and_query(store, capsys):
    stored(store, BOATS)
    stored(store, [["x", "1.5 %"], ["a", "1"]], name="odd")
    root = ("--data-dir", str(store.data_dir))
    code, out, _ = ran(capsys, "tables", "list", "fleet", *root)
    assert code == 0
    assert out.startswith("2 tables, 1 of them clean")
    assert "not clean: the header of column c1 is a number: '1.5 %'" in out
    _, out, _ = ran(capsys, "tables", "list", "fleet", "--json", *root)
    first = next(t for t in json.loads(out)["tables"] if t["clean"])
    assert (first["document"], first["rows"], first["page"]) == ("fleet", 3, 1)
    assert first["columns"][2]["unit"] == "$"
    ask = ("tables", "query", "fleet", first["id"], "select n, c0, min(c2) from t")
    code, out, _ = ran(capsys, *ask, *root)
    assert (code, out.splitlines()[-1]) == (
        0,
        "row 3, p. 1: Tern | n.a. | $ (50) | June 1, 1999",
    )
    _, out, _ = ran(capsys, *ask, "--json", *root)
    (row,) = json.loads(out)["rows"]
    assert row["values"] == [3, "Tern", -50]
    assert row["cells"][2]["boxes"][0]["page"] == 1


def test_the_commands_refuse_in_one_sentence(store, capsys):
    stored(store, BOATS)
    root = ("--data-dir", str(store.data_dir))
    code, _, err = ran(capsys, "tables", "query", "fleet", "no-1", "select 1", *root)
    assert code == 64
    assert "has no table 'no-1'" in err
    assert "elt-llm tables list fleet" in err
    code, _, err = ran(capsys, "tables", "list", "fleets", *root)
    assert (code, "did you mean 'fleet'?" in err) == (65, True)
    with pytest.raises(CollectionNotFoundError):
        list(stored_tables(store, "fleets"))


def test_prose_has_no_tables(store, capsys):
    document = parsed("prose", ["A kite flies.", "A buoy floats."])
    assert relations("d" * 32, "prose", document.text, document.blocks) == []

"""SQL on one relation, in memory and isolated.

The relation is the table `t`: `n` is the number of the row, c0, c1 ... are the values
and c0_text, c1_text ... the cells as written. Only SELECT over it is permitted: the
authorizer refuses everything else, long queries are interrupted, and the number of rows
and the size of a value are limited.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from time import monotonic
from typing import Literal

from elt_llm_core.errors import UsageError
from elt_llm_core.records import Record
from elt_llm_core.tables.column_types import Amount, Kind
from elt_llm_core.tables.relation_records import Relation

_TOKENS = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|$)|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]"
    r"|[\w$.]+|\S",
    re.DOTALL,
)
_COMMENTS = ("--", "/*")
_AFTER_TABLE = frozenset(["where", "group", "having", "order", "limit", ";"])
_SEVERAL = frozenset(["union", "intersect", "except"])
_NUMBER, _ALL = (["n"], ["t.n"]), (["*"], ["t.", "*"])


def first_word(sql: str) -> str:
    """Return the first word of a statement, in lower case; possibly empty."""
    return next((t for t in _tokens(sql) if t != ";"), "")


def number_column(sql: str) -> int | None:
    """Return the position of `t.n` among the columns of the result, or None."""
    outer = list(_outermost(_tokens(sql)))
    if outer[:1] != ["select"] or "from" not in outer or _SEVERAL & {*outer}:
        return None
    end = outer.index("from")
    table = outer[end + 1 : end + 3]
    if table[:1] != ["t"] or not {*table[1:]} <= _AFTER_TABLE:
        return None
    tokens = outer[1:end]
    tokens = tokens[1:] if tokens[:1] in (["distinct"], ["all"]) else tokens
    # With `*` its first position is its own, so that nothing is expanded.
    places = (i for i, item in enumerate(_items(tokens)) if _is_number(item))
    return next(places, None)


def with_strict_names(sql: str) -> str:
    """Return the statement with backticks in the place of double quotes.

    SQLite reads `"x"` as the string 'x' if no column has that name, and would print a
    misspelt name as a result. In backticks it is always a name.
    """

    def strict(match: re.Match[str]) -> str:
        text = match[0]
        if not text.startswith('"') or len(text) == 1:
            return text
        name = text[1:-1].replace('""', '"').replace("`", "``")
        return f"`{name}`"

    return _TOKENS.sub(strict, sql)


def _is_number(item: list[str]) -> bool:
    bare = item[:-2] if item[-2:] == ["as", "n"] else item
    return bare in _NUMBER or item in _ALL


def _tokens(sql: str) -> list[str]:
    tokens = _TOKENS.findall(sql)
    return [t.lower() for t in tokens if not t.startswith(_COMMENTS)]


def _outermost(tokens: Sequence[str]) -> Iterator[str]:
    """Return the tokens outside parentheses; "(" represents the others."""
    depth = 0
    for word in tokens:
        depth -= word == ")"
        if depth == 0 and word != ")":
            yield word
        depth += word == "("


def _items(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Split the tokens at commas."""
    item: list[str] = []
    for word in tokens:
        if word == ",":
            yield item
            item = []
        else:
            item.append(word)
    yield item


SECONDS = 2.0  # limits the processor time of a query; chosen, not measured
ROWS = 1_000
_STEPS = 10_000  # instructions between two checks of the time
_LONGEST = 1_000_000  # of a value, in bytes
_LONGEST_SQL = 10_000  # characters
_LONGEST_PATTERN = 200  # a long one runs for minutes without a check of the time
_TYPES = {Kind.INTEGER: "integer", Kind.NUMBER: "real"}
_FUNCTIONS = frozenset(
    re.findall(
        r"\w+",
        "abs avg coalesce count dense_rank first_value glob group_concat ifnull "
        "instr lag last_value lead length like lower ltrim max min nth_value ntile "
        "nullif percent_rank rank replace round row_number rtrim sign substr substring "
        "sum total trim typeof upper",
    )
)


class Selected(Record):
    """The result of a SELECT. `cut` is true if there were more rows.

    `sources` has the number of the relation's row for each result row, None if the
    statement does not select a plain `n` from `t`; another column of that name is a
    value.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Amount | None, ...], ...]
    sources: tuple[int | None, ...]
    cut: bool = False


def select(
    relation: Relation,
    sql: str,
    parameters: Sequence[Amount] = (),
    *,
    seconds: float = SECONDS,
    most: int = ROWS,
) -> Selected:
    """Return the result of one SELECT over the table `t`.

    A name in double quotes is a column or alias, never a string. Raises UsageError for
    other statements, for invalid SQL, and for queries over `seconds`.
    """
    if first_word(sql) == "explain":
        raise _refusal(ValueError("not authorized: EXPLAIN"), relation, seconds)
    with closing(_fill_database(relation)) as connection:
        _guard(connection, monotonic() + seconds)
        try:
            cursor = connection.execute(with_strict_names(sql), tuple(parameters))
            rows = cursor.fetchmany(most + 1)
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise _refusal(error, relation, seconds) from error
        if cursor.description is None:
            raise _refusal(ValueError("it is empty"), relation, seconds)
        columns = tuple(c[0] for c in cursor.description)
    place = number_column(sql)
    return Selected(
        columns=columns,
        rows=tuple(tuple(map(_plain, row)) for row in rows[:most]),
        sources=tuple(_source(relation, place, row) for row in rows[:most]),
        cut=len(rows) > most,
    )


def _fill_database(relation: Relation) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_SQL)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _LONGEST_PATTERN)
    names = [(c.name, _TYPES.get(c.kind, "text")) for c in relation.columns]
    declared = [f"{name} {kind}, {name}_text text" for name, kind in names]
    # Identifiers are ours, c0 to cN; the document's text is always a parameter.
    connection.execute(f"create table t(n integer primary key, {', '.join(declared)})")
    marks = ", ".join("?" * (1 + 2 * len(names)))
    connection.executemany(
        f"insert into t values({marks})",  # question marks only
        (
            [row.n, *(v for f in row.fields for v in (f and f.value, f and f.text))]
            for row in relation.rows
        ),
    )
    return connection


def _guard(connection: sqlite3.Connection, deadline: float) -> None:
    """Permit only reading the table, until the deadline."""
    connection.execute("pragma query_only = on")
    connection.set_progress_handler(lambda: int(monotonic() > deadline), _STEPS)

    def authorize(
        action: int, first: str | None, second: str | None, *_: str | None
    ) -> int:
        fine = (
            action == sqlite3.SQLITE_SELECT
            or (action == sqlite3.SQLITE_READ and not str(first).startswith("sqlite_"))
            or (action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS)
        )
        return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

    connection.set_authorizer(authorize)


def _refusal(error: Exception, relation: Relation, seconds: float) -> UsageError:
    names = ", ".join(["n", *(c.name for c in relation.columns)])
    hint = f"ask one SELECT over the table t; its columns: {names}"
    message = str(error)
    if message == "interrupted":
        return UsageError(f"the SELECT took longer than {seconds:g} s", hint)
    if "not authorized" in message or "prohibited" in message:
        return UsageError(f"only reading the table is allowed: {message}", hint)
    return UsageError(f"the SELECT cannot be run: {message}", hint)


def _plain(value: object) -> Amount | None:
    """Return a value as JSON has it; bytes can only come from SQL."""
    return value.hex() if isinstance(value, bytes) else value  # type: ignore[return-value]


def _source(relation: Relation, place: int | None, row: Sequence[object]) -> int | None:
    n = None if place is None else row[place]
    return n if isinstance(n, int) and 1 <= n <= len(relation.rows) else None


Best = Literal["max", "min"]
Operator = Literal["<", "<=", ">", ">="]
_BEST = (
    "select n from t where COLUMN = (select WORD(COLUMN) from t where n in (ROWS)) "
    "and n in (ROWS) order by n"
)
_BEYOND = "select n from t where COLUMN WORD ? and n in (ROWS) order by n"
_OF_ALL = "select WORD(COLUMN) from t where n in (ROWS)"


def best_rows(
    relation: Relation, column: int, best: Best, rows: Sequence[int]
) -> list[int]:
    """Return numbers of those of `rows` with the highest or lowest value, with ties."""
    return _numbers(relation, _sql(_BEST, column, best, rows), [*rows, *rows])


def rows_beyond(
    relation: Relation,
    column: int,
    limit: tuple[Operator, float],
    rows: Sequence[int],
) -> list[int]:
    """Return numbers of those of `rows` whose value satisfies `operator amount`."""
    operator, amount = limit
    return _numbers(relation, _sql(_BEYOND, column, operator, rows), [amount, *rows])


def of_all(
    relation: Relation,
    column: int,
    function: Literal["sum", "avg"],
    rows: Sequence[int],
) -> float | None:
    """Return sum or average of the values of `rows`; None without values."""
    value = select(relation, _sql(_OF_ALL, column, function, rows), rows).rows[0][0]
    return value if isinstance(value, int | float) else None


def _sql(template: str, column: int, word: str, rows: Sequence[int]) -> str:
    statement = template.replace("COLUMN", f"c{int(column)}").replace("WORD", word)
    return statement.replace("ROWS", ", ".join("?" * len(rows)))


def _numbers(relation: Relation, sql: str, parameters: Sequence[float]) -> list[int]:
    selected = select(relation, sql, parameters, most=len(relation.rows))
    return [n for n in selected.sources if n is not None]

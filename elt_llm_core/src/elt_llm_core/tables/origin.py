"""Which column of a result is the number of the row, by the words of its SQL.

SQLite does not tell Python where a column comes from. A column that is only called `n`
may hold anything, so that nothing but a plain `n` read straight from `t` counts.
"""

import re
from collections.abc import Iterator, Sequence

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
    """What a statement begins with, in lower case; empty where it says nothing."""
    return next((t for t in _tokens(sql) if t != ";"), "")


def number_column(sql: str) -> int | None:
    """The place of `t.n` among the columns of the result, or None."""
    outer = list(_outermost(_tokens(sql)))
    if outer[:1] != ["select"] or "from" not in outer or _SEVERAL & {*outer}:
        return None
    end = outer.index("from")
    table = outer[end + 1 : end + 3]
    if table[:1] != ["t"] or not {*table[1:]} <= _AFTER_TABLE:
        return None
    told = outer[1:end]
    told = told[1:] if told[:1] in (["distinct"], ["all"]) else told
    # With `*` the first place that holds it is its own, so that nothing is expanded.
    places = (i for i, item in enumerate(_items(told)) if _is_number(item))
    return next(places, None)


def with_strict_names(sql: str) -> str:
    """The statement with names between backticks that stood between double quotes.

    SQLite takes `"x"` for the string 'x' where no column has that name, and so prints a
    misspelt name as if it were a result. Between backticks it is only ever a name.
    """

    def strict(found: re.Match[str]) -> str:
        said = found[0]
        if not said.startswith('"') or len(said) == 1:
            return said
        name = said[1:-1].replace('""', '"').replace("`", "``")
        return f"`{name}`"

    return _TOKENS.sub(strict, sql)


def _is_number(item: list[str]) -> bool:
    bare = item[:-2] if item[-2:] == ["as", "n"] else item
    return bare in _NUMBER or item in _ALL


def _tokens(sql: str) -> list[str]:
    found = _TOKENS.findall(sql)
    return [t.lower() for t in found if not t.startswith(_COMMENTS)]


def _outermost(tokens: Sequence[str]) -> Iterator[str]:
    """What is in no parentheses; "(" stands for those that are."""
    depth = 0
    for word in tokens:
        depth -= word == ")"
        if depth == 0 and word != ")":
            yield word
        depth += word == "("


def _items(tokens: Sequence[str]) -> Iterator[list[str]]:
    """The parts between commas."""
    item: list[str] = []
    for word in tokens:
        if word == ",":
            yield item
            item = []
        else:
            item.append(word)
    yield item

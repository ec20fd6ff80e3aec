"""Make names and texts from documents safe for a terminal."""

import io
import json
import re
from collections.abc import Sequence
from typing import Any

# Characters that move the cursor, set colours or reverse the text direction.
ORDERS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
SEPARATORS = "\u2028\u2029"
_TEXT = re.compile(f"[{ORDERS}{SEPARATORS}\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE = re.compile(f"[{ORDERS}{SEPARATORS}\ud800-\udfff\t\n]")
_WIDEST = 10_000  # columns of a table; rich would cut cells at the terminal's edge


class Styled(str):
    """Text with our colours; external text is made safe first."""

    __slots__ = ()


def escape_controls(text: str) -> str:
    """Return the text with unsafe characters escaped; line ends stay."""
    if isinstance(text, Styled):
        return text
    return _TEXT.sub(_escape, text)


def escape_line(text: str) -> str:
    """Return a name or sentence with line ends escaped too."""
    return _LINE.sub(_escape, text)


def one_line(text: str) -> str:
    """Return a passage with any white space as one space."""
    return escape_line(" ".join(text.split()))


def count_of(number: int, thing: str) -> str:
    """`1 page`, `2 pages`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out `rows` under `header` as lines of plain text.

    The first column is left-aligned; any other is right-aligned if all its cells start
    like a number. Lines are as wide as they need to be, so that a pipe gets whole rows.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for number, title in enumerate(header):
        cells = (row[number] for row in rows)
        right = number > 0 and all(c[:1] in "+-.0123456789" for c in cells)
        table.add_column(
            Text(escape_line(title)), justify="right" if right else "left", no_wrap=True
        )
    for row in rows:
        table.add_row(*(Text(escape_line(cell)) for cell in row))
    screen = io.StringIO()
    Console(file=screen, width=_WIDEST, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in screen.getvalue().splitlines())


def json_text(value: Any, indent: int | None = 2) -> str:
    """Return `value` as JSON that can be written as UTF-8.

    A file name that is not UTF-8 has lone surrogates in Python; they are escaped, so
    that a program that reads the JSON gets the same name back.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _SURROGATE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode("ascii")

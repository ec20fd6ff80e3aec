"""Cells of tables: formulas that do not run, and lists in one cell.

Text from documents and models is untrusted: a cell that begins with `=` would run in
the spreadsheet of whoever opens the file. Such a cell gets a leading apostrophe, and so
does one that only looks as if it had got one, so that taking it away again is exact.
"""

from collections.abc import Iterable

# OWASP, "CSV Injection": these begin a formula; the wide forms do in East Asian Excel.
_NARROW = ("=", "+", "-", "@")
_WIDE = tuple(chr(ord(mark) + 0xFEE0) for mark in _NARROW)  # the block U+FF00
_STARTS = (*_NARROW, *_WIDE, "\t", "\r", "\n")
_MARK = "'"
_ESCAPE = "\\"


def guard_cell(text: str) -> str:
    """Return the text so that no spreadsheet takes it for a formula."""
    return f"{_MARK}{text}" if text.lstrip(_MARK).startswith(_STARTS) else text


def unguard_cell(text: str) -> str:
    """Return the text that `guard_cell` was given."""
    is_guarded = text.startswith(_MARK) and text.lstrip(_MARK).startswith(_STARTS)
    return text[1:] if is_guarded else text


def join_items(items: Iterable[str], separator: str = ";") -> str:
    r"""Return items as one text: `a; b`, a separator inside of one as `\;`.

    Args:
        items: Texts without white space at their ends.
        separator: One character.
    """
    return f"{separator} ".join(
        item.replace(_ESCAPE, _ESCAPE * 2).replace(separator, _ESCAPE + separator)
        for item in items
    )


def split_items(text: str, separator: str = ";") -> list[str]:
    """Return the items that `join_items` joined; empty ones are left out.

    Args:
        text: The content of a cell, perhaps written by a person.
        separator: One character.
    """
    items = [""]
    characters = iter(text)
    for character in characters:
        if character == _ESCAPE:
            items[-1] += next(characters, _ESCAPE)
        elif character == separator:
            items.append("")
        else:
            items[-1] += character
    return [item.strip() for item in items if item.strip()]


def join_path(path: Iterable[str]) -> str:
    """Return a path as one text: `Contracts > Leases`."""
    return " > ".join(
        part.replace(_ESCAPE, _ESCAPE * 2).replace(">", f"{_ESCAPE}>") for part in path
    )


def split_path(text: str) -> tuple[str, ...]:
    """Return the path that `join_path` joined."""
    return tuple(split_items(text, ">"))

"""Cells of tables: disarmed formulas, and lists in one cell.

Text from documents and models is untrusted: a spreadsheet would run a cell that begins
with `=`. Such a cell gets a leading apostrophe, and so does a text that already looks
guarded, so that removing the apostrophe restores the exact text.
"""

from collections.abc import Iterable

# OWASP, "CSV Injection": these start a formula; the wide forms do in East Asian Excel.
_NARROW = ("=", "+", "-", "@")
_WIDE = tuple(chr(ord(mark) + 0xFEE0) for mark in _NARROW)  # the block U+FF00
_STARTS = (*_NARROW, *_WIDE, "\t", "\r", "\n")
_MARK = "'"
_ESCAPE = "\\"


def guard_cell(text: str) -> str:
    """Return the text in a form that no spreadsheet reads as a formula."""
    return f"{_MARK}{text}" if text.lstrip(_MARK).startswith(_STARTS) else text


def unguard_cell(text: str) -> str:
    """Return the text that was passed to `guard_cell`."""
    is_guarded = text.startswith(_MARK) and text.lstrip(_MARK).startswith(_STARTS)
    return text[1:] if is_guarded else text


def join_items(items: Iterable[str], separator: str = ";") -> str:
    r"""Return items as one text: `a; b`, a separator inside an item as `\;`.

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
        text: The content of a cell, possibly written by a person.
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

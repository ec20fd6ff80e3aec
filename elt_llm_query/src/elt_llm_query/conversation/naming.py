"""Headings and headers that name what a quote is about."""

import re

from elt_llm_core.document import BlockKind
from elt_llm_core.results import Statement
from elt_llm_query.conversation.source_numbers import plain_text

# "Sheds, ponds and greenhouses" says of none that a sentence below is about it.
_SEVERAL = re.compile(r"[,;&/]|\b(?:and|or)\b", re.IGNORECASE)
_BETWEEN_PAIRS = " | "
# The place after a cell: "£840 (2.1 Prices, p. 2)."
_PLACE = re.compile(r"\s*\([^()]*\)\W*$")


def naming_headings(section: str) -> str:
    """Return the headings of a path that name one thing.

    Args:
        section: A path of headings, with " > " between levels.

    Returns:
        The path without headings such as "Locks and moorings".
    """
    levels = section.split(" > ")
    return " > ".join(level for level in levels if not _SEVERAL.search(level))


def row_names(statement: Statement) -> str:
    """Return a statement of table cells with the headers of its cells.

    The cells are quotes, their headers are not: "Heron - Week low season: £840".

    Args:
        statement: A statement of an answer.

    Returns:
        Its text without its place; empty if it is not of one row of a table.
    """
    rows = {c.node_id for c in statement.citations}
    kinds = {c.kind for c in statement.citations}
    if len(rows) != 1 or kinds != {BlockKind.TABLE_ROW.value}:
        return ""
    text = _PLACE.sub("", plain_text(statement.text))
    for level in statement.citations[0].section.split(" > "):
        text = text.removeprefix(f"{level} - ")
    # Cells without a value say nothing under their header.
    pairs = text.split(_BETWEEN_PAIRS)
    return _BETWEEN_PAIRS.join(p for p in pairs if not p.rstrip().endswith(":"))

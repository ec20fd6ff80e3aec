"""What rows of any table have in common."""

import re
from collections.abc import Sequence

MAX_HEADER = 60
FIGURE = re.compile(r"^\W*\d[\d.,\s:/-]*\W*$")


def header_rows(rows: Sequence[Sequence[str]]) -> int:
    """0 or 1: whether the first row names the columns.

    It does where its cells are short, differ from each other and hold no figures.
    """
    if len(rows) <= 1:
        return 0
    cells = [cell.strip() for cell in rows[0]]
    filled = [cell for cell in cells if cell]
    if not filled or len(set(filled)) < len(filled) or len(filled) < len(cells) / 2:
        return 0
    return int(all(len(c) <= MAX_HEADER and not FIGURE.match(c) for c in filled))

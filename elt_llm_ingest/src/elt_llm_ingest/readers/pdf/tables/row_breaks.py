"""Row breaks of a table: log odds of a break between two lines."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from elt_llm_ingest.readers.pdf.geometry import is_one_number
from elt_llm_ingest.readers.pdf.tables.column_gutters import (
    Columns,
    Interval,
    Range,
    place_words,
)
from elt_llm_ingest.readers.pdf.words import Line, Word, join_words

OPEN_ENDS = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "per",
     "the", "to", "with"}
)  # fmt: skip
OPEN_MARKS = (",", "-", "\u2013", "—", "/")
WIDEST = 2.0  # letter heights; wider gaps add no evidence
# Logistic regression on 885 pairs of neighbouring lines in the tables of 27 public
# documents (benchmarks/table_rows.py). Weights fitted without the tested document
# classify 46 of the pairs wrongly; 109 pairs are not row breaks.
WEIGHTS: Mapping[str, float] = {
    "bias": -1.82,
    "gap": 0.84,
    "label": 0.92,
    "no_label": -0.95,
    "number_below_number": 1.52,
    "small_letter": -1.60,
    "open_end": -0.89,
    "room_left": 1.26,
    "full": 3.14,
    "parenthesis": -2.32,
}


@dataclass(frozen=True)
class Cut:
    """A line of a table, split by the columns that its words fill."""

    line: Line
    places: tuple[tuple[Range, list[Word]], ...]

    @cached_property
    def single(self) -> dict[int, list[Word]]:
        """Return the words that fill one column only."""
        return {first: w for (first, last), w in self.places if first == last}

    @cached_property
    def filled_columns(self) -> frozenset[int]:
        """Return the columns with text."""
        return frozenset(
            column for (one, two), _ in self.places for column in range(one, two + 1)
        )


def cut(line: Line, edges: Sequence[float]) -> Cut:
    """Split a line by the columns between the edges."""
    return Cut(line, tuple(place_words(line, edges)))


def log_odds(above: Sequence[Cut], below: Cut, columns: Columns, least: float) -> float:
    """Return the log odds that a row ends above a line."""
    seen = row_break_features(above, below, columns, least)
    return math.fsum(weight * seen[name] for name, weight in WEIGHTS.items())


def row_break_features(
    above: Sequence[Cut], below: Cut, columns: Columns, least: float
) -> dict[str, float]:
    """Return the features of the row so far and the line below it.

    `least` is the smallest distance between two lines of the table, in letter heights.
    Shares are of the columns that the line fills, or of those that both fill.
    """
    single = below.single
    shared = {
        column: singles[-1]
        for column in sorted(single)
        if (singles := [a.single[column] for a in above if column in a.single])
    }
    numbers = sum(
        _is_value(single[c]) and any(_is_value(a.single.get(c, ())) for a in above)
        for c in shared
    )
    labelled = any(0 in line.filled_columns for line in above)
    return {
        "bias": 1.0,
        "gap": max(0.0, min(line_gap(above[-1].line, below.line) - least, WIDEST)),
        "label": float(0 in below.filled_columns),
        "no_label": float(labelled and 0 not in below.filled_columns),
        "number_below_number": float(min(numbers, 2)),
        "small_letter": _share([w[0].text[:1].islower() for w in single.values()]),
        "open_end": _share([_is_open(words[-1].text) for words in shared.values()]),
        "room_left": _share(
            [_has_room(w, single[c][0], columns.extents[c]) for c, w in shared.items()]
        ),
        "full": len(below.filled_columns) / max(len(columns.extents), 1),
        "parenthesis": _share([_is_aside(words) for words in single.values()]),
    }


def _share(seen: Sequence[bool]) -> float:
    return sum(seen) / max(len(seen), 1)


def line_gap(above: Line, below: Line) -> float:
    """Return the distance between two lines in letter heights."""
    return (below.top - above.bottom) / max(above.bottom - above.top, 1.0)


def least_gap(lines: Sequence[Line]) -> float:
    """Return a low quantile of the line distances, within a cell."""
    gaps = sorted(line_gap(one, two) for one, two in pairwise(lines))
    return gaps[len(gaps) // 10] if gaps else 0.0


def _is_value(words: Sequence[Word]) -> bool:
    return bool(words) and is_one_number(join_words(words))


def _is_open(text: str) -> bool:
    return text.casefold() in OPEN_ENDS or text.endswith(OPEN_MARKS)


def _is_aside(words: Sequence[Word]) -> bool:
    return words[0].text[:1] == "(" and not _is_value(words)


def _has_room(above: Sequence[Word], word: Word, extent: Interval) -> bool:
    """Return whether the line above had room for the first word of the one below."""
    blank = 0.3 * (word.bottom - word.top)
    used = above[-1].right - above[0].left
    return used + blank + word.right - word.left < extent[1] - extent[0]

"""Columns from word positions: the strips of a table without words separate them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from elt_llm_ingest.readers.pdf.tables.aligned import (
    BETWEEN_NUMBERS,
    SIGNS,
    LinePiece,
    pieces_of,
)
from elt_llm_ingest.readers.pdf.words import Line, Word

Interval = tuple[float, float]
Range = tuple[int, int]  # first and last column
NUDGE = 1.5  # points; tolerated overlap of a word over the edge of its column


@dataclass(frozen=True)
class Columns:
    """The extents of the words of each column, and the edges between them."""

    extents: tuple[Interval, ...]
    edges: tuple[float, ...]


def columns_of(
    lines: Sequence[Sequence[LinePiece]], known: Sequence[float] = ()
) -> Columns:
    """Return the columns of lines in pieces; at most one if nothing separates them.

    A `known` edge that runs through a strip without words is used as its edge, else the
    middle of the strip.
    """
    extents = extents_of(lines)
    edges = []
    for one, two in pairwise(extents):
        middle = (one[1] + two[0]) / 2
        inside = [x for x in known if one[1] - NUDGE <= x <= two[0] + NUDGE]
        edges.append(min(inside, key=lambda x: abs(x - middle), default=middle))
    return Columns(tuple(extents), tuple(edges))


def extents_of(lines: Sequence[Sequence[LinePiece]]) -> list[Interval]:
    """Return the extent of the words of each column.

    Lines with the most pieces are the most reliable, so they come first; a piece that
    overlaps several of their columns spans these and is ignored.
    """
    ordered = sorted(lines, key=len, reverse=True)  # stable sort, from the top
    extents: list[Interval] = []
    for pieces in ordered:
        for piece in pieces:
            touched = [e for e in extents if _overlap(e, piece) > 0]
            if len(touched) <= 1:
                ends = [(piece.left, piece.right), *touched]
                merged = min(e[0] for e in ends), max(e[1] for e in ends)
                extents = sorted([*(e for e in extents if e not in touched), merged])
    return _together(extents, lines)


def _together(
    extents: Sequence[Interval], lines: Sequence[Sequence[LinePiece]]
) -> list[Interval]:
    """Return the extents, merging those that no line fills both of."""
    done: list[Interval] = []
    for extent in extents:
        if done and not any(_fills(pieces, done[-1], extent) for pieces in lines):
            done[-1] = (done[-1][0], extent[1])
        else:
            done.append(extent)
    return done


def _fills(pieces: Sequence[LinePiece], one: Interval, two: Interval) -> bool:
    """Return whether a line has a piece in one of two extents and none in both."""
    in_one = [p for p in pieces if _overlap(one, p) > 0]
    in_two = [p for p in pieces if _overlap(two, p) > 0]
    return bool(in_one) and bool(in_two) and in_one[-1] is not in_two[0]


def _overlap(extent: Interval, piece: LinePiece) -> float:
    return min(extent[1], piece.right) - max(extent[0], piece.left)


def place_words(line: Line, edges: Sequence[float]) -> list[tuple[Range, list[Word]]]:
    """Return the words of a line by the columns that they fill, from left to right.

    `edges` separate the columns. A piece that an edge crosses is split there if the gap
    between two of its words is wide enough; else it spans the columns.
    """
    groups: list[tuple[Range, list[Word]]] = []
    for piece in pieces_of(line):
        for words in _cut(piece, edges):
            place = find_column_range(words, edges)
            if groups and place[0] <= groups[-1][0][1]:
                (first, last), before = groups[-1]
                groups[-1] = (first, max(last, place[1])), before + words
            else:
                groups.append((place, words))
    return groups


def parts_of(piece: LinePiece, columns: Sequence[Interval]) -> list[LinePiece]:
    """Return a piece, split where another text run begins in the next column."""
    edges = [(one[1] + two[0]) / 2 for one, two in pairwise(columns)]
    return [LinePiece(words) for words in _cut(piece, edges)]


def _cut(piece: LinePiece, edges: Sequence[float]) -> list[list[Word]]:
    """Return the piece's words, split where another text run begins beyond an edge."""
    groups = [piece.words[:1]]
    for before, word in pairwise(piece.words):
        gap = word.left - before.right
        between = before.right - NUDGE, word.left + NUDGE
        parted = any(between[0] <= edge <= between[1] for edge in edges)
        wide = gap > BETWEEN_NUMBERS * (before.bottom - before.top)
        apart = word.run != before.run and before.text not in SIGNS
        if parted and wide and apart:
            groups.append([])
        groups[-1].append(word)
    return groups


def find_column_range(words: Sequence[Word], edges: Sequence[float]) -> Range:
    """Return the first and last column that words overlap."""
    piece = LinePiece([*words])  # excludes a distant currency sign
    left, right = piece.left + NUDGE, piece.right - NUDGE
    middle = (left + right) / 2
    left, right = min(left, middle), max(right, middle)
    return sum(e <= left for e in edges), sum(e < right for e in edges)


def spread_over_columns(
    places: Sequence[tuple[Range, list[Word]]], columns: Columns
) -> list[tuple[Range, list[Word]]]:
    """Return the places of a line, with names spread over the columns they span.

    The line has names that span equal numbers of columns each: the middle of a name is
    closer to the middle of its columns together than to that of any one of them.
    """
    wide = _groups(places, columns)
    return wide or [*places]


def _groups(
    places: Sequence[tuple[Range, list[Word]]], columns: Columns
) -> list[tuple[Range, list[Word]]]:
    over = [place for place in places if place[0][1] > 0]
    start = 1 if len(over) < len(places) or len(columns.extents) % 2 else 0
    many, rest = divmod(len(columns.extents) - start, max(len(over), 1))
    if rest or many <= 1 or len(over) <= 1:
        return []
    middles = [(left + right) / 2 for left, right in columns.extents]
    starting = [place for place in places if place[0][1] == 0 and start]
    for index, (_, words) in enumerate(over):
        first = start + index * many
        last = first + many - 1
        middle = (words[0].left + max(w.right for w in words)) / 2
        whole = (columns.extents[first][0] + columns.extents[last][1]) / 2
        nearest = min(abs(middle - m) for m in middles)
        if abs(middle - whole) >= nearest:
            return []
        starting.append(((first, last), words))
    return starting

"""The weights that tell the end of a row in a table, and how well they judge.

uv run --group dev python benchmarks/table_rows.py --data DIR/tables_icdar2013_eu

Pairs of neighbouring lines of true tables are the examples; each is judged by weights
that were fitted without its document.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from defusedxml import ElementTree
from numpy.typing import NDArray

from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf.pages import read_pages
from elt_llm_ingest.readers.pdf.tables.aligned import pieces_of
from elt_llm_ingest.readers.pdf.tables.column_gutters import columns_of
from elt_llm_ingest.readers.pdf.tables.row_breaks import (
    WEIGHTS,
    cut,
    least_gap,
    row_break_features,
)
from elt_llm_ingest.readers.pdf.words import Line, Word, lines_of

EDGE = 2.0  # points by which words stand out of their cell
RIDGE = 0.5
Matrix = NDArray[np.float64]


class Place(NamedTuple):
    """First and last row of a true cell, and its box in points from below."""

    row: int
    end_row: int
    left: float
    bottom: float
    right: float
    top: float


class Example(NamedTuple):
    """What is seen between two lines, and whether a row ends there."""

    document: str
    seen: list[float]
    ends: bool


def places(pdf: Path) -> Iterator[tuple[int, list[Place]]]:
    """The cells of each true table of a document that have a box, with their page."""
    root = ElementTree.fromstring(pdf.with_name(f"{pdf.stem}-str.xml").read_bytes())
    for region in root.iter("region"):
        cells = []
        for cell in region.iter("cell"):
            box = cell.find("bounding-box")
            if box is not None:
                xs = sorted(float(box.get(name)) for name in ("x1", "x2"))
                ys = sorted(float(box.get(name)) for name in ("y1", "y2"))
                row = int(cell.get("start-row"))
                last = int(cell.get("end-row", row))
                cells.append(Place(row, last, xs[0], ys[0], xs[1], ys[1]))
        if cells:
            yield int(region.get("page")), cells


def examples(pdf: Path) -> Iterator[Example]:
    """The examples of one document."""
    tables = defaultdict(list)
    for page, cells in places(pdf):
        tables[page].append(cells)
    for view in read_pages(pdf, pdf.read_bytes(), Limits()):
        for cells in tables[view.number]:
            words = [w for w in view.words if not w.rotated]
            yield from _of_table(pdf.stem, words, cells, view.height)


def _of_table(
    name: str, words: Sequence[Word], cells: Sequence[Place], height: float
) -> Iterator[Example]:
    region = Place(
        0, 0, min(c.left for c in cells), min(c.bottom for c in cells),
        max(c.right for c in cells), max(c.top for c in cells),
    )  # fmt: skip
    inside = [word for word in words if _holds(region, word, height)]
    lines = lines_of(inside) if inside else []
    columns = columns_of([pieces_of(line) for line in lines])
    cuts = [cut(line, columns.edges) for line in lines]
    least = least_gap(lines)
    row = cuts[:1]
    for above, below, line in zip(lines, lines[1:], cuts[1:], strict=False):
        ends = _row(below, cells, height) > _row(above, cells, height)
        if not ends and _row(below, cells, height) < 0:
            row = [line]
            continue  # of no true cell
        seen = row_break_features(row, line, columns, least)
        yield Example(name, [seen[feature] for feature in WEIGHTS], ends)
        row = [line] if ends else [*row, line]


def _holds(cell: Place, word: Word, height: float) -> bool:
    x, y = word.middle[0], height - word.middle[1]
    return (
        cell.left - EDGE <= x <= cell.right + EDGE
        and cell.bottom - EDGE <= y <= cell.top + EDGE
    )


def _row(line: Line, cells: Sequence[Place], height: float) -> int:
    """The last row that a line begins, by the cells of one row if it has any."""
    homes = []
    for word in line.words:
        found = [cell for cell in cells if _holds(cell, word, height)]
        homes += [min(found, key=lambda cell: cell.end_row - cell.row)] if found else []
    flat = [cell.row for cell in homes if cell.row == cell.end_row]
    return max(flat or [cell.row for cell in homes], default=-1)


def fitted(seen: Matrix, ends: Matrix, share: Matrix) -> Matrix:
    """The weights of a logistic regression with a small ridge, by Newton's method."""
    weights: Matrix = np.zeros(seen.shape[1])
    ridge = RIDGE * np.eye(len(weights))
    for _ in range(100):
        likely = 1 / (1 + np.exp(-seen @ weights))
        slope = seen.T @ (share * (likely - ends)) + RIDGE * weights
        bend = (seen.T * (share * likely * (1 - likely))) @ seen + ridge
        weights = weights - np.linalg.solve(bend, slope)
    return weights


def main() -> None:
    """Print the weights and the judgements of each document by those of the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    pdfs = sorted(parser.parse_args().data.glob("*.pdf"))
    known = [pdf for pdf in pdfs if pdf.with_name(f"{pdf.stem}-str.xml").is_file()]
    found = [example for pdf in known for example in examples(pdf)]
    counts = Counter(example.document for example in found)
    seen = np.array([example.seen for example in found])
    ends = np.array([float(example.ends) for example in found])
    # A document of many tables alike counts for less than as many documents.
    share = np.array([3 / np.sqrt(counts[example.document]) for example in found])
    names = np.array([example.document for example in found])
    wrong = 0
    for name in counts:
        own = names == name
        weights = fitted(seen[~own], ends[~own], share[~own])
        wrong += int(((seen[own] @ weights > 0) != (ends[own] > 0)).sum())
    print(f"{len(found)} pairs, {int((ends == 0).sum())} no ends, {wrong} judged wrong")
    for feature, weight in zip(WEIGHTS, fitted(seen, ends, share), strict=True):
        print(f"{feature:<22}{weight:>7.2f}")


if __name__ == "__main__":
    main()

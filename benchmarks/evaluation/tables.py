"""Tables as we read them against tables as people marked them."""

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elt_llm_core.document import Block, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf import pages
from elt_llm_ingest.readers.pdf.document import parse as parse_pdf
from elt_llm_ingest.readers.pdf.geometry import Table, cell_text
from elt_llm_ingest.readers.pdf.pages import read_pages
from elt_llm_ingest.readers.pdf.tables.drawn_lines import NONE
from evaluation.adjacency import (
    GridCell,
    Rectangle,
    Score,
    compare,
    compare_page,
)
from evaluation.icdar import TrueTable, read_true_tables
from evaluation.region_tables import find_table

EDGE = 3.0  # points by which a cell may stand out of its region


class Outcome(NamedTuple):
    """What one document gives: end to end, with the regions given, cell boxes.

    `reason` says why a document gives nothing.
    """

    name: str
    whole: Score = Score()
    given: Score = Score()
    cells: int = 0
    inside: int = 0
    reason: str = ""


def measure_tables(folder: Path) -> list[Outcome]:
    """One outcome for each PDF of a folder that has both truth files, by name."""
    pdfs = sorted(p for p in folder.glob("*.pdf") if _has_truth(p))
    return [_outcome_or_reason(pdf) for pdf in pdfs]


def _outcome_or_reason(pdf: Path) -> Outcome:
    try:
        return _outcome(pdf)
    except LoadError as error:
        return Outcome(pdf.stem, reason=error.reason)


def _has_truth(pdf: Path) -> bool:
    return all(pdf.with_name(f"{pdf.stem}-{k}.xml").is_file() for k in ("reg", "str"))


def summarize(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of all documents together, and the mean of theirs.

    Documents without figures are left out, and named with the reason.
    """
    left_out = [{"document": o.name, "reason": o.reason} for o in outcomes if o.reason]
    outcomes = [outcome for outcome in outcomes if not outcome.reason]
    whole = given = Score()
    for outcome in outcomes:
        whole, given = whole.plus(outcome.whole), given.plus(outcome.given)
    cells = sum(outcome.cells for outcome in outcomes)
    return {
        "documents": len(outcomes),
        "f1": round(whole.f1, 4),
        "precision": round(whole.precision, 4),
        "recall": round(whole.recall, 4),
        "f1_mean_of_documents": _mean([o.whole.f1 for o in outcomes]),
        "f1_regions_given": round(given.f1, 4),
        "f1_regions_given_mean": _mean([o.given.f1 for o in outcomes]),
        "cells": cells,
        "cells_inside": round(sum(o.inside for o in outcomes) / max(cells, 1), 4),
        "worst": [
            {"document": o.name, "f1": round(o.whole.f1, 4)}
            for o in sorted(outcomes, key=lambda o: (o.whole.f1, o.name))[:3]
        ],
        "left_out": left_out,
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / max(len(values), 1), 4)


def _outcome(pdf: Path) -> Outcome:
    (document,) = parse_pdf(pdf, pdf.read_bytes(), Limits())
    ours, true = tables_by_page(document), defaultdict(list)
    for table in read_true_tables(pdf):
        true[table.page].append(table)
    whole = Score()
    cells = inside = 0
    for page in sorted({*ours, *true}):
        score, taken = compare_page(
            ours.get(page, []), [table.cells for table in true[page]]
        )
        whole = whole.plus(score)
        cells += sum(len(table) for table in ours.get(page, []))
        for table, index in zip(true[page], taken, strict=True):
            if index is not None:
                inside += sum(_is_inside(c, table.region) for c in ours[page][index])
    return Outcome(pdf.stem, whole, _given(pdf), cells, inside)


def tables_by_page(document: ParsedDocument) -> dict[int, list[list[GridCell]]]:
    """The tables of a document page by page; cells with content, boxes in points.

    A table over several pages counts as one on each.
    """
    sizes = {page.number: (page.width, page.height) for page in document.pages}
    rows: dict[tuple[int, int], list[Block]] = defaultdict(list)
    for block in document.blocks:
        if block.cells and block.page is not None:
            rows[block.page, block.table_number].append(block)
    tables: dict[int, list[list[GridCell]]] = defaultdict(list)
    for (page, _), blocks in sorted(rows.items()):
        cells = [
            cell
            for number, block in enumerate(blocks)
            for cell in _cells(document.text, block, number, sizes[page])
        ]
        tables[page].append(cells)
    return tables


def _cells(
    text: str, block: Block, row: int, size: tuple[float, float]
) -> Iterator[GridCell]:
    for place, cell in enumerate(block.cells):
        column = cell.column if cell.column is not None else place
        content = text[cell.start : cell.end]
        if not content.strip() or cell.start < block.start:
            continue  # an empty place, or a cell that began in a row above
        boxes = [box for box in cell.boxes if box.page == block.page]
        yield GridCell(
            row,
            row + cell.rows - 1,
            column,
            column + cell.columns - 1,
            content,
            (
                min(box.left for box in boxes) * size[0],
                (1 - max(box.bottom for box in boxes)) * size[1],
                max(box.right for box in boxes) * size[0],
                (1 - min(box.top for box in boxes)) * size[1],
            )
            if boxes
            else None,
        )


def _is_inside(cell: GridCell, region: Rectangle) -> bool:
    if cell.box is None:
        return False
    left, bottom, right, top = cell.box
    return (
        left >= region[0] - EDGE
        and bottom >= region[1] - EDGE
        and right <= region[2] + EDGE
        and top <= region[3] + EDGE
    )


def _given(pdf: Path) -> Score:
    """The score where the regions are given and only cells are looked for."""
    total = Score()
    true: dict[int, list[TrueTable]] = defaultdict(list)
    for table in read_true_tables(pdf):
        true[table.page].append(table)
    for view in read_pages(pdf, pdf.read_bytes(), Limits()):
        for table in true[view.number]:
            left, bottom, right, top = table.region
            height = view.height
            box = (left, height - top, right, height - bottom)
            table_found = find_table(box, view.words, view.rules, view.layout)
            cells = list(grid_cells(table_found)) if table_found else []
            total = total.plus(compare(cells, table.cells))
    return total


def grid_cells(table: Table) -> Iterator[GridCell]:
    """The cells of a table on its way that say something."""
    for row, cells in enumerate(table.rows):
        for column, cell in enumerate(cells):
            rows, columns = table.spans.get((row, column), (1, 1))
            if cell:
                yield GridCell(
                    row, row + rows - 1, column, column + columns - 1, cell_text(cell)
                )


@contextlib.contextmanager
def without_lines() -> Iterator[None]:
    """Hide the lines that pages draw from our table rules while the block runs.

    LiteParse still sees them; its tables count only where ours find none. A file
    rewritten without lines would be another file: its fonts come out differently.
    """
    original: Any = vars(pages)["rules_of"]
    setattr(pages, "rules_of", lambda _graphics: NONE)  # noqa: B010 - not exported
    try:
        yield
    finally:
        setattr(pages, "rules_of", original)  # noqa: B010

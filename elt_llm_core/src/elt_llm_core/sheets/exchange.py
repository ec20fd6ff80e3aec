"""Export a product as a sheet, and import an edited sheet."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from elt_llm_core.errors import (
    EditedSheetError,
    OutputFileError,
    SheetError,
    StaleReviewError,
    StoreWriteError,
)
from elt_llm_core.publication import is_replaceable, publish, release_file
from elt_llm_core.records import Record
from elt_llm_core.reviews.review_records import ReviewItem
from elt_llm_core.sheets.review_sheet import EXPORT, make_sheet
from elt_llm_core.sheets.sheet_files import dump_sheet, is_workbook, read_sheet
from elt_llm_core.sheets.sheet_import import ImportReport, plan_import
from elt_llm_core.store.database.review_rows import utc_now

if TYPE_CHECKING:
    from elt_llm_core.store import Store

TRIES = 5  # attempts of an import during other decisions; each reads the items again


class ExportReport(Record):
    """The exported items and the target file."""

    product: str
    file: str
    rows: int
    export: str


def everything(item: ReviewItem) -> bool:  # noqa: ARG001 - a filter that keeps all
    """Return True: the filter for an export of all items."""
    return True


def export_sheet(
    store: "Store",
    product: str,
    path: Path,
    keep: Callable[[ReviewItem], bool] = everything,
) -> ExportReport:
    """Write the items of a product as CSV or XLSX, by the extension of `path`.

    Args:
        store: The data root, which stores the export as the base of the merge.
        product: Its name, such as `glossary:handbook`.
        path: The file; an edited one is not replaced.
        keep: A filter of the items to write.

    Raises:
        UnknownProductError: If there is no such product.
        SheetError: If the extension is neither .csv nor .xlsx.
        EditedSheetError: If the existing file was edited, or is not an export.
        OutputFileError: If it cannot be written.
    """
    is_workbook(path)
    sheet = make_sheet(product, [i for i in store.reviews.items(product) if keep(i)])
    try:
        if not is_replaceable(store, path):
            raise EditedSheetError(str(path))
        store.reviews.put_sheet(sheet.sheet_id, product, sheet.base)
        written = publish(store, [(path, dump_sheet(sheet, path))])
    except StoreWriteError as error:
        raise OutputFileError(str(path), error.reason) from error
    return ExportReport(
        product=product,
        file=str(written.paths[0]),
        rows=len(sheet.rows),
        export=sheet.sheet_id,
    )


def import_sheet(
    store: "Store",
    path: Path,
    reviewer: str,
    product: str = "",
    *,
    dry_run: bool = False,
) -> ImportReport:
    """Import the decisions of an edited sheet.

    Every cell is merged with other decisions since the export: changes of the sheet
    alone are recorded; a cell that both changed is a conflict and keeps its value, with
    the text of the sheet next to it. All rows are recorded together, or none.

    Args:
        store: The data root that exported it.
        path: A CSV or XLSX file.
        reviewer: The name of the reviewer.
        product: The name of the product, for a file without a known export.
        dry_run: Whether to record nothing.

    Raises:
        SheetError: If it cannot be read, or its product is unknown.
        UnknownProductError: If there is no such product.
        StaleReviewError: If other decisions on its items keep arriving.
    """
    rows = read_sheet(path)
    known = next(
        (s for _, row in rows if (s := store.reviews.sheet(row.get(EXPORT, "")))), None
    )
    name = known[0] if known else product
    if not name:
        raise SheetError(
            str(path),
            "it names no export of this data root",
            "name the product: elt-llm review import FILE --product NAME",
        )
    if product and product != name:
        raise SheetError(str(path), f"it is an export of {name!r}, not of {product!r}")
    base = known[1] if known else None
    for attempt in range(1, TRIES + 1):
        items = store.reviews.items(name)
        plan = plan_import(name, rows, items, base, (reviewer, utc_now()))
        if dry_run:
            return plan.report.model_copy(update={"dry_run": True})
        try:
            store.reviews.record(plan.decisions, plan.seen)
            break
        except StaleReviewError:
            if attempt == TRIES:
                raise
    if not plan.report.problems:
        release_file(store, path)
    return plan.report

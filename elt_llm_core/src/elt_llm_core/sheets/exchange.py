"""Exporting a product as a sheet, and taking a sheet that came back."""

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

TRIES = 5  # of an import while others decide; each reads the items anew


class ExportReport(Record):
    """What was exported, and where to."""

    product: str
    file: str
    rows: int
    export: str


def everything(item: ReviewItem) -> bool:  # noqa: ARG001 - a filter that keeps all
    """Return True: the filter of an export of all items."""
    return True


def export_sheet(
    store: "Store",
    product: str,
    path: Path,
    keep: Callable[[ReviewItem], bool] = everything,
) -> ExportReport:
    """Write the items of a product as CSV or XLSX, by the ending of `path`.

    Args:
        store: The data root; it keeps what was exported, for the merge.
        product: Its name, such as `glossary:handbook`.
        path: The file; one that people edited is not replaced.
        keep: Which items to write.

    Raises:
        UnknownProductError: There is no such product.
        SheetError: The ending is neither .csv nor .xlsx.
        EditedSheetError: The file there was edited, or is no export.
        OutputFileError: It cannot be written.
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
    """Take the decisions of a sheet that came back.

    Every cell is merged with what others decided since the export: what only the sheet
    changed is recorded, what both changed is a conflict and stays as it is, with the
    text of the sheet beside it. All rows are recorded together, or none.

    Args:
        store: The data root that exported it.
        path: A CSV or XLSX file.
        reviewer: Who decided.
        product: Its name, for a file that names no export known here.
        dry_run: Record nothing.

    Raises:
        SheetError: It cannot be read, or nothing tells which product it is of.
        UnknownProductError: There is no such product.
        StaleReviewError: Others decided on its items again and again meanwhile.
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

"""Reviews of products: items, decisions and sheets."""

import re
import shutil
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import (
    APIRouter,
    File,
    Form,
    Header,
    Path,
    Query,
    Request,
    Response,
    UploadFile,
)
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from elt_llm_api.job_registry import remove_folder
from elt_llm_api.problems import problem
from elt_llm_api.review_evidence import read_evidence
from elt_llm_api.review_schemas import (
    ItemList,
    ItemOut,
    ItemPatch,
    ItemRow,
    ItemsOut,
    ItemsPatch,
    ItemUndo,
    ProductList,
)
from elt_llm_api.routes.dependencies import Data, Jobs, problems
from elt_llm_core.errors import (
    RevisionNeededError,
    SheetError,
    StaleReviewError,
    UnknownItemError,
)
from elt_llm_core.reviews.review_records import (
    ProductProgress,
    ReviewChange,
    ReviewItem,
    ReviewStatus,
)
from elt_llm_core.sheets.exchange import import_sheet
from elt_llm_core.sheets.review_sheet import make_sheet
from elt_llm_core.sheets.sheet_files import dump_sheet
from elt_llm_core.sheets.sheet_import import ImportReport
from elt_llm_core.store import Store

router = APIRouter(prefix="/v1/products", tags=["reviews"])
Product = Annotated[str, Path(max_length=4200, examples=["glossary:handbook"])]
ItemId = Annotated[str, Path(max_length=64, examples=["477b6658056368e8"])]
_TAG = re.compile(r'\s*(?:W/)?"?(\d{1,9})"?\s*')
_NEEDED = RevisionNeededError.status
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


class ItemQuery(BaseModel):
    """The selection of a product's items."""

    model_config = ConfigDict(extra="forbid")

    status: list[ReviewStatus] = Field(default_factory=list, max_length=5)
    search: str = Field(default="", max_length=200, description="text of any field")
    changed: bool = Field(
        default=False, description="only items whose generated text changed"
    )
    conflicts: bool = Field(
        default=False, description="only items with conflicting texts"
    )
    unclear: bool = Field(
        default=False, description="only undecided items marked NEEDS_CLARIFICATION"
    )
    limit: int = Field(default=1_000, ge=1, le=10_000)
    cursor: int = Field(default=0, ge=0, description="next_cursor of the previous page")


@router.get("", operation_id="list_products")
def list_products(store: Data) -> ProductList:
    """The products under review, with their progress."""
    return ProductList(data=store.reviews.products())


@router.get("/{product}/items", operation_id="list_items", responses=problems(404, 422))
def list_items(
    product: Product, asked: Annotated[ItemQuery, Query()], store: Data
) -> ItemList:
    """The items of a product in order; missing ones with decisions come last."""
    known = store.reviews.items(product)
    items = [item for item in known if _matches(item, asked)]
    end = asked.cursor + asked.limit
    return ItemList(
        progress=ProductProgress.of(product, known),
        data=[ItemRow.of(item) for item in items[asked.cursor : end]],
        total=len(items),
        next_cursor=end if end < len(items) else None,
    )


@router.patch(
    "/{product}/items", operation_id="change_items", responses=problems(404, 412, 422)
)
def change_items(product: Product, body: ItemsPatch, store: Data) -> Any:
    """Decide on several items: all are recorded, or none."""
    try:
        items = store.reviews.change(product, body.changes, body.reviewer)
    except StaleReviewError as error:
        return _respond_stale(error)
    return ItemsOut(data=[ItemRow.of(item) for item in items])


@router.get(
    "/{product}/items/{item_id}", operation_id="get_item", responses=problems(404)
)
def get_item(
    product: Product, item_id: ItemId, response: Response, store: Data
) -> ItemOut:
    """One item with both texts, its evidence and history; its ETag is the revision."""
    item = store.reviews.item(product, item_id)
    if item is None:
        raise UnknownItemError(product, item_id)
    response.headers["etag"] = f'"{item.revision}"'
    return _whole(store, item)


@router.patch(
    "/{product}/items/{item_id}",
    operation_id="change_item",
    responses=problems(404, 412, 422, _NEEDED),
    response_model=ItemOut,
)
def change_item(
    product: Product,
    item_id: ItemId,
    body: ItemPatch,
    request: Request,
    response: Response,
    store: Data,
) -> Any:
    """Decide on an item. If-Match has the revision that was seen, else 412."""
    change = ReviewChange(
        item_id=item_id,
        revision=_to_revision(request.headers.get("if-match", "")),
        **body.model_dump(exclude={"reviewer"}),
    )
    try:
        (item,) = store.reviews.change(product, [change], body.reviewer)
    except StaleReviewError as error:
        return _respond_stale(error)
    response.headers["etag"] = f'"{item.revision}"'
    return _whole(store, item)


@router.post(
    "/{product}/items/{item_id}/undo",
    operation_id="undo_item",
    responses=problems(404, 412, _NEEDED),
    response_model=ItemOut,
)
def undo_item(
    product: Product,
    item_id: ItemId,
    body: ItemUndo,
    store: Data,
    if_match: Annotated[str, Header(max_length=40)] = "",
) -> Any:
    """Withdraw the last decision on an item."""
    seen = _to_revision(if_match)
    try:
        item = store.reviews.undo(product, item_id, body.reviewer, seen)
    except StaleReviewError as error:
        return _respond_stale(error)
    return _whole(store, item)


@router.get(
    "/{product}/sheet.{kind}",
    operation_id="export_sheet",
    responses=problems(404, 422),
    response_class=Response,
)
def export(
    product: Product,
    kind: Annotated[str, Path(pattern="^(csv|xlsx)$")],
    store: Data,
) -> Response:
    """The product as a sheet for reviewers, to be imported by POST."""
    reviews = store.reviews
    sheet = make_sheet(product, reviews.items(product))
    reviews.put_sheet(sheet.sheet_id, product, sheet.base)
    name = re.sub(r"[^\w+-]+", "_", product)[:100]
    headers = {"content-disposition": f'attachment; filename="{name}.{kind}"'}
    content = dump_sheet(sheet, FilePath(f"sheet.{kind}"))
    return Response(content, media_type=TYPES[kind], headers=headers)


@router.post(
    "/{product}/sheet", operation_id="import_sheet", responses=problems(404, 413, 422)
)
def import_back(
    product: Product,
    file: Annotated[UploadFile, File()],
    reviewer: Annotated[str, Form(min_length=1, max_length=200)],
    store: Data,
    jobs: Jobs,
    dry_run: Annotated[bool, Form(description="report only; save nothing")] = False,
) -> ImportReport:
    """Import the decisions of a sheet, cell by cell; other decisions stay."""
    ending = FilePath(file.filename or "").suffix.lower()
    folder = jobs.workspace.new_folder()
    try:
        path = folder / f"sheet{ending if ending in {'.csv', '.xlsx'} else '.none'}"
        with path.open("xb") as out:
            shutil.copyfileobj(file.file, out)
        return import_sheet(store, path, reviewer, product, dry_run=dry_run)
    except SheetError as error:
        # The name that the client sent, not that of the temporary file.
        name = (file.filename or "the sheet")[:200]
        raise SheetError(name, error.reason, error.hint) from error
    finally:
        remove_folder(folder)


def _matches(item: ReviewItem, asked: ItemQuery) -> bool:
    texts = " ".join([item.label, *item.merge.fields.values()]).casefold()
    return (
        (not asked.status or item.status in asked.status)
        and asked.search.casefold() in texts
        and (not asked.changed or bool(item.merge.changed))
        and (not asked.conflicts or bool(item.conflicts))
        and (not asked.unclear or item.unclear)
    )


def _whole(store: Store, item: ReviewItem) -> ItemOut:
    content = item.proposal.content if item.proposal else {}
    return ItemOut(
        **ItemRow.of(item).model_dump(),
        generated=item.generated_fields,
        base=item.decision.base if item.decision else {},
        offered=item.decision.offered if item.decision else {},
        evidence=read_evidence(store, item),
        history=store.reviews.history(item.product, item.item_id),
        row={k: v for k, v in content.items() if k not in {"evidence", "boxes"}},
    )


def _to_revision(tag: str) -> int:
    """Return the revision in an If-Match header.

    Raises RevisionNeededError if there is none.
    """
    match = _TAG.fullmatch(tag)
    if not match:
        raise RevisionNeededError
    return int(match[1])


def _respond_stale(error: StaleReviewError) -> JSONResponse:
    return problem(error, extra={"current": error.current, "refused": error.refused})

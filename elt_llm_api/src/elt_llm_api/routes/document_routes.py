"""Documents: the original file, its pages as pictures, titles and removal."""

import hashlib
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import Field

from elt_llm_api.document_pages import (
    MatchList,
    Outline,
    PageOut,
    read_outline,
    read_page,
    search_text,
)
from elt_llm_api.page_boxes import parse_boxes
from elt_llm_api.routes.dependencies import Data, Jobs, Opened, problems
from elt_llm_api.schemas import DocumentOut, Renaming, Wire
from elt_llm_api.services.collection_edits import change, remove
from elt_llm_api.services.stored_documents import (
    PDF,
    draw_page,
    find_document,
    has_page_images,
)
from elt_llm_core.errors import NothingThereError, UsageError
from elt_llm_core.results import Box

router = APIRouter(prefix="/v1/documents/{document_id}", tags=["documents"])
DocumentId = Annotated[
    str, Path(pattern=r"^[0-9a-f]{32}$", examples=["0123456789abcdef" * 2])
]
# Shown in the browser; other types could contain scripts and are offered for download.
INLINE = {PDF: PDF, "text/plain": "text/plain; charset=utf-8"}
CONTENT_CSP = "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'"


class PageView(Wire):
    """How a page is drawn."""

    boxes: str = Field(
        default="",
        max_length=20_000,
        examples=["0.1,0.2,0.9,0.25"],
        description="left,top,right,bottom as fractions of the page, joined by ';'",
    )
    scale: float = Field(default=1.5, ge=1, le=3, description="pixels a point")
    crop: bool = Field(default=False, description="only the part around the boxes")


@router.get("", operation_id="get_document", responses=problems(404, 422))
def get_document(document_id: DocumentId, store: Data) -> DocumentOut:
    """One document, without its text."""
    return DocumentOut.of(find_document(store, document_id))


@router.get(
    "/pages/{number:int}", operation_id="get_page_blocks", responses=problems(404, 422)
)
def page_blocks(
    document_id: DocumentId,
    number: Annotated[int, Path(ge=1, le=1_000_000, examples=[1])],
    store: Data,
    opened: Opened,
) -> PageOut:
    """A page's blocks with their kinds, texts and boxes.

    A document without pages is cut into screens of 60 blocks.
    """
    document = opened.get(find_document(store, document_id))
    has_image = has_page_images(store, document_id)
    return read_page(store, document, number, has_image=has_image)


@router.get("/outline", operation_id="get_outline", responses=problems(404, 422))
def outline(document_id: DocumentId, store: Data, opened: Opened) -> Outline:
    """The headings of a document with their pages."""
    return read_outline(opened.get(find_document(store, document_id)))


@router.get("/find", operation_id="find_in_document", responses=problems(404, 422))
def find_in_document(
    document_id: DocumentId,
    words: Annotated[str, Query(min_length=1, max_length=400, examples=["fee"])],
    store: Data,
    opened: Opened,
) -> MatchList:
    """Where words occur in a document, ignoring case and spacing."""
    return search_text(opened.get(find_document(store, document_id)), words)


@router.delete(
    "",
    operation_id="remove_document",
    status_code=204,
    responses=problems(404, 409, 422),
)
def remove_document(document_id: DocumentId, store: Data, jobs: Jobs) -> None:
    """Remove a document from its collection; searches stop finding it at once."""
    row = find_document(store, document_id)
    jobs.check_idle()
    remove(store, row.collection, row)


@router.patch("", operation_id="rename_document", responses=problems(404, 409, 422))
def rename_document(
    document_id: DocumentId, body: Renaming, store: Data, jobs: Jobs
) -> DocumentOut:
    """Change a document's priority, or its title until its file is read again."""
    row = find_document(store, document_id)
    jobs.check_idle()
    change(store, row.collection, body.title, body.priority, row)
    return DocumentOut.of(find_document(store, document_id))


@router.get(
    "/content",
    operation_id="get_document_content",
    responses=problems(404, 422),
    response_class=Response,
)
def content(document_id: DocumentId, store: Data) -> Response:
    """The original file."""
    row = store.document(document_id)
    data = store.original(document_id) if row else None
    if row is None or data is None:
        raise NothingThereError("no such document, or its file was not kept")
    shown = row.mime in INLINE
    name = quote(row.name, safe="")
    disposition = "inline" if shown else "attachment"
    return Response(
        data,
        media_type=INLINE.get(row.mime, "application/octet-stream"),
        headers={
            "content-disposition": f"{disposition}; filename*=UTF-8''{name}",
            "content-security-policy": f"{CONTENT_CSP}; frame-ancestors 'none'",
        },
    )


@router.get(
    "/pages/{number}.jpg",
    operation_id="get_page_image",
    responses=problems(404, 422),
    response_class=Response,
)
def page_image(
    document_id: DocumentId,
    number: Annotated[int, Path(ge=1, le=1_000_000)],
    view: Annotated[PageView, Query()],
    request: Request,
    store: Data,
) -> Response:
    """A page as a JPEG with the boxes marked."""
    marks = _boxes(view.boxes, number)
    row = store.document(document_id)
    key = f"{row.sha256 if row else ''}|{number}|{view.model_dump_json()}"
    tag = f'"{hashlib.sha256(key.encode()).hexdigest()[:32]}"'
    # Revalidated each time, because the next edition of a document has the same
    # address.
    headers = {"etag": tag, "cache-control": "private, no-cache"}
    if row is not None and request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    jpeg = draw_page(
        store, document_id, number, marks, scale=view.scale, crop=view.crop
    )
    if jpeg is None:
        raise NothingThereError("no picture of that page: not a PDF, or no such page")
    return Response(jpeg, media_type="image/jpeg", headers=headers)


def _boxes(text: str, page: int) -> list[Box]:
    try:
        return parse_boxes(text, page)
    except UsageError as error:
        raise _invalid(text, error.message) from error


def _invalid(text: str, message: str) -> RequestValidationError:
    fault = {"loc": ("query", "boxes"), "msg": message, "type": "value_error"}
    return RequestValidationError([{**fault, "input": text[:80]}])

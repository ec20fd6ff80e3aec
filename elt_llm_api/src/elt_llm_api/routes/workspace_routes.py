"""The workspace: pages that the browser renders from the HTTP API.

A page is a frame without words of any document; its script calls the routes below
`/v1`. Scripts and styles come from this server as files, so that the policy of these
pages allows no inline script, no `eval` and no other host.
"""

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from elt_llm_api.page.rendering import render
from elt_llm_api.page.workspace_pages import PAGES
from elt_llm_core.errors import NothingThereError

router = APIRouter(prefix="/workspace", include_in_schema=False)
CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
}


@router.get("")
def open_workspace() -> RedirectResponse:
    """The first page."""
    return RedirectResponse(f"/workspace/{next(iter(PAGES))}")


@router.get("/static/{name:path}")
def read_static(
    name: Annotated[str, Path(max_length=200)], request: Request
) -> Response:
    """A script or a style sheet; browsers revalidate it each time."""
    known = _static_files()
    if name not in known:
        raise NothingThereError("no such file of the page")
    content, tag = known[name]
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    kind = TYPES[f".{name.rpartition('.')[2]}"]
    return Response(content, media_type=kind, headers=headers)


@router.get("/{name}")
def open_page(name: Annotated[str, Path(max_length=40)]) -> HTMLResponse:
    """The frame of a page."""
    if name not in PAGES:
        raise NothingThereError(
            f"there is no page {name!r}", f"it is one of {', '.join(PAGES)}"
        )
    html = render("workspace", name=name, pages=PAGES)
    headers = {"content-security-policy": CSP, "cache-control": "no-cache"}
    return HTMLResponse(f"<!doctype html>{html}", headers=headers)


@cache
def _static_files() -> dict[str, tuple[bytes, str]]:
    """Return every file of the workspace by path, with its ETag; no other is sent."""
    root = files("elt_llm_api.page") / "static" / "workspace"
    known: dict[str, tuple[bytes, str]] = {}
    waiting: list[tuple[str, Traversable]] = [("", root)]
    while waiting:
        path, one = waiting.pop()
        if one.is_dir():
            waiting.extend((f"{path}/{c.name}".lstrip("/"), c) for c in one.iterdir())
        elif f".{path.rpartition('.')[2]}" in TYPES:
            content = one.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:32]
            known[path] = content, f'"{digest}"'
    return known

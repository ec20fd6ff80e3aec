"""Errors as RFC 9457 problem documents. What is ours to fix is logged, never shown."""

import logging
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from elt_llm_core.errors import (
    EltLlmError,
    UnknownProfileError,
    UnknownStrategyError,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
# Their messages name folders of this machine.
PRIVATE_STATUS = frozenset({500, 507})


def problem(
    status: int,
    detail: str,
    *,
    hint: str = "",
    code: str = "",
    extra: Mapping[str, Any] | None = None,
) -> JSONResponse:
    """A problem document; `type` names the code, or says that the status is all."""
    body = problem_body(status, detail, hint=hint, code=code)
    return JSONResponse(
        {**body, **(extra or {})}, status_code=status, media_type=MEDIA_TYPE
    )


def problem_body(
    status: int, detail: str, *, hint: str = "", code: str = ""
) -> dict[str, Any]:
    """The fields of a problem document, in their order."""
    return {
        "type": f"urn:elt-llm:error:{code}" if code else "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "hint": hint,
        "code": code,
    }


def status_of(error: EltLlmError) -> int:
    """The HTTP status; a name the client chose wrongly is the client's fault."""
    if isinstance(error, UnknownProfileError | UnknownStrategyError):
        return 422
    return error.status


def describe(error: Exception) -> dict[str, Any]:
    """A problem body for any exception; our own faults are told to the log only."""
    if isinstance(error, EltLlmError):
        status = status_of(error)
        if status not in PRIVATE_STATUS:
            told = problem_body(status, error.message, hint=error.hint, code=error.code)
            return {**told, "details": error.details} if error.details else told
        code = error.code
    else:
        status, code = 500, ""
    reference = secrets.token_hex(6)
    logger.error("error %s", reference, exc_info=error)
    return problem_body(
        status,
        f"this went wrong on the server; its log has the reason under {reference}",
        hint="read the server's log, or run: elt-llm doctor",
        code=code,
    )


def install(app: FastAPI) -> None:
    """Make every error of `app` a problem document."""
    app.add_exception_handler(EltLlmError, _on_error)
    app.add_exception_handler(Exception, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)


def _on_error(request: Request, error: Exception) -> JSONResponse:
    body = describe(error)
    return JSONResponse(
        {**body, "instance": request.url.path},
        status_code=body["status"],
        media_type=MEDIA_TYPE,
    )


def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # as registered
    faults = [
        {"loc": list(fault["loc"]), "msg": fault["msg"], "type": fault["type"]}
        for fault in error.errors()
    ]
    first = faults[0]
    where = ".".join(str(part) for part in first["loc"])
    extra = {"errors": jsonable_encoder(faults), "instance": request.url.path}
    return problem(422, f"{where}: {first['msg']}", code="API422", extra=extra)


def _on_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101  # as registered
    reply = problem(
        error.status_code, str(error.detail), extra={"instance": request.url.path}
    )
    for name, value in (error.headers or {}).items():
        reply.headers[name] = value
    return reply

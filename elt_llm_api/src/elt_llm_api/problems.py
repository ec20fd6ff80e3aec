"""Errors as RFC 9457 problem documents. What is ours to fix is logged, never shown."""

import logging
import re
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from elt_llm_core.errors import (
    BusyError,
    CollectionMismatchError,
    ConfigError,
    EltLlmError,
    MethodError,
    ModelError,
    NothingThereError,
    RequestError,
    StoreLockedError,
    TooLargeError,
)
from elt_llm_core.results import (
    Degradation,
    DegradationKind,
    QueryResult,
    SearchResult,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
# Their messages name what lies on this machine's disk.
PRIVATE_STATUS = frozenset({500, 507})
# What a configuration error says and a client need not know: values and folders.
FAILED_MODELS = {
    DegradationKind.EMBEDDER_UNAVAILABLE: "searched by keywords only: the embedding "
    "model failed",
    DegradationKind.GENERATION_UNAVAILABLE: "answered with verbatim sentences instead: "
    "the language model failed",
    DegradationKind.RERANKER_UNAVAILABLE: "in the order of the search: the reranker "
    "failed",
    DegradationKind.POSTPROCESSOR_UNAVAILABLE: "a step was left out: its model failed",
    DegradationKind.ROUTER_UNAVAILABLE: "all collections were searched: the router "
    "failed",
}
OTHER_COLLECTIONS = (
    "ask other collections, or with the profile or the models that this one was "
    "indexed with (models: embedded, or embedded+ollama where Ollama writes); "
    "whoever runs the server can index it again"
)
Result = TypeVar("Result", QueryResult, SearchResult)
GIVEN = re.compile(r" \(got .*\)$", re.DOTALL)
# Options of commands whose names are fields of a request too.
OPTIONS = re.compile(r"(?<![\w-])--(profile|models)\b")
FOLDERS = re.compile(r"(?<![\w:/.~-])~?/(?:[^\s/'\"]+/)+(?=[^\s/'\"])")


def problem(
    error: EltLlmError,
    *,
    status: int = 0,
    extra: Mapping[str, Any] | None = None,
) -> JSONResponse:
    """A problem document with the error's status, unless another is given."""
    body = problem_body(error, status)
    return JSONResponse(
        {**body, **(extra or {})}, status_code=body["status"], media_type=MEDIA_TYPE
    )


def problem_body(error: EltLlmError, status: int = 0) -> dict[str, Any]:
    """The fields of a problem document, in their order; `type` names the code."""
    status = status or error.status
    return {
        "type": f"urn:elt-llm:error:{error.code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": error.message,
        "hint": OPTIONS.sub(r"\1", error.hint),
        "code": error.code,
    }


def describe(error: Exception) -> dict[str, Any]:
    """A problem body for any exception; our own faults are told to the log only.

    A configuration error is told to both: who asks can choose another profile.
    """
    if not isinstance(error, EltLlmError):
        return _hidden(EltLlmError(str(error)), trace=error)
    if isinstance(error, ConfigError) and error.status in PRIVATE_STATUS:
        logger.warning("%s: %s", error.code, error)
        return problem_body(_without_values(error))
    if error.status in PRIVATE_STATUS:
        return _hidden(error)
    told = problem_body(_for_strangers(error))
    return {**told, "details": error.details} if error.details else told


def redact_config_error(error: ConfigError) -> str:
    """What is wrong with the configuration and the cure, for anyone to read."""
    return str(_without_values(error))


def _without_values(error: EltLlmError) -> EltLlmError:
    """The same error, with no value of the configuration and no folder in it."""
    told = EltLlmError(
        FOLDERS.sub("", GIVEN.sub("", error.message)), FOLDERS.sub("", error.hint)
    )
    told.code, told.status = error.code, error.status
    return told


def _for_strangers(error: EltLlmError) -> EltLlmError:
    """The error without what names this machine's processes, addresses and models.

    What is left out stands in the log.
    """
    if isinstance(error, CollectionMismatchError):
        told = EltLlmError(error.message, OTHER_COLLECTIONS)
        told.code, told.status = error.code, error.status
        return told
    if isinstance(error, StoreLockedError):
        job = error.holder if error.holder.startswith("job ") else "another process"
        told = StoreLockedError(job, "try again when it has finished")
        if job != error.holder:
            logger.warning("%s: %s", error.code, error)
        return told
    if isinstance(error, ModelError):
        message = (type(error).__doc__ or "").splitlines()[0].rstrip(".")
        message = f"{message[:1].lower()}{message[1:]}"
    else:
        return error
    logger.warning("%s: %s", error.code, error)
    told = EltLlmError(message, error.hint)
    told.code, told.status = error.code, error.status
    return told


def redact_result(result: Result) -> Result:
    """The result without addresses and words of a model server in its degradations.

    The log has them.
    """
    told = tuple(_told(note) for note in result.degradations)
    return result.model_copy(update={"degradations": told})


def _told(note: Degradation) -> Degradation:
    if note.kind is DegradationKind.STAGE_LEFT_OUT:
        return note.model_copy(update={"detail": FOLDERS.sub("", note.detail)})
    if note.kind not in FAILED_MODELS:
        return note
    logger.warning("%s: %s", note.kind.value, note.detail)
    detail = f"{FAILED_MODELS[note.kind]}; the server's log has the reason"
    return note.model_copy(update={"detail": detail})


def _hidden(error: EltLlmError, trace: Exception | None = None) -> dict[str, Any]:
    """A body that names a line of the log, and nothing else."""
    reference = secrets.token_hex(6)
    logger.error("%s %s: %s", reference, error.code, error, exc_info=trace)
    return {
        **problem_body(error),
        "detail": "this went wrong on the server; "
        f"its log has the reason under {reference}",
        "hint": "read the server's log, or run: elt-llm doctor",
    }


def install_handlers(app: FastAPI) -> None:
    """Make every error of `app` a problem document."""
    app.add_exception_handler(EltLlmError, _on_error)
    app.add_exception_handler(Exception, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)


def _on_error(request: Request, error: Exception) -> JSONResponse:
    body = describe(error)
    headers = (
        {"retry-after": str(error.seconds)} if isinstance(error, BusyError) else {}
    )
    return JSONResponse(
        {**body, "instance": request.url.path},
        status_code=body["status"],
        media_type=MEDIA_TYPE,
        headers=headers,
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
    return problem(RequestError(f"{where}: {first['msg']}"), extra=extra)


def _on_http(request: Request, error: Exception) -> JSONResponse:
    """Starlette's and FastAPI's own refusals as errors of our tree."""
    assert isinstance(error, HTTPException)  # noqa: S101  # as registered
    path, status = request.url.path, error.status_code
    routes = "GET /openapi.json lists what is"
    told: EltLlmError
    if status == NothingThereError.status:
        told = NothingThereError(f"there is nothing at {path[:200]}", routes)
    elif status == MethodError.status:
        told = MethodError(f"{path[:200]} does not take {request.method}", routes)
    elif status == TooLargeError.status:
        told = TooLargeError("the body is larger than is taken")
    else:
        told = RequestError(str(error.detail))
    reply = problem(told, status=status, extra={"instance": path})
    for name, value in (error.headers or {}).items():
        reply.headers[name] = value
    return reply

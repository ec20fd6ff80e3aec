"""Errors as RFC 9457 problem documents. Details of the server are logged, not sent."""

import logging
import os
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
    CollectionNotFoundError,
    ConfigError,
    ConversationNotFoundError,
    EltLlmError,
    JobNotFoundError,
    MethodError,
    ModelBusyError,
    ModelError,
    NothingThereError,
    RequestError,
    StoreLockedError,
    TooLargeError,
    UnknownElementError,
    VersionNotFoundError,
)
from elt_llm_core.results import (
    Degradation,
    DegradationKind,
    QueryResult,
    SearchResult,
)

logger = logging.getLogger(__name__)

COMPLETIONS_PATH, MODELS_PATH = "/v1/chat/completions", "/v1/models"
# Routes of OpenAI's API that do not exist here: its clients show only its error format.
OTHER_OPENAI_PATHS = (
    *("/v1/completions", "/v1/embeddings", "/v1/responses"),
    *("/v1/moderations", "/v1/images", "/v1/audio"),
)
OPENAI_TYPES = {401: "authentication_error", 429: "rate_limit_error"}
OPENAI_CODES = {"API004": "invalid_api_key", "API006": "model_not_found"}
MEDIA_TYPE = "application/problem+json"
# Messages with these statuses may name files of this machine.
PRIVATE_STATUS = frozenset({500, 507})
# Replacements for messages that contain addresses and words of a model server.
FAILED_MODELS = {
    DegradationKind.EMBEDDER_UNAVAILABLE: "searched by keywords only: the embedding "
    "model failed",
    DegradationKind.GENERATION_UNAVAILABLE: "answered with verbatim sentences instead: "
    "the language model failed",
    DegradationKind.OTHER_MODEL: "a fallback model was used: the first one failed",
    DegradationKind.RERANKER_UNAVAILABLE: "not reranked: the reranker failed",
    DegradationKind.POSTPROCESSOR_UNAVAILABLE: "a step was skipped: its model failed",
    DegradationKind.ROUTER_UNAVAILABLE: "all collections were searched: the router "
    "failed",
}
OTHER_COLLECTIONS = (
    "choose other collections, or the profile or models this one was indexed "
    "with (models: embedded, or embedded+ollama if Ollama writes the answers); "
    "the server's operator can index it again"
)
# Added if a hint names a command, because an HTTP client has no terminal.
ROUTES: tuple[tuple[type[EltLlmError], str], ...] = (
    (VersionNotFoundError, "GET /v1/reports, /v1/topics and /v1/concepts list them"),
    (ConversationNotFoundError, "GET /v1/conversations lists them"),
    (JobNotFoundError, "GET /v1/jobs lists them"),
    (UnknownElementError, "GET /v1/graph/elements lists them"),
    (CollectionNotFoundError, "GET /v1/collections lists them"),
)
Result = TypeVar("Result", QueryResult, SearchResult)
GIVEN = re.compile(r" \(got .*\)$", re.DOTALL)
# Options of commands whose names are fields of a request too.
OPTIONS = re.compile(r"(?<![\w-])--(profile|models?)\b")
FOLDERS = re.compile(r"(?<![\w:/.~-])~?/(?:[^\s/'\"]+/)+(?=[^\s/'\"])")


def problem(
    error: EltLlmError,
    *,
    status: int = 0,
    extra: Mapping[str, Any] | None = None,
) -> JSONResponse:
    """Return a problem document with the error's status, unless another is given."""
    body = problem_body(error, status)
    return _reply({**body, **(extra or {})})


def is_openai_path(path: str) -> bool:
    """Return whether the path belongs to OpenAI's API, with its error format."""
    others = (MODELS_PATH, *OTHER_OPENAI_PATHS)
    return path == COMPLETIONS_PATH or path.startswith(others)


def openai_error(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error object of OpenAI's API for a problem document.

    Args:
        body: A problem document; the field at fault is the beginning of its `detail`.
    """
    detail = str(body["detail"])
    parameter, colon, _ = detail.partition(": ")
    names_field = bool(colon) and parameter.replace(".", "").replace("_", "").isalnum()
    hint = f"; {body['hint']}" if body["hint"] else ""
    return {
        "error": {
            "message": f"{detail}{hint}",
            "type": OPENAI_TYPES.get(body["status"], _openai_type(body["status"])),
            "param": parameter.removeprefix("body.") if names_field else None,
            "code": OPENAI_CODES.get(body["code"], body["code"]),
        }
    }


def _openai_type(status: int) -> str:
    server = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return "server_error" if server else "invalid_request_error"


def _reply(
    body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return the response for a problem document in the format of its path."""
    status = body["status"]
    if is_openai_path(body.get("instance", "")):
        # OpenAI's API has no 422: its clients expect 400 for a wrong request.
        invalid = status == RequestError.status
        code = HTTPStatus.BAD_REQUEST if invalid else status
        return JSONResponse(openai_error(body), status_code=code, headers=headers)
    return JSONResponse(
        dict(body), status_code=status, media_type=MEDIA_TYPE, headers=headers
    )


def problem_body(error: EltLlmError, status: int = 0) -> dict[str, Any]:
    """Return the fields of a problem document in order; `type` contains the code."""
    status = status or error.status
    return {
        "type": f"urn:elt-llm:error:{error.code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": error.message,
        "hint": OPTIONS.sub(r"\1", error.hint),
        "code": error.code,
    }


def choose_route(error: Exception, hint: str) -> str:
    """Return a hint for a client over HTTP: a route instead of a command.

    Args:
        error: The error.
        hint: The hint of its problem document.
    """
    if "elt-llm " not in hint:
        return hint
    return next((route for kind, route in ROUTES if isinstance(error, kind)), hint)


def describe(error: Exception) -> dict[str, Any]:
    """Return the problem body of any exception; internal errors are only logged.

    A configuration error is sent and logged, because the client can choose another
    profile.
    """
    if not isinstance(error, EltLlmError):
        return _log_internal(EltLlmError(str(error)), trace=error)
    if isinstance(error, ConfigError) and error.status in PRIVATE_STATUS:
        logger.warning("%s: %s", error.code, error)
        return problem_body(_without_values(error))
    if error.status in PRIVATE_STATUS:
        return _log_internal(error)
    body = problem_body(_redact(error))
    return {**body, "details": error.details} if error.details else body


def redact_config_error(error: ConfigError) -> str:
    """Return message and hint of a configuration error without values or folders."""
    return str(_without_values(error))


def _without_values(error: EltLlmError) -> EltLlmError:
    """Copy the error without values of the configuration and folders."""
    message = FOLDERS.sub("", GIVEN.sub("", error.message))
    return _copy_error(error, message, FOLDERS.sub("", error.hint))


def _redact(error: EltLlmError) -> EltLlmError:
    """Copy the error without processes, addresses and models; the log has them."""
    if isinstance(error, CollectionMismatchError):
        return _copy_error(error, error.message, OTHER_COLLECTIONS)
    if isinstance(error, StoreLockedError):
        job = error.holder if error.holder.startswith("job ") else "another process"
        if error.holder.startswith(f"process {os.getpid()} "):
            job = "a job of this server"
        if job != error.holder:
            logger.warning("%s: %s", error.code, error)
        return StoreLockedError(job, "try again when it has finished")
    if isinstance(error, ModelError):
        message = (type(error).__doc__ or "").splitlines()[0].rstrip(".")
        message = f"{message[:1].lower()}{message[1:]}"
    else:
        return error
    logger.warning("%s: %s", error.code, error)
    return _copy_error(error, message, error.hint)


def _copy_error(error: EltLlmError, message: str, hint: str) -> EltLlmError:
    """Return an error with the same code and status and another message."""
    copy = EltLlmError(message, hint)
    copy.code, copy.status = error.code, error.status
    return copy


def redact_result(result: Result) -> Result:
    """Copy the result without messages of a model server, which the log has.

    Args:
        result: A result whose degradations may quote a model server.

    Returns:
        The result with neutral sentences instead.
    """
    notes = tuple(_redact_note(note) for note in result.degradations)
    return result.model_copy(update={"degradations": notes})


def _redact_note(note: Degradation) -> Degradation:
    if note.kind is DegradationKind.STAGE_LEFT_OUT:
        return note.model_copy(update={"detail": FOLDERS.sub("", note.detail)})
    if note.kind not in FAILED_MODELS:
        return note
    logger.warning("%s: %s", note.kind.value, note.detail)
    detail = f"{FAILED_MODELS[note.kind]}; the server's log has the reason"
    return note.model_copy(update={"detail": detail})


def _log_internal(error: EltLlmError, trace: Exception | None = None) -> dict[str, Any]:
    """Log an error and return a body that only refers to that line of the log."""
    reference = secrets.token_hex(6)
    logger.error("%s %s: %s", reference, error.code, error, exc_info=trace)
    return {
        **problem_body(error),
        "detail": "this went wrong on the server; "
        f"its log has the reason under {reference}",
        "hint": "read the server's log, or run: elt-llm doctor",
    }


def install_handlers(app: FastAPI) -> None:
    """Answer every error of `app` with a problem document."""
    app.add_exception_handler(EltLlmError, _on_error)
    app.add_exception_handler(Exception, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)


def _on_error(request: Request, error: Exception) -> JSONResponse:
    body = describe(error)
    body["hint"] = choose_route(error, body["hint"])
    seconds = error.seconds if isinstance(error, BusyError | ModelBusyError) else 0
    headers = {"retry-after": str(seconds)} if seconds else {}
    return _reply({**body, "instance": request.url.path}, headers)


def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # as registered
    faults = [
        {"loc": list(fault["loc"]), "msg": fault["msg"], "type": fault["type"]}
        for fault in error.errors()
    ]
    first = faults[0]
    where = ".".join(str(part) for part in first["loc"])
    extra = {"errors": jsonable_encoder(faults), "instance": request.url.path}
    reason = _say_pattern(error.errors()[0]) or first["msg"]
    hint = ""
    if first["loc"] == ["body"] and not _is_json(request):
        hint = "send JSON, with the header Content-Type: application/json"
    return problem(RequestError(f"{where}: {reason}", hint), extra=extra)


def _is_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


# What a pattern of a route asks for, in words; `errors` of the reply holds the pattern.
_PATTERNS = {
    r"[^\W_]": "must contain a letter or a digit",
    "^[0-9a-f]{32}$": "must be 32 hexadecimal digits (0-9, a-f), such as an id has",
}
_CHOICE = re.compile(r"\^\(([\w|-]+)\)\$")


def _say_pattern(fault: Mapping[str, Any]) -> str:
    """Return in words what a text must be that does not match; "" for other faults."""
    if fault["type"] != "string_pattern_mismatch":
        return ""
    pattern = str(fault.get("ctx", {}).get("pattern", ""))
    choice = _CHOICE.fullmatch(pattern)
    if choice is not None:
        return f"must be one of {', '.join(choice[1].split('|'))}"
    known = _PATTERNS.get(pattern, "has a form or characters that are not allowed here")
    return known if pattern in _PATTERNS else f"{known}: it must match {pattern}"


def _on_http(request: Request, error: Exception) -> JSONResponse:
    """Convert errors of Starlette and FastAPI to this project's errors."""
    assert isinstance(error, HTTPException)  # noqa: S101  # as registered
    path, status = request.url.path, error.status_code
    routes = "GET /openapi.json lists the routes"
    refusal: EltLlmError
    if status == NothingThereError.status:
        refusal = NothingThereError(f"no route or resource at {path[:200]}", routes)
    elif status == MethodError.status:
        refusal = MethodError(f"{path[:200]} does not support {request.method}", routes)
    elif status == TooLargeError.status:
        refusal = TooLargeError("the body is larger than the server accepts")
    else:
        refusal = RequestError(str(error.detail))
    reply = problem(refusal, status=status, extra={"instance": path})
    for name, value in (error.headers or {}).items():
        reply.headers[name] = value
    return reply

"""Chat completions and models in the format of OpenAI's API."""

import asyncio
from collections.abc import AsyncIterator, Callable

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from elt_llm_api.openai_api.chat_request import ChatRequest
from elt_llm_api.openai_api.completion_text import ReplyText, reply_text
from elt_llm_api.openai_api.completions import END, Completion, sse
from elt_llm_api.openai_api.model_names import (
    ModelList,
    ModelOut,
    find_model,
    list_models,
    resolve_model,
)
from elt_llm_api.problems import describe, openai_error
from elt_llm_api.routes.dependencies import Data, Profiles, Questions, problems
from elt_llm_api.server.question_queue import wait_for_disconnect
from elt_llm_api.services.profile_registry import ProfileRegistry
from elt_llm_api.services.redacted_answers import answer_question
from elt_llm_core.results import QueryResult
from elt_llm_core.store import Store

router = APIRouter(prefix="/v1", tags=["openai"])
# Failures within this time set the status; later the stream has begun.
QUICK_SECONDS = 0.5
PING_SECONDS = 15.0  # as in other streams: proxies close what is silent for a minute
PING = b": working\n\n"
HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}
Answered = tuple[QueryResult, ReplyText]


@router.get("/models", operation_id="list_models")
def get_models(profiles: Profiles, store: Data) -> ModelList:
    """A model for each profile, over all collections and over each of them."""
    return ModelList(data=list_models(profiles, store))


@router.get("/models/{model:path}", operation_id="get_model", responses=problems(404))
def get_model(model: str, profiles: Profiles, store: Data) -> ModelOut:
    """One model."""
    return find_model(profiles, store, model)


@router.post(
    "/chat/completions",
    operation_id="create_chat_completion",
    responses=problems(400, 404, 409, 429, 503),
    response_class=Response,
)
async def create_chat_completion(
    body: ChatRequest,
    profiles: Profiles,
    store: Data,
    queue: Questions,
    request: Request,
) -> Response:
    """The answer to the last message, complete or as a stream of checked text."""
    work, seconds = await to_thread.run_sync(_prepare, body, profiles, store, request)
    completion = Completion(body.model)
    if not body.stream:
        result, reply = await queue.answer(work, seconds, request.receive)
        return JSONResponse(completion.body(result, reply))
    answer = asyncio.ensure_future(queue.run(work, seconds))
    await asyncio.wait([answer], timeout=QUICK_SECONDS)
    if answer.done():
        answer.result()  # raises the error
    events = _stream(completion, answer, body, request)
    return StreamingResponse(events, media_type="text/event-stream", headers=HEADERS)


def _prepare(
    body: ChatRequest, profiles: ProfileRegistry, store: Store, request: Request
) -> tuple[Callable[[], Answered], float]:
    """Check the request; return the function that answers it, and its time limit."""
    body.check()
    question, turns, options = body.question, body.turns, body.elt_llm
    asked = resolve_model(profiles, store, body.model)
    config = profiles.config_of(asked.profile, options.models)
    base_url = str(request.base_url).rstrip("/")

    def work() -> Answered:
        result = answer_question(
            profiles.library(asked.profile, options.models),
            question,
            options.collections or asked.collections,
            turns=turns,
            where=options.where,
            limits=options.limits,
        )
        return result, reply_text(result, options.format, base_url)

    return work, config.query.question_timeout


async def _stream(
    completion: Completion,
    answer: "asyncio.Future[Answered]",
    body: ChatRequest,
    request: Request,
) -> AsyncIterator[bytes]:
    """Stream the checked answer; a client that disconnects stops the question."""
    leaving = asyncio.ensure_future(wait_for_disconnect(request.receive))
    try:
        yield completion.opening()
        while not answer.done():
            both: list[asyncio.Future[Answered] | asyncio.Future[None]]
            both = [answer, leaving]
            await asyncio.wait(
                both, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if leaving.done():
                return
            if not answer.done():
                yield PING
        failure = answer.exception()
        if isinstance(failure, Exception):
            yield sse(openai_error(describe(failure)))
            yield END
            return
        result, reply = answer.result()
        with_usage = bool(body.stream_options and body.stream_options.include_usage)
        for event in completion.events(result, reply, with_usage=with_usage):
            yield event
    finally:
        leaving.cancel()
        answer.cancel()

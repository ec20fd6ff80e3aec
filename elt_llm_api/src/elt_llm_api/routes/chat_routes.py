"""Messages of conversations: answered at once, or as a stream of events."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Header, Path, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from elt_llm_api.chat_schemas import ChatIn
from elt_llm_api.chat_turns import ChatTurn, Work
from elt_llm_api.routes.dependencies import (
    Config,
    Owner,
    Profiles,
    Questions,
    Turns,
    problems,
)
from elt_llm_api.services.profile_registry import ProfileRegistry
from elt_llm_api.services.redacted_answers import answer_message
from elt_llm_core.config.loader import RagConfig
from elt_llm_query.conversation.turn import ChatResult
from elt_llm_query.step_events import Watch

router = APIRouter(prefix="/v1/chat", tags=["chat"])
PROBLEMS = problems(400, 404, 409, 422, 429, 503)
# Failures within this time set the status; later the stream has begun.
QUICK_SECONDS = 0.5
_EVENT_ID = re.compile(r"([0-9a-f]{32}):(\d{1,9})")
LastEvent = Annotated[
    str, Header(max_length=60, description="continue after this event")
]


@router.post("", operation_id="chat", responses=PROBLEMS, response_model=ChatResult)
async def chat(
    body: ChatIn, profiles: Profiles, queue: Questions, owner: Owner, request: Request
) -> Response:
    """Answer a message and store it in its conversation; follow-ups are resolved."""
    work, seconds = await to_thread.run_sync(_prepare, body, profiles, owner)
    text = await queue.answer(
        lambda: work(None).model_dump_json(), seconds, request.receive
    )
    return Response(text, media_type="application/json")


@asynccontextmanager
async def _reading(turn: ChatTurn, config: RagConfig) -> AsyncIterator[None]:
    """Count a reader for as long as its request lasts.

    A dependency counts instead of the event generator, because FastAPI does not close
    that generator if the client disconnects while an event is being sent.
    """
    with turn.reading(config.api.reconnect_seconds):
        yield


async def _begin(
    body: ChatIn,
    profiles: Profiles,
    config: Config,
    turns: Turns,
    owner: Owner,
    last_event_id: LastEvent = "",
) -> AsyncIterator[tuple[ChatTurn, int]]:
    """Begin a turn, or find the one that a reader lost."""
    if known := _EVENT_ID.fullmatch(last_event_id):
        turn, after = turns.find(known[1], owner), int(known[2])
    else:
        work, seconds = await to_thread.run_sync(_prepare, body, profiles, owner)
        turn, after = turns.begin(owner, work, seconds), 0
        with suppress(TimeoutError):
            await asyncio.wait_for(anext(turn.events.follow()), QUICK_SECONDS)
        if turn.failure is not None:
            raise turn.failure
    async with _reading(turn, config):
        yield turn, after


@router.post(
    "/stream",
    operation_id="chat_stream",
    responses=PROBLEMS,
    response_class=EventSourceResponse,
)
async def chat_stream(
    begun: Annotated[tuple[ChatTurn, int], Depends(_begin)],
) -> AsyncIterator[ServerSentEvent]:
    """The same as events: start, status, token, statements, citations, complete.

    Tokens are provisional; `statements` replaces them. `complete` is the response of
    /v1/chat, `error` a problem document. The same request with `Last-Event-ID` resumes.
    """
    async for event in _events(*begun):
        yield event


def _turn(
    turn_id: Annotated[str, Path(pattern="^[0-9a-f]{32}$")], turns: Turns, owner: Owner
) -> ChatTurn:
    return turns.find(turn_id, owner)


OneTurn = Annotated[ChatTurn, Depends(_turn)]


async def _read(
    turn: OneTurn, config: Config, last_event_id: LastEvent = ""
) -> AsyncIterator[tuple[ChatTurn, int]]:
    """Find a turn and the event after which a reader resumes."""
    known = _EVENT_ID.fullmatch(last_event_id)
    async with _reading(turn, config):
        yield turn, int(known[2]) if known else 0


@router.get(
    "/turns/{turn_id}/events",
    operation_id="get_turn_events",
    responses=problems(404, 422),
    response_class=EventSourceResponse,
)
async def get_turn_events(
    begun: Annotated[tuple[ChatTurn, int], Depends(_read)],
) -> AsyncIterator[ServerSentEvent]:
    """The events of a turn that is running or has just ended; see /v1/chat/stream."""
    async for event in _events(*begun):
        yield event


@router.delete(
    "/turns/{turn_id}",
    operation_id="stop_turn",
    status_code=204,
    responses=problems(404, 422),
)
def stop_turn(turn: OneTurn) -> None:
    """Stop a turn, including its model call; nothing of it is stored."""
    turn.stop()


async def _events(turn: ChatTurn, after: int) -> AsyncIterator[ServerSentEvent]:
    async for event in turn.events.follow(after):
        yield ServerSentEvent(
            raw_data=event.data, event=event.name, id=f"{turn.turn_id}:{event.number}"
        )


def _prepare(body: ChatIn, profiles: ProfileRegistry, owner: str) -> tuple[Work, float]:
    """Return the function that answers a message, and its time limit."""
    config = profiles.config_of(body.profile, body.models)

    def work(watch: Watch | None) -> ChatResult:
        return answer_message(
            profiles.library(body.profile, body.models),
            body.message,
            body.collections,
            conversation=body.conversation_id or "",
            owner=owner,
            where=body.where,
            limits=body.limits,
            watch=watch,
        )

    return work, config.query.question_timeout

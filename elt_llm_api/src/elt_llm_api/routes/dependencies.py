"""Dependencies of the routes, and their entries in the OpenAPI document."""

from typing import Annotated, Any, cast

from fastapi import Depends, Request

from elt_llm_api.chat_turns import ChatTurns
from elt_llm_api.job_registry import JobRegistry
from elt_llm_api.schemas import ProblemOut
from elt_llm_api.server.question_queue import QuestionQueue
from elt_llm_api.service import QueryService
from elt_llm_query.conversation.turn import LOCAL


def _service(request: Request) -> QueryService:
    return cast("QueryService", request.app.state.service)


def _jobs(request: Request) -> JobRegistry:
    return cast("JobRegistry", request.app.state.jobs)


def _queue(request: Request) -> QuestionQueue:
    return cast("QuestionQueue", request.app.state.queue)


def _turns(request: Request) -> ChatTurns:
    return cast("ChatTurns", request.app.state.turns)


def _owner(request: Request) -> str:
    """Return the user of a request, or `local` without configured users."""
    return str(getattr(request.state, "user", LOCAL))


Turns = Annotated[ChatTurns, Depends(_turns)]
Owner = Annotated[str, Depends(_owner)]
Questions = Annotated[QuestionQueue, Depends(_queue)]
Service = Annotated[QueryService, Depends(_service)]
Jobs = Annotated[JobRegistry, Depends(_jobs)]


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI entries of a route's possible problems."""
    content = {
        "application/problem+json": {
            "schema": {"$ref": "#/components/schemas/ProblemOut"}
        }
    }
    return {
        status: {"model": ProblemOut, "description": "Problem", "content": content}
        for status in statuses
    }

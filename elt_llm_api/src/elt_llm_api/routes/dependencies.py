"""Dependencies of the routes, and their entries in the OpenAPI document."""

from typing import Annotated, Any, cast

from fastapi import Depends, Request

from elt_llm_api.api_context import ApiContext
from elt_llm_api.chat_turns import ChatTurns
from elt_llm_api.document_pages import OpenDocuments
from elt_llm_api.job_registry import JobRegistry
from elt_llm_api.schemas import ProblemOut
from elt_llm_api.server.question_queue import QuestionQueue
from elt_llm_api.services.derived_views import DerivedViews
from elt_llm_api.services.job_runner import JobRunner
from elt_llm_api.services.profile_registry import ProfileRegistry
from elt_llm_api.services.soundness_check import SoundnessCheck
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.store import Store
from elt_llm_query.conversation.turn import LOCAL

# They are async, because FastAPI runs others in a thread, for which a health check
# would wait while all threads are busy.


async def _config(request: Request) -> RagConfig:
    return _context(request).config


async def _store(request: Request) -> Store:
    return _context(request).store


async def _profiles(request: Request) -> ProfileRegistry:
    return _context(request).profiles


async def _runner(request: Request) -> JobRunner:
    return _context(request).runner


async def _views(request: Request) -> DerivedViews:
    return _context(request).views


async def _check(request: Request) -> SoundnessCheck:
    return _context(request).check


async def _documents(request: Request) -> OpenDocuments:
    return _context(request).opened


async def _jobs(request: Request) -> JobRegistry:
    return cast("JobRegistry", request.app.state.jobs)


async def _queue(request: Request) -> QuestionQueue:
    return cast("QuestionQueue", request.app.state.queue)


async def _turns(request: Request) -> ChatTurns:
    return cast("ChatTurns", request.app.state.turns)


def _context(request: Request) -> ApiContext:
    return cast("ApiContext", request.app.state.context)


async def _owner(request: Request) -> str:
    """Return the user of a request, or `local` without configured users."""
    return str(getattr(request.state, "user", LOCAL))


Turns = Annotated[ChatTurns, Depends(_turns)]
Owner = Annotated[str, Depends(_owner)]
Questions = Annotated[QuestionQueue, Depends(_queue)]
Config = Annotated[RagConfig, Depends(_config)]
Data = Annotated[Store, Depends(_store)]
Profiles = Annotated[ProfileRegistry, Depends(_profiles)]
Runner = Annotated[JobRunner, Depends(_runner)]
Views = Annotated[DerivedViews, Depends(_views)]
Check = Annotated[SoundnessCheck, Depends(_check)]
Opened = Annotated[OpenDocuments, Depends(_documents)]
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

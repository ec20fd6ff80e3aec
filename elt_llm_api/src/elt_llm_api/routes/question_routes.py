"""Search and answers."""

from collections.abc import Callable
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from elt_llm_api.problems import redact_config_error
from elt_llm_api.routes.dependencies import (
    Config,
    Data,
    Profiles,
    Questions,
    Views,
    problems,
)
from elt_llm_api.schemas import (
    ExampleList,
    ProfileList,
    ProfileOut,
    QueryRequest,
    SearchRequest,
)
from elt_llm_api.server.question_queue import QuestionQueue
from elt_llm_api.services.redacted_answers import answer_question, find_passages
from elt_llm_core.results import QueryResult, SearchResult
from elt_llm_query.grounding.plain_text import as_markdown

router = APIRouter(prefix="/v1", tags=["questions"])
PROBLEMS = problems(400, 404, 409, 422, 429, 503)


@router.post(
    "/search", operation_id="search", responses=PROBLEMS, response_model=SearchResult
)
async def search(
    body: SearchRequest,
    profiles: Profiles,
    config: Config,
    queue: Questions,
    request: Request,
) -> Response:
    """The passages that match a question best, without an answer."""
    return await _answer(
        lambda: find_passages(
            profiles.library(),
            body.question,
            body.collections,
            limit=body.k,
            where=body.where,
        ),
        queue,
        config.query.question_timeout,
        request,
    )


@router.post(
    "/query", operation_id="query", responses=PROBLEMS, response_model=QueryResult
)
async def query(
    body: QueryRequest, profiles: Profiles, queue: Questions, request: Request
) -> Response:
    """An answer with a verified quote for every claim, or a refusal."""
    # In a thread, because it reads the profile's file.
    config = await to_thread.run_sync(profiles.config_of, body.profile, body.models)

    def work() -> QueryResult:
        result = answer_question(
            profiles.library(body.profile, body.models),
            body.question,
            body.collections,
            where=body.where,
            limits=body.limits,
        )
        if body.format == "text":
            return result
        return result.model_copy(update={"answer": as_markdown(result.answer)})

    return await _answer(work, queue, config.query.question_timeout, request)


@router.get("/profiles", operation_id="list_profiles")
def list_profiles(profiles: Profiles) -> ProfileList:
    """The available profiles, with their purpose and missing requirements."""
    missing = profiles.incomplete()
    notes = {note.name: note for note in profiles.notes()}
    return ProfileList(
        data=[
            ProfileOut(
                name=name,
                does=notes[name].does if name in notes else "",
                needs=notes[name].needs if name in notes else "",
                lacks=redact_config_error(missing[name]) if name in missing else "",
            )
            for name in profiles.names()
        ]
    )


@router.get("/examples", operation_id="list_examples", responses=problems(404, 422))
def list_examples(
    store: Data,
    views: Views,
    collection: Annotated[
        list[str] | None, Query(max_length=64, examples=[["handbook"]])
    ] = None,
) -> ExampleList:
    """Example questions from the documents of collections, or of all."""
    if not store.collections():
        return ExampleList(data=[])
    return ExampleList(data=list(views.examples(collection or ())))


async def _answer(
    work: Callable[[], BaseModel],
    queue: QuestionQueue,
    seconds: float,
    request: Request,
) -> Response:
    """Answer with JSON, serialised in the thread of the question."""
    text = await queue.answer(
        lambda: work().model_dump_json(), seconds, request.receive
    )
    return Response(text, media_type="application/json")

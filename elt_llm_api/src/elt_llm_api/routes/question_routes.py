"""Search and answers."""

from collections.abc import Callable

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from elt_llm_api.routes.dependencies import Questions, Service, problems
from elt_llm_api.schemas import QueryRequest, SearchRequest
from elt_llm_api.server.question_queue import QuestionQueue
from elt_llm_core.results import QueryResult, SearchResult
from elt_llm_query.grounding.plain_text import as_markdown

router = APIRouter(prefix="/v1", tags=["questions"])
PROBLEMS = problems(400, 404, 409, 422, 429, 503)


@router.post(
    "/search", operation_id="search", responses=PROBLEMS, response_model=SearchResult
)
async def search(
    body: SearchRequest, service: Service, queue: Questions, request: Request
) -> Response:
    """The passages that fit a question best, without an answer."""
    return await _answer(
        lambda: service.search(body.collections, body.question, body.k, body.where),
        queue,
        service.config.query.question_timeout,
        request,
    )


@router.post(
    "/query", operation_id="query", responses=PROBLEMS, response_model=QueryResult
)
async def query(
    body: QueryRequest, service: Service, queue: Questions, request: Request
) -> Response:
    """An answer whose every claim is a quote that was looked up, or a refusal."""
    # In a thread, because it reads the profile's file.
    config = await to_thread.run_sync(service.profile_config, body.profile, body.models)

    def work() -> QueryResult:
        result = service.query(
            body.collections,
            body.question,
            body.profile,
            body.where,
            body.models,
            body.limits,
        )
        if body.format == "text":
            return result
        return result.model_copy(update={"answer": as_markdown(result.answer)})

    return await _answer(work, queue, config.query.question_timeout, request)


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

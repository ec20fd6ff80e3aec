"""Search and answers."""

from fastapi import APIRouter

from elt_llm_api.routes.common import Service, problems
from elt_llm_api.schemas import QueryRequest, SearchRequest
from elt_llm_core.results import QueryResult, SearchResult
from elt_llm_query.plain import as_markdown

router = APIRouter(prefix="/v1", tags=["questions"])


@router.post("/search", operation_id="search", responses=problems(404, 422, 503))
def search(body: SearchRequest, service: Service) -> SearchResult:
    """The passages that fit a question best, without an answer."""
    return service.search(body.collections, body.question, body.k, body.where)


@router.post("/query", operation_id="query", responses=problems(404, 422, 503))
def query(body: QueryRequest, service: Service) -> QueryResult:
    """An answer whose every claim is a quote that was looked up, or a refusal."""
    found = service.query(body.collections, body.question, body.profile, body.where)
    if body.format == "text":
        return found
    return found.model_copy(update={"answer": as_markdown(found.answer)})

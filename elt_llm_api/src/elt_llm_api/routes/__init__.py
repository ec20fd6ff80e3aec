"""The HTTP routes, which only convert data; `elt_llm_api.services` does the work."""

from fastapi import APIRouter

from elt_llm_api.routes import (
    chat_routes,
    collection_routes,
    conversation_routes,
    document_routes,
    export_routes,
    graph_routes,
    job_routes,
    openai_routes,
    question_routes,
    review_routes,
    status_routes,
    workspace_routes,
    writing_routes,
)


def routers() -> list[APIRouter]:
    """Every router, in the order of the OpenAPI document."""
    modules = (
        question_routes,
        chat_routes,
        conversation_routes,
        collection_routes,
        document_routes,
        export_routes,
        graph_routes,
        job_routes,
        openai_routes,
        review_routes,
        status_routes,
        workspace_routes,
        writing_routes,
    )
    return [module.router for module in modules]

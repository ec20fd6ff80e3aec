"""The HTTP routes. They translate; `QueryService` does the work."""

from fastapi import APIRouter

from elt_llm_api.routes import (
    collection_routes,
    document_routes,
    job_routes,
    openai_routes,
    question_routes,
    review_routes,
    status_routes,
)


def routers() -> list[APIRouter]:
    """Every router, in the order of the OpenAPI document."""
    modules = (
        question_routes,
        collection_routes,
        document_routes,
        job_routes,
        openai_routes,
        review_routes,
        status_routes,
    )
    return [module.router for module in modules]

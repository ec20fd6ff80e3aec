"""The HTTP routes. They translate; `QueryService` does the work."""

from fastapi import APIRouter

from elt_llm_api.routes import collections, documents, jobs, questions, status


def routers() -> list[APIRouter]:
    """Every router, in the order of the OpenAPI document."""
    modules = (questions, collections, documents, jobs, status)
    return [module.router for module in modules]

"""The HTTP routes. They translate, and leave the work to `QueryService`."""

from fastapi import APIRouter

from elt_llm_api.routes import collections, documents, health, jobs, questions


def routers() -> list[APIRouter]:
    """Every router, in the order of the OpenAPI document."""
    parts = (questions, collections, documents, jobs, health)
    return [part.router for part in parts]

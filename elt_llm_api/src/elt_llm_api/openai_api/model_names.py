"""Models of this server: `PROFILE` asks all collections, `PROFILE/COLLECTION` one."""

from typing import NamedTuple

from pydantic import Field

from elt_llm_api.schemas import Wire
from elt_llm_api.service import QueryService
from elt_llm_core.errors import NothingThereError, suggest

OWNER = "elt_llm"


class AskedModel(NamedTuple):
    """The profile and the collections of a model name."""

    profile: str
    collections: tuple[str, ...]


class ModelOut(Wire):
    """A model as OpenAI's API lists it."""

    id: str
    object: str = "model"
    created: int = Field(default=0, description="not known")
    owned_by: str = OWNER
    name: str = Field(description="for people")


class ModelList(Wire):
    """All models: those of the default profile first."""

    object: str = "list"
    data: list[ModelOut]


def list_models(service: QueryService) -> list[ModelOut]:
    """Return a model for each profile that lacks nothing, and each of its collections.

    Args:
        service: Knows the profiles and the collections.
    """
    cards = service.collections()
    models = []
    for profile in service.profiles():
        if profile in service.incomplete_profiles():
            continue
        models.append(ModelOut(id=profile, name=f"All documents ({profile})"))
        models += [
            ModelOut(id=f"{profile}/{card.name}", name=f"{card.label} ({profile})")
            for card in cards
        ]
    return models


def find_model(service: QueryService, name: str) -> ModelOut:
    """Return the model with a name. Raises NothingThereError."""
    models = {model.id: model for model in list_models(service)}
    if name not in models:
        known = suggest(name, models)
        raise NothingThereError(f"the model {name[:200]!r} does not exist", known)
    return models[name]


def resolve_model(service: QueryService, name: str) -> AskedModel:
    """Return the profile and the collections of a model. Raises NothingThereError."""
    profile, _, collection = find_model(service, name).id.partition("/")
    return AskedModel(profile, (collection,) if collection else ())

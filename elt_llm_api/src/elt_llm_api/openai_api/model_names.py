"""Models of this server: `PROFILE` asks all collections, `PROFILE/COLLECTION` one."""

from typing import NamedTuple

from pydantic import Field

from elt_llm_api.schemas import Wire
from elt_llm_api.services.profile_registry import ProfileRegistry
from elt_llm_core.errors import NothingThereError, suggest
from elt_llm_core.store import Store

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


def list_models(profiles: ProfileRegistry, store: Store) -> list[ModelOut]:
    """Return a model for each profile that lacks nothing, and each of its collections.

    Args:
        profiles: The profiles.
        store: The data root with the collections.
    """
    cards = store.collections()
    models = []
    incomplete = profiles.incomplete()
    for profile in profiles.names():
        if profile in incomplete:
            continue
        models.append(ModelOut(id=profile, name=f"All documents ({profile})"))
        models += [
            ModelOut(id=f"{profile}/{card.name}", name=f"{card.label} ({profile})")
            for card in cards
        ]
    return models


def find_model(profiles: ProfileRegistry, store: Store, name: str) -> ModelOut:
    """Return the model with a name. Raises NothingThereError."""
    models = {model.id: model for model in list_models(profiles, store)}
    if name not in models:
        known = suggest(name, models)
        raise NothingThereError(f"the model {name[:200]!r} does not exist", known)
    return models[name]


def resolve_model(profiles: ProfileRegistry, store: Store, name: str) -> AskedModel:
    """Return the profile and the collections of a model. Raises NothingThereError."""
    profile, _, collection = find_model(profiles, store, name).id.partition("/")
    return AskedModel(profile, (collection,) if collection else ())

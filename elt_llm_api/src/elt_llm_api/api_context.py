"""What the routes, the page, MCP and commands share in one process."""

from dataclasses import dataclass

from elt_llm_api.document_pages import OpenDocuments
from elt_llm_api.services.derived_views import DerivedViews
from elt_llm_api.services.job_runner import JobRunner
from elt_llm_api.services.profile_registry import ProfileRegistry
from elt_llm_api.services.soundness_check import SoundnessCheck
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models


@dataclass(frozen=True)
class ApiContext:
    """The configuration, the store, and the services that keep something between calls.

    Services without a state are functions of the store; see `elt_llm_api.services`.
    """

    config: RagConfig
    store: Store
    profiles: ProfileRegistry
    runner: JobRunner
    views: DerivedViews
    opened: OpenDocuments
    check: SoundnessCheck


def build_context(
    config: RagConfig, store: Store | None = None, models: Models | None = None
) -> ApiContext:
    """Return the context of a process.

    Args:
        config: The configuration in force.
        store: The data root; by default the configured one.
        models: The models; by default the configured ones, loaded by the first
            question.
    """
    store = store or Store(config.stores.data_dir, config.keywords)
    profiles = ProfileRegistry(config, store, models)
    runner = JobRunner(config, store, profiles)
    return ApiContext(
        config=config,
        store=store,
        profiles=profiles,
        runner=runner,
        views=DerivedViews(store, runner),
        opened=OpenDocuments(store),
        check=SoundnessCheck(store),
    )

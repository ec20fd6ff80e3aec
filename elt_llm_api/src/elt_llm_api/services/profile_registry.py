"""The profiles, each with its configuration, its models and its answer cache."""

import threading

from elt_llm_core.config.loader import (
    RagConfig,
    known_profiles,
    load_config,
    with_models,
)
from elt_llm_core.errors import ConfigError, UnknownProfileError
from elt_llm_core.profile_notes import ProfileNote, profile_notes
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query import Library, check_installed

DEFAULT_PROFILE = "default"


class ProfileRegistry:
    """One `Library` for each profile and choice of models. Thread-safe."""

    def __init__(
        self, config: RagConfig, store: Store, models: Models | None = None
    ) -> None:
        self._config = config
        self._store = store
        self._models = models
        self._libraries: dict[tuple[str, str], Library] = {}
        self._incomplete: dict[str, ConfigError] | None = None
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Return the names of the available profiles."""
        return [DEFAULT_PROFILE, *known_profiles(pack=self._config.consumer.pack)]

    def notes(self) -> tuple[ProfileNote, ...]:
        """Return the description of each profile, as in `elt-llm config profiles`."""
        return profile_notes(self._config.consumer.pack)

    def incomplete(self) -> dict[str, ConfigError]:
        """Return profiles without a package for one of their stages, with the error.

        The installed packages are checked once.
        """
        if self._incomplete is None:
            errors = {name: self._check(name) for name in self.names()}
            self._incomplete = {name: error for name, error in errors.items() if error}
        return self._incomplete

    def _check(self, profile: str) -> ConfigError | None:
        try:
            check_installed(self.config_of(profile))
        except ConfigError as error:
            return error
        return None

    def library(self, profile: str = DEFAULT_PROFILE, chosen: str = "") -> Library:
        """Return the store with the configuration and the models of a profile.

        It is cached, with its models and its answer cache, until the profile's file
        changes.

        Args:
            profile: The profile.
            chosen: Models that replace those of the profile; see `model_choice`.

        Raises:
            ConfigError: If the profile or the models are not valid.
        """
        config = self.config_of(profile, chosen)
        key = profile, chosen
        with self._lock:
            kept = self._libraries.get(key)
            if kept is None or kept.config != config:
                given = self._models if key == (DEFAULT_PROFILE, "") else None
                kept = Library(config=config, models=given, store=self._store)
                self._libraries[key] = kept
            return kept

    def models(self, profile: str = DEFAULT_PROFILE, chosen: str = "") -> Models:
        """Return the models of a profile, or the chosen ones, built once."""
        return self.library(profile, chosen).models

    def config_of(self, profile: str, chosen: str = "") -> RagConfig:
        """Return the configuration with the models and the query settings of a profile.

        Args:
            profile: The profile.
            chosen: Models that replace those of the profile; see `model_choice`.

        Raises:
            UnknownProfileError: If the profile does not exist.
            UnknownModelsError: If `chosen` is unknown.
        """
        models = chosen or None  # a request without the field leaves them
        if profile == DEFAULT_PROFILE:
            return with_models(self._config, models)
        if profile not in self.names():
            raise UnknownProfileError(profile, self.names())
        pack = {"consumer": {"pack": self._config.consumer.pack}}
        shipped = load_config(profile=profile, overrides=pack, models=models)
        sections = ("query", "models", "ollama", "openai_like")
        return self._config.model_copy(
            update={section: getattr(shipped, section) for section in sections}
        )

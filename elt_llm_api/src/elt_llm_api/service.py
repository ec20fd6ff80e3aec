"""What the API and the page ask of the packages below: one thin class."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from elt_llm_api.pages import render_page
from elt_llm_api.problems import for_strangers
from elt_llm_api.uploads import Upload
from elt_llm_core.config import RagConfig, known_profiles, load_config
from elt_llm_core.errors import (
    CollectionNotFoundError,
    ConfigError,
    UnknownProfileError,
    UsageError,
)
from elt_llm_core.jobs import JOBS, JobContext, JobReport, Progress
from elt_llm_core.models.build import build_models
from elt_llm_core.names import collection_id
from elt_llm_core.results import Box, QueryResult, SearchResult
from elt_llm_core.store import Collection, CollectionCard, Store
from elt_llm_core.store.health import require_sound
from elt_llm_core.strategy import Models
from elt_llm_query import (
    SemanticCache,
    build_cache,
    check_installed,
    query_collections,
    search_collections,
)

PDF = "application/pdf"
DEFAULT_PROFILE = "default"
NO_PASSWORD = SecretStr("")


class QueryService:
    """Store, models and configuration behind the questions the outside may ask."""

    def __init__(
        self, config: RagConfig, store: Store, models: Models | None = None
    ) -> None:
        self.config = config
        self.store = store
        self._models = {DEFAULT_PROFILE: models} if models else {}
        self._caches: dict[str, SemanticCache | None] = {}
        self._missing: dict[str, ConfigError] | None = None
        self._lock = threading.Lock()
        self._sound = False

    def profiles(self) -> list[str]:
        """Names of the profiles a question may choose."""
        return [DEFAULT_PROFILE, *known_profiles()]

    def unavailable(self) -> dict[str, ConfigError]:
        """Profiles that cannot be asked with what is installed, and why; found once."""
        if self._missing is None:
            found = {name: self._fault(name) for name in self.profiles()}
            self._missing = {name: why for name, why in found.items() if why}
        return self._missing

    def _fault(self, profile: str) -> ConfigError | None:
        try:
            check_installed(self.profile_config(profile))
        except ConfigError as error:
            return error
        return None

    def models(self, profile: str = DEFAULT_PROFILE) -> Models:
        """The models of a profile, built once."""
        with self._lock:
            if profile not in self._models:
                self._models[profile] = build_models(self.profile_config(profile))
            return self._models[profile]

    def cache(self, profile: str = DEFAULT_PROFILE) -> SemanticCache | None:
        """What a profile's questions found, where it keeps that."""
        models, config = self.models(profile), self.profile_config(profile)
        with self._lock:
            if profile not in self._caches:
                self._caches[profile] = build_cache(config, models)
            return self._caches[profile]

    def profile_config(self, profile: str) -> RagConfig:
        """The configuration with a profile's models and way of answering."""
        if profile == DEFAULT_PROFILE:
            return self.config
        if profile not in known_profiles():
            raise UnknownProfileError(profile, self.profiles())
        chosen = load_config(profile=profile)
        parts = ("query", "models", "ollama", "openai_like")
        return self.config.model_copy(
            update={part: getattr(chosen, part) for part in parts}
        )

    def collections(self) -> list[CollectionCard]:
        """Cards of all collections, by name."""
        return self.store.collections()

    def require_sound(self) -> None:
        """Raise TruthError while the data is damaged; once it was not, believe it."""
        if not self._sound:
            require_sound(self.store.data_dir)
            self._sound = True

    def opened(self) -> list[Collection]:
        """All collections with their indexes, by name."""
        return [self.store.open(card.name) for card in self.collections()]

    def resolve(self, names: Sequence[str]) -> list[str]:
        """The named collections, or all. Raises CollectionNotFoundError, UsageError."""
        known = [card.name for card in self.collections()]
        ids = [collection_id(name) for name in names]
        for key, name in zip(ids, names, strict=True):
            if key not in known:
                raise CollectionNotFoundError(name, known)
        if not known:
            raise UsageError(
                "there are no documents yet", "add some, or run: elt-llm demo"
            )
        return sorted(set(ids)) or known

    def query(
        self,
        names: Sequence[str],
        question: str,
        profile: str = DEFAULT_PROFILE,
        where: Mapping[str, Any] | None = None,
    ) -> QueryResult:
        """An answer with proof from the named collections (all, where none is)."""
        found = query_collections(
            self.resolve(names),
            question,
            store=self.store,
            config=self.profile_config(profile),
            models=self.models(profile),
            where=where,
            named=bool(names),
            cache=self.cache(profile),
        )
        return for_strangers(found)

    def search(
        self,
        names: Sequence[str],
        question: str,
        k: int | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """The best passages of the named collections (all, where none is)."""
        found = search_collections(
            self.resolve(names),
            question,
            store=self.store,
            config=self.config,
            models=self.models(),
            k=k,
            where=where,
            named=bool(names),
            cache=self.cache(),
        )
        return for_strangers(found)

    def has_pages(self, document_id: str) -> bool:
        """Whether pages of the document can be shown."""
        row = self.store.document(document_id)
        return row is not None and row.mime == PDF and row.has_original

    def page_image(
        self,
        document_id: str,
        number: int,
        boxes: Sequence[Box] = (),
        *,
        scale: float = 1.5,
        crop: bool = False,
    ) -> bytes | None:
        """A page of a kept PDF as a JPEG, `boxes` marked; None for anything else."""
        row = self.store.document(document_id)
        if row is None or row.mime != PDF:
            return None
        original = self.store.original(document_id)
        if original is None:
            return None
        return render_page(original, number, boxes, scale=scale, crop=crop)

    def check_writable(self) -> None:
        """Raise StoreLockedError while another process writes, StoreWriteError."""
        with self.store.writer():
            pass

    def ingest(
        self,
        collection: str,
        uploads: Sequence[Upload],
        progress: Progress,
        password: SecretStr = NO_PASSWORD,
    ) -> JobReport:
        """Take files into a collection. Sending a name again replaces the document.

        `password` opens those that are protected; it is kept nowhere.
        """
        options: dict[str, object] = {
            "paths": tuple(str(upload.path) for upload in uploads),
            "collection": collection,
            "uris": tuple(f"upload:///{upload.name}" for upload in uploads),
            "passwords": (password,) if password.get_secret_value() else (),
        }
        return self._run("ingest", options, progress)

    def glossary(
        self, collections: Sequence[str], model: str, folder: Path, progress: Progress
    ) -> JobReport:
        """Build the glossary of the collections into `folder`."""
        options: dict[str, object] = {
            "collections": tuple(self.resolve(collections)),
            "model": model,
            "output": folder / "glossary.csv",
        }
        return self._run("glossary", options, progress)

    def _run(
        self, kind: str, options: dict[str, object], progress: Progress
    ) -> JobReport:
        strategy = JOBS.load(kind, options, self.config.allowed_plugins())
        context = JobContext(self.config, self.store, progress)
        return strategy.build(self.models())(context)

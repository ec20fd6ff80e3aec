"""What the API and the page ask of the packages below: one thin class."""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from elt_llm_api.page_images import render_page
from elt_llm_api.problems import redact_result
from elt_llm_api.products import PRODUCTS
from elt_llm_api.uploads import Upload
from elt_llm_core.config.loader import (
    RagConfig,
    known_profiles,
    load_config,
    with_models,
)
from elt_llm_core.errors import (
    CollectionNotFoundError,
    ConfigError,
    NothingThereError,
    UnknownProfileError,
    UsageError,
)
from elt_llm_core.identifiers import collection_id
from elt_llm_core.jobs import JOBS, JobContext, JobReport, Progress
from elt_llm_core.models.factory import build_models
from elt_llm_core.profile_notes import ProfileNote, profile_notes
from elt_llm_core.results import Box, QueryResult, SearchResult
from elt_llm_core.store import Collection, CollectionCard, DocumentRow, Store, editing
from elt_llm_core.store.maintenance.health import require_sound
from elt_llm_core.store.stored_tables import stored_table, stored_tables
from elt_llm_core.strategy import Models
from elt_llm_core.tables import Relation
from elt_llm_query import (
    SemanticCache,
    build_cache,
    check_installed,
    example_questions,
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
        self._models = {(DEFAULT_PROFILE, ""): models} if models else {}
        self._caches: dict[tuple[str, str], SemanticCache | None] = {}
        self._missing: dict[str, ConfigError] | None = None
        self._examples: dict[tuple[tuple[str, str], ...], tuple[str, ...]] = {}
        self._lock = threading.Lock()
        self._sound = False

    def profiles(self) -> list[str]:
        """Names of the profiles a question may choose."""
        return [DEFAULT_PROFILE, *known_profiles()]

    def incomplete(self) -> dict[str, ConfigError]:
        """Profiles that leave a stage out with what is installed, and why; once."""
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

    def models(self, profile: str = DEFAULT_PROFILE, chosen: str = "") -> Models:
        """The models of a profile, or those chosen instead, built once."""
        key = profile, chosen
        with self._lock:
            if key not in self._models:
                self._models[key] = build_models(self.profile_config(*key))
            return self._models[key]

    def cache(
        self, profile: str = DEFAULT_PROFILE, chosen: str = ""
    ) -> SemanticCache | None:
        """What a profile's questions to those models found, where it keeps that."""
        key = profile, chosen
        models, config = self.models(*key), self.profile_config(*key)
        with self._lock:
            if key not in self._caches:
                self._caches[key] = build_cache(config, models)
            return self._caches[key]

    def profile_config(self, profile: str, chosen: str = "") -> RagConfig:
        """The configuration with a profile's models and way of answering.

        `chosen` models take the place of the profile's; see `model_choice`.
        """
        models = chosen or None  # a request without the field leaves them
        if profile == DEFAULT_PROFILE:
            return with_models(self.config, models)
        if profile not in known_profiles():
            raise UnknownProfileError(profile, self.profiles())
        told = load_config(profile=profile, models=models)
        parts = ("query", "models", "ollama", "openai_like")
        return self.config.model_copy(
            update={part: getattr(told, part) for part in parts}
        )

    def notes(self) -> tuple[ProfileNote, ...]:
        """What each profile does and needs, as `elt-llm config profiles` lists them."""
        return profile_notes()

    def states(self, names: Sequence[str]) -> dict[str, str]:
        """The state of the named collections (all, where none is); see Store.state."""
        names = names or [card.name for card in self.collections()]
        return {name: self.store.state(name) for name in names}

    def examples(self, names: Sequence[str]) -> tuple[str, ...]:
        """Questions to begin with, of the named collections (all, where none is).

        Raises CollectionNotFoundError.
        """
        states = tuple(self.states(names).items())
        if states not in self._examples:
            found = example_questions(self.store, [name for name, _ in states])
            self._examples = {states: found}
        return self._examples[states]

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
        models: str = "",
    ) -> QueryResult:
        """An answer with proof from the named collections (all, where none is).

        `models` take the place of the profile's; see `model_choice`.
        """
        found = query_collections(
            self.resolve(names),
            question,
            store=self.store,
            config=self.profile_config(profile, models),
            models=self.models(profile, models),
            where=where,
            named=bool(names),
            cache=self.cache(profile, models),
        )
        return redact_result(found)

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
        return redact_result(found)

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

    def remove(self, collection: str, document: DocumentRow | None = None) -> None:
        """Take a collection out, or one of its documents only.

        Raises CollectionNotFoundError, StoreLockedError, StoreWriteError.
        """
        if document is None:
            editing.drop_collections(self.store, [self.store.card(collection).name])
        else:
            editing.remove_documents(self.store, collection, [document])

    def rename(
        self, collection: str, title: str, document: DocumentRow | None = None
    ) -> None:
        """Call a collection, or one of its documents, by another title.

        Raises CollectionNotFoundError, InvalidNameError, NameTakenError,
        StoreLockedError, StoreWriteError.
        """
        name = self.store.card(collection).name
        editing.rename(self.store, name, title, [document] if document else [])

    def document(self, document_id: str) -> DocumentRow:
        """The row of a document. Raises NothingThereError."""
        row = self.store.document(document_id)
        if row is None:
            raise NothingThereError("no such document")
        return row

    def product(
        self, kind: str, collections: Sequence[str], model: Sequence[str]
    ) -> Callable[[Path, Progress], JobReport]:
        """Return the work of building a product of collections.

        Args:
            kind: A key of `PRODUCTS`.
            collections: Names of the collections with documents; empty for all.
            model: Names of the collections with the model, joined into one.

        Raises:
            UsageError: The product does not exist.
            CollectionNotFoundError: A collection does not exist.
        """
        if kind not in PRODUCTS:
            raise UsageError(
                f"there is no product {kind!r}", f"it is one of {', '.join(PRODUCTS)}"
            )
        options: dict[str, object] = {
            "collections": tuple(self.resolve(collections)),
            "model": tuple(self.resolve(model)) if model else (),
        }
        ending = "csv" if kind == "glossary" else "json"

        def build(folder: Path, progress: Progress) -> JobReport:
            output = {"output": folder / f"{kind}.{ending}"}
            return self._run(kind, {**options, **output}, progress)

        return build

    def tables(self, collection: str) -> list[Relation]:
        """The tables of a collection in the order of its documents.

        Raises CollectionNotFoundError or InvalidNameError.
        """
        return list(stored_tables(self.store, self.store.card(collection).name))

    def table(self, collection: str, table: str) -> Relation:
        """One table by its id. Raises CollectionNotFoundError, NothingThereError."""
        try:
            return stored_table(self.store, self.store.card(collection).name, table)
        except UsageError as error:
            raise NothingThereError(str(error)) from error

    def _run(
        self, kind: str, options: dict[str, object], progress: Progress
    ) -> JobReport:
        strategy = JOBS.load(kind, options, self.config.allowed_plugins())
        context = JobContext(self.config, self.store, progress)
        return strategy.build(self.models())(context)

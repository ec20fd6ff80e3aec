"""The library object for Python programs: add documents, ask questions.

    with Library("my-documents") as library:
        library.add("handbook.pdf", collection="handbook")
        print(library.ask("Who may register a player?").answer)

It stores the arguments that the functions of `elt_llm_query.query` take and adds no
behaviour: read `query_collections` to see how a question is answered.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from elt_llm_core.config.loader import load_config, with_models
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import CollectionNotFoundError, UsageError
from elt_llm_core.identifiers import collection_id
from elt_llm_core.jobs import JOBS, JobContext, JobReport, Progress, run_job, silent
from elt_llm_core.models.factory import build_models
from elt_llm_core.patience import Patience
from elt_llm_core.results import QueryResult, SearchResult
from elt_llm_core.store import CollectionCard, DocumentRow, Store, editing
from elt_llm_core.strategy import Models
from elt_llm_query.caching.semantic_cache import SemanticCache, build_cache
from elt_llm_query.conversation.caller_turns import exchanges_of
from elt_llm_query.conversation.turn import LOCAL, Chat, ChatResult
from elt_llm_query.plan import NO_LIMITS, SourceLimits
from elt_llm_query.query import query_collections, search_collections
from elt_llm_query.step_events import Watch

T = TypeVar("T")
PathLike = str | Path
Names = str | Sequence[str]
Where = Mapping[str, Any]


class Library:
    """A data root with its configuration and models.

    Methods are safe to call from several threads; one writer works at a time. The `a…`
    methods run in a separate thread, and stop when their task is cancelled.
    """

    def __init__(
        self,
        path: PathLike | None = None,
        *,
        config: RagConfig | PathLike | None = None,
        profile: str | None = None,
        models: Models | str | None = None,
        store: Store | None = None,
    ) -> None:
        """Open a data root. It is created by the first `add`, not here.

        Args:
            path: The folder of the data root; by default the configured one
                (`stores.data_dir`).
            config: The configuration, or its YAML file; by default the shipped one,
                with the `ELT_LLM_…` environment variables.
            profile: Name or YAML file of a profile on top of a configuration file.
            models: The source of the models, such as `embedded`, `ollama` or
                `embedded+ollama`; or model objects.
            store: An open data root, instead of `path`. It stays open when the library
                is closed.

        Raises:
            ConfigError: If the configuration is not valid.
            UnknownProfileError: If the profile does not exist.
            UnknownModelsError: If `models` is an unknown name.
            UsageError: If both a `RagConfig` and a profile are given, or both `path`
                and `store`.
        """
        if path is not None and store is not None:
            raise UsageError(
                "a library has either a path or a store", "pass only one of them"
            )
        self.config: Final = _load(config, profile, models, path)
        self._built: Final = models if isinstance(models, Models) else None
        self._store: Final = store or Store(
            self.config.stores.data_dir, self.config.keywords
        )
        self._owns_store: Final = store is None
        self._closed: Final = threading.Event()
        self._lock: Final = threading.RLock()

    @property
    def store(self) -> Store:
        """Return the data root. Raises UsageError if the library is closed."""
        if self._closed.is_set():
            raise UsageError(
                f"the library of {self._store.data_dir} is closed",
                "open another: Library(PATH)",
            )
        return self._store

    @property
    def models(self) -> Models:
        """Return the embedder and the language model, built at first use.

        Raises:
            ConfigError: If a model cannot be built from the configuration.
        """
        with self._lock:  # otherwise two threads would load the weights twice
            return self._models

    @property
    def cache(self) -> SemanticCache | None:
        """Return the cache of questions, or None if none is configured."""
        with self._lock:
            return self._cache

    @cached_property
    def _models(self) -> Models:
        return self._built or build_models(self.config)

    @cached_property
    def _cache(self) -> SemanticCache | None:
        return build_cache(self.config, self._models)

    def add(
        self,
        paths: PathLike | Sequence[PathLike],
        collection: str,
        *,
        progress: Progress = silent,
        **options: Any,
    ) -> JobReport:
        """Ingest files or folders. Unchanged files are skipped, changed ones replaced.

        Args:
            paths: Files, folders or patterns.
            collection: The collection, by id or title; it is created if it is new.
            progress: Called with stage, finished steps, total steps and a detail.
            **options: Further options of the ingest job, such as `prune`, `rebuild`,
                `metadata`, `passwords` and `wait` (seconds to wait for another writer).

        Returns:
            Counts of files by outcome; a file that failed is in `degradations`.

        Raises:
            LoadError: If the only file cannot be read.
            NothingTakenError: If none of several files could be ingested.
            ConfigError: If an option is unknown or invalid.
            StoreLockedError: If another process writes.
            StoreWriteError: If the disk is full or read-only.
        """
        context = JobContext(self.config, self.store, progress)
        return self._ingest(context, paths, collection, options)

    async def aadd(
        self,
        paths: PathLike | Sequence[PathLike],
        collection: str,
        *,
        progress: Progress = silent,
        **options: Any,
    ) -> JobReport:
        """Like `add`, in a thread; if cancelled, it ends after the current file."""
        stop = threading.Event()
        context = JobContext(self.config, self.store, progress, stop.is_set)
        try:
            return await asyncio.to_thread(
                self._ingest, context, paths, collection, options
            )
        except asyncio.CancelledError:
            stop.set()
            raise

    def _ingest(
        self,
        context: JobContext,
        paths: PathLike | Sequence[PathLike],
        collection: str,
        options: Mapping[str, Any],
    ) -> JobReport:
        several = [paths] if isinstance(paths, str | Path) else paths
        given = {"paths": tuple(map(str, several)), "collection": collection}
        # By entry point: this package may not import the ingest package.
        job = JOBS.load("ingest", {**options, **given}, self.config.allowed_plugins())
        return run_job(job.build(self.models), context)

    def search(
        self,
        question: str,
        collections: Names = (),
        *,
        limit: int | None = None,
        where: Where | None = None,
    ) -> SearchResult:
        """Find the best sources for a question, without an answer.

        Args:
            question: A question or keywords.
            collections: Ids or titles of the collections to search; none means all.
            limit: Number of sources; by default the configured one.
            where: Limits the sources, such as `{"page": 12}`; a list holds
                alternatives. See `Collection.ids` for the keys.

        Returns:
            The sources, best first.

        Raises:
            UsageError: If the question is empty, a filter is unknown, or there are no
                collections.
            CollectionNotFoundError: If a collection does not exist.
            CollectionMismatchError: If a collection was embedded by another model.
        """
        return search_collections(
            resolve_collections(self.store, collections),
            question,
            store=self.store,
            config=self.config,
            models=self.models,
            k=limit,
            where=where,
            named=bool(collections),
            cache=self.cache,
        )

    def ask(
        self,
        question: str,
        collections: Names = (),
        *,
        where: Where | None = None,
        limits: SourceLimits = NO_LIMITS,
    ) -> QueryResult:
        """Answer a question from the documents, with a citation for each claim.

        Args:
            question: The question.
            collections: Ids or titles of the collections to ask; none means all.
            where: Limits the sources; see `search`.
            limits: Number of sources for this question, and whether they are reranked.

        Returns:
            The answer or a refusal (see `status`), its citations and sources;
            `degradations` lists what was disabled or unavailable.

        Raises:
            UsageError, CollectionNotFoundError, CollectionMismatchError: As `search`.
        """
        return query_collections(
            resolve_collections(self.store, collections),
            question,
            store=self.store,
            config=limits.apply(self.config),
            models=self.models,
            where=where,
            named=bool(collections),
            cache=self.cache,
        )

    def chat(  # noqa: PLR0913 - what may be said of a message
        self,
        message: str,
        conversation: str = "",
        collections: Names = (),
        *,
        where: Where | None = None,
        limits: SourceLimits = NO_LIMITS,
        owner: str = LOCAL,
        watch: Watch | None = None,
        revise: Callable[[QueryResult], QueryResult] | None = None,
    ) -> ChatResult:
        """Answer a message of a conversation that is stored in the data root.

        Args:
            message: The question.
            conversation: Id of the conversation; it is created if it is new, and has a
                random id if none is given (`ChatResult.conversation_id`).
            collections: Ids or titles of the collections to ask; none means all.
            where: Limits the sources; see `search`.
            limits: Number of sources, and whether they are reranked.
            owner: The owner of the conversation. Each conversation in
                `Library.store.conversations` has one owner.
            watch: Called with each step, with the words of a model as they arrive and
                with the checked answer; it must return at once.
            revise: Returns the result to store, given the result of the question.

        Returns:
            The answer, its text with the source numbers of the conversation, and these
            sources.

        Raises:
            ForeignConversationError: If the conversation belongs to another owner.
            TurnReplacedError: If another message was sent to it in the meantime.
            UsageError, CollectionNotFoundError, CollectionMismatchError: As `search`;
                nothing of the turn is stored then.
        """
        chat = self._open_chat(collections, where, limits)
        chat = replace(chat, owner=owner, revise=revise)
        return chat.ask(message, conversation, watch)

    def reply(
        self,
        message: str,
        turns: Sequence[tuple[str, str]] = (),
        collections: Names = (),
        *,
        where: Where | None = None,
        limits: SourceLimits = NO_LIMITS,
    ) -> QueryResult:
        """Answer a message of a conversation that the caller stores.

        Args:
            message: The question.
            turns: Earlier questions and answers, the oldest first.
            collections: Ids or titles of the collections to ask; none means all.
            where: Limits the sources; see `search`.
            limits: Number of sources, and whether they are reranked.

        Returns:
            As `ask`, with the resolved question. Nothing is stored.

        Raises:
            UsageError, CollectionNotFoundError, CollectionMismatchError: As `search`.
        """
        chat = self._open_chat(collections, where, limits)
        exchanges = exchanges_of(turns, self.store, chat.names)
        return chat.run(message, *exchanges).result

    def _open_chat(
        self, collections: Names, where: Where | None, limits: SourceLimits
    ) -> Chat:
        return Chat(
            resolve_collections(self.store, collections),
            store=self.store,
            config=limits.apply(self.config),
            models=self.models,
            where=where,
            cache=self.cache,
            named=bool(collections),
        )

    async def asearch(
        self,
        question: str,
        collections: Names = (),
        *,
        limit: int | None = None,
        where: Where | None = None,
    ) -> SearchResult:
        """Like `search`, without blocking the event loop."""
        return await self._in_thread(
            lambda: self.search(question, collections, limit=limit, where=where)
        )

    async def aask(
        self,
        question: str,
        collections: Names = (),
        *,
        where: Where | None = None,
        limits: SourceLimits = NO_LIMITS,
    ) -> QueryResult:
        """Like `ask`, without blocking the event loop."""
        return await self._in_thread(
            lambda: self.ask(question, collections, where=where, limits=limits)
        )

    async def achat(  # noqa: PLR0913 - as `chat`
        self,
        message: str,
        conversation: str = "",
        collections: Names = (),
        *,
        where: Where | None = None,
        limits: SourceLimits = NO_LIMITS,
        owner: str = LOCAL,
        watch: Watch | None = None,
    ) -> ChatResult:
        """Like `chat`, without blocking the event loop; `watch` runs in a thread."""
        return await self._in_thread(
            lambda: self.chat(
                message,
                conversation,
                collections,
                where=where,
                limits=limits,
                owner=owner,
                watch=watch,
            )
        )

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run a question in a thread; if the task is cancelled, the question stops."""
        patience = Patience(self.config.query.question_timeout)

        def answer() -> T:
            with patience.apply():
                return work()

        try:
            return await asyncio.to_thread(answer)
        except asyncio.CancelledError:
            patience.abandon()
            raise

    def collections(self) -> list[CollectionCard]:
        """List the collections, by id."""
        return self.store.collections()

    def documents(self, collection: str) -> list[DocumentRow]:
        """List the documents of a collection, by URI and part.

        Raises:
            CollectionNotFoundError: If the collection does not exist.
        """
        return self.store.documents(collection_id(collection))

    def remove(self, collection: str, *documents: str, wait: float = 0.0) -> None:
        """Remove documents, or the whole collection if none is named.

        Args:
            collection: The collection, by id or title.
            *documents: File names, URIs or document ids.
            wait: Seconds to wait for another writer.

        Raises:
            CollectionNotFoundError: If the collection does not exist.
            UsageError: If a name matches no document, or documents of several URIs.
            StoreLockedError: If another process writes.
        """
        name = self.store.card(collection_id(collection)).name
        if documents:
            rows = editing.select_documents(self.store, name, documents)
            editing.remove_documents(self.store, name, rows, wait)
        else:
            editing.drop_collections(self.store, [name], wait)

    def rename(
        self, collection: str, title: str, document: str = "", *, wait: float = 0.0
    ) -> None:
        """Give a collection, or one of its documents, another title.

        Args:
            collection: The collection, by id or title; its id does not change.
            title: The new title.
            document: File name, URI or id of a document that gets the title instead.
            wait: Seconds to wait for another writer.

        Raises:
            CollectionNotFoundError: If the collection does not exist.
            UsageError: If `document` matches none, or documents of several URIs.
            InvalidNameError: If no collection id can be derived from `title`.
            NameTakenError: If another collection has that title.
            StoreLockedError: If another process writes.
        """
        name = self.store.card(collection_id(collection)).name
        named = [document] if document else []
        rows = editing.select_documents(self.store, name, named)
        editing.rename(self.store, name, title, rows, wait)

    def close(self) -> None:
        """Close the data root; later calls raise UsageError."""
        if not self._closed.is_set() and self._owns_store:
            self._store.close()
        self._closed.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def resolve_collections(store: Store, names: Names) -> list[str]:
    """Resolve the collections that a question is for.

    Args:
        store: The data root.
        names: Ids or titles, or a single one; none means all collections.

    Returns:
        Ids in alphabetical order, each once.

    Raises:
        CollectionNotFoundError: If a collection does not exist.
        UsageError: If there are no collections.
    """
    known = [card.name for card in store.collections()]
    several = [names] if isinstance(names, str) else names
    ids = {collection_id(name): name for name in several}
    for key, name in ids.items():
        if key not in known:
            raise CollectionNotFoundError(name, known)
    if not known:
        raise UsageError(
            "there are no documents yet", "ingest some, or run: elt-llm demo"
        )
    return sorted(ids) or known


def _load(
    config: RagConfig | PathLike | None,
    profile: str | None,
    models: Models | str | None,
    path: PathLike | None,
) -> RagConfig:
    """Return the configuration that the arguments of a library describe."""
    chosen = models if isinstance(models, str) else None
    stores = {} if path is None else {"data_dir": Path(path)}
    if not isinstance(config, RagConfig):
        file = None if config is None else Path(config)
        return load_config(file, profile, None, {"stores": stores}, chosen)
    if profile is not None:
        raise UsageError(
            "a profile applies to a configuration file, not to a RagConfig",
            "load it: load_config(profile=…)",
        )
    kept = config.stores.model_copy(update=stores)
    return with_models(config.model_copy(update={"stores": kept}), chosen)

"""The operations of the packages below for the routes and the page, in one class."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import SecretStr

from elt_llm_api.document_pages import OpenDocuments
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
    ConfigError,
    NothingThereError,
    UnknownProfileError,
    UsageError,
)
from elt_llm_core.files.scratch import Scratch
from elt_llm_core.graph.model_graph import ModelGraph, open_graph
from elt_llm_core.job_records import JobRecord
from elt_llm_core.job_runs import run_recorded_job
from elt_llm_core.jobs import (
    JOBS,
    JobContext,
    JobReport,
    Progress,
    Runner,
    run_job,
    silent,
)
from elt_llm_core.patience import current
from elt_llm_core.profile_notes import ProfileNote, profile_notes
from elt_llm_core.results import Box, QueryResult, SearchResult
from elt_llm_core.store import Collection, CollectionCard, DocumentRow, Store, editing
from elt_llm_core.store.maintenance.health import require_sound
from elt_llm_core.store.stored_tables import stored_table, stored_tables
from elt_llm_core.strategy import Models
from elt_llm_core.tables import Relation
from elt_llm_core.versions import VersionKind
from elt_llm_query import Library, check_installed, example_questions
from elt_llm_query.conversation.turn import ChatResult
from elt_llm_query.library import resolve_collections
from elt_llm_query.page_images import render_page
from elt_llm_query.plan import NO_LIMITS, SourceLimits
from elt_llm_query.step_events import Watch

PDF = "application/pdf"
DEFAULT_PROFILE = "default"
NO_PASSWORD = SecretStr("")
Rows = tuple[dict[str, Any], ...]


class QueryService:
    """The store, the configuration and one `Library` per profile."""

    def __init__(
        self, config: RagConfig, store: Store, models: Models | None = None
    ) -> None:
        self.config = config
        self.store = store
        self.opened = OpenDocuments(store)
        self._models = models
        self._libraries: dict[tuple[str, str], Library] = {}
        self._incomplete: dict[str, ConfigError] | None = None
        self._examples: dict[tuple[tuple[str, str], ...], tuple[str, ...]] = {}
        self._glossaries: dict[tuple[tuple[str, str], ...], Rows] = {}
        self._graphs: dict[tuple[tuple[str, str], ...], ModelGraph] = {}
        self._lock = threading.Lock()
        self._sound = False

    def profiles(self) -> list[str]:
        """Return the names of the available profiles."""
        return [DEFAULT_PROFILE, *known_profiles(pack=self.config.consumer.pack)]

    def incomplete_profiles(self) -> dict[str, ConfigError]:
        """Return profiles without a package for one of their stages, with the error.

        The installed packages are checked once.
        """
        if self._incomplete is None:
            errors = {name: self._check_profile(name) for name in self.profiles()}
            self._incomplete = {name: error for name, error in errors.items() if error}
        return self._incomplete

    def _check_profile(self, profile: str) -> ConfigError | None:
        try:
            check_installed(self.profile_config(profile))
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
        config = self.profile_config(profile, chosen)
        key = profile, chosen
        with self._lock:
            kept = self._libraries.get(key)
            if kept is None or kept.config != config:
                given = self._models if key == (DEFAULT_PROFILE, "") else None
                kept = Library(config=config, models=given, store=self.store)
                self._libraries[key] = kept
            return kept

    def models(self, profile: str = DEFAULT_PROFILE, chosen: str = "") -> Models:
        """Return the models of a profile, or the chosen ones, built once."""
        return self.library(profile, chosen).models

    def profile_config(self, profile: str, chosen: str = "") -> RagConfig:
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
            return with_models(self.config, models)
        if profile not in self.profiles():
            raise UnknownProfileError(profile, self.profiles())
        pack = {"consumer": {"pack": self.config.consumer.pack}}
        shipped = load_config(profile=profile, overrides=pack, models=models)
        sections = ("query", "models", "ollama", "openai_like")
        return self.config.model_copy(
            update={section: getattr(shipped, section) for section in sections}
        )

    def notes(self) -> tuple[ProfileNote, ...]:
        """Return the description of each profile, as in `elt-llm config profiles`."""
        return profile_notes(self.config.consumer.pack)

    def states(self, names: Sequence[str]) -> dict[str, str]:
        """Return the state of the named collections, or of all; see `Store.state`."""
        names = names or [card.name for card in self.collections()]
        return {name: self.store.state(name) for name in names}

    def examples(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return example questions for the named collections, or all.

        Raises:
            CollectionNotFoundError: If a collection does not exist.
        """
        states = tuple(self.states(names).items())
        if states not in self._examples:
            questions = example_questions(self.store, [name for name, _ in states])
            self._examples = {states: questions}
        return self._examples[states]

    def collections(self) -> list[CollectionCard]:
        """Return the cards of all collections, by name."""
        return self.store.collections()

    def require_sound(self) -> None:
        """Raise UnusableDatabaseError if the database is damaged.

        It is checked until it was once sound.
        """
        if not self._sound:
            require_sound(self.store.data_dir)
            self._sound = True

    def open_collections(self) -> list[Collection]:
        """Return all collections with their indexes, by name."""
        return [self.store.open(card.name) for card in self.collections()]

    def query(  # noqa: PLR0913, PLR0917 - what may be said of a question
        self,
        names: Sequence[str],
        question: str,
        profile: str = DEFAULT_PROFILE,
        where: Mapping[str, Any] | None = None,
        models: str = "",
        limits: SourceLimits = NO_LIMITS,
        turns: Sequence[tuple[str, str]] = (),
    ) -> QueryResult:
        """Answer a question; see `Library.ask`, or `Library.reply` with earlier turns.

        Args:
            names: Ids or titles of collections; none means all.
            question: The question.
            profile: The profile.
            where: Limits the sources.
            models: Models that replace those of the profile; see `model_choice`.
            limits: Number of sources for this question, and whether they are reranked.
            turns: Earlier questions and answers, used to resolve it.

        Returns:
            The result without details of this machine.
        """
        library = self.library(profile, models)
        if turns:
            result = library.reply(question, turns, names, where=where, limits=limits)
        else:
            result = library.ask(question, names, where=where, limits=limits)
        return redact_result(result)

    def chat(  # noqa: PLR0913 - what may be said of a message
        self,
        message: str,
        conversation: str = "",
        names: Sequence[str] = (),
        *,
        owner: str,
        profile: str = DEFAULT_PROFILE,
        models: str = "",
        where: Mapping[str, Any] | None = None,
        limits: SourceLimits = NO_LIMITS,
        watch: Watch | None = None,
    ) -> ChatResult:
        """Answer a message of a conversation; see `Library.chat` and `query`.

        Returns:
            The turn without details of this machine, which are not stored either.
        """
        return self.library(profile, models).chat(
            message,
            conversation,
            names,
            where=where,
            limits=limits,
            owner=owner,
            watch=watch,
            revise=redact_result,
        )

    def search(
        self,
        names: Sequence[str],
        question: str,
        k: int | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """Find the best passages for a question; see `Library.search`."""
        library = self.library()
        return redact_result(library.search(question, names, limit=k, where=where))

    def has_pages(self, document_id: str) -> bool:
        """Return whether pages of the document can be drawn."""
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
        """Return a page of a stored PDF as a JPEG with marked `boxes`; else None."""
        row = self.store.document(document_id)
        if row is None or row.mime != PDF:
            return None
        original = self.store.original(document_id)
        if original is None:
            return None
        return render_page(original, number, boxes, scale=scale, crop=crop)

    def check_writable(self) -> None:
        """Raise StoreLockedError or StoreWriteError if nothing can be written now."""
        with self.store.writer():
            pass

    def ingest(
        self,
        collection: str,
        uploads: Sequence[Upload],
        progress: Progress,
        password: SecretStr = NO_PASSWORD,
    ) -> JobReport:
        """Ingest files; a file of the same name replaces its document.

        Args:
            collection: The collection, by id or title.
            uploads: The files.
            progress: Called with the progress.
            password: Opens protected PDFs; it is not stored.
        """
        options: dict[str, object] = {
            "paths": tuple(str(upload.path) for upload in uploads),
            "collection": collection,
            "uris": tuple(f"upload:///{upload.name}" for upload in uploads),
            "passwords": (password,) if password.get_secret_value() else (),
        }
        return self._run("ingest", options, progress)

    def remove(self, collection: str, document: DocumentRow | None = None) -> None:
        """Remove a collection, or one of its documents.

        Raises CollectionNotFoundError, StoreLockedError, StoreWriteError.
        """
        if document is None:
            editing.drop_collections(self.store, [self.store.card(collection).name])
        else:
            editing.remove_documents(self.store, collection, [document])

    def rename(
        self, collection: str, title: str, document: DocumentRow | None = None
    ) -> None:
        """Change the title of a collection, or of one of its documents.

        Raises CollectionNotFoundError, InvalidNameError, NameTakenError,
        StoreLockedError, StoreWriteError.
        """
        name = self.store.card(collection).name
        editing.rename(self.store, name, title, [document] if document else [])

    def change(
        self,
        collection: str,
        title: str | None,
        priority: int | None,
        document: DocumentRow | None = None,
    ) -> None:
        """Change the title or priority of a collection, or of one of its documents.

        Raises as `rename` does.
        """
        if title is not None:
            self.rename(collection, title, document)
        if priority is not None:
            rows = [document] if document else []
            editing.set_priority(self.store, collection, priority, rows)

    def document(self, document_id: str) -> DocumentRow:
        """Return the row of a document. Raises NothingThereError."""
        row = self.store.document(document_id)
        if row is None:
            raise NothingThereError("no such document")
        return row

    def product(
        self, kind: str, collections: Sequence[str], model: Sequence[str]
    ) -> Callable[[Path, Progress], JobReport]:
        """Return a function that builds a product of collections.

        Args:
            kind: A key of `PRODUCTS`.
            collections: Names of the collections with documents; empty for all.
            model: Names of the collections with the model, joined into one.

        Raises:
            UsageError: If the product does not exist.
            CollectionNotFoundError: If a collection does not exist.
        """
        if kind not in PRODUCTS:
            raise UsageError(
                f"there is no product {kind!r}", f"it is one of {', '.join(PRODUCTS)}"
            )
        options: dict[str, object] = {
            "collections": tuple(resolve_collections(self.store, collections)),
            "model": tuple(resolve_collections(self.store, model)) if model else (),
        }
        ending = "csv" if kind == "glossary" else "json"
        allowed = self.config.allowed_plugins()

        def build(folder: Path, progress: Progress) -> JobReport:
            output = {"output": folder / f"{kind}.{ending}"}
            strategy = JOBS.load(kind, {**options, **output}, allowed)
            record = JobRecord(job_id=folder.name, kind=kind, options=options)
            context = self._context(self.config, progress)
            return _run_kept(record, strategy.build(self.models()), context)

        return build

    def writing(
        self, kind: str, options: Mapping[str, Any], profile: str, models: str
    ) -> Callable[[Path, Progress], JobReport]:
        """Return a function that writes a report, summaries or a concept report.

        Args:
            kind: `report`, `topics` or `concept`.
            options: The options of the job.
            profile: The profile.
            models: Models that replace those of the profile.

        Raises:
            ConfigError: If the profile is not valid.
            CollectionNotFoundError: If a collection does not exist.
            UsageError: If the template or an option is not valid, or there is no such
                template, pack or topic.
        """
        library = self.library(profile, models)
        names = resolve_collections(self.store, options["collections"])
        given = {**options, "collections": tuple(names)}
        # Refused before the job starts: a missing template, a wrong option.
        allowed = self.config.allowed_plugins()
        try:
            JOBS.load(kind, given, allowed).build(library.models)
        except ConfigError as error:  # an error of the request
            raise UsageError(error.message, error.hint) from error
        if given.get("topics"):
            chosen = {key: given[key] for key in ("collections", "pack", "topics")}
            self.listing("topic_list", chosen, "topics")

        def write(folder: Path, progress: Progress) -> JobReport:
            output = {"output": folder / f"{kind}.json"}
            strategy = JOBS.load(kind, {**given, **output}, allowed)
            record = JobRecord(job_id=folder.name, kind=kind, options=given)
            context = self._context(library.config, progress)
            return _run_kept(record, strategy.build(library.models), context)

        return write

    def listing(
        self, kind: str, options: Mapping[str, object], name: str
    ) -> list[dict[str, Any]]:
        """Return the JSON that a listing job writes under a name."""
        with TemporaryDirectory() as folder:
            output = {"output": Path(folder) / "list.json"}
            report = self._run(kind, {**options, **output}, silent)
            text = Path(report.files[name]).read_text(encoding="utf-8")
        listed: list[dict[str, Any]] = json.loads(text)[name]
        return listed

    def written_file(
        self, kind: VersionKind, subject: str, number: int, form: str
    ) -> bytes:
        """Return a version as a file. Raises VersionNotFoundError."""
        with TemporaryDirectory() as folder:
            options: dict[str, object] = {
                "kind": kind,
                "subject": subject,
                "number": number,
                "form": form,
                "output": Path(folder) / "text",
            }
            report = self._run("written_file", options, silent)
            return Path(report.files[form]).read_bytes()

    def tables(self, collection: str) -> list[Relation]:
        """Return the tables of a collection in the order of its documents.

        Raises CollectionNotFoundError or InvalidNameError.
        """
        return list(stored_tables(self.store, self.store.card(collection).name))

    def table(self, collection: str, table: str) -> Relation:
        """Return one table. Raises CollectionNotFoundError, NothingThereError."""
        try:
            return stored_table(self.store, self.store.card(collection).name, table)
        except UsageError as error:
            raise NothingThereError(str(error)) from error

    def graph(self, names: Sequence[str]) -> ModelGraph:
        """Return the models of collections as one graph, cached until a change.

        Args:
            names: Ids or titles of collections; none means all with a model.

        Raises:
            CollectionNotFoundError: If a collection does not exist.
            UsageError: If none of them contains a model.
        """
        chosen = resolve_collections(self.store, names) if names else []
        states = tuple(self.states(chosen).items())
        if states not in self._graphs:
            self._graphs = {states: open_graph(self.store, chosen)}
        return self._graphs[states]

    def glossary(self, names: Sequence[str]) -> Rows:
        """Return every defined term of collections, as rows of the glossary's JSON.

        The rows are cached until a document of the collections changes.

        Args:
            names: Ids or titles of collections; none means all.

        Raises:
            CollectionNotFoundError: If a collection does not exist.
            UsageError: If there are no collections.
            StoreWriteError: If the disk is full or read-only.
        """
        chosen = resolve_collections(self.store, names)
        states = tuple(self.states(chosen).items())
        if states not in self._glossaries:
            self._glossaries = {states: self._build_glossary(chosen)}
        return self._glossaries[states]

    def _build_glossary(self, names: Sequence[str]) -> Rows:
        scratch = Scratch("serve")
        try:
            options = {
                "collections": tuple(names),
                "output": scratch.path / "glossary.csv",
                "reviewed": False,
            }
            report = self._run("glossary", options, silent)
            path = Path(report.files["glossary_json"])
            return tuple(json.loads(path.read_text(encoding="utf-8")))
        finally:
            scratch.close()

    def _run(
        self, kind: str, options: dict[str, object], progress: Progress
    ) -> JobReport:
        strategy = JOBS.load(kind, options, self.config.allowed_plugins())
        context = self._context(self.config, progress)
        return run_job(strategy.build(self.models()), context)

    def _context(self, config: RagConfig, progress: Progress) -> JobContext:
        """Return the context of a job, which ends with the thread's patience."""
        patience = current()
        if patience is None:
            return JobContext(config, self.store, progress)
        return JobContext(config, self.store, progress, lambda: patience.is_abandoned)


def _run_kept(record: JobRecord, runner: Runner, context: JobContext) -> JobReport:
    """Run a job whose record stays in the database after this server ends.

    Its files belong to this server, so the record does not list them.
    """
    files: dict[str, str] = {}

    def run(own: JobContext) -> JobReport:
        report = runner(own)
        files.update(report.files)
        return report.model_copy(update={"files": {}})

    label = ", ".join(record.options["collections"])
    named = record.model_copy(update={"label": label})
    return run_recorded_job(context, named, run).model_copy(update={"files": files})

"""Testbeds: judged questions and the indexes they are searched in.

`BeirTestbed` indexes a test set in the user's cache. `CollectionTestbed` searches the
user's collections for a user's labelled questions; a configuration that chunks,
enriches or indexes text differently gets a copy of them in the cache, made from the
stored originals or, if only the keyword index differs, from the stored chunks and
vectors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from elt_llm_core.config.bm25 import Recipe
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JOBS, JobContext, Progress
from elt_llm_core.models.weights import default_cache_dir
from elt_llm_core.results import Degradation
from elt_llm_core.store import DocumentRow, Store
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.maintenance.backup import copy_database
from elt_llm_core.strategy import Models
from elt_llm_query.evaluation.beir import JudgedQuestion, TestSet
from elt_llm_query.evaluation.labelled_questions import GoldLocator, LabelledQuestion
from elt_llm_query.evaluation.passage_index import (
    WAIT_SECONDS,
    TextOptions,
    index_passages,
)

_TEXT_SECTIONS = ("chunking", "enrichment", "ingest")  # they decide a chunk's text


@dataclass(frozen=True)
class IndexedTestbed:
    """A testbed indexed for one configuration.

    `passage_of` maps chunk ids to judged passages, `problems` lists data that could not
    be used, and `built` is true if anything was indexed in this run.
    """

    store: Store
    collections: tuple[str, ...]
    passage_of: Mapping[str, str]
    questions: tuple[JudgedQuestion, ...]
    problems: tuple[Degradation, ...] = ()
    built: bool = False

    def texts(self) -> dict[str, str]:
        """Passage id to its text, or to the text of its first chunk."""
        texts: dict[str, str] = {}
        for name in self.collections:
            for node in self.store.nodes(name):
                texts.setdefault(self.passage_of[node.node_id], node.text)
        return texts


class Testbed(Protocol):
    """Questions and the data they are asked of.

    `name`, `split` and `options` appear in the report; vectors of questions are cached
    in `folder`.
    """

    @property
    def name(self) -> str:
        """Display name."""

    @property
    def split(self) -> str:
        """Which of its questions are asked."""

    @property
    def options(self) -> Mapping[str, bool | int | str | None]:
        """What is indexed."""

    @property
    def folder(self) -> Path:
        """A folder in the user's cache."""

    def texts(self) -> list[str]:
        """Every question."""

    def index(
        self, config: RagConfig, models: Models, progress: Progress
    ) -> IndexedTestbed:
        """Index the data for this configuration, unless an index exists."""


@dataclass(frozen=True)
class BeirTestbed:
    """A test set in BEIR layout, indexed in the user's cache."""

    tests: TestSet
    folder: Path
    text: TextOptions = field(default_factory=TextOptions)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.tests.name

    @property
    def split(self) -> str:
        """The split of the judgements."""
        return self.tests.split

    @property
    def options(self) -> Mapping[str, bool | int | str | None]:
        """What is indexed of a passage."""
        return self.text.model_dump()

    def texts(self) -> list[str]:
        """Every judged question."""
        return [question.text for question in self.tests.questions]

    def index(
        self, config: RagConfig, models: Models, progress: Progress
    ) -> IndexedTestbed:
        """Index the passages once for each keyword recipe.

        The configuration's chunking does not apply: passages are the judged unit.
        """
        store = Store(self.folder, config.keywords)
        index = index_passages(store, models, self.tests.passages, self.text, progress)
        return IndexedTestbed(
            store=store,
            collections=(index.collection,),
            passage_of=index.passage_of,
            questions=self.tests.questions,
            problems=self.tests.problems,
            built=index.built,
        )


@dataclass(frozen=True)
class CollectionTestbed:
    """Labelled questions over collections of the store of `config`."""

    name: str
    labelled: tuple[LabelledQuestion, ...]
    problems: tuple[Degradation, ...]
    collections: tuple[str, ...]
    config: RagConfig
    folder: Path

    @property
    def split(self) -> str:
        """The collections."""
        return "+".join(self.collections)

    @property
    def options(self) -> Mapping[str, bool | int | str | None]:
        """How the base configuration chunks text."""
        chunking = self.config.chunking
        return {"strategy": chunking.strategy, "chunk_size": chunking.chunk_size}

    def texts(self) -> list[str]:
        """Every question."""
        return [labelled.question for labelled in self.labelled]

    def index(
        self, config: RagConfig, models: Models, progress: Progress
    ) -> IndexedTestbed:
        """Return the user's collections, or a copy chunked for this configuration.

        Raises UsageError if no question has gold in the collections, or if a copy is
        needed and originals were not kept.
        """
        store = Store(self.config.stores.data_dir)
        built = False
        if config.hash(*_TEXT_SECTIONS) != self.config.hash(*_TEXT_SECTIONS):
            store, built = self._rechunk(store, config, models, progress)
        elif self._other_keywords(store, config.keywords):
            store, built = self._reindex(store, config.keywords)
        problems = list(self.problems)
        locator = GoldLocator(store, self.collections)
        questions = self._judge(locator, problems)
        return IndexedTestbed(
            store=store,
            collections=self.collections,
            passage_of={chunk: chunk for chunk in locator.chunks},
            questions=questions,
            problems=tuple(problems),
            built=built,
        )

    def _judge(
        self, locator: GoldLocator, problems: list[Degradation]
    ) -> tuple[JudgedQuestion, ...]:
        """The questions with gold; unanswerable ones say nothing about retrieval."""
        answerable = [one for one in self.labelled if one.answerable]
        judged = [locator.judge(one, problems) for one in answerable]
        questions = tuple(one for one in judged if one is not None)
        if not questions:
            raise UsageError(
                f"none of the {len(answerable)} questions has gold that is in "
                f"{', '.join(self.collections)}",
                "name documents as `elt-llm collections NAME` lists them",
            )
        return questions

    def _other_keywords(self, store: Store, keywords: Recipe) -> bool:
        """Return True if a published index was made with another recipe."""
        recipes = [store.open(name).recipe for name in self.collections]
        return any(recipe and recipe.name != keywords.name for recipe in recipes)

    def _reindex(self, store: Store, keywords: Recipe) -> tuple[Store, bool]:
        """A cached store with the same chunks and vectors and a new keyword index."""
        rows = [row for name in self.collections for row in store.documents(name)]
        keys = [f"{r.document_id} {r.sha256} {r.config_key}" for r in rows]
        keys += [store.card(name).embedder_digest for name in self.collections]
        name = digest(keywords.name, *keys)[:16]
        copy = Store(self.folder / f"words-{name}", keywords)
        if not copy.collections():
            copy_database(store.data_dir / FILE, copy.data_dir / FILE)
        with copy.writer(WAIT_SECONDS) as writer:
            built = writer.publish(self.collections)
        return copy, bool(built)

    def _rechunk(
        self, store: Store, config: RagConfig, models: Models, progress: Progress
    ) -> tuple[Store, bool]:
        """A cached store with the same documents, ingested with `config`."""
        rows = {name: store.documents(name) for name in self.collections}
        keys = [
            f"{r.collection} {r.uri} {r.sha256}" for of in rows.values() for r in of
        ]
        settings = config.hash(*_TEXT_SECTIONS, "models")
        name = digest(settings, config.keywords.name, *keys)[:16]
        copy = Store(self.folder / f"copy-{name}", config.keywords)
        context = JobContext(config, copy, progress)
        counts = {card.name: card.documents for card in copy.collections()}
        missing = [n for n, of in rows.items() if counts.get(n) != len(of)]
        for collection in missing:
            _ingest_originals(store, rows[collection], context, models)
        return copy, bool(missing)


def _ingest_originals(
    store: Store, rows: Sequence[DocumentRow], context: JobContext, models: Models
) -> None:
    """Ingest the originals of `rows` from `store` into the context's store."""
    lost = [row.name for row in rows if not row.has_original]
    if lost:
        raise UsageError(
            f"{len(lost)} documents of {rows[0].collection!r} were ingested without "
            f"keeping their files, {lost[0]!r} first",
            "leave chunking and enrichment out of the sweep",
        )
    originals = list({row.uri: row for row in rows}.values())
    with TemporaryDirectory() as scratch:
        paths: list[str] = []
        for number, row in enumerate(originals):
            path = Path(scratch) / str(number) / row.name
            write_atomic(path, store.original(row.document_id) or b"")
            paths.append(str(path))
        options = {
            "paths": tuple(paths),
            "collection": rows[0].collection,
            "uris": tuple(row.uri for row in originals),
            "titles": tuple(row.title for row in originals),
        }
        JOBS.load("ingest", options).build(models)(context)


def cache_folder() -> Path:
    """The default folder for indexes of test sets."""
    return default_cache_dir() / "eval"

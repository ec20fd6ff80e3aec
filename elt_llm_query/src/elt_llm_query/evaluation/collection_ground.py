"""A user's own questions over the user's own collections.

A configuration that cuts, enriches or indexes text differently than the collections
were made gets a copy of them in the user's cache: of the files that were kept, or of
the stored chunks and vectors where only words are indexed otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from elt_llm_core.config.bm25 import Recipe
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JOBS, JobContext, Progress
from elt_llm_core.results import Degradation
from elt_llm_core.store import DocumentRow, Store
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.maintenance.backup import copy_truth
from elt_llm_core.strategy import Models
from elt_llm_query.evaluation.beir import Question
from elt_llm_query.evaluation.corpus import WAIT_SECONDS
from elt_llm_query.evaluation.gold import Finder
from elt_llm_query.evaluation.grounds import Placed
from elt_llm_query.evaluation.labelled import Labelled

TEXT_SECTIONS = ("chunking", "enrichment", "ingest")


@dataclass(frozen=True)
class CollectionGround:
    """Labelled questions over collections of the store of `config`."""

    name: str
    lines: tuple[Labelled, ...]
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
        """How text is cut without further settings."""
        chunking = self.config.chunking
        return {"strategy": chunking.strategy, "chunk_size": chunking.chunk_size}

    def texts(self) -> list[str]:
        """Every question."""
        return [line.question for line in self.lines]

    def place(self, config: RagConfig, models: Models, progress: Progress) -> Placed:
        """The user's collections, or a copy cut as this configuration says."""
        store = Store(self.config.stores.data_dir)
        built = False
        if config.hash(*TEXT_SECTIONS) != self.config.hash(*TEXT_SECTIONS):
            store, built = self._copied(store, config, models, progress)
        elif self._differs(store, config.keywords):
            store, built = self._reindexed(store, config.keywords)
        problems = list(self.problems)
        finder = Finder(store, self.collections)
        questions = self._questions(finder, problems)
        return Placed(
            store=store,
            collections=self.collections,
            passage_of={chunk: chunk for chunk in finder.chunks},
            questions=questions,
            problems=tuple(problems),
            built=built,
        )

    def _questions(
        self, finder: Finder, problems: list[Degradation]
    ) -> tuple[Question, ...]:
        """Those with gold. Questions without an answer are no matter of retrieval."""
        asked = [line for line in self.lines if line.answerable]
        found = [finder.question(line, problems) for line in asked]
        questions = tuple(one for one in found if one is not None)
        if not questions:
            raise UsageError(
                f"none of the {len(asked)} questions has gold that is in "
                f"{', '.join(self.collections)}",
                "name documents as `elt-llm collections NAME` lists them",
            )
        return questions

    def _differs(self, store: Store, keywords: Recipe) -> bool:
        """Whether words of a published index are indexed otherwise."""
        found = [store.open(name).recipe for name in self.collections]
        return any(one and one.name != keywords.name for one in found)

    def _reindexed(self, store: Store, keywords: Recipe) -> tuple[Store, bool]:
        """A store in the cache with the same chunks and vectors, words made anew."""
        rows = [row for name in self.collections for row in store.documents(name)]
        keys = [f"{r.document_id} {r.sha256} {r.config_key}" for r in rows]
        keys += [store.card(name).embedder_digest for name in self.collections]
        name = digest(keywords.name, *keys)[:16]
        copy = Store(self.folder / f"words-{name}", keywords)
        if not copy.collections():
            copy_truth(store.data_dir / FILE, copy.data_dir / FILE)
        with copy.writer(WAIT_SECONDS) as writer:
            built = writer.publish(self.collections)
        return copy, bool(built)

    def _copied(
        self, store: Store, config: RagConfig, models: Models, progress: Progress
    ) -> tuple[Store, bool]:
        """A store in the cache with the same documents, cut anew."""
        rows = {name: store.documents(name) for name in self.collections}
        keys = [
            f"{r.collection} {r.uri} {r.sha256}" for of in rows.values() for r in of
        ]
        how = config.hash(*TEXT_SECTIONS, "models")
        name = digest(how, config.keywords.name, *keys)[:16]
        copy = Store(self.folder / f"copy-{name}", config.keywords)
        have = {card.name: card.documents for card in copy.collections()}
        missing = [n for n, of in rows.items() if have.get(n) != len(of)]
        for collection in missing:
            self._ingest(store, copy, rows[collection], (config, models, progress))
        return copy, bool(missing)

    def _ingest(
        self,
        store: Store,
        copy: Store,
        rows: Sequence[DocumentRow],
        how: tuple[RagConfig, Models, Progress],
    ) -> None:
        config, models, progress = how
        with TemporaryDirectory() as scratch:
            paths: list[str] = []
            kept = list({row.uri: row for row in rows if row.has_original}.values())
            lost = [row.name for row in rows if not row.has_original]
            if lost:
                raise UsageError(
                    f"{len(lost)} documents of {rows[0].collection!r} were taken in "
                    f"without keeping their files, {lost[0]!r} first",
                    "leave chunking and enrichment out of the sweep",
                )
            for number, row in enumerate(kept):
                path = Path(scratch) / str(number) / row.name
                write_atomic(path, store.original(row.document_id) or b"")
                paths.append(str(path))
            options = {
                "paths": tuple(paths),
                "collection": rows[0].collection,
                "uris": tuple(row.uri for row in kept),
                "titles": tuple(row.title for row in kept),
            }
            job = JOBS.load("ingest", options).build(models)
            job(JobContext(config, copy, progress))

"""Where questions are asked: a test set indexed in the user's cache."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import Progress
from elt_llm_core.models.weights import default_cache_dir
from elt_llm_core.results import Degradation
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.evaluation.beir import Question, TestSet
from elt_llm_query.evaluation.corpus import TextOptions, index_passages


@dataclass(frozen=True)
class Placed:
    """Where questions are asked: the store, its collections, and what is judged.

    `problems` tells what could not be used; `built` whether something was indexed now.
    """

    store: Store
    collections: tuple[str, ...]
    passage_of: Mapping[str, str]
    questions: tuple[Question, ...]
    problems: tuple[Degradation, ...] = ()
    built: bool = False

    def texts(self) -> dict[str, str]:
        """The text of every passage, or of its first chunk."""
        found: dict[str, str] = {}
        for name in self.collections:
            for node in self.store.nodes(name):
                found.setdefault(self.passage_of[node.node_id], node.text)
        return found


class Ground(Protocol):
    """Questions and what they are asked of.

    `name`, `split` and `options` tell of it in the report; `folder` is where the
    vectors of questions are kept.
    """

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def split(self) -> str:
        """Which of its questions."""

    @property
    def options(self) -> Mapping[str, bool | int | str | None]:
        """What was indexed."""

    @property
    def folder(self) -> Path:
        """A folder of the user's cache."""

    def texts(self) -> list[str]:
        """Every question."""

    def place(self, config: RagConfig, models: Models, progress: Progress) -> Placed:
        """Where this configuration is asked, indexed if need be."""


@dataclass(frozen=True)
class BeirGround:
    """A test set in the BEIR layout, indexed in the user's cache."""

    tests: TestSet
    folder: Path
    text: TextOptions = field(default_factory=TextOptions)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.tests.name

    @property
    def split(self) -> str:
        """The split."""
        return self.tests.split

    @property
    def options(self) -> Mapping[str, bool | int | str | None]:
        """What of a passage is indexed."""
        return self.text.model_dump()

    def texts(self) -> list[str]:
        """Every judged question."""
        return [question.text for question in self.tests.questions]

    def place(
        self,
        config: RagConfig,
        models: Models,
        progress: Progress,
    ) -> Placed:
        """The collection of the passages, one for every way to index words.

        Passages are never cut anew.
        """
        store = Store(self.folder, config.keywords)
        found = index_passages(store, models, self.tests.passages, self.text, progress)
        return Placed(
            store=store,
            collections=(found.collection,),
            passage_of=found.passage_of,
            questions=self.tests.questions,
            problems=self.tests.problems,
            built=found.built,
        )


def cache_folder() -> Path:
    """Where test sets are indexed unless told otherwise."""
    return default_cache_dir() / "eval"

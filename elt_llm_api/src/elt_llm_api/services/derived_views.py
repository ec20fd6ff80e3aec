"""What is derived from whole collections: examples, the model graph, the glossary."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from elt_llm_api.services.job_runner import JobRunner
from elt_llm_core.files.scratch import Scratch
from elt_llm_core.graph.model_graph import ModelGraph, open_graph
from elt_llm_core.jobs import silent
from elt_llm_core.store import Store
from elt_llm_query import example_questions
from elt_llm_query.library import resolve_collections

T = TypeVar("T")
GlossaryRows = tuple[dict[str, Any], ...]


def collection_states(store: Store, names: Sequence[str]) -> dict[str, str]:
    """Return the state of the named collections, or of all; see `Store.state`."""
    names = names or [card.name for card in store.collections()]
    return {name: store.state(name) for name in names}


class DerivedViews:
    """The latest view of each kind, built again when a collection has changed."""

    def __init__(self, store: Store, runner: JobRunner) -> None:
        self._store = store
        self._runner = runner
        self._examples = _Latest[tuple[str, ...]](store)
        self._graph = _Latest[ModelGraph](store)
        self._glossary = _Latest[GlossaryRows](store)

    def examples(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return example questions for the named collections, or all.

        Raises:
            CollectionNotFoundError: If a collection does not exist.
        """
        return self._examples.get(
            names, lambda named: example_questions(self._store, named)
        )

    def graph(self, names: Sequence[str]) -> ModelGraph:
        """Return the models of collections as one graph.

        Args:
            names: Ids or titles of collections; none means all with a model.

        Raises:
            CollectionNotFoundError: If a collection does not exist.
            UsageError: If none of them contains a model.
        """
        chosen = resolve_collections(self._store, names) if names else []
        return self._graph.get(chosen, lambda _: open_graph(self._store, chosen))

    def glossary(self, names: Sequence[str]) -> GlossaryRows:
        """Return every defined term of collections, as rows of the glossary's JSON.

        Args:
            names: Ids or titles of collections; none means all.

        Raises:
            CollectionNotFoundError: If a collection does not exist.
            UsageError: If there are no collections.
            StoreWriteError: If the disk is full or read-only.
        """
        chosen = resolve_collections(self._store, names)
        return self._glossary.get(chosen, self._build_glossary)

    def _build_glossary(self, names: Sequence[str]) -> GlossaryRows:
        scratch = Scratch("serve")
        try:
            options = {
                "collections": tuple(names),
                "output": scratch.path / "glossary.csv",
                "reviewed": False,
            }
            report = self._runner.run("glossary", options, silent)
            path = Path(report.files["glossary_json"])
            return tuple(json.loads(path.read_text(encoding="utf-8")))
        finally:
            scratch.close()


class _Latest(Generic[T]):
    """One value with the states of the collections from which it was built."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[tuple[tuple[str, str], ...], T] = {}

    def get(self, names: Sequence[str], build: Callable[[Sequence[str]], T]) -> T:
        states = tuple(collection_states(self._store, names).items())
        kept = self._kept
        if states not in kept:
            kept = {states: build([name for name, _ in states])}
            self._kept = kept  # replaced whole: another thread may read the old one
        return kept[states]

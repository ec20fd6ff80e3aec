"""A collection for readers: the published generation and newer changes."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from elt_llm_core.config.bm25 import DEFAULT, Recipe
from elt_llm_core.document import Block, Sidecar
from elt_llm_core.errors import GenerationError, UsageError
from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.language.tokens import plain_words, question_tokens, tokenize
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.filters import FIXED, keep_known, refuse_unknown
from elt_llm_core.store.database.records import CollectionCard, Outlined
from elt_llm_core.store.index.bm25 import DeltaKeywords, KeywordIndex
from elt_llm_core.store.index.delta import Delta, Hits
from elt_llm_core.store.index.generation import SCANNED, Generation
from elt_llm_core.store.index.matrix import nearest
from elt_llm_core.tables import Relation, relations

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

COMPARED = 10_000  # vectors that are selected and compared in about 15 ms
SPARE = 4
REMEMBERED = 8  # filters with cached chunk ids, and documents with cached tables

Tables = tuple[list[Relation], list["TextNode"]]  # with the chunks of their rows


class Collection:
    """A consistent view of one collection. Thread-safe.

    Without a usable generation, vectors are compared one by one and words are looked up
    in the database: slower, never wrong. `degradations` reports it.
    """

    def __init__(
        self,
        database: Database,
        card: CollectionCard,
        index: Generation | None,
        problem: str = "",
    ) -> None:
        self.card = card
        self.name = card.name
        self.generation = index.manifest.generation if index else 0
        self._database = database
        self._index = index
        self._problem = problem
        self._delta = self._newest(index)
        self._hidden = self._places(self._delta.removed)
        self._filters: dict[str, frozenset[str]] = {}
        self._tables: dict[str, Tables] = {}
        self._rows: dict[frozenset[str], np.ndarray] = {}

    @property
    def recipe(self) -> Recipe | None:
        """Return the recipe of its keyword index; None without an index."""
        return self._index.keywords.recipe if self._index else None

    @cached_property
    def languages(self) -> frozenset[str]:
        """Return the languages of its chunks; English if there are none."""
        indexed = self._index.keywords.languages if self._index else ()
        return self._delta.languages.union(indexed) or frozenset([ENGLISH])

    @property
    def degradations(self) -> tuple[Degradation, ...]:
        """Return what replaces the published index, and why; or ()."""
        if not self._problem:
            return ()
        if self._index is None:
            kind = DegradationKind.EXACT_ENGINE
            detail = f"answered without the index: {self._problem}"
        else:
            kind = DegradationKind.EARLIER_INDEX
            detail = f"answered from generation {self.generation}: {self._problem}"
        return (Degradation(kind=kind, collection=self.name, detail=detail),)

    def search_dense(
        self, vector: np.ndarray, k: int, allowed: frozenset[str] | None = None
    ) -> Hits:
        """Return id and cosine of the `k` nearest chunks, best first, ties by id.

        `vector` is a unit vector of the collection's dimension. `allowed` limits the
        result to those ids without reducing the number of hits. Raises UsageError for a
        vector of another dimension.
        """
        if vector.shape != (self.card.dimension,):
            raise UsageError(
                f"collection {self.name!r} holds vectors of {self.card.dimension} "
                f"numbers, the question has {vector.shape}",
                "ask with the embedder the collection was indexed with",
            )
        allowed = self._permit(allowed)
        delta = self._delta.search(vector, k, allowed)
        if self._index is None:
            return delta
        if allowed is None:
            indexed = self._search_index(self._index, vector, k)
        else:
            indexed = self._search_allowed(self._index, vector, k, allowed)
        return _merge_hits(indexed, delta, k)

    def search_keyword(
        self, text: str, k: int, allowed: frozenset[str] | None = None
    ) -> Hits:
        """Return id and BM25 of the `k` best chunks that share a word with `text`."""
        allowed = self._permit(allowed)
        if self._index is None:
            return self._without_index(text, k, allowed)
        tokens = self._question_tokens(text)
        rows = None if allowed is None else self._indexed_rows(allowed)
        hits = self._index.keywords.search(tokens, k, rows, self._hidden)
        indexed = [(self._index.ids[i], score) for i, score in hits]
        rows = self._delta.rows(allowed)
        newer = self._delta_keywords.search(tokens, k, rows)
        return _merge_hits(
            indexed, [(self._delta.ids[i], score) for i, score in newer], k
        )

    def keyword_scores(self, text: str, ids: Iterable[str]) -> dict[str, float]:
        """Return BM25 of these chunks, without those that share no word with `text`."""
        wanted = self._permit(frozenset(ids)) or frozenset()
        if self._index is None:
            return dict(self._without_index(text, len(wanted), wanted))
        tokens = self._question_tokens(text)
        rows = self._places(sorted(wanted - self._delta.removed))
        indexed = self._index.keywords.scores_of(tokens, rows)
        scores = {
            self._index.ids[row]: float(score)
            for row, score in zip(rows, indexed, strict=True)
            if score > 0
        }
        rows = self._delta.places(wanted)
        newer = self._delta_keywords.search(tokens, len(rows), rows)
        return scores | {self._delta.ids[row]: score for row, score in newer}

    def vectors(self, ids: Iterable[str]) -> dict[str, np.ndarray]:
        """Return stored unit vectors by id, float32.

        Ids that are unknown, or whose text could not be embedded, are absent.
        """
        wanted = sorted(set(ids))
        newer = self._delta.vectors(wanted)
        if self._index is None:
            return newer
        places = self._index.positions
        gone = self._delta.removed
        older = [node for node in wanted if node in places and node not in gone]
        matrix = self._index.vectors[self._places(older)]
        known = matrix.any(axis=1)
        vectors = {i: matrix[row] for row, i in enumerate(older) if known[row]}
        return {**vectors, **newer}

    def nodes(self, ids: Iterable[str]) -> dict[str, "TextNode"]:
        """Return chunks by id with their provenance; unknown ids are absent."""
        if self._permitted_ids is not None:
            ids = [node for node in ids if node in self._permitted_ids]
        return self._database.nodes_by_id(self.name, ids)

    def texts(self, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return kind and text of chunks by id; unknown ids are absent.

        It takes a tenth of the time of `nodes`, for scanning many chunks.
        """
        return self._database.texts_by_id(self.name, ids)

    def with_phrase(self, phrase: str, kind: str) -> list[str]:
        """Return ids of chunks of a kind that contain these adjacent words exactly."""
        ids = self._database.with_phrase(self.name, phrase, kind)
        permitted = self._permitted_ids
        return [node for node in ids if permitted is None or node in permitted]

    def outline(self, document_id: str) -> list[Outlined]:
        """Return the position of each chunk of a document; empty for an unknown one."""
        if document_id in self._excluded_documents:
            return []
        return self._database.outline(document_id)

    def sidecars(self, kind: str) -> list[Sidecar]:
        """Structured content of one kind of its documents, by address and name."""
        return self._database.sidecars(self.name, kind)

    def document_text(self, document_id: str) -> str:
        """Return a document's canonical text; empty for an unknown document."""
        return self._database.document_text(document_id)

    def blocks(self, document_id: str) -> list[Block]:
        """Return a document's blocks in reading order; empty for an unknown one."""
        if not self.outline(document_id):
            return []
        return self._database.blocks(document_id)

    def tables(self, document_id: str) -> "Tables":
        """Return a document's tables, and the chunks with their rows.

        Both are consistent with each other; empty if the document does not exist. They
        are read once for a collection of one moment.
        """
        tables = self._tables.get(document_id)
        if tables is None:
            tables = self._read_tables(document_id)
            if len(self._tables) >= REMEMBERED:
                self._tables.clear()
            self._tables[document_id] = tables
        return tables

    def _read_tables(self, document_id: str) -> "Tables":
        with self._database.snapshot():
            document = self._database.document(document_id)
            if document is None or document.collection != self.name:
                return [], []
            if document_id in self._excluded_documents:
                return [], []
            text = self._database.document_text(document_id)
            blocks = self._database.blocks(document_id)
            chunks = self._database.nodes(self.name, ["table_row"], document_id)
            return relations(document_id, document.name, text, blocks), list(chunks)

    def ids(self, where: Mapping[str, Any]) -> frozenset[str]:
        """Return ids of the chunks that match `where`; see `Database.filter_ids`.

        A filter is resolved once for a collection of one moment.
        """
        key = repr(sorted(where.items()))
        ids = self._filters.get(key)
        if ids is None:
            ids = self._database.filter_ids(self.name, where)
            ids = self._permit(ids) or frozenset()
            if len(self._filters) >= REMEMBERED:
                self._filters.clear()
            self._filters[key] = ids
        return ids

    @cached_property
    def priorities(self) -> dict[str, int]:
        """Return document priorities by id, without those with the default 50."""
        return self._database.priorities(self.name)

    @cached_property
    def _excluded_documents(self) -> frozenset[str]:
        """Return ids of the documents with priority 0, which are never found."""
        return frozenset(i for i, one in self.priorities.items() if not one)

    @cached_property
    def _permitted_ids(self) -> frozenset[str] | None:
        """Return ids of the chunks of all other documents; None if none is excluded."""
        if not self._excluded_documents:
            return None
        return self._database.ids_beside(self.name, self._excluded_documents)

    def _permit(self, allowed: frozenset[str] | None) -> frozenset[str] | None:
        """Return the allowed chunks that may be found; None for all."""
        if self._permitted_ids is None:
            return allowed
        return self._permitted_ids if allowed is None else allowed & self._permitted_ids

    @cached_property
    def filter_keys(self) -> frozenset[str]:
        """Return filter keys: those of every chunk, and those of its documents."""
        return self._database.filter_keys(self.name)

    def check_filters(self, where: Mapping[str, Any]) -> None:
        """Raise UsageError for a key that no document here has."""
        if others := where.keys() - FIXED:  # attributes of documents must be looked up
            refuse_unknown(others, self.filter_keys)

    def own_filters(self, where: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return filters for several collections in the form for this one."""
        return where if where.keys() <= FIXED else keep_known(where, self.filter_keys)

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """Return titles of its largest documents, then its largest sections."""
        return tuple(self._database.topics(self.name))

    @property
    def chroma(self) -> Any:
        """Return the Chroma collection of the published generation, or None."""
        return self._index.dense.collection if self._index else None

    def _newest(self, index: Generation | None) -> Delta:
        """Return the changes in the database beyond the index.

        Raises GenerationError unless both together match the database, which is not the
        case after one of them was restored from a backup.
        """
        dimension = self.card.dimension
        if index is None:
            return Delta.empty(dimension).apply_changes(self._database, self.name)
        # Earlier reads may be from a database that was replaced.
        for start in (index.newer, Delta.empty(dimension, index.manifest.seq)):
            if start.seq > self._database.sequence(self.name):
                continue
            delta = start.apply_changes(self._database, self.name)
            left = sum(node in index.positions for node in delta.removed)
            if len(index.ids) - left + len(delta.ids) == self.card.chunks:
                index.newer = delta
                return delta
        raise GenerationError(self.name, "it was built from a different database")

    def _search_index(self, index: Generation, vector: np.ndarray, k: int) -> Hits:
        """Return the nearest chunks of the index that were not removed."""
        if len(index.ids) <= SCANNED:
            rows = nearest(index.vectors, vector, k, without=self._hidden)
            return [(index.ids[row], score) for row, score in rows]
        removed = self._delta.removed
        wanted = k
        if removed:  # requests a few more, because some are filtered out
            wanted += SPARE + 2 * k * len(self._hidden) // len(index.ids)
        strays = nearest(index.vectors, vector, k, index.strays)
        others = {index.ids[row]: score for row, score in strays}
        while True:
            hits = index.nearest(vector, min(wanted, len(index.ids)))
            merged = {**others, **dict(hits)}
            alive = [hit for hit in merged.items() if hit[0] not in removed]
            if len(alive) >= k or wanted >= len(index.ids):
                return sorted(alive, key=_best_first)
            wanted *= 4

    def _search_allowed(
        self, index: Generation, vector: np.ndarray, k: int, allowed: frozenset[str]
    ) -> Hits:
        """Return the nearest allowed chunks of the index that were not removed.

        If many chunks are allowed, more are requested from the graph; if that does not
        return enough, or few are allowed, vectors are compared one by one.
        """
        rows = self._indexed_rows(allowed)
        if len(rows) > COMPARED and len(index.ids) > SCANNED:
            share = len(index.ids) // len(rows) + 1
            hits = index.nearest(vector, min(2 * k * share, len(index.ids)))
            removed = self._delta.removed
            kept = [h for h in hits if h[0] in allowed and h[0] not in removed]
            if len(kept) >= k:
                return sorted(kept, key=_best_first)
        nearest_hits = nearest(index.vectors, vector, k, rows)
        return [(index.ids[row], score) for row, score in nearest_hits]

    def _indexed_rows(self, allowed: frozenset[str]) -> np.ndarray:
        """Return rows of the index that are allowed and not removed, ascending."""
        rows = self._rows.get(allowed)
        if rows is None:
            rows = np.sort(self._places(allowed - self._delta.removed))
            if len(self._rows) >= REMEMBERED:
                self._rows.clear()
            self._rows[allowed] = rows
        return rows

    def _places(self, ids: Iterable[str]) -> np.ndarray:
        """Return rows of those of `ids` that are in the index, in their order."""
        positions = self._index.positions if self._index else {}
        rows = (positions.get(node, -1) for node in ids)
        return np.array([row for row in rows if row >= 0], dtype=np.intp)

    def _question_tokens(self, text: str) -> list[str]:
        """Return the tokens of a question, by the recipe of the index."""
        return question_tokens(text, self.languages, self.recipe or DEFAULT)

    def _without_index(self, text: str, k: int, allowed: frozenset[str] | None) -> Hits:
        """Return the best chunks without an index.

        SQLite's own index has English stems only; texts in other languages are scored
        one by one, as in the index.
        """
        if self.languages == {ENGLISH}:
            return self._words_in_database(text, k, allowed)
        rows = self._delta.rows(allowed)
        hits = self._delta_keywords.search(self._question_tokens(text), k, rows)
        return sorted(
            ((self._delta.ids[i], score) for i, score in hits), key=_best_first
        )

    def _words_in_database(
        self, text: str, k: int, allowed: frozenset[str] | None
    ) -> Hits:
        plain = plain_words(text)
        words = [w for w, tokens in zip(plain, tokenize(plain), strict=True) if tokens]
        limit = k if allowed is None else -1
        hits = self._database.words_search(self.name, words, limit)
        return [hit for hit in hits if allowed is None or hit[0] in allowed][:k]

    @cached_property
    def _delta_keywords(self) -> DeltaKeywords:
        base: KeywordIndex | None = self._index.keywords if self._index else None
        recipe = base.recipe if base else DEFAULT
        return DeltaKeywords(self._delta.tokens(recipe), base)


def _merge_hits(indexed: Hits, newer: Hits, k: int) -> Hits:
    return list(islice(merge(indexed, newer, key=_best_first), k))


def _best_first(hit: tuple[str, float]) -> tuple[float, str]:
    return -hit[1], hit[0]

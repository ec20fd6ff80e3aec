"""Changes newer than the index: few chunks, searched exactly."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from elt_llm_core.config.bm25 import DEFAULT, Recipe
from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.language.tokens import tokenize
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.index.matrix import nearest

Hits = list[tuple[str, float]]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Delta:
    """Chunks added after the index, and ids removed, up to the change `seq`.

    Ids ascend. `matrix` has a float32 unit row for each chunk, zeros if it could not be
    embedded.
    """

    seq: int
    ids: list[str] = field(repr=False)
    texts: list[str] = field(repr=False)
    matrix: np.ndarray = field(repr=False)
    removed: frozenset[str] = field(repr=False)
    _tokens: list[list[str]] = field(repr=False)  # empty until asked for
    _languages: list[str] = field(repr=False)  # of each text, empty for English

    @cached_property
    def languages(self) -> frozenset[str]:
        """Return the languages of the texts."""
        return frozenset(code or ENGLISH for code in self._languages)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {node: row for row, node in enumerate(self.ids)}

    @classmethod
    def empty(cls, dimension: int, seq: int = -1) -> "Delta":
        """Return an empty delta; `seq` is the index's last change, or -1."""
        matrix = np.zeros((0, dimension), dtype=np.float32)
        return cls(seq, [], [], matrix, frozenset(), [], [])

    def apply_changes(self, database: Database, collection: str) -> "Delta":
        """Return this delta with the changes since, reading only these."""
        rows = database.index_rows(collection, after=self.seq)
        languages = database.languages(collection, after=self.seq) if rows else {}
        gone: frozenset[str] = frozenset()
        if self.seq >= 0:
            gone = database.removed_nodes(collection, self.seq)
        left = gone.union(row[0] for row in rows)
        kept = [i for i, node in enumerate(self.ids) if node not in left]
        ids = _choose(self.ids, kept) + [row[0] for row in rows]
        texts = _choose(self.texts, kept) + [row[1] for row in rows]
        tokens = _choose(self._tokens, kept) + [[] for _ in rows]
        codes = _choose(self._languages, kept)
        codes += [languages.get(row[0], "") for row in rows]
        vectors = database.stack([row[2] for row in rows], self.matrix.shape[1])
        order = sorted(range(len(ids)), key=ids.__getitem__)
        return Delta(
            seq=database.sequence(collection),
            ids=_choose(ids, order),
            texts=_choose(texts, order),
            matrix=np.concatenate([self.matrix[kept], vectors])[order],
            removed=self.removed | gone,
            _tokens=_choose(tokens, order),
            _languages=_choose(codes, order),
        )

    def tokens(self, recipe: Recipe = DEFAULT) -> Sequence[Sequence[str]]:
        """Return the tokens of each text, computed once.

        `recipe` is always that of the corresponding index.
        """
        missing = [i for i, tokens in enumerate(self._tokens) if not tokens]
        texts = [self.texts[i] for i in missing]
        token_lists = tokenize(texts, recipe, [self._languages[i] for i in missing])
        for position, tokens in zip(missing, token_lists, strict=True):
            self._tokens[position] = tokens
        return self._tokens

    def vectors(self, ids: Sequence[str]) -> dict[str, np.ndarray]:
        """Return unit vectors of those of `ids` that are here and have one."""
        pairs = ((node, self._rows.get(node)) for node in ids)
        rows = {node: self.matrix[row] for node, row in pairs if row is not None}
        return {node: row for node, row in rows.items() if row.any()}

    def places(self, ids: Iterable[str]) -> np.ndarray:
        """Return positions of those of `ids` that are here, ascending."""
        rows = (self._rows.get(node) for node in ids)
        return np.array(sorted(row for row in rows if row is not None), dtype=np.intp)

    def rows(self, allowed: frozenset[str] | None) -> np.ndarray | None:
        """Return positions of the allowed chunks, ascending; None for all."""
        if allowed is None:
            return None
        rows = [row for row, node in enumerate(self.ids) if node in allowed]
        return np.array(rows, dtype=np.intp)

    def search(
        self, vector: np.ndarray, k: int, allowed: frozenset[str] | None
    ) -> Hits:
        """Return id and cosine of the `k` nearest allowed chunks."""
        hits = nearest(self.matrix, vector, k, self.rows(allowed))
        return [(self.ids[row], score) for row, score in hits]


def _choose(values: Sequence[T], positions: Sequence[int]) -> list[T]:
    return [values[position] for position in positions]

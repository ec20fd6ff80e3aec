"""A table with its words: headers, labels, what stands over it, its totals."""

import re
from dataclasses import dataclass
from functools import cached_property

from elt_llm_core.tables import Relation
from elt_llm_query.synthesizers.matching import Vocabulary, match, vocabulary
from elt_llm_query.synthesizers.table_sums import summed
from elt_llm_query.synthesizers.table_words import Wanted
from elt_llm_query.text import stem, words

TOTALS = frozenset(
    map(stem, words("total subtotal sum overall average mean all combined"))
)
_NAME = 3  # letters of a word that may be part of a file's name


@dataclass(frozen=True)
class Table:
    """A relation with its words."""

    relation: Relation

    @cached_property
    def headers(self) -> list[Vocabulary]:
        """Stems of each column's header."""
        return [told_in(f"{c.header} {c.unit}") for c in self.relation.columns]

    @cached_property
    def title(self) -> Vocabulary:
        """Stems of what stands over the table."""
        told = self.relation
        label = told.columns[told.labels].header
        return told_in(f"{told.title} {told.section} {told.document} {label}")

    @cached_property
    def labels(self) -> list[tuple[str, ...]]:
        """Stems of each row's label in order, without what stands in brackets."""
        return [
            stems_in(bare(row.label)) or stems_in(row.label)
            for row in self.relation.rows
        ]

    @cached_property
    def openings(self) -> list[tuple[str, ...]]:
        """Stems of each label up to its first comma."""
        return [stems_in(bare(r.label).partition(",")[0]) for r in self.relation.rows]

    def over(self, wanted: Wanted) -> frozenset[str]:
        """Stems of the matter that stand over the table, or are the document's name.

        A file name may run words together: BESTBUY is Best Buy.
        """
        name = re.sub(r"\W|_", "", self.relation.document).lower()
        names = {w for w in words(wanted.text) if w[0].isupper() and len(w) >= _NAME}
        known = {stem(w) for w in names if w.lower().removesuffix("'s") in name}
        told = {s for s in wanted.matter if match(s, self.title)}
        return frozenset(told | (known & {*wanted.matter}))

    @cached_property
    def totals(self) -> frozenset[int]:
        """Numbers of the rows whose label says that they sum up others."""
        return frozenset(
            n for n, label in enumerate(self.labels, start=1) if TOTALS & {*label}
        )

    @cached_property
    def sums(self) -> frozenset[int]:
        """Numbers of the rows that sum up others, by label or by their numbers."""
        return self.totals | summed(self.relation)


def bare(text: str) -> str:
    """The text without what stands in brackets."""
    return re.sub(r"\([^()]*\)", " ", text)


def told_in(text: str) -> Vocabulary:
    """Stems of a text; "%" says "percent" too."""
    return vocabulary(text.replace("%", " % percent percentage "))


def stems_in(text: str) -> tuple[str, ...]:
    """Stems of all its words, in order."""
    return tuple(map(stem, words(text)))

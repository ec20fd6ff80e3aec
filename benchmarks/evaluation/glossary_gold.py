"""Glossaries that people made by reading, and how well ours agrees with them.

A row is right when its term is a gold term or a synonym (case, plural s, articles and
punctuation aside) and its definition shares half of the words of the shorter with one
of the gold, with a token F1 of at least .4. Rows that match a weak or merely used gold
term are left aside. A right row is tight with a token F1 of at least .8.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

RIGHT_F1, RIGHT_SHARE, TIGHT_F1 = 0.4, 0.5, 0.8
MOST_WORDS = 120  # of a definition; a longer one that the gold lacks is a run-on
Tokens = Counter[str]


@dataclass(frozen=True)
class GoldTerm:
    """A term of a gold glossary: its names, its definitions, and how firm they are."""

    term: str
    names: frozenset[str]
    spans: tuple[Tokens, ...]
    used_only: bool = False
    weak: bool = False

    @property
    def needed(self) -> bool:
        """Whether missing it counts."""
        return not self.used_only and not self.weak


@dataclass(frozen=True)
class Agreement:
    """The gold term that a row matches best, and how well its definition does."""

    gold: GoldTerm
    f1: float
    share: float

    @property
    def right(self) -> bool:
        """Whether term and definition are those of the gold."""
        matches = self.f1 >= RIGHT_F1 and self.share >= RIGHT_SHARE
        return not self.gold.used_only and matches


@dataclass(frozen=True)
class Judgement:
    """Counts of a glossary against gold."""

    rows: int
    right: int
    wrong: int
    tight: int
    found: int
    needed: int
    run_ons: int

    @property
    def precision(self) -> float:
        """The share of right rows, those aside left out."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """The share of needed gold terms that were found."""
        return self.found / max(1, self.needed)

    def columns(self) -> tuple[str, ...]:
        """Precision, recall, tight, rows and run-ons, as they stand in the table."""
        tight = self.tight / max(1, self.right)
        shares = (f"{value:.2f}" for value in (self.precision, self.recall, tight))
        return (*shares, str(self.rows), str(self.run_ons))


def normal(name: str) -> str:
    """A term without case, punctuation, articles and plural s."""
    lowered = re.sub(r"[^a-z0-9 ]+", " ", name.lower())
    words = re.sub(r"\b(?:an?|the)\b", " ", lowered).split()
    return " ".join(
        w[:-1] if len(w) > 3 and w.endswith("s") and not w.endswith("ss") else w
        for w in words
    )


def tokens(text: str) -> Tokens:
    """The words of a text, counted."""
    return Counter(re.findall(r"[a-z0-9]+", text.lower()))


def gold_term(
    names: Iterable[str], definitions: Iterable[str], kind: str = "stated",
    note: str = "",
) -> GoldTerm:  # fmt: skip
    """A gold term from its names, the first of which is the term."""
    listed = list(names)
    return GoldTerm(
        term=listed[0],
        names=frozenset(normal(name) for name in listed),
        spans=tuple(tokens(one) for one in definitions if one),
        used_only=kind == "used",
        weak=note.startswith("weak"),
    )


def read_gold(path: Path) -> list[GoldTerm]:
    """Read a glossary of `data/gold`."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        gold_term(
            (row["term"], *row["synonyms"]),
            (row["definition"] or "", *row["alternatives"]),
            row["kind"],
            row["note"],
        )
        for row in rows
    ]


def agreement(term: str, definition: str, gold: Sequence[GoldTerm]) -> Agreement | None:
    """The gold term with that name whose definition is most alike, or None."""
    name, words = normal(term), tokens(definition)
    best = None
    for one in gold:
        if name not in one.names:
            continue
        for f1, share in [_alike(words, span) for span in one.spans] or [(0.0, 0.0)]:
            if best is None or (f1, share) > (best.f1, best.share):
                best = Agreement(one, f1, share)
    return best


def _alike(one: Tokens, two: Tokens) -> tuple[float, float]:
    """Token F1, and the share of the shorter that is in both."""
    shared, sizes = sum((one & two).values()), (sum(one.values()), sum(two.values()))
    return 2 * shared / max(1, sum(sizes)), shared / max(1, min(sizes))


def judge(rows: Sequence[tuple[str, str]], gold: Sequence[GoldTerm]) -> Judgement:
    """Compare rows of term and definition with a gold glossary."""
    found: set[int] = set()
    right = wrong = tight = run_ons = 0
    for term, definition in rows:
        hit = agreement(term, definition, gold)
        if hit is not None and hit.right:
            found.add(id(hit.gold))
            right += not hit.gold.weak
            tight += not hit.gold.weak and hit.f1 >= TIGHT_F1
        elif hit is None or hit.gold.needed:
            wrong += 1
        long = len(definition.split()) > MOST_WORDS
        run_ons += long and (hit is None or hit.f1 < TIGHT_F1)
    needed = [one for one in gold if one.needed]
    counted = sum(id(one) in found for one in needed)
    return Judgement(len(rows), right, wrong, tight, counted, len(needed), run_ons)

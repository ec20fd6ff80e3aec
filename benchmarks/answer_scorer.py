"""Fit the scorer that decides which sentence answers, and how sure that is.

    python benchmarks/answer_scorer.py --data DATA_DIR --root ROOT [--cases FILE]
        [--ablate] [--write]

DATA_DIR holds `clapnq_dev`, `xquad_dev` and the documents of `answer_questions.tsv`,
which are taken into the data root ROOT unless they are there; `answer_cases.py` makes
the cases of them. FILE keeps them.

Prints what is answered and refused when each question is judged by weights that were
fitted without it (five folds by question, two shuffles), then by weights that were
fitted without its document, or without the public set it is of; `--ablate` repeats the
first without each group of features. `--write` writes the weights that ship: for
embedders that read tokens, for others, and for words alone. They are fitted on all
cases but those of documents that may only be measured with (`MEASURED_ONLY`), which are
judged by them in the last table.
"""

import argparse
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from answer_cases import OWN, Group, find_groups, read_cases
from elt_llm_query.analysis.question import Form, analyse
from elt_llm_query.synthesizers.extractive import scorer
from elt_llm_query.synthesizers.extractive.features import lacks_words
from elt_llm_query.synthesizers.extractive.meanings import (
    Features,
)
from elt_llm_query.synthesizers.extractive.ranking import CLOSE_SENTENCE
from elt_llm_query.synthesizers.extractive.scorer import decision_features
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveOptions

Array = NDArray[np.float64]
FOLDS, SHUFFLES, INNER = 5, 2, 4
CHOICE_PENALTY, DECISION_PENALTY = 5.0, 20.0  # of squared weights
STEPS, RATE = 400, 0.05  # of the descent (Adam: Kingma and Ba, 2015)
Z = 1.96  # of a 95 % interval
Limits = tuple[float, float]  # `sure` and `sure_lacking`
THRESHOLDS: Sequence[Limits] = (
    (0.3, 0.4),
    (0.4, 0.4),
    (0.4, 0.5),
    (0.5, 0.5),
    (0.6, 0.8),
)
COLUMNS = ("set", "at", "answered", "first right", "quoted right", "false", "refused")
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"
SHIPPED_LIMITS = (ExtractiveOptions().sure, ExtractiveOptions().sure_lacking)
# Own questions on rule books without a licence, and on reports and papers that the
# evaluation data has for measuring alone.
MEASURED_ONLY = frozenset(
    f"{OWN} {name}"
    for name in (
        "rulebooks", "funds", "general", "markets",
        "earnings", "statements", "public_reports", "papers",
    )
)  # fmt: skip
UNUSED = 1e-6  # spread of a feature that never changes
SHIPPED = Path(scorer.__file__).with_name(scorer.WEIGHTS)


GROUPS = {
    "tokens": ("match", "weakest", "answers_question", "repeated", "new_tokens"),
    "cosines": ("cosine",),
    "source": ("source_cosine",),
    "reader": ("reader",),
    "answer type": ("no_", "name_for", "cause_for", "fit", "defines"),
    "words": ("coverage", "own_", "covered", "missing", "close", "new_w", "new_s"),
    "section": ("section",),
    "whole tables": ("table",),
}
_TOKENS = GROUPS["tokens"]
_MEANINGS = (*_TOKENS, *GROUPS["cosines"], *GROUPS["source"], *GROUPS["reader"])
# What the weights of a kind may not use.
KINDS = {"tokens": (), "vectors": _TOKENS, "words": _MEANINGS}

_TABLES: dict[tuple[Group, tuple[str, ...]], Array] = {}


@dataclass(frozen=True)
class Linear:
    """Fitted weights for features of one mean and scale each; the last is alone."""

    names: Sequence[str]
    mean: Array
    scale: Array
    weights: Array

    def log_odds(self, table: Array) -> Array:
        """The log odds of each row of a table of the features, in order."""
        standard = (table - self.mean) / self.scale
        result: Array = np.clip(
            standard @ self.weights[:-1] + self.weights[-1], -30, 30
        )
        return result

    def content(self) -> dict[str, Any]:
        """The weights as they ship; features that never changed are left out."""
        table = zip(self.names, self.mean, self.scale, self.weights, strict=False)
        features = {
            name: {
                "mean": round(float(mean), 4),
                "scale": round(float(scale), 4),
                "weight": round(float(weight), 4),
            }
            for name, mean, scale, weight in table
            if abs(weight) > UNUSED
        }
        return {"intercept": round(float(self.weights[-1]), 4), "features": features}


class Judged(NamedTuple):
    """Shares of the sentences of a case, and how sure the choice is."""

    shares: Array
    sure: float


@dataclass(frozen=True)
class Fit:
    """Both fitted models."""

    choice: Linear
    decision: Linear

    def judge(self, group: Group) -> Judged:
        """What the scorer would say of a case."""
        if not group.rows:
            return Judged(np.zeros(0), 0.0)
        shares = shares_of(self.choice, group)
        row = decision_features(group.rows, shares.tolist())
        (log_odds,) = self.decision.log_odds(matrix([row], self.decision.names))
        return Judged(shares, float(1 / (1 + np.exp(-log_odds))))


def shares_of(choice: Linear, group: Group) -> Array:
    """How probable each sentence is as the choice."""
    odds = np.exp(choice.log_odds(table_of(group, choice.names)))
    result: Array = odds / (1 + odds.sum())
    return result


def matrix(rows: Sequence[Features], names: Sequence[str]) -> Array:
    """The features as a table, in the order of their names."""
    return np.array([[row[n] for n in names] for row in rows]).reshape(-1, len(names))


def table_of(group: Group, names: Sequence[str]) -> Array:
    """The features of a case as a table, made once for each choice of names."""
    if (group, tuple(names)) not in _TABLES:
        _TABLES[group, tuple(names)] = matrix(group.rows, names)
    return _TABLES[group, tuple(names)]


def _descend(rows: Array, slope: Any, penalty: float) -> Array:
    """Weights at the least penalised loss; the last one has no penalty."""
    penalties = np.append(np.full(rows.shape[1] - 1, penalty), 0.0)
    weights, first, second = (np.zeros(rows.shape[1]) for _ in range(3))
    for step in range(1, STEPS + 1):
        down = slope(weights) + penalties * weights
        first = 0.9 * first + 0.1 * down
        second = 0.999 * second + 0.001 * down * down
        moved = first / (1 - 0.9**step)
        weights -= RATE * moved / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
    return weights


def _standard(table: Array) -> tuple[Array, Array, Array]:
    mean, scale = table.mean(0), table.std(0)
    scale = np.where(scale < UNUSED, 1.0, scale)
    return mean, scale, np.column_stack([(table - mean) / scale, np.ones(len(table))])


def fit_choice(groups: Sequence[Group], names: Sequence[str]) -> Linear:
    """Weights that make the right choices most likely; without one, "none" is right."""
    used = [g for g in groups if g.rows]
    mean, scale, rows = _standard(np.concatenate([table_of(g, names) for g in used]))
    right = np.concatenate([g.right for g in used]).astype(float)
    of = np.repeat(np.arange(len(used)), [len(g.rows) for g in used])

    def slope(weights: Array) -> Array:
        odds = np.exp(np.clip(rows @ weights, -30, 30))
        total = np.bincount(of, odds, len(used))
        good = np.bincount(of, odds * right, len(used))
        wanted = np.where(good[of] > 0, odds * right / np.maximum(good[of], 1e-300), 0)
        result: Array = rows.T @ (odds / (1 + total[of]) - wanted)
        return result

    return Linear(names, mean, scale, _descend(rows, slope, CHOICE_PENALTY))


def fit_decision(rows: Sequence[Features], is_right: Array) -> Linear:
    """Weights that tell right choices from wrong ones."""
    names = sorted(rows[0])
    mean, scale, table = _standard(matrix(rows, names))

    def slope(weights: Array) -> Array:
        sure = 1 / (1 + np.exp(-np.clip(table @ weights, -30, 30)))
        result: Array = table.T @ (sure - is_right)
        return result

    return Linear(names, mean, scale, _descend(table, slope, DECISION_PENALTY))


def fit(groups: Sequence[Group], names: Sequence[str]) -> Fit:
    """Both models; the second is fitted on choices by weights of other questions."""
    used = [g for g in groups if g.rows]
    part = [zlib.crc32(g.question.encode()) % INNER for g in used]
    rows: list[Features] = [{} for _ in used]
    is_right = [0.0] * len(used)
    for left in range(INNER):
        others = [g for g, p in zip(used, part, strict=True) if p != left]
        choice = fit_choice(others, names)
        for place, group in enumerate(used):
            if part[place] == left:
                kept = [{n: row[n] for n in names} for row in group.rows]
                shares = shares_of(choice, group).tolist()
                rows[place] = decision_features(kept, shares)
                is_right[place] = float(group.right[shares.index(max(shares))])
    return Fit(fit_choice(groups, names), fit_decision(rows, np.array(is_right)))


def judge_unseen(groups: Sequence[Group], names: Sequence[str]) -> list[list[Judged]]:
    """Each case for each shuffle, judged by weights fitted without its question."""
    questions = sorted({g.question for g in groups})
    judged: list[list[Judged]] = [[] for _ in groups]
    for shuffle in range(SHUFFLES):
        order = np.random.default_rng(shuffle).permutation(len(questions))
        fold = {q: int(i) % FOLDS for q, i in zip(questions, order, strict=True)}
        for left in range(FOLDS):
            fitted = fit([g for g in groups if fold[g.question] != left], names)
            for place, group in enumerate(groups):
                if fold[group.question] == left:
                    judged[place].append(fitted.judge(group))
    return judged


def judge_unseen_documents(
    groups: Sequence[Group], names: Sequence[str]
) -> list[list[Judged]]:
    """Each case, judged by weights that were fitted without its document or set."""
    fits = {
        home: fit([g for g in groups if g.home != home], names)
        for home in sorted({g.home for g in groups})
    }
    return [[fits[g.home].judge(g)] for g in groups]


def report(
    groups: Sequence[Group],
    judged: Sequence[list[Judged]],
    thresholds: Sequence[Limits] = THRESHOLDS,
) -> None:
    """Print a row for each set and threshold, and one for all our own questions."""
    runs = max(len(cs) for cs in judged)
    for name in sorted({g.name for g in groups} | {OWN}):
        both = [
            (g, c)
            for g, cs in zip(groups, judged, strict=True)
            if g.name == name or (name == OWN and g.name.startswith(OWN))
            for c in cs
        ]
        for limits in thresholds:
            at = " / ".join(f"{x:g}" for x in limits)
            print(f"| {name} | {at} | {_counts(both, limits, runs)} |", flush=True)


def _is_answered(group: Group, judged: Judged, limits: Limits) -> bool:
    """Whether the synthesizer would quote the sentence."""
    if not len(judged.shares):
        return False
    chosen = group.rows[int(judged.shares.argmax())]
    return judged.sure >= limits[lacks_words(chosen)]


def _counts(judged: Sequence[tuple[Group, Judged]], limits: Limits, runs: int) -> str:
    """Of one set: answered, first right, any quoted right, false, and refusals."""
    answered = first = quoted = false = 0
    for group, one in judged:
        if not _is_answered(group, one, limits):
            continue
        if not group.answerable:
            false += 1
            continue
        answered += 1
        shares = one.shares
        best = int(shares.argmax())
        taken = np.argsort(-shares)[:3]
        least = max(CLOSE_SENTENCE, limits[0] / max(one.sure, limits[0]))
        close = [i for i in taken if shares[i] >= least * shares[best]]
        if analyse(group.question).form is Form.NUMBER:
            close = [best]
        first += bool(group.right[best])
        quoted += bool(group.right[close].any())
    most = sum(g.answerable for g, _ in judged)
    none = len(judged) - most
    refused = most - answered + none - false
    cells = [(answered, most), (first, answered), (quoted, answered), (false, none)]
    cells += [(none - false, refused)]
    return " | ".join(interval(a / runs, b / runs) for a, b in cells)


def interval(count: float, n: float) -> str:
    """The share with its Wilson interval (Wilson, 1927); a count is of one shuffle."""
    if not n:
        return "-"
    share = count / n
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return f"{share:.2f} [{middle - half:.2f}, {middle + half:.2f}] of {n:.0f}"


def _content(fitted: Fit) -> dict[str, Any]:
    """Both models as they ship."""
    return {"choice": fitted.choice.content(), "decision": fitted.decision.content()}


def main() -> None:
    """Print the tables; write the weights if told to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--cases", type=Path, default=None)
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    groups = find_groups(partial(read_cases, options.data), options.root, options.cases)
    every = sorted(next(g for g in groups if g.rows).rows[0])
    of_kind = {
        kind: [name for name in every if not name.startswith(unused)]
        for kind, unused in KINDS.items()
    }
    may_ship = [group for group in groups if group.home not in MEASURED_ONLY]
    fits = {kind: fit(may_ship, names) for kind, names in of_kind.items()}
    if options.write:  # first, because the tables take longer
        content = {kind: _content(fitted) for kind, fitted in fits.items()}
        SHIPPED.write_text(f"{json.dumps(content, indent=2)}\n", encoding="utf-8")
    unseen = [group for group in groups if group.home in MEASURED_ONLY]
    for kind, names in of_kind.items():
        print(f"\nWith {kind}:\n\n{HEAD}")
        report(groups, judge_unseen(groups, names))
        print("\nBy weights of the other documents:\n")
        report(groups, judge_unseen_documents(groups, names), [SHIPPED_LIMITS])
        print("\nDocuments that are only measured with, by the weights that ship:\n")
        judged = [[fits[kind].judge(group)] for group in unseen]
        report(unseen, judged, [SHIPPED_LIMITS])
    if options.ablate:
        for left_out, starts in GROUPS.items():
            print(f"\nWithout {left_out}:\n\n{HEAD}")
            kept = [name for name in every if not name.startswith(starts)]
            report(groups, judge_unseen(groups, kept), [SHIPPED_LIMITS])


if __name__ == "__main__":
    main()

"""Fit the scorer that decides which candidates are definitions.

    python benchmarks/glossary_scorer.py --data DIR [DIR ...] --root ROOT
        [--hidden] [--ablate] [--write]

The first DIR holds `gold` with the documents that its glossaries were made of, the
definitions of NIST SP 800-63-4 and `deft_definitions`; any DIR may hold the documents
of `glossary_labels.tsv`. Two folders of those are not in the evaluation data: `debian`
has the texts of the packages doc-debian, debian-policy and developers-reference of
Debian 12, `handbooks` two handbooks for employees from public repositories
(basecamp/handbook, 07-benefits-and-perks.md, and the rules of a health centre).
Documents are taken into the data root ROOT unless they are there. The shipped sample
is a further set, and so are the documents of `written_documents` with those of
`written_definitions`. Candidates and features are those of the product. Weights ship,
so `fit` leaves out every document whose licence allows no more than to measure with it
(`MEASURED_ONLY` of `glossary_sets.py`).

Prints precision, recall and boundaries of each gold glossary, made with weights that
have not seen its document, and average precision of the labelled documents and of the
textbooks, with weights that have not seen their family, and how many candidates of the
forms that are decided by a rule are right. `--hidden` prints the glossary of the four
volumes of NIST SP 800-63-4 without their list of definitions, compared with the list.
`--ablate` prints the gold glossaries without each group of features and without each
stage. `--write` fits all sets that may ship and writes the weights.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elt_llm_consumer.definitions import definition_scorer as shipped
from elt_llm_consumer.definitions.definition_features import Features
from elt_llm_consumer.definitions.definition_pipeline import (
    LIKELY,
    SURE,
    Scored,
    choose,
)
from elt_llm_consumer.definitions.mere_statements import (
    tells_of_each,
    tells_what_is_done,
)
from elt_llm_consumer.definitions.plain_sentences import is_plain_sentence
from elt_llm_consumer.definitions.proposals import Way
from evaluation.glossary_gold import judge
from glossary_sets import (
    GOLD,
    NIST,
    NIST_FOLDER,
    NIST_LIST,
    TEXTBOOKS,
    Set,
    family,
    may_ship,
    read_parts,
    read_sets,
)

Array = NDArray[np.float64]
PENALTY = 100.0  # of squared weights; 30 loses .01 of average precision
STEPS, DONE = 40, 1e-6  # of Newton's method
UNUSED = 1e-6  # spread of a feature that never changes
SHIPPED = Path(shipped.__file__).with_name(shipped.WEIGHTS)
FORMS = {
    "plain sentence": is_plain_sentence,
    "tells of each": tells_of_each,
    "tells what is done": tells_what_is_done,
}
THRESHOLDS = (0.3, SURE, 0.5)
COLUMNS = ("left out", "precision", "recall", "tight", "rows", "over 120 words")
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


@dataclass(frozen=True)
class Model:
    """Fitted weights for features of one mean and scale each; the last is alone."""

    names: Sequence[str]
    mean: Array
    scale: Array
    weights: Array

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


def fit(sets: Sequence[Set], names: Sequence[str]) -> Model:
    """The weights of all sets that may ship."""
    judged = [
        (row, right, counts)
        for one in sets
        if may_ship(one.name)
        for row, right, counts in zip(one.rows, one.right, one.counts, strict=True)
        if counts
    ]
    rows, right, counts = zip(*judged, strict=True)
    return fit_rows(rows, np.array(right), np.array(counts), names, PENALTY)


def fit_rows(
    features: Sequence[Features],
    right: Array,
    counts: Array,
    names: Sequence[str],
    penalty: float,
) -> Model:
    """The weights with the least penalised loss, by Newton's method.

    Logistic regression with an L2 penalty: Hastie, Tibshirani and Friedman, "The
    Elements of Statistical Learning" (2009), 4.4.
    """
    table = np.array([[row.get(n, 0.0) for n in names] for row in features])
    mean, scale = table.mean(0), table.std(0)
    scale = np.where(scale < UNUSED, 1.0, scale)
    rows = np.column_stack([(table - mean) / scale, np.ones(len(table))])
    penalties = np.append(np.full(len(names), penalty), UNUSED)
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        sure = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (counts * (sure - right)) + penalties * weights
        bend = (rows * (counts * sure * (1 - sure))[:, None]).T @ rows
        step = np.linalg.solve(bend + np.diag(penalties), slope)
        weights -= step
        if np.abs(step).max() < DONE:
            break
    return Model(names, mean, scale, weights)


def glossary(one: Set, model: Model, threshold: float, ways: frozenset[Way]) -> list[
    tuple[str, str]
]:  # fmt: skip
    """Terms and definitions of a set, as the product would choose them."""
    judge_of = shipped.to_scorer(model.content())
    found = []
    for part in one.parts:
        scored = [
            Scored(candidate, row, judge_of.probability(row))
            for candidate, row in zip(part.candidates, part.rows, strict=True)
            if candidate.way in ways
        ]
        found += [s.candidate.definition for s in choose(scored, part.usage, threshold)]
    return [(one.term, one.definition) for one in found]


def left_out(
    sets: Sequence[Set], names: Sequence[str], threshold: float,
    ways: frozenset[Way] = frozenset(Way),
) -> Iterator[tuple[str, ...]]:  # fmt: skip
    """A row of the table for each gold glossary, by weights of other families."""
    for one in sets:
        if one.name in {*GOLD, NIST}:
            rows = glossary(one, fit_others(sets, one.name, names), threshold, ways)
            yield one.name, *judge(rows, one.gold).columns()


def fit_others(sets: Sequence[Set], name: str, names: Sequence[str]) -> Model:
    """The weights of all sets that are not of the family of a set."""
    others = [one for one in sets if family(one.name) != family(name)]
    return fit(others, names)


def report_labelled(sets: Sequence[Set], names: Sequence[str]) -> None:
    """Print how well the labelled candidates of each family are ranked, unseen."""
    print(
        "\n| labelled, family left out | judged | right | average precision |", end=""
    )
    print("".join(f" at {t} |" for t in THRESHOLDS) + f"\n{'|---' * 7}|")
    labelled = [one for one in sets if "/" in one.name or one.name == TEXTBOOKS]
    seen: list[tuple[float, float]] = []
    for name in sorted({family(one.name) for one in labelled}):
        scorer = shipped.to_scorer(fit_others(sets, name, names).content())
        pairs = [
            (scorer.probability(row), right)
            for one in labelled
            if family(one.name) == name
            for row, right, counts in zip(one.rows, one.right, one.counts, strict=True)
            if counts
        ]
        seen += pairs if name != TEXTBOOKS else []
        print(f"| {name} | {' | '.join(_ranked(pairs))} |")
    print(f"| all | {' | '.join(_ranked(seen))} |")


def report_forms(sets: Sequence[Set]) -> None:
    """Print how many judged candidates of the forms with a rule are right."""
    print("\n| form | judged | right |\n|---|---|---|")
    for name, has_form in FORMS.items():
        judged = [
            right
            for one in sets
            for candidate, right, counts in zip(
                (c for part in one.parts for c in part.candidates),
                one.right,
                one.counts,
                strict=True,
            )
            if counts and has_form(candidate)
        ]
        print(f"| {name} | {len(judged)} | {sum(judged):.0f} |")


def _ranked(pairs: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Counts, average precision, and precision and recall at each threshold."""
    order = sorted(pairs, key=lambda pair: -pair[0])
    right = np.array([is_right for _, is_right in order])
    shares = np.cumsum(right) / np.arange(1, len(right) + 1)
    yield from (str(len(right)), f"{right.sum():.0f}")
    yield f"{(shares * right).sum() / max(1.0, right.sum()):.2f}"
    for threshold in THRESHOLDS:
        number = sum(probability >= threshold for probability, _ in order)
        found = right[:number].sum()
        yield f"{found / max(1, number):.2f}, {found / max(1.0, right.sum()):.2f}"


def report_hidden(
    folder: Path, root: Path, sets: Sequence[Set], names: Sequence[str]
) -> None:
    """Print the glossary of the NIST volumes without the list that is the gold."""
    paths = [
        path
        for path in sorted((folder / NIST_FOLDER).glob("_sp800-63*/*.md"))
        if path != folder / NIST_LIST and path.stat().st_size
    ]
    parts = read_parts(root, "nist-hidden", paths)
    gold = next(one.gold for one in sets if one.name == NIST)
    hidden = Set("list hidden", parts, gold)
    model = fit_others(sets, NIST, names)
    print(f"\n{HEAD}")
    for threshold in (LIKELY, *THRESHOLDS):
        rows = glossary(hidden, model, threshold, frozenset(Way))
        title = f"list hidden, threshold {threshold}"
        print(f"| {' | '.join((title, *judge(rows, gold).columns()))} |")
    every = [c.definition for part in parts for c in part.candidates]
    most = judge([(one.term, one.definition) for one in every], gold)
    print(f"rows of the list that a candidate agrees with: {most.found}")


def report(sets: Sequence[Set], names: Sequence[str], title: str, **more: Any) -> None:
    """Print a table."""
    threshold = more.pop("threshold", SURE)
    print(f"\n{title}\n\n{HEAD}")
    for row in left_out(sets, names, threshold, **more):
        print(f"| {' | '.join(row)} |")


def main() -> None:
    """Fit, report and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--hidden", action="store_true")
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--write", action="store_true")
    told = parser.parse_args()
    folder, *more = told.data
    sets = read_sets(folder, told.root, *more)
    names = sorted({name for one in sets for row in one.rows for name in row})
    for one in sets:
        print(f"{one.name}: {len(one.right)} candidates, {sum(one.right):.0f} right")
    report(sets, names, f"unseen, threshold {SURE}")
    report(sets, names, f"unseen, threshold {LIKELY}", threshold=LIKELY)
    report_labelled(sets, names)
    report_forms(sets)
    if told.hidden:
        report_hidden(folder, told.root, sets, names)
    if told.ablate:
        for group in sorted({name.split(":")[0] for name in names}):
            kept = [name for name in names if not name.startswith(f"{group}:")]
            report(sets, kept, f"without features of group {group}")
        for way in Way:
            report(sets, names, f"without {way}", ways=frozenset(Way) - {way})
    if told.write:
        content = fit(sets, names).content()
        SHIPPED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

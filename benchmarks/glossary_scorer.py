"""Fit the scorer that decides which candidates are definitions.

    python benchmarks/glossary_scorer.py --data DIR --root ROOT [--ablate] [--write]

DIR holds `gold` with the documents that its glossaries were made of, the definitions
of NIST SP 800-63-4, `deft_definitions`, and the documents of `glossary_labels.tsv`;
documents are taken into the data root ROOT unless they are there.
The shipped sample is a further set. Candidates and features are those of the product.

Prints precision, recall and boundaries of each gold glossary, made with weights that
have not seen its document; `--ablate` prints the same without each group of features
and without each stage. `--write` fits all sets and writes the weights that ship.
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elt_llm_consumer.definitions import definition_scorer as shipped
from elt_llm_consumer.definitions.definition_features import Features, describe_all
from elt_llm_consumer.definitions.definition_pipeline import (
    LIKELY,
    SURE,
    Scored,
    choose,
)
from elt_llm_consumer.definitions.definition_records import text_units
from elt_llm_consumer.definitions.proposals import (
    DefinitionProposal,
    Way,
    find_candidates,
)
from elt_llm_consumer.definitions.terms import fold
from elt_llm_consumer.definitions.usage import Usage
from elt_llm_core.config.domain_packs import DEFAULT, known_packs
from elt_llm_core.config.loader import load_config
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from evaluation.deft import marked_terms
from evaluation.glossary_gold import (
    GoldTerm,
    agreement,
    gold_term,
    judge,
    read_gold,
)

Array = NDArray[np.float64]
PENALTY = 30.0  # of squared weights; 10 to 80 differ by one or two rows
STEPS, DONE = 40, 1e-6  # of Newton's method
UNUSED = 1e-6  # spread of a feature that never changes
ALIKE = 0.6  # token F1 from which a candidate is a whole example of its gold term
GOLD = {
    "HR policy": ("hr_policy", ["policy_pdf/HR_HR_Policy/HR_Policy.pdf"]),
    "competition rules": ("rules_wca", ["rules_wca"]),
    "monograph": ("metformin", ["drug_monographs/docs/metformin.pdf"]),
}
NIST, NIST_LIST = "NIST definitions", "nist_sp800_63_4/_sp800-63/definitions.md"
NIST_GOLD = "nist_sp800_63_4/definitions_parsed.json"
SAMPLE, TEXTBOOKS = "sample", "textbooks"
LABELS = Path(__file__).with_name("glossary_labels.tsv")
SHIPPED = Path(shipped.__file__).with_name(shipped.WEIGHTS)
# What a candidate of a set counts: a list repeats one shape, textbooks differ.
COUNTS = {NIST: 0.2, SAMPLE: 0.5, TEXTBOOKS: 0.3}
WEAK, USED, PART, SPELT = 0.5, 0.5, 0.3, 0.5  # of rows that teach less
_MARKUP = re.compile(r"(?<=\])\([^)]*\)|\{:[^}]*\}|[*_`\[\]]")
COLUMNS = ("left out", "precision", "recall", "tight", "rows", "over 120 words")
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


@dataclass
class Part:
    """One document: its candidates and how it uses its words."""

    usage: Usage
    candidates: Sequence[DefinitionProposal]
    rows: Sequence[Features]


@dataclass
class Set:
    """Documents of one glossary; `right` and `counts` are per candidate."""

    name: str
    parts: Sequence[Part]
    gold: Sequence[GoldTerm] = ()
    right: list[float] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)

    @property
    def rows(self) -> list[Features]:
        """The features of all candidates."""
        return [row for part in self.parts for row in part.rows]


def to_part(text: str, blocks: Sequence[Block]) -> Part:
    """A document as the product sees it."""
    units = text_units(text, blocks)
    usage = Usage(text, blocks, units)
    candidates = find_candidates(text, blocks, units, usage)
    return Part(usage, candidates, describe_all(candidates, usage))


def read_parts(root: Path, name: str, paths: Sequence[Path]) -> list[Part]:
    """The documents of a collection, taken in unless they are there."""
    config, store = load_config(environ={}), Store(root)
    try:
        if name not in {card.name for card in store.collections()}:
            options = {"paths": [str(path) for path in paths], "collection": name}
            JOBS.load("ingest", options).build(build_models(config))(
                JobContext(config, store)
            )
        ids = [row.document_id for row in store.documents(name)]
        return [to_part(store.document_text(i), list(store.blocks(i))) for i in ids]
    finally:
        store.close()


def by_gold(name: str, parts: Sequence[Part], gold: Sequence[GoldTerm]) -> Set:
    """A set whose candidates are right where they agree with a gold glossary."""
    result = Set(name, parts, gold)
    share = COUNTS.get(name, 1.0)
    for part in parts:
        for one in part.candidates:
            right, counts = _label(one, gold)
            result.right.append(right)
            result.counts.append(share * counts)
    return result


def _label(
    candidate: DefinitionProposal, gold: Sequence[GoldTerm]
) -> tuple[float, float]:
    definition = candidate.definition
    hit = agreement(definition.term, definition.definition, gold)
    if hit is None:
        return 0.0, 1.0
    if hit.gold.used_only:
        return 0.0, USED
    whole = hit.right and hit.f1 >= ALIKE
    if hit.gold.weak:
        return (1.0, WEAK) if whole else (0.0, 0.0)
    return (1.0, 1.0 if whole else PART) if hit.right else (0.0, 1.0)


def read_nist(folder: Path, root: Path) -> Set:
    """The list of definitions of NIST SP 800-63-4."""
    gold = []
    for row in json.loads((folder / NIST_GOLD).read_text(encoding="utf-8")):
        term, definition = (_MARKUP.sub("", row[k]) for k in ("term", "definition"))
        names = re.fullmatch(r"(.+?)\s*\(([^()]+)\)", term)
        gold.append(
            gold_term((term, *(names.groups() if names else ())), (definition,))
        )
    return by_gold(NIST, read_parts(root, "nist", [folder / NIST_LIST]), gold)


def read_sample(root: Path) -> Set:
    """The handbook of the shipped sample."""
    folder = known_packs()[DEFAULT]
    terms = json.loads((folder / "gold.json").read_text(encoding="utf-8"))["terms"]
    gold = [gold_term((t["term"], *t["aliases"]), (t["definition"],)) for t in terms]
    return by_gold(SAMPLE, read_parts(root, "sample", [folder / "handbook.pdf"]), gold)


def read_textbooks(folder: Path) -> Set:
    """Pages of textbooks in which people marked terms and definitions."""
    whole = Set(TEXTBOOKS, [])
    parts = []
    for sentences, pairs in marked_terms(folder / "deft_definitions/dev"):
        text, blocks = "", []
        for sentence in sentences:
            start = len(text)
            text += f"{sentence}\n\n"
            end = start + len(sentence)
            blocks.append(Block(kind=BlockKind.PARAGRAPH, start=start, end=end))
        gold = [gold_term(names, definitions) for names, definitions in pairs]
        one = by_gold(TEXTBOOKS, [to_part(text, blocks)], gold)
        parts += one.parts
        whole.right += one.right
        whole.counts += one.counts
    whole.parts = parts
    return whole


def read_labelled(folder: Path, root: Path) -> Iterator[Set]:
    """Documents whose surest candidates were judged one by one."""
    labels: dict[str, dict[tuple[str, str], str]] = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        path, label, term, opening = line.split("\t")
        labels.setdefault(path, {})[fold(term), opening] = label
    for path, judged in sorted(labels.items()):
        name = re.sub(r"\W+", "-", Path(path).stem).lower()
        one = Set(path, read_parts(root, name, [folder / path]))
        for part in one.parts:
            for candidate in part.candidates:
                right, counts = _judged(candidate, part.usage, judged)
                one.right.append(right)
                one.counts.append(counts)
        yield one


def _judged(
    candidate: DefinitionProposal, usage: Usage, labels: Mapping[tuple[str, str], str]
) -> tuple[float, float]:
    key = fold(candidate.definition.term)
    texts = [candidate.definition.definition]
    texts += [candidate.sentence.text] if candidate.sentence else []
    label = next(
        (
            label
            for (name, opening), label in labels.items()
            if name in {key, usage.spelt_out.get(key, key)}
            and any(" ".join(text.split()).startswith(opening) for text in texts)
        ),
        "",
    )
    if label == "weak":
        return 0.0, 0.0
    if candidate.way is Way.ACRONYM:
        return 1.0, SPELT
    return float(label == "stated"), 1.0


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
    """The weights of all sets."""
    rows = [row for one in sets for row in one.rows]
    right = np.concatenate([one.right for one in sets])
    counts = np.concatenate([one.counts for one in sets])
    return fit_rows(rows, right, counts, names, PENALTY)


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
    table = np.array([[row[n] for n in names] for row in features])
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
    """A row of the table for each gold glossary, by weights of the other sets."""
    for one in sets:
        if one.name in {*GOLD, NIST}:
            model = fit([other for other in sets if other is not one], names)
            rows = glossary(one, model, threshold, ways)
            yield one.name, *judge(rows, one.gold).columns()


def report(sets: Sequence[Set], names: Sequence[str], title: str, **more: Any) -> None:
    """Print a table."""
    threshold = more.pop("threshold", SURE)
    print(f"\n{title}\n\n{HEAD}")
    for row in left_out(sets, names, threshold, **more):
        print(f"| {' | '.join(row)} |")


def read_sets(folder: Path, root: Path) -> list[Set]:
    """All sets that the weights are fitted on."""
    sets = []
    for name, (gold, paths) in GOLD.items():
        collection = gold.replace("_", "-")
        parts = read_parts(root, collection, [folder / path for path in paths])
        sets.append(by_gold(name, parts, read_gold(folder / f"gold/{gold}.jsonl")))
    sets += [read_nist(folder, root), read_sample(root), read_textbooks(folder)]
    return [*sets, *read_labelled(folder, root)]


def main() -> None:
    """Fit, report and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--write", action="store_true")
    told = parser.parse_args()
    sets = read_sets(told.data, told.root)
    names = sorted(sets[0].rows[0])
    for one in sets:
        print(f"{one.name}: {len(one.right)} candidates, {sum(one.right):.0f} right")
    report(sets, names, f"unseen, threshold {SURE}")
    report(sets, names, f"unseen, threshold {LIKELY}", threshold=LIKELY)
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

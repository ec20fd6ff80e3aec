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
(`MEASURED_ONLY`).

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
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elt_llm_consumer.definitions import definition_scorer as shipped
from elt_llm_consumer.definitions.definition_features import (
    Features,
    describe_all,
    kind,
)
from elt_llm_consumer.definitions.definition_pipeline import (
    LIKELY,
    SURE,
    Scored,
    choose,
)
from elt_llm_consumer.definitions.definition_records import text_units
from elt_llm_consumer.definitions.mere_statements import (
    tells_of_each,
    tells_what_is_done,
)
from elt_llm_consumer.definitions.plain_sentences import is_plain_sentence
from elt_llm_consumer.definitions.proposals import (
    DefinitionProposal,
    Way,
    find_candidates,
)
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
from written_documents import WrittenDocument, read_documents

Array = NDArray[np.float64]
PENALTY = 100.0  # of squared weights; 30 loses .01 of average precision
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
NIST_FOLDER = "nist_sp800_63_4"
SAMPLE, TEXTBOOKS, WRITTEN = "sample", "textbooks", "written documents"
UNRELATED = "reading_dev"  # a folder whose documents are no family
LABELS = Path(__file__).with_name("glossary_labels.tsv")
DEFINING = Path(__file__).with_name("written_definitions")
SHIPPED = Path(shipped.__file__).with_name(shipped.WEIGHTS)
# Weights are never fitted on these: CC BY-NC-SA; texts of ADGM without a licence;
# papers and reports as published; handbooks that may be read but not copied.
MEASURED_ONLY = frozenset({TEXTBOOKS, "obliqa", UNRELATED, "handbooks"})
# What a candidate of a set counts: a list repeats one shape; 7,178 candidates of
# written documents would outweigh all others (with 1 instead of .5 the precision on the
# HR policy is .54 instead of .68, with .1 the average precision .67 instead of .69).
COUNTS = {NIST: 0.2, WRITTEN: 0.5}
WEAK, USED, PART = 0.5, 0.5, 0.3  # of rows that teach less
OPENING = 40  # characters of a definition in a label
FORMS = {
    "plain sentence": is_plain_sentence,
    "tells of each": tells_of_each,
    "tells what is done": tells_what_is_done,
}
_MARKUP = re.compile(r"(?<=\])\([^)]*\)|\{:[^}]*\}|[*_`\[\]]")
THRESHOLDS = (0.3, SURE, 0.5)
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


def by_gold(
    name: str, parts: Sequence[Part], gold: Sequence[GoldTerm], weak: float = WEAK
) -> Set:
    """A set whose candidates are right where they agree with a gold glossary.

    Candidates that agree with a weak row count `weak`.
    """
    result = Set(name, parts, gold)
    share = COUNTS.get(name, 1.0)
    for part in parts:
        for one in part.candidates:
            right, counts = _label(one, gold, weak)
            result.right.append(right)
            result.counts.append(share * counts)
    return result


def _label(
    candidate: DefinitionProposal, gold: Sequence[GoldTerm], weak: float
) -> tuple[float, float]:
    definition = candidate.definition
    hit = agreement(definition.term, definition.definition, gold)
    if hit is None:
        return 0.0, 1.0
    if hit.gold.used_only:
        return 0.0, USED
    whole = hit.right and hit.f1 >= ALIKE
    if hit.gold.weak:
        return (1.0, weak) if whole else (0.0, 0.0)
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
    return _join(
        TEXTBOOKS,
        [
            by_gold(
                TEXTBOOKS,
                [to_part(*_lay_out((0, text) for text in sentences))],
                [gold_term(names, definitions) for names, definitions in pairs],
            )
            for sentences, pairs in marked_terms(folder / "deft_definitions/dev")
        ],
    )


def to_written(documents: Sequence[WrittenDocument]) -> Set:
    """Documents of `written_documents` with the glossaries that readers made.

    A third of their rows are weak; those count for nothing here.
    """
    sets = []
    for document in documents:
        gold = [
            gold_term(row.names, (row.definition,), row.kind, row.kind)
            for row in document.glossary
        ]
        part = to_part(*_lay_out(_pieces(document)))
        sets.append(by_gold(WRITTEN, [part], gold, weak=0.0))
    return _join(WRITTEN, sets)


def _pieces(document: WrittenDocument) -> Iterator[tuple[int, str]]:
    """The title, and each heading with the sentences below it as one paragraph."""
    yield 1, document.title
    for heading, sentences in groupby(document.sentences, lambda one: one.heading):
        if heading:
            yield 2, heading
        yield 0, " ".join(one.text for one in sentences)


def _lay_out(pieces: Iterable[tuple[int, str]]) -> tuple[str, list[Block]]:
    """Text and blocks of headings with their levels, and of paragraphs (level 0)."""
    text, blocks, path = "", [], [""]
    for level, piece in pieces:
        if level:
            path = [*path[: level - 1], piece]
        above = path[:-1] if level else path
        block = Block(
            kind=BlockKind.HEADING if level else BlockKind.PARAGRAPH,
            start=len(text),
            end=len(text) + len(piece),
            level=level,
            section=" > ".join(above),
        )
        text += f"{piece}\n\n"
        blocks.append(block)
    return text, blocks


def _join(name: str, sets: Sequence[Set]) -> Set:
    """One set of several, each of which has its own gold glossary."""
    return Set(
        name,
        [part for one in sets for part in one.parts],
        right=[right for one in sets for right in one.right],
        counts=[counts for one in sets for counts in one.counts],
    )


def read_labelled(folders: Sequence[Path], root: Path) -> Iterator[Set]:
    """Documents with candidates that were judged one by one, as far as they are there.

    Candidates without a label count for nothing.
    """
    labels: dict[str, dict[tuple[str, ...], str]] = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        path, label, *judged = line.split("\t")
        labels.setdefault(path, {})[tuple(judged)] = label
    for path, judgements in sorted(labels.items()):
        places = [folder / path for folder in folders if (folder / path).exists()]
        if not places:
            print(f"{path}: not in {', '.join(map(str, folders))}; left out")
            continue
        one = Set(path, read_parts(root, _collection(path), places[:1]))
        for candidate in (c for part in one.parts for c in part.candidates):
            label = judgements.get(_mark(candidate), "")
            one.right.append(float(label == "right"))
            one.counts.append(float(label in {"right", "wrong"}))
        yield one


def _collection(path: str) -> str:
    return re.sub(r"\W+|_+", "-", path.rpartition(".")[0]).lower()


def _mark(candidate: DefinitionProposal) -> tuple[str, ...]:
    """What a label names a candidate by."""
    definition = candidate.definition
    opening = " ".join(definition.definition.split())[:OPENING]
    return kind(candidate), " ".join(definition.term.split()), opening


def family(name: str) -> str:
    """What a set has in common with others: its folder."""
    folder = name.partition("/")[0]
    return NIST_FOLDER if name == NIST else name if folder == UNRELATED else folder


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


def may_ship(name: str) -> bool:
    """Whether the licence of a set allows weights that were fitted on it."""
    return name.partition("/")[0] not in MEASURED_ONLY


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


def read_sets(folder: Path, root: Path, *more: Path) -> list[Set]:
    """All sets that are fitted or measured; `more` may hold labelled documents."""
    sets = []
    for name, (gold, paths) in GOLD.items():
        collection = gold.replace("_", "-")
        parts = read_parts(root, collection, [folder / path for path in paths])
        sets.append(by_gold(name, parts, read_gold(folder / f"gold/{gold}.jsonl")))
    sets += [read_nist(folder, root), read_sample(root), read_textbooks(folder)]
    sets.append(to_written([*read_documents(), *read_documents(DEFINING)]))
    return [*sets, *read_labelled([folder, *more], root)]


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

"""Fit the scorers that decide whether a handbook treats an entity of a model.

    uv run --group dev python benchmarks/coverage_scorer.py --data DIR --root ROOT
        [--errors] [--write]

`coverage_labels.tsv` holds the pairs of a handbook and a model, and for each name that
the handbook has in some form what a reader said of it: "treated" (defined, or ruled on
at length), "named" (meant, and no more), "other" (another sense, or an ordinary word),
"unclear" (left out). DIR holds the documents and models; they are taken into the data
root ROOT unless they are there. The packs are further pairs.

A model that fits its handbook has hardly a word that is not meant. So each of those is
also mixed with the names of the large models that its handbook has: pairs "... mixed".

Prints precision and recall of the verdicts by weights that have not seen the pair, and
again by weights that have not seen the handbook. `--write` fits all pairs and writes
the weights that ship.
"""

import argparse
import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.definitions.definition_scorer import to_scorer
from elt_llm_consumer.definitions.terms import fold
from elt_llm_consumer.linking.entity_aliases import read_aliases
from elt_llm_consumer.linking.model_entities import EntityModel
from elt_llm_consumer.linking.model_reading import read_model
from elt_llm_consumer.linking.similarity import Vector, embed_texts
from elt_llm_consumer.treatment import treatment_index
from elt_llm_consumer.treatment.treatment_features import Features
from elt_llm_consumer.treatment.treatment_index import TreatmentIndex, score_of, verdict
from elt_llm_core.config.domain_packs import find_pack, known_packs
from elt_llm_core.config.loader import load_config
from elt_llm_core.config.sections import ConsumerSection
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from glossary_scorer import Model, fit_rows

LABELS = Path(__file__).with_name("coverage_labels.tsv")
DRAWN = Path(__file__).with_name("catalog_fields")  # models drawn for the purpose
SHIPPED = Path(treatment_index.__file__).with_name(treatment_index.WEIGHTS)
PENALTY = {"sense": 4.0, "depth": 3.0}  # of squared weights; 2 to 8 differ little
DEPTH = (
    "use: sentences", "says: something", "place: a heading", "defined: the name",
    "defined: an alias",
)  # fmt: skip
MIXED = " mixed"
# A mixed pair repeats the names of its own model, and is harder than models are: at .5
# more of the sample's names are missed, at .02 half of what mixed pairs cover is wrong.
COUNTS = {True: 0.2, False: 1.0}
UNCLEAR = "unclear"


class Case(NamedTuple):
    """One name of a pair."""

    handbook: str
    model: str
    name: str
    label: str
    row: Features


Labels = dict[tuple[str, str], dict[str, str]]


def read_labels() -> Labels:
    """Handbook and model to names and their labels."""
    labels: Labels = defaultdict(dict)
    with LABELS.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            handbook, model, label, name = row
            labels[handbook, model][name] = label
    return labels


class Corpus:
    """Handbooks and models, taken in when first needed."""

    def __init__(self, data: Path, root: Path) -> None:
        self._data = data
        self._context = JobContext(load_config(environ={}), Store(root))
        self._models = build_models(self._context.config)
        self._handbooks: dict[str, Handbook] = {}

    def handbook(self, name: str) -> Handbook:
        """A handbook by its path, or that of a pack."""
        if name not in self._handbooks:
            collection = self._take_in(name, "handbook")
            self._handbooks[name] = Handbook(self._context.store, [collection])
        return self._handbooks[name]

    def model(self, name: str) -> EntityModel:
        """A model by its path, or that of a pack."""
        return read_model(self._context.store, self._take_in(name, "model"))

    def embed(self, texts: Sequence[str]) -> Vector:
        """Unit vectors of texts, by the embedder that is configured by default."""
        return embed_texts(self._models, texts)

    def _take_in(self, name: str, kind: str) -> str:
        collection = re.sub(r"[\W_]+", "-", f"{kind}-{Path(name).stem}".lower())
        store = self._context.store
        if collection not in {card.name for card in store.collections()}:
            paths = tuple(map(str, self._paths(name, kind)))
            options = {"paths": paths, "collection": collection}
            JOBS.load("ingest", options).build(self._models)(self._context)
        return collection

    def _paths(self, name: str, kind: str) -> list[Path]:
        if name in known_packs():
            pack = find_pack(name)
            first, *others = pack.collections
            wanted = [first] if kind == "handbook" else others
            return [pack.folder / f.path for one in wanted for f in pack.files(one)]
        drawn = DRAWN / name
        return [drawn if drawn.exists() else self._data / name]


def read_cases(corpus: Corpus, labels: Labels) -> Iterator[Case]:
    """Every labelled name with its features; those of mixed pairs too."""
    for (handbook, model), judged in list(labels.items()):
        if model.endswith(MIXED):
            continue
        own = corpus.model(model)
        aliases = read_aliases(find_pack(model).aliases_file) if (
            model in known_packs()
        ) else {}  # fmt: skip
        yield from _cases(corpus, handbook, model, own, aliases, judged)
        if model in known_packs() or (DRAWN / model).exists():
            mixed = own, dict(judged)
            for (other_handbook, other), words in labels.items():
                if other_handbook == handbook and model not in other:
                    mixed = _mix(*mixed, corpus.model(other), words)
            whole, known = mixed[0], mixed[1] | labels[handbook, model + MIXED]
            yield from _cases(corpus, handbook, model + MIXED, whole, aliases, known)


def _mix(
    own: EntityModel, known: dict[str, str], other: EntityModel, words: dict[str, str]
) -> tuple[EntityModel, dict[str, str]]:
    """A model with those names of another that the handbook has."""
    keys = {fold(entity.name) for entity in own.entities}
    extra = {
        fold(entity.name): entity
        for entity in other.entities
        if words.get(entity.name, UNCLEAR) != UNCLEAR and fold(entity.name) not in keys
    }
    entities = (*own.entities, *extra.values())
    labels = known | {one.name: words[one.name] for one in extra.values()}
    return own.model_copy(update={"entities": entities}), labels


def _cases(
    corpus: Corpus, handbook: str, model: str, entities: EntityModel,
    aliases: dict[str, tuple[str, ...]], judged: dict[str, str],
) -> Iterator[Case]:  # fmt: skip
    index = TreatmentIndex(
        corpus.handbook(handbook), entities, aliases, ConsumerSection(), corpus.embed
    )
    by_key = {fold(name): label for name, label in judged.items()}
    firsts = {fold(one.name): one for one in reversed(entities.entities)}
    for key, entity in firsts.items():
        if not index.is_named(entity):
            continue
        label = by_key.get(key, "")
        if not label:
            print(f"not judged: {handbook} / {model} / {entity.name}")
        elif label != UNCLEAR:
            yield Case(handbook, model, entity.name, label, index.describe(entity))


def fit_both(cases: Sequence[Case]) -> tuple[Model, Model]:
    """The weights of sense and of depth."""
    meant = [case for case in cases if case.label != "other"]
    sense = _fit(cases, sorted(cases[0].row), "other", "sense")
    return sense, _fit(meant, DEPTH, "named", "depth")


def _fit(cases: Sequence[Case], names: Sequence[str], wrong: str, kind: str) -> Model:
    right = np.array([float(case.label != wrong) for case in cases])
    counts = np.array([COUNTS[case.model.endswith(MIXED)] for case in cases])
    rows = [case.row for case in cases]
    return fit_rows(rows, right, counts, names, PENALTY[kind])


class Judged(NamedTuple):
    """A case with its verdict."""

    case: Case
    verdict: str
    score: float


def judge_unseen(
    cases: Sequence[Case], group: Callable[[Case], object]
) -> Iterator[Judged]:
    """Verdicts by weights of the other groups."""
    for one in sorted({group(case) for case in cases}, key=str):
        both = fit_both([case for case in cases if group(case) != one])
        sense, depth = (to_scorer(model.content()) for model in both)
        for case in cases:
            if group(case) == one:
                chances = sense.probability(case.row), depth.probability(case.row)
                score = score_of(*chances)
                yield Judged(case, verdict(score, ConsumerSection()), score)


def columns(judged: Sequence[Judged]) -> Iterator[str]:
    """Precision and recall of covered and of STRONG, as fractions."""
    for bands, labels in (
        ({"STRONG", "MODERATE"}, {"treated", "named"}),
        ({"STRONG"}, {"treated"}),
    ):
        said = [one for one in judged if one.verdict in bands]
        hits = sum(one.case.label in labels for one in said)
        wanted = sum(one.case.label in labels for one in judged)
        yield f"{hits} of {len(said)}" if said else "none said"
        yield f"{hits} of {wanted}" if wanted else "none wanted"
    wrong = [one for one in judged if one.case.label == "other"]
    yield str(sum(one.verdict == "STRONG" for one in wrong))
    yield f"{sum(one.verdict == 'THIN' for one in wrong)} of {len(wrong)}"


HEAD = (
    "pair", "covered: precision", "recall", "STRONG: precision", "recall",
    "other sense, yet STRONG", "other sense, THIN",
)  # fmt: skip


def report(judged: Sequence[Judged], title: str) -> None:
    """Print a table with a row for each pair, and one for those not mixed."""
    print(f"\n{title}\n\n| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|")
    pairs: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        mixed = one.case.model.endswith(MIXED)
        files = one.case.handbook, one.case.model.removesuffix(MIXED)
        name = ", ".join(Path(file).stem for file in files)
        pairs[name + MIXED * mixed].append(one)
        pairs["all mixed" if mixed else "all but the mixed"].append(one)
    for name in sorted(pairs, key=lambda name: (name.startswith("all"), name)):
        print(f"| {name} | {' | '.join(columns(pairs[name]))} |")


def main() -> None:
    """Fit, report and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--write", action="store_true")
    told = parser.parse_args()
    cases = list(read_cases(Corpus(told.data, told.root), read_labels()))
    unseen = list(
        judge_unseen(cases, lambda case: (case.handbook, case.model.split(MIXED)[0]))
    )
    report(unseen, "unseen pairs")
    report(list(judge_unseen(cases, lambda case: case.handbook)), "unseen handbooks")
    for one in unseen if told.errors else ():
        label = {"STRONG": "treated", "MODERATE": "named"}.get(one.verdict, "other")
        if label != one.case.label:
            print(*one.case[:4], one.verdict, round(one.score, 2), sep="\t")
    if told.write:
        sense, depth = fit_both(cases)
        content = {"sense": sense.content(), "depth": depth.content()}
        SHIPPED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

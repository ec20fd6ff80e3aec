"""Fit the scorer that decides whether a term of a glossary and an entity are one thing.

    uv run --group dev python benchmarks/mapping_scorer.py --data DIR --root ROOT
        [--ablate] [--errors] [--write]

`mapping_labels.tsv` holds the pairs of a handbook and a model, and for pairs of a term
and an entity that a signal proposes what a reader said of them: "same", "sense" (the
name is the same, the thing is another) or "not" (related, or nothing at all). Pairs
without a label are left out. DIR holds documents, models and the gold glossaries, whose
terms are those of their documents; other documents give the terms that the product
finds. `mapping_models` are models drawn for the purpose: `*-architect` with names as an
architect would write them, `*-a` and `*-b` with names of the handbook, each described
in its sense in one of the two and in another sense in the other (`*-spellings-*` in
spellings such as "CrewList"); `catalog_fields` are models with the handbook's own
names. Pairs of a handbook whose licence allows no more than to measure with it
(`MEASURED_ONLY` of `glossary_sets.py`) are judged like the others, but no weight is
fitted on them.

Prints precision and recall of "same" by weights that have not seen the pair of handbook
and model, and by weights that have not seen the handbook, beside those of equal names
and aliases alone, with 95 % intervals (Wilson 1927); described entities of the term's
name also by themselves. `--ablate` prints the first without each group of signals.
`--write` fits all pairs that may ship and writes the weights.
"""

import argparse
import csv
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import coverage_scorer
from coverage_scorer import Corpus
from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.linking import term_mapper
from elt_llm_consumer.linking.entity_aliases import read_aliases
from elt_llm_consumer.linking.mapping_features import (
    COMPARED,
    DESCRIPTION,
    EQUAL,
    SAME_NAMES,
    MappedTerm,
    PairSignals,
    Signals,
    to_mapped_term,
)
from elt_llm_consumer.linking.term_mapper import SAME, to_mapping_scorer
from elt_llm_core.config.domain_packs import find_pack, known_packs
from glossary_scorer import fit_rows
from glossary_sets import GOLD, may_ship

LABELS = Path(__file__).with_name("mapping_labels.tsv")
MODELS = Path(__file__).with_name("mapping_models")
SHIPPED = Path(term_mapper.__file__).with_name(term_mapper.WEIGHTS)
PENALTY = 3.0  # of squared weights; 1 to 10 differ by one or two pairs
SENSES = ("-a.csv", "-b.csv")  # models whose descriptions are of one sense or another
LEVEL = 1.96  # standard deviations of a 95 % interval
HEAD = ("left out", "pairs", "same", "precision", "recall", "names: precision, recall")


class Case(NamedTuple):
    """A labelled pair of a term and an entity."""

    handbook: str
    model: str
    term: str
    entity: str
    is_same: bool
    row: Signals


class Counts(NamedTuple):
    """Right pairs, pairs that were mapped, and pairs that are the same."""

    right: int
    mapped: int
    same: int


def read_terms(corpus: Corpus, handbook: str, data: Path) -> list[MappedTerm]:
    """The terms of a document: those of its gold glossary, or of the product."""
    gold = {paths[0]: name for name, paths in GOLD.values()}
    if handbook in gold:
        lines = (data / f"gold/{gold[handbook]}.jsonl").read_text(encoding="utf-8")
        rows = [json.loads(line) for line in lines.splitlines()]
        return [
            MappedTerm(r["term"], tuple(r["synonyms"]), r["definition"])
            for r in rows
            if r["definition"]
        ]
    known = corpus.handbook(handbook)
    textbook = handbook not in known_packs() and not handbook.startswith("nist")
    whole = Handbook(known.store, known.collections, textbook=textbook)
    return [to_mapped_term(entry.definition) for entry in whole.entries]


def read_cases(corpus: Corpus, data: Path) -> Iterator[Case]:
    """Every labelled pair with its signals."""
    labels: dict[tuple[str, str], dict[tuple[str, str], str]] = defaultdict(dict)
    with LABELS.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            handbook, model, label, term, entity = row
            labels[handbook, model][term, entity] = label
    terms: dict[str, list[MappedTerm]] = {}
    for (handbook, model), judged in sorted(labels.items()):
        if handbook not in terms:
            terms[handbook] = read_terms(corpus, handbook, data)
        is_drawn = (MODELS / model).exists()
        coverage_scorer.DRAWN = MODELS if is_drawn else MODELS.parent / "catalog_fields"
        known = corpus.model(model)
        pack = find_pack(model) if model in known_packs() else None
        aliases = read_aliases(pack.aliases_file) if pack else {}
        signals = PairSignals(known.entities, aliases, corpus.embed)
        pairs = signals.propose_all(terms[handbook])
        for term, proposed in zip(terms[handbook], pairs, strict=True):
            for entity, row in proposed:
                label = judged.get((term.name, entity.name))
                if label:
                    same = label == "same"
                    yield Case(handbook, model, term.name, entity.name, same, row)


def fit(cases: Sequence[Case], names: Sequence[str]) -> dict[str, Any]:
    """The weights of those pairs that may ship, as they ship.

    Where half of the namesakes are described in another sense on purpose, names say
    nothing of models without descriptions. Where a description is compared, it counts
    only that names are equal, not how: no alias or synonym of the pairs is used in
    another sense, so that a weight of its own would outweigh any description.
    """
    cases = [case for case in cases if may_ship(case.handbook)]
    described = [case for case in cases if case.row[COMPARED]]
    usual = [case for case in cases if not case.model.endswith(SENSES)]
    content = {}
    for kind, some, without in (
        ("described", described, (COMPARED, *SAME_NAMES)),
        ("plain", usual, DESCRIPTION),
    ):
        kept = [name for name in names if name not in without]
        right = np.array([float(case.is_same) for case in some])
        rows = [case.row for case in some]
        model = fit_rows(rows, right, np.ones(len(some)), kept, PENALTY)
        content[kind] = model.content()
    return content


def by_pair(case: Case) -> tuple[str, ...]:
    """The handbook and the model of a case."""
    return case.handbook, case.model


def judge_unseen(
    cases: Sequence[Case],
    names: Sequence[str],
    group: Callable[[Case], object] = by_pair,
) -> Iterator[tuple[Case, float]]:
    """Each case with its probability by weights of the other groups."""
    for one in sorted({group(case) for case in cases}, key=str):
        others = [case for case in cases if group(case) != one]
        scorer = to_mapping_scorer(fit(others, names))
        for case in cases:
            if group(case) == one:
                yield case, scorer.choose(case.row).probability(case.row)


def count(judged: Sequence[tuple[Case, bool]]) -> Counts:
    """Count the pairs that are mapped."""
    right = sum(mapped and case.is_same for case, mapped in judged)
    mapped = sum(mapped for _, mapped in judged)
    return Counts(right, mapped, sum(case.is_same for case, _ in judged))


def interval(hits: int, of: int) -> str:
    """A share with its 95 % interval, by Wilson's score."""
    if not of:
        return "none"
    share, square = hits / of, LEVEL**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    spread = share * (1 - share) / of + square / (4 * of**2)
    half = LEVEL * math.sqrt(spread) / (1 + square / of)
    return f"{share:.2f} [{middle - half:.2f}, {middle + half:.2f}]"


def report(judged: Sequence[tuple[Case, float]], title: str) -> None:
    """Print a row for each pair of handbook and model, and one for all."""
    print(f"\n{title}\n\n| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|")
    groups: dict[str, list[tuple[Case, float]]] = defaultdict(list)
    for case, chance in judged:
        name = f"{Path(case.handbook).stem}, {Path(case.model).stem}"
        groups[name].append((case, chance))
        groups["all"].append((case, chance))
        kind = "all *-a, *-b" if case.model.endswith(SENSES) else "all others"
        groups[kind].append((case, chance))
        if case.row[EQUAL] and case.row[COMPARED]:
            groups["all described namesakes"].append((case, chance))
    for name in sorted(groups, key=lambda name: (name.startswith("all"), name)):
        ours = count([(case, chance >= SAME) for case, chance in groups[name]])
        rules = count(
            [(case, any(case.row[n] for n in SAME_NAMES)) for case, _ in groups[name]]
        )
        cells = (
            name,
            str(len(groups[name])),
            str(ours.same),
            interval(ours.right, ours.mapped),
            interval(ours.right, ours.same),
            ", ".join(interval(rules.right, of) for of in rules[1:]),
        )
        print(f"| {' | '.join(cells)} |")


def main() -> None:
    """Fit, report and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    cases = list(read_cases(Corpus(given.data, given.root), given.data))
    names = sorted(cases[0].row)
    unseen = list(judge_unseen(cases, names))
    report(unseen, "unseen pairs of handbook and model")
    by_handbook = judge_unseen(cases, names, lambda case: case.handbook)
    report(list(by_handbook), "unseen handbooks")
    for case, chance in unseen if given.errors else ():
        if (chance >= SAME) != case.is_same:
            print(*case[:5], round(chance, 3), sep="\t")
    if given.ablate:
        for group in [*sorted({n.split(":")[0] for n in names}), *names]:
            kept = [n for n in names if n != group and n.split(":")[0] != group]
            judged = list(judge_unseen(cases, kept))
            total = count([(case, chance >= SAME) for case, chance in judged])
            print(f"without {group}: {total.right} of {total.mapped}, {total.same}")
    if given.write:
        content = fit(cases, names)
        SHIPPED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Fit the scorer of the candidates of glossaries that are read.

    python benchmarks/glossary_reader.py --data DIR [DIR ...] --root ROOT [--write]

`glossary_scorer.py` says what the folders hold, and fits the scorer of form. Here the
sentence reader that ships reads the candidates whose probability by form is not next to
nothing ("What is a Berth?" beside the sentence), and one set of weights is fitted for
the features of form, the reader's log odds, and the states of the pair, along the
directions in which they vary most. Textbooks and the list of NIST are left out: the
first may only be evaluated with, in the second everything is stated.

Prints average precision, precision and recall of the labelled documents, and the gold
glossaries, by weights that have not seen their family: by form alone, and read.
`--write` fits all sets and writes the weights that ship.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glossary_scorer as form
from elt_llm_consumer.definitions import candidate_readings as shipped
from elt_llm_consumer.definitions.definition_features import Features
from elt_llm_consumer.definitions.definition_pipeline import (
    SURE,
    Scored,
    choose,
    in_words,
)
from elt_llm_consumer.definitions.definition_scorer import to_scorer
from elt_llm_core.models.sentence_reader import SentenceReading
from evaluation.glossary_gold import judge

Array = NDArray[np.float64]
# Of 768. With 160, average precision is .735 instead of .743 on all labelled families.
DIRECTIONS = 64
# Of squared weights of a direction; the others have those of the scorer of form. Half
# of both loses .015 of average precision.
PENALTY_STATES, PENALTY_ODDS = 200.0, 1.0
SHIPPED = Path(shipped.__file__).with_name(shipped.WEIGHTS)
PLACES = 5  # decimals of a direction


@dataclass
class ReadSet:
    """A set, the probability of each candidate by form, and the readings of some."""

    one: form.Set
    by_form: Sequence[float]
    readings: dict[int, SentenceReading]

    @property
    def judged(self) -> list[int]:
        """The numbers of the candidates that are read and count."""
        return [at for at in self.readings if self.one.counts[at]]


@dataclass(frozen=True)
class ReadModel:
    """Fitted weights, and the direction of the states that they add up to."""

    content: dict[str, Any]

    @property
    def scorer(self) -> shipped.ReadingScorer:
        """The scorer that the product would have."""
        direction = np.array(self.content["direction"])
        return shipped.ReadingScorer(to_scorer(self.content), direction)


def read_set(one: form.Set, by_form: Sequence[float]) -> ReadSet:
    """Read what the product would read of each document, and what is labelled."""
    readings: dict[int, SentenceReading] = {}
    start = 0
    for part in one.parts:
        end = start + len(part.candidates)
        at = shipped.places_to_read(part.candidates, by_form[start:end])
        if "/" in one.name:  # only samples of these are judged
            at = [place for place in at if one.counts[start + place]]
        own = shipped.read_candidates([part.candidates[place] for place in at])
        readings.update(zip((start + place for place in at), own, strict=True))
        start = end
    return ReadSet(one, by_form, readings)


def fit(sets: Sequence[ReadSet], names: Sequence[str]) -> ReadModel:
    """Return the weights of all sets."""
    chosen = [(one, at) for one in sets for at in one.judged]
    states = np.array([one.readings[at].states for one, at in chosen])
    right = np.array([one.one.right[at] for one, at in chosen])
    counts = np.array([one.one.counts[at] for one, at in chosen])
    mean = states.mean(0)
    _, axes = np.linalg.eigh(np.cov((states - mean).T))
    axes = axes[:, ::-1][:, :DIRECTIONS]
    along = [f"state {number}" for number in range(DIRECTIONS)]
    rows: list[Features] = []
    for state, (one, at) in zip((states - mean) @ axes, chosen, strict=True):
        odds = np.clip(one.readings[at].log_odds, shipped.LOWEST, shipped.HIGHEST)
        own = {shipped.ANSWERS: float(odds), **dict(zip(along, state, strict=True))}
        rows.append({**one.one.rows[at], **own})
    all_names = [*names, shipped.ANSWERS, *along]
    penalties = np.array(
        [form.PENALTY] * len(names) + [PENALTY_ODDS] + [PENALTY_STATES] * DIRECTIONS
    )
    model = form.fit_rows(rows, right, counts, all_names, penalties)
    return ReadModel(_content(model, axes, mean, len(names) + 1))


def _content(model: form.Model, axes: Array, mean: Array, own: int) -> dict[str, Any]:
    """Return the weights as they ship: those of the directions become one of them."""
    along = axes @ (model.weights[own:-1] / model.scale[own:])
    direction = np.round(along, PLACES)
    named = form.Model(
        model.names[:own],
        model.mean[:own],
        model.scale[:own],
        np.append(model.weights[:own], model.weights[-1]),
    )
    content = named.content()
    shift = round(float(mean @ direction), 4)
    content["features"][shipped.SAYS] = {"mean": shift, "scale": 1.0, "weight": 1.0}
    return {**content, "direction": direction.tolist()}


def probabilities(one: ReadSet, model: ReadModel) -> tuple[list[Features], list[float]]:
    """Return features and probability of each candidate of a set, read or not."""
    scorer = model.scorer
    rows, result = list(one.one.rows), list(one.by_form)
    for at, reading in one.readings.items():
        rows[at] = {**rows[at], **scorer.describe(reading)}
        as_read = scorer.scorer.probability(rows[at])
        result[at] = shipped.mix(one.by_form[at], as_read)
    return rows, result


def glossary(one: ReadSet, values: Sequence[float]) -> list[tuple[str, str]]:
    """Return terms and definitions of a set, as the product would choose them."""
    pairs, start = [], 0
    for part in one.one.parts:
        scored = [
            Scored(candidate, row, values[start + at])
            for at, (candidate, row) in enumerate(
                zip(part.candidates, part.rows, strict=True)
            )
        ]
        start += len(scored)
        for chosen in choose(scored, part.usage, SURE):
            definition = in_words(part.text, chosen.candidate)[0]
            pairs.append((definition.term, definition.definition))
    return pairs


def without(sets: Sequence[ReadSet], name: str) -> list[ReadSet]:
    """Return the sets of other families."""
    family = form.family(name)
    return [one for one in sets if form.family(one.one.name) != family]


def report(sets: Sequence[ReadSet], names: Sequence[str]) -> None:
    """Print both tables, each set by weights that have not seen its family."""
    families = sorted({form.family(one.one.name) for one in sets})
    models = {f: fit(without(sets, f), names) for f in families}
    lines: dict[str, list[tuple[float, float, float]]] = {}
    for one in sets:
        own = form.family(one.one.name)
        values = probabilities(one, models[own])[1]
        if one.one.name in form.GOLD:
            for title, of in (("by form", one.by_form), ("read", values)):
                columns = judge(glossary(one, of), one.one.gold).columns()
                print(f"| {own}, {title} | {' | '.join(columns)} |")
        elif "/" in one.one.name:
            judged = zip(
                one.by_form, values, one.one.right, one.one.counts, strict=True
            )
            lines.setdefault(own, []).extend(r[:3] for r in judged if r[3])
    lines["all"] = [row for rows in lines.values() for row in rows]
    print("\n| family left out | judged | right | average precision, at .3, .35, .5 |")
    for name, rows in lines.items():
        for title, column in (("by form", 0), ("read", 1)):
            pairs = [(row[column], row[2]) for row in rows]
            print(f"| {name}, {title} | {' | '.join(form.ranked(pairs))} |")


def read_sets(folders: Sequence[Path], root: Path) -> Iterator[ReadSet]:
    """Yield the sets, with probabilities by weights of form of other families."""
    sets = form.read_sets(folders[0], root, *folders[1:])
    names = form.feature_names(sets)
    models: dict[str, form.Model] = {}
    for one in sets:
        if (own := form.family(one.name)) not in models:
            models[own] = form.fit_others(sets, one.name, names)
    for one in sets:
        if one.name not in {form.TEXTBOOKS, form.NIST}:
            scorer = to_scorer(models[form.family(one.name)].content())
            yield read_set(one, [scorer.probability(row) for row in one.rows])


def main() -> None:
    """Fit, report and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    sets = list(read_sets(options.data, options.root))
    names = form.feature_names([one.one for one in sets])
    report(sets, names)
    if options.write:
        text = json.dumps(fit(sets, names).content, indent=1)
        SHIPPED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""The best configuration for given questions, judged on questions it was not chosen by.

The questions are split into folds. For every fold the best configuration on the other
folds is asked its questions; only those answers say what choosing is worth (nested
cross-validation, Cawley and Talbot, 2010). What is kept is the best on all of them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_query.evaluation.configurations import Change, changed
from elt_llm_query.evaluation.measures import Difference, Interval, difference, interval
from elt_llm_query.evaluation.names import NAMES
from elt_llm_query.evaluation.retrieval import Evaluation
from elt_llm_query.evaluation.tables import LEVEL, table

FOLDS = 5
FEWEST = 10
SHOWN = 8
_FUSIONS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("rrf", {}),
    *(("exact_convex", {"alpha": alpha}) for alpha in (0.4, 0.5, 0.6)),
    *(("convex", {"alpha": alpha}) for alpha in (0.3, 0.4)),
    *(("weighted_rrf", {"dense": dense}) for dense in (0.3, 0.4)),
)
_RERANKERS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("no reranker", {"use_reranker": False}),
    *(
        (
            f"fused_weight={weight} retrieve_k={k}",
            {
                "use_reranker": True,
                "reranker_strategy": "embedding",
                "reranker_options": {"fused_weight": weight},
                "reranker_retrieve_k": k,
            },
        )
        for weight in (0.85, 0.95)
        for k in (20, 50)
    ),
)


class Fold(Record):
    """What the other folds chose for this one, and what that is worth here."""

    questions: int
    chosen: str
    on_the_others: float
    here: float


class TuneReport(Record):
    """What choosing is worth, and what was chosen.

    `held_out` are the values of questions asked in a configuration chosen without them;
    `gain` is that against the first configuration. Where it is not above 0 the first
    one is kept. `sure` tells whether interval and test both say that it is.
    """

    measure: str
    questions: int
    first: str
    first_value: Interval
    folds: tuple[Fold, ...]
    held_out: Interval
    gain: Difference
    sure: bool
    winner: str
    winner_value: Interval
    ranking: tuple[tuple[str, float], ...]


def default_sweep() -> dict[str, list[Change]]:
    """Name to changes: fusions and their weights times rerankers and their depth."""
    found: dict[str, list[Change]] = {}
    for fusion, options in _FUSIONS:
        for told, settings in _RERANKERS:
            shown = "".join(f" {key}={value}" for key, value in options.items())
            found[f"{fusion}{shown} {told}"] = [
                (("query", "fusion_strategy"), fusion),
                (("query", "fusion_options"), dict(options)),
                *((("query", key), value) for key, value in settings.items()),
            ]
    return found


def chosen(found: Evaluation, measure: str, folds: int = FOLDS) -> TuneReport:
    """The best of the evaluated configurations; the first one is what is used now.

    Raises UsageError for fewer than ten questions.
    """
    values = {name: one.values[measure] for name, one in found.outcomes.items()}
    first = next(iter(values))
    ids = list(values[first])
    if len(ids) < FEWEST:
        raise UsageError(
            f"{len(ids)} questions with gold are too few to choose by",
            f"label at least {FEWEST}, better a hundred",
        )
    told, held = _nested(values, ids, folds)
    order = [held[one] for one in ids]
    base = [values[first][one] for one in ids]
    gain = difference(order, base)
    winner = _best(values, ids) if gain.difference > 0 else first
    means = {name: interval(list(of.values())).mean for name, of in values.items()}
    return TuneReport(
        measure=measure,
        questions=len(ids),
        first=first,
        first_value=interval(base),
        folds=told,
        held_out=interval(order),
        gain=gain,
        sure=gain.low > 0 and gain.p < LEVEL,
        winner=winner,
        winner_value=interval(list(values[winner].values())),
        ranking=tuple(sorted(means.items(), key=lambda one: -one[1])),
    )


def write_profile(path: Path, config: RagConfig, swept: Sequence[str]) -> None:
    """The configuration as a profile: what is not default, and what was swept."""
    settings: dict[str, dict[str, Any]] = {}
    for key in sorted({*changed(config), *swept}):
        section, _, name = key.partition(".")
        told = getattr(config, section).model_dump(mode="json")
        settings.setdefault(section, {})[name] = told[name]
    write_atomic(path, yaml.safe_dump(settings, sort_keys=True, allow_unicode=True))


def tune_text(found: TuneReport) -> str:
    """Folds, the best configurations, and what choosing is worth."""
    name = NAMES[found.measure]
    folds = [["fold", "questions", "on the others", "here", "chosen"]]
    folds += [
        [str(i), str(f.questions), f"{f.on_the_others:.4f}", f"{f.here:.4f}", f.chosen]
        for i, f in enumerate(found.folds, start=1)
    ]
    best = [["configuration", name]]
    best += [[one, f"{mean:.4f}"] for one, mean in found.ranking[:SHOWN]]
    gain = found.gain
    verdict = "sure" if found.sure else "not sure: label more questions"
    if found.winner == found.first:
        verdict = "no gain, so nothing is changed"
    worth = (
        f"held out: {name} {found.held_out.mean:.4f}, {found.first} "
        f"{found.first_value.mean:.4f}; difference {gain.difference:+.4f} "
        f"[{gain.low:+.4f}, {gain.high:+.4f}], p {gain.p:.4f}: {verdict}"
    )
    return "\n\n".join([table(folds), table(best), worth, f"chosen: {found.winner}"])


def _nested(
    values: Mapping[str, Mapping[str, float]], ids: Sequence[str], folds: int
) -> tuple[tuple[Fold, ...], dict[str, float]]:
    """Each fold, and the value of every question as its fold had it."""
    mixed = sorted(ids, key=lambda one: digest("fold", one))
    told: list[Fold] = []
    held: dict[str, float] = {}
    for number in range(min(folds, len(ids))):
        here = mixed[number::folds]
        others = [one for one in mixed if one not in set(here)]
        best = _best(values, others)
        held |= {one: values[best][one] for one in here}
        fold = Fold(
            questions=len(here),
            chosen=best,
            on_the_others=round(_mean(values[best], others), 4),
            here=round(_mean(values[best], here), 4),
        )
        told.append(fold)
    return tuple(told), held


def _best(values: Mapping[str, Mapping[str, float]], ids: Sequence[str]) -> str:
    """The configuration with the highest mean; of equal ones the first."""
    return max(values, key=lambda name: round(_mean(values[name], ids), 9))


def _mean(values: Mapping[str, float], ids: Sequence[str]) -> float:
    return sum(values[one] for one in ids) / len(ids)

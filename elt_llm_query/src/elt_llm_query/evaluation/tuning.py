"""Choose the best configuration and estimate its gain on held-out questions.

The questions are split into folds. For each fold, the configuration that is best on the
other folds is applied to it; only those values estimate the gain (nested
cross-validation, Cawley and Talbot, 2010). The final choice is the best on all folds.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from elt_llm_core.cli.terminal import text_table
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_core.files.atomic import write_named_file
from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_query.evaluation.configurations import Change, changed_settings
from elt_llm_query.evaluation.measures import difference, interval
from elt_llm_query.evaluation.retrieval_evaluation import Evaluation
from elt_llm_query.evaluation.retrieval_report import (
    LEVEL,
    NAME_OF,
    Difference,
    Interval,
)

FOLDS = 5  # the usual number; the command line offers 2 to 50
_FEWEST = 10  # questions: two per fold
_MOST_CONFIGURATIONS = 8  # printed; --json has all
# The default sweep brackets the shipped weights on both sides.
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
    """The configuration chosen on the other folds, and its values there and here."""

    questions: int
    chosen: str
    on_the_others: float
    here: float


class TuneReport(Record):
    """The configuration chosen, and the estimated gain.

    `held_out` summarises questions with configurations chosen without them; `gain`
    compares that with the first configuration, which is kept unless `gain` is above 0.
    `sure` is True if both the interval and the test show a gain.
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
    """Return name to changes: weighted fusions times rerankers with several depths."""
    entries: dict[str, list[Change]] = {}
    for fusion, options in _FUSIONS:
        for reranker, settings in _RERANKERS:
            weights = "".join(f" {key}={value}" for key, value in options.items())
            entries[f"{fusion}{weights} {reranker}"] = [
                (("query", "fusion_strategy"), fusion),
                (("query", "fusion_options"), dict(options)),
                *((("query", key), value) for key, value in settings.items()),
            ]
    return entries


def choose_configuration(
    evaluation: Evaluation, measure: str, folds: int = FOLDS
) -> TuneReport:
    """Choose the best of the evaluated configurations; the first is the current one.

    Raises UsageError for fewer than ten questions.
    """
    values = {name: one.values[measure] for name, one in evaluation.outcomes.items()}
    first = next(iter(values))
    ids = list(values[first])
    if len(ids) < _FEWEST:
        raise UsageError(
            f"{len(ids)} questions with gold are too few to choose by",
            f"label at least {_FEWEST}, better a hundred",
        )
    fold_reports, held_out = _cross_validate(values, ids, folds)
    ordered = [held_out[one] for one in ids]
    base = [values[first][one] for one in ids]
    gain = difference(ordered, base)
    winner = _best(values, ids) if gain.difference > 0 else first
    means = {name: interval(list(of.values())).mean for name, of in values.items()}
    return TuneReport(
        measure=measure,
        questions=len(ids),
        first=first,
        first_value=interval(base),
        folds=fold_reports,
        held_out=interval(ordered),
        gain=gain,
        sure=gain.low > 0 and gain.p < LEVEL,
        winner=winner,
        winner_value=interval(list(values[winner].values())),
        ranking=tuple(sorted(means.items(), key=lambda one: -one[1])),
    )


def refuse_to_replace(path: Path) -> None:
    """Raise UsageError if the file exists."""
    if path.exists():
        raise UsageError(
            f"{path} is there, and may have been edited",
            "name another file with --write, or remove this one",
        )


def write_profile(path: Path, config: RagConfig, swept: Sequence[str]) -> None:
    """Write a profile with the non-default settings and those that were swept.

    Raises UsageError if the file exists, because it may have been edited.
    """
    refuse_to_replace(path)
    settings: dict[str, dict[str, Any]] = {}
    for key in sorted({*changed_settings(config), *swept}):
        section, _, name = key.partition(".")
        values = getattr(config, section).model_dump(mode="json")
        settings.setdefault(section, {})[name] = values[name]
    write_named_file(path, yaml.safe_dump(settings, sort_keys=True, allow_unicode=True))


def tune_text(report: TuneReport) -> str:
    """Format the folds, the best configurations and the estimated gain."""
    name = NAME_OF[report.measure]
    folds = [
        [str(i), str(f.questions), f"{f.on_the_others:.4f}", f"{f.here:.4f}", f.chosen]
        for i, f in enumerate(report.folds, start=1)
    ]
    header = ("fold", "questions", "on the others", "here", "chosen")
    best = [[one, f"{mean:.4f}"] for one, mean in report.ranking[:_MOST_CONFIGURATIONS]]
    gain = report.gain
    verdict = "significant" if report.sure else "not significant: label more questions"
    if report.winner == report.first:
        verdict = "no gain; the current configuration is kept"
    estimate = (
        f"held out: {name} {report.held_out.mean:.4f}, {report.first} "
        f"{report.first_value.mean:.4f}; difference {gain.difference:+.4f} "
        f"[{gain.low:+.4f}, {gain.high:+.4f}], p {gain.p:.4f}: {verdict}"
    )
    tables = [text_table(header, folds), text_table(("configuration", name), best)]
    return "\n\n".join([*tables, estimate, f"chosen: {report.winner}"])


def _cross_validate(
    values: Mapping[str, Mapping[str, float]], ids: Sequence[str], folds: int
) -> tuple[tuple[Fold, ...], dict[str, float]]:
    """Each fold, and every question's value in the configuration its fold used."""
    shuffled = sorted(ids, key=lambda one: digest("fold", one))
    reports: list[Fold] = []
    held_out: dict[str, float] = {}
    for number in range(min(folds, len(ids))):
        here = shuffled[number::folds]
        others = [one for one in shuffled if one not in set(here)]
        best = _best(values, others)
        held_out |= {one: values[best][one] for one in here}
        fold = Fold(
            questions=len(here),
            chosen=best,
            on_the_others=round(_mean(values[best], others), 4),
            here=round(_mean(values[best], here), 4),
        )
        reports.append(fold)
    return tuple(reports), held_out


def _best(values: Mapping[str, Mapping[str, float]], ids: Sequence[str]) -> str:
    """The configuration with the highest mean; the first of equal ones."""
    # Rounded: sums of the same values in another order differ in the last bits.
    return max(values, key=lambda name: round(_mean(values[name], ids), 9))


def _mean(values: Mapping[str, float], ids: Sequence[str]) -> float:
    return sum(values[one] for one in ids) / len(ids)

"""Ranking measures per question, with confidence intervals and significance tests.

The measures are those of trec_eval, computed by ir-measures. A question without results
counts as 0.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from elt_llm_core.errors import MissingExtraError
from elt_llm_query.evaluation.retrieval_report import MEASURES, Difference, Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RESAMPLES = 2000  # Efron and Tibshirani (1993) use 1,000 or more for an interval
_PERMUTATIONS = 5000  # the smallest p reported is 1 / 5001
_SLICE = 200  # draws at a time; all at once would need gigabytes for large test sets
_SEED = 7  # fixed, so that two runs report the same figures

Ranking = Sequence[str]
Values = dict[str, dict[str, float]]


def require_measures() -> None:
    """Raise MissingExtraError without the extra `eval`, before any work is done."""
    _library()


def per_question(
    gold: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Ranking]
) -> Values:
    """Return measure to question to value (0 to 1), questions in the order of `gold`.

    Raises MissingExtraError without the extra `eval`.
    """
    library = _library()
    parsed = {name: library.parse_measure(name) for name in MEASURES}
    # trec_eval sorts equal scores by name, so every rank gets a distinct score.
    runs = {
        question: {passage: float(-rank) for rank, passage in enumerate(ranking)}
        for question, ranking in rankings.items()
    }
    judged = {question: dict(grades) for question, grades in gold.items()}
    names = {str(measure): name for name, measure in parsed.items()}
    values: Values = {name: dict.fromkeys(gold, 0.0) for name in MEASURES}
    for metric in library.iter_calc(list(parsed.values()), judged, runs):
        values[names[str(metric.measure)]][metric.query_id] = float(metric.value)
    return values


def interval(values: Sequence[float]) -> Interval:
    """Return the mean and its percentile bootstrap interval (Efron, 1979)."""
    mean, low, high = _bootstrap(np.asarray(values, dtype=np.float64))
    return Interval(mean=round(mean, 4), low=round(low, 4), high=round(high, 4))


def difference(values: Sequence[float], base: Sequence[float]) -> Difference:
    """Compare `values` with `base` pair by pair (Smucker et al., 2007)."""
    pairs = np.asarray(values, dtype=np.float64) - np.asarray(base, dtype=np.float64)
    mean, low, high = _bootstrap(pairs)
    return Difference(
        difference=round(mean, 4),
        low=round(low, 4),
        high=round(high, 4),
        p=round(_p_value(pairs), 4),
    )


def _library() -> Any:
    try:
        return import_module("ir_measures")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "eval", "retrieval", "ir-measures", extra="eval"
        ) from error


def _bootstrap(values: "NDArray[np.float64]") -> tuple[float, float, float]:
    random = np.random.default_rng(_SEED)
    size = len(values)
    means = np.concatenate(
        [
            values[random.integers(0, size, (_SLICE, size))].mean(axis=1)
            for _ in range(_RESAMPLES // _SLICE)
        ]
    )
    low, high = np.percentile(means, [2.5, 97.5])
    return float(values.mean()), float(low), float(high)


def _p_value(pairs: "NDArray[np.float64]") -> float:
    """The share of random sign flips with a difference as large; never 0."""
    nonzero = pairs[pairs != 0]  # flipping a zero has no effect
    if not len(nonzero):
        return 1.0
    random = np.random.default_rng(_SEED)
    size = abs(nonzero.sum()) - 1e-12
    larger = 0
    for _ in range(_PERMUTATIONS // _SLICE):
        signs = random.integers(0, 2, (_SLICE, len(nonzero)), dtype=np.int8) * 2 - 1
        larger += int((abs(signs @ nonzero) >= size).sum())
    return (larger + 1) / (_PERMUTATIONS + 1)

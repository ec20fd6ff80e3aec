"""Estimate the probability that a sentence answers a question, with one small model.

Two log-linear models over named features. The first chooses among the compared
sentences and "none of them" (McFadden, 1974, "Conditional logit analysis of qualitative
choice behavior"). The second estimates the probability that the chosen one answers,
from its features and the margin of the choice. There are weights for embedders with
token vectors, for those without, and for words alone; `benchmarks/answer_scorer.py`
fits them to `answer_weights.json`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from elt_llm_query.synthesizers.extractive.meanings import Features

WEIGHTS = "answer_weights.json"
_LARGEST = 30.0  # limit of log odds, so that their exponential stays finite
_SMALLEST = 1e-9  # least probability, so that its logarithm stays finite


class Verdict(NamedTuple):
    """The verdict on the sentences of one question.

    Attributes:
        shares: The probability of each as the choice; the remainder to 1 is "none".
        sure: The probability that the chosen one answers.
    """

    shares: tuple[float, ...]
    sure: float


@dataclass(frozen=True)
class Weight:
    """The weight of a feature: log odds for each `scale` above `mean`."""

    mean: float
    scale: float
    weight: float


@dataclass(frozen=True)
class LogOdds:
    """A weighted sum of features; `intercept` is the value for average features."""

    intercept: float
    weights: Mapping[str, Weight]

    def of(self, row: Features) -> float:
        """Return the log odds, limited so that their exponential stays finite."""
        total = self.intercept + sum(
            w.weight * (row[name] - w.mean) / w.scale
            for name, w in self.weights.items()
        )
        return max(-_LARGEST, min(_LARGEST, total))


@dataclass(frozen=True)
class AnswerScorer:
    """Chooses the answering sentence, with its probability."""

    choice: LogOdds
    decision: LogOdds

    def score(self, rows: Sequence[Features]) -> Verdict:
        """Return the verdict on the compared sentences of a question.

        Args:
            rows: The features of each.
        """
        if not rows:
            return Verdict((), 0.0)
        odds = [math.exp(self.choice.of(row)) for row in rows]
        shares = tuple(odd / (1.0 + sum(odds)) for odd in odds)
        log_odds = self.decision.of(decision_features(rows, shares))
        return Verdict(shares, 1.0 / (1.0 + math.exp(-log_odds)))


def decision_features(rows: Sequence[Features], shares: Sequence[float]) -> Features:
    """Return the features of the chosen sentence, and how clear the choice was.

    Args:
        rows: The features of all sentences.
        shares: The probability of each as the choice.
    """
    best, *further = sorted(shares, reverse=True)
    total = min(sum(shares), 1.0 - _SMALLEST)
    return rows[shares.index(best)] | {
        "log_share": math.log(max(best, _SMALLEST)),
        "any_log_odds": math.log(max(total, _SMALLEST) / (1.0 - total)),
        "share_lead": best - (further[0] if further else 0.0),
        "sentences": math.log(len(rows)),
    }


def kind_of(row: Features) -> str:
    """Return the kind of the weights for features with these names."""
    return "tokens" if "match" in row else "vectors" if "cosine" in row else "words"


@cache
def load_scorer(kind: str) -> AnswerScorer:
    """Return the scorer with the shipped weights of a kind."""
    content = json.loads(files(__package__).joinpath(WEIGHTS).read_text("utf-8"))[kind]
    choice, decision = (_to_log_odds(content[name]) for name in ("choice", "decision"))
    return AnswerScorer(choice, decision)


def _to_log_odds(content: Mapping[str, object]) -> LogOdds:
    features = content["features"]
    assert isinstance(features, Mapping)  # noqa: S101 - the file ships with the code
    weights = {name: Weight(**weight) for name, weight in features.items()}
    return LogOdds(float(str(content["intercept"])), weights)

"""Estimate the probability that a candidate is a definition, with a log-linear model.

`benchmarks/glossary_scorer.py` fits the weights in `definition_weights.json`. A
probability of .7 means that about seven of ten such candidates are in a glossary that a
person compiled from the document.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from elt_llm_consumer.definitions.definition_features import Features

WEIGHTS = "definition_weights.json"
_LARGEST = 30.0  # limit of the log odds, so that the exponential stays finite


@dataclass(frozen=True)
class FeatureWeight:
    """The weight of a feature: its effect on the log odds per `scale` above `mean`."""

    mean: float
    scale: float
    weight: float

    def effect(self, value: float) -> float:
        """Return the effect of a value on the log odds."""
        return self.weight * (value - self.mean) / self.scale


@dataclass(frozen=True)
class DefinitionScorer:
    """A weighted sum of features; `intercept` is that of average ones."""

    intercept: float
    weights: Mapping[str, FeatureWeight]

    @cached_property
    def _without_features(self) -> float:
        """The log odds of a candidate whose features are all zero."""
        return self.intercept + sum(one.effect(0.0) for one in self.weights.values())

    @cached_property
    def _slopes(self) -> dict[str, float]:
        """What one more of each feature adds to the log odds."""
        return {name: one.weight / one.scale for name, one in self.weights.items()}

    def probability(self, row: Features) -> float:
        """Return the probability that the candidate is a definition.

        Args:
            row: Its features, such as from `describe_all`; those that are left out are
                zero, and those without a weight count for nothing.

        Returns:
            A share between 0 and 1.
        """
        slopes = self._slopes
        total = self._without_features + sum(
            slopes[name] * value for name, value in row.items() if name in slopes
        )
        return 1.0 / (1.0 + math.exp(-max(-_LARGEST, min(_LARGEST, total))))

    def reasons(self, row: Features, most: int = 3) -> tuple[str, ...]:
        """Return the present features with the strongest support for the candidate.

        Args:
            row: Its features.
            most: Maximum number of features.

        Returns:
            Names, the weightiest first.
        """
        effects = {
            name: self.weights[name].effect(value)
            for name, value in row.items()
            if value > 0 and name in self.weights
        }
        order = sorted(effects, key=lambda name: (-effects[name], name))
        return tuple(name for name in order[:most] if effects[name] > 0)


@cache
def load_scorer() -> DefinitionScorer:
    """Return the scorer with the shipped weights."""
    return to_scorer(
        json.loads(files(__package__).joinpath(WEIGHTS).read_text("utf-8"))
    )


def to_scorer(content: Mapping[str, Any]) -> DefinitionScorer:
    """Return the scorer with the weights of a file's content."""
    weights = {
        name: FeatureWeight(**weight) for name, weight in content["features"].items()
    }
    return DefinitionScorer(float(content["intercept"]), weights)

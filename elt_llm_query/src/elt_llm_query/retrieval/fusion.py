"""Joining rankings: pure functions of ids and scores, and strategies that name them.

Every function takes lists that are best first and returns one list, best first, equal
scores ordered by id. Nothing it is given is changed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from pydantic import Field
from typing_extensions import override

from elt_llm_core.strategy import Models, Stage, Strategy

Hit = tuple[str, float]
Ranking = Sequence[Hit]
ListKind = Literal["dense", "keyword"]
KINDS: tuple[ListKind, ...] = ("dense", "keyword")


@dataclass(frozen=True)
class HitList:
    """One index's answer to one search: ids and scores, best first.

    `weight` is its share among the lists of its kind.
    """

    kind: ListKind
    hits: tuple[Hit, ...]
    weight: float = 1.0


class Fusion(Protocol):
    """Joins hit lists.

    `depth` says how many hits it wants of each, 0 for as many as are kept. `complete`
    asks for a score in every list for each hit of any of them, wherever it has one.
    """

    @property
    def depth(self) -> int:
        """Hits wanted of each list."""

    @property
    def complete(self) -> bool:
        """Whether the lists are filled up before they are joined."""

    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        """One list, best first."""


def order_hits(scores: Mapping[str, float]) -> list[Hit]:
    """Highest score first, equal scores by id."""
    return sorted(scores.items(), key=best_first)


def best_first(hit: Hit) -> tuple[float, str]:
    """Sorts hits: highest score first, equal scores by id."""
    return -hit[1], hit[0]


def rrf(rankings: Sequence[Ranking], k: float = 60.0) -> list[Hit]:
    """Sum of 1 / (k + rank), rank from 0 as in LlamaIndex (Cormack et al., 2009)."""
    return weighted_rrf(rankings, [1.0] * len(rankings), k)


def weighted_rrf(
    rankings: Sequence[Ranking], weights: Sequence[float], k: float = 60.0
) -> list[Hit]:
    """Sum of weight / (k + rank), rank from 0. Weights are taken as given."""
    scores: dict[str, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, (item, _) in enumerate(ranking):
            scores[item] += weight / (k + rank)
    return order_hits(scores)


def convex(rankings: Sequence[Ranking], weights: Sequence[float]) -> list[Hit]:
    """Weighted sum of min-max scores (Bruch et al., 2023); absent counts 0.

    All scores equal in a list count 1, as in LlamaIndex where they are above 0.
    """
    return weighted_sum(rankings, weights, min_max)


def relative_score(
    rankings: Sequence[Ranking], weights: Sequence[float], queries: int = 1
) -> list[Hit]:
    """LlamaIndex's relative score fusion: `convex` over the number of queries."""
    return weighted_sum(rankings, [weight / queries for weight in weights], min_max)


def dist_based(
    rankings: Sequence[Ranking], weights: Sequence[float], queries: int = 1
) -> list[Hit]:
    """LlamaIndex's distribution based score fusion, over the number of queries."""
    shared = [weight / queries for weight in weights]
    return weighted_sum(rankings, shared, three_deviations)


def exact_convex(rankings: Sequence[Ranking], weights: Sequence[float]) -> list[Hit]:
    """Weighted sum of scores over the best of their list.

    Convex with the least score a list could have, 0, for the least it has (Bruch et
    al., 2023): what is last in a list still differs from what is not in it.
    """
    return weighted_sum(rankings, weights, over_best)


def weighted_sum(
    rankings: Sequence[Ranking],
    weights: Sequence[float],
    scaled: Callable[[Ranking], list[Hit]],
) -> list[Hit]:
    """Sum of scores `scaled` list by list, times the list's weight; absent counts 0."""
    scores: dict[str, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights, strict=True):
        for item, score in scaled(ranking):
            scores[item] += weight * score
    return order_hits(scores)


def over_best(ranking: Ranking) -> list[Hit]:
    """Scores over the highest; all 0 where that is not above 0."""
    high = max((score for _, score in ranking), default=0.0)
    return [(item, score / high if high > 0 else 0.0) for item, score in ranking]


def three_deviations(ranking: Ranking) -> list[Hit]:
    """Scores scaled so that the mean is 0.5 and three standard deviations are 0 and 1.

    Where all are equal, 1 if above 0 and else 0.
    """
    if not ranking:
        return []
    mean = sum(score for _, score in ranking) / len(ranking)
    spread = sum((score - mean) ** 2 for _, score in ranking) / len(ranking)
    low, high = mean - 3 * spread**0.5, mean + 3 * spread**0.5
    if high == low:
        return [(item, 1.0 if high > 0 else 0.0) for item, _ in ranking]
    return [(item, (score - low) / (high - low)) for item, score in ranking]


def min_max(ranking: Ranking) -> list[Hit]:
    """Scores scaled to 0 to 1; where all are equal, 1 if above 0 and else 0."""
    if not ranking:
        return []
    low = min(score for _, score in ranking)
    high = max(score for _, score in ranking)
    if high == low:
        return [(item, 1.0 if high > 0 else 0.0) for item, _ in ranking]
    return [(item, (score - low) / (high - low)) for item, score in ranking]


def shares(lists: Sequence[HitList], dense: float) -> list[float]:
    """A weight per list: `dense` over the dense lists, the rest over the keyword lists.

    Lists of a kind share by their own weights. Where only one kind is there it gets
    everything.
    """
    totals = {kind: sum(x.weight for x in lists if x.kind == kind) for kind in KINDS}
    alone = not all(totals.values())
    share = {"dense": 1.0 if alone else dense, "keyword": 1.0 if alone else 1.0 - dense}
    return [share[x.kind] * x.weight / totals[x.kind] for x in lists]


def _kinds(lists: Iterable[HitList]) -> list[ListKind]:
    return sorted({x.kind for x in lists})


@dataclass(frozen=True)
class _ListFusion:
    """What every fusion has: how many hits it wants of each list."""

    depth: int = 50
    complete: ClassVar[bool] = False


@dataclass(frozen=True)
class Rrf(_ListFusion):
    """Reciprocal rank fusion with equal weights; `k` is the smoothing constant."""

    k: float = 60.0

    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        """One list, best first."""
        return rrf([x.hits for x in lists], self.k)


@dataclass(frozen=True)
class WeightedRrf(Rrf):
    """Reciprocal rank fusion; `dense` is the weight of the vector scores."""

    dense: float = 0.5

    @override
    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        return weighted_rrf([x.hits for x in lists], shares(lists, self.dense), self.k)


@dataclass(frozen=True)
class Convex(_ListFusion):
    """A weighted sum of min-max scores; `alpha` is the vectors' share."""

    alpha: float = 0.3

    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        """One list, best first."""
        return convex([x.hits for x in lists], shares(lists, self.alpha))


@dataclass(frozen=True)
class ExactConvex(_ListFusion):
    """A weighted sum of both scores of every candidate; `alpha` as in `Convex`."""

    alpha: float = 0.5
    complete: ClassVar[bool] = True

    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        """One list, best first."""
        return exact_convex([x.hits for x in lists], shares(lists, self.alpha))


@dataclass(frozen=True)
class RelativeScore(_ListFusion):
    """LlamaIndex's relative score fusion; `alpha` weighs the two retrievers."""

    alpha: float = 0.5

    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        """One list, best first."""
        weights, queries = _llamaindex_weights(lists, self.alpha)
        return relative_score([x.hits for x in lists], weights, queries)


@dataclass(frozen=True)
class DistBased(_ListFusion):
    """LlamaIndex's distribution based score fusion with equal weights."""

    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        """One list, best first."""
        return dist_based([x.hits for x in lists], *_llamaindex_weights(lists, 0.5))


def _llamaindex_weights(
    lists: Sequence[HitList], dense: float
) -> tuple[list[float], int]:
    """The weight of each list's retriever as LlamaIndex gives it to each of the lists.

    `dense` is the vectors' share where both kinds are there. Beside it the number of
    queries, which LlamaIndex divides by.
    """
    kinds = len(_kinds(lists)) or 1
    share = {"dense": dense, "keyword": 1.0 - dense}
    weights = [share[x.kind] if len(_kinds(lists)) > 1 else 1.0 for x in lists]
    return weights, len(lists) // kinds or 1


class _FusionOptions(Strategy[Fusion]):
    """What the options of every fusion have."""

    depth: int = Field(
        default=50,
        ge=0,
        le=10_000,
        description="hits of each list, at least the number of candidates; 0: "
        "the number of candidates",
    )

    component: ClassVar[Callable[..., Fusion]]

    @override
    def build(self, models: Models) -> Fusion:
        return type(self).component(**self.model_dump())


class RrfOptions(_FusionOptions):
    """Reciprocal rank fusion, all lists alike."""

    k: float = Field(
        default=60.0,
        gt=0,
        description="smoothing constant: the larger, the "
        "smaller the lead of the first ranks",
    )

    component: ClassVar = Rrf


class WeightedRrfOptions(_FusionOptions):
    """Reciprocal rank fusion with a share for the vectors."""

    k: float = Field(
        default=60.0,
        gt=0,
        description="smoothing constant: the larger, the "
        "smaller the lead of the first ranks",
    )
    dense: float = Field(
        default=0.5, ge=0, le=1, description="weight of the vector scores"
    )

    component: ClassVar = WeightedRrf


class ConvexOptions(_FusionOptions):
    """A weighted sum of min-max scores; `alpha` is the vectors' share."""

    alpha: float = Field(
        default=0.3, ge=0, le=1, description="weight of the vector scores"
    )

    component: ClassVar = Convex


class ExactConvexOptions(_FusionOptions):
    """A weighted sum of both scores of every candidate, over the best of each kind."""

    alpha: float = Field(
        default=0.5, ge=0, le=1, description="weight of the vector scores"
    )

    component: ClassVar = ExactConvex


class RelativeScoreOptions(_FusionOptions):
    """LlamaIndex's relative score fusion; `alpha` weighs the two retrievers."""

    alpha: float = Field(
        default=0.5, ge=0, le=1, description="weight of the vector scores"
    )

    component: ClassVar = RelativeScore


class DistBasedOptions(_FusionOptions):
    """LlamaIndex's distribution based score fusion with equal weights."""

    component: ClassVar = DistBased


FUSIONS: Stage[Fusion] = Stage("fusions")

"""Fuse rankings: pure functions of ids and scores, and the strategies that use them.

Every function takes lists that are best first and returns one list, best first, equal
scores ordered by id. Inputs are never changed.
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
    """The result of one search in one index: ids and scores, best first."""

    kind: ListKind
    hits: tuple[Hit, ...]
    weight: float = 1.0


class Fusion(Protocol):
    """Fuses hit lists.

    `depth` is the number of hits requested from each list, 0 for the number that is
    kept. `complete` requests a score in every list for each hit of any list.
    """

    @property
    def depth(self) -> int:
        """Number of hits requested from each list."""

    @property
    def complete(self) -> bool:
        """Whether missing scores are computed before the lists are fused."""

    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        """Return one list, best first."""


def order_hits(scores: Mapping[str, float]) -> list[Hit]:
    """Return the hits, highest score first, equal scores by id."""
    return sorted(scores.items(), key=best_first)


def best_first(hit: Hit) -> tuple[float, str]:
    """Sort key of hits: highest score first, equal scores by id."""
    return -hit[1], hit[0]


def rrf(rankings: Sequence[Ranking], k: float = 60.0) -> list[Hit]:
    """Sum of 1 / (k + rank), rank from 0 as in LlamaIndex (Cormack et al., 2009)."""
    return weighted_rrf(rankings, [1.0] * len(rankings), k)


def weighted_rrf(
    rankings: Sequence[Ranking], weights: Sequence[float], k: float = 60.0
) -> list[Hit]:
    """Sum of weight / (k + rank), rank from 0. Weights are not normalised."""
    scores: dict[str, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, (item, _) in enumerate(ranking):
            scores[item] += weight / (k + rank)
    return order_hits(scores)


def convex(rankings: Sequence[Ranking], weights: Sequence[float]) -> list[Hit]:
    """Weighted sum of min-max scores (Bruch et al., 2023); a missing score counts 0.

    If all scores of a list are equal they count 1, as in LlamaIndex for scores above 0.
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
    """Weighted sum of scores, each divided by the best of its list.

    Like `convex`, with 0 instead of the lowest score of the list as the minimum (Bruch
    et al., 2023), so that the last hit still differs from a missing one.
    """
    return weighted_sum(rankings, weights, over_best)


def weighted_sum(
    rankings: Sequence[Ranking],
    weights: Sequence[float],
    scaled: Callable[[Ranking], list[Hit]],
) -> list[Hit]:
    """Sum of scores `scaled` per list, times the list's weight; missing counts 0."""
    scores: dict[str, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights, strict=True):
        for item, score in scaled(ranking):
            scores[item] += weight * score
    return order_hits(scores)


def over_best(ranking: Ranking) -> list[Hit]:
    """Return the scores divided by the highest; all 0 if that is not above 0."""
    high = max((score for _, score in ranking), default=0.0)
    return [(item, score / high if high > 0 else 0.0) for item, score in ranking]


def three_deviations(ranking: Ranking) -> list[Hit]:
    """Scale scores so that mean ± three standard deviations become 0 and 1.

    If all are equal, 1 if above 0 and else 0.
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
    """Scale scores to 0 to 1; if all are equal, 1 if above 0 and else 0."""
    if not ranking:
        return []
    low = min(score for _, score in ranking)
    high = max(score for _, score in ranking)
    if high == low:
        return [(item, 1.0 if high > 0 else 0.0) for item, _ in ranking]
    return [(item, (score - low) / (high - low)) for item, score in ranking]


def list_weights(lists: Sequence[HitList], dense: float) -> list[float]:
    """Return a weight per list: `dense` for dense lists, the rest for keyword lists.

    Lists of one kind divide its share by their own weights. A kind that is alone gets
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
    """Base of fusions: the number of hits requested from each list."""

    depth: int = 50
    complete: ClassVar[bool] = False


@dataclass(frozen=True)
class Rrf(_ListFusion):
    """Reciprocal rank fusion with equal weights; `k` is the smoothing constant."""

    k: float = 60.0

    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        """Return one list, best first."""
        return rrf([x.hits for x in lists], self.k)


@dataclass(frozen=True)
class WeightedRrf(Rrf):
    """Reciprocal rank fusion; `dense` is the weight of the vector scores."""

    dense: float = 0.5

    @override
    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        return weighted_rrf(
            [x.hits for x in lists], list_weights(lists, self.dense), self.k
        )


@dataclass(frozen=True)
class Convex(_ListFusion):
    """A weighted sum of min-max scores; `alpha` is the vectors' share."""

    alpha: float = 0.3

    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        """One list, best first."""
        return convex([x.hits for x in lists], list_weights(lists, self.alpha))


@dataclass(frozen=True)
class ExactConvex(_ListFusion):
    """A weighted sum of both scores of every candidate; `alpha` as in `Convex`."""

    alpha: float = 0.5
    complete: ClassVar[bool] = True

    def __call__(self, lists: Sequence[HitList]) -> list[Hit]:
        """One list, best first."""
        return exact_convex([x.hits for x in lists], list_weights(lists, self.alpha))


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
    """Return the weight that LlamaIndex gives each list, and the number of queries.

    `dense` is the vectors' share if both kinds exist. LlamaIndex divides by the number
    of queries.
    """
    kinds = len(_kinds(lists)) or 1
    share = {"dense": dense, "keyword": 1.0 - dense}
    weights = [share[x.kind] if len(_kinds(lists)) > 1 else 1.0 for x in lists]
    return weights, len(lists) // kinds or 1


class _FusionOptions(Strategy[Fusion]):
    """Options of every fusion."""

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
    """Reciprocal rank fusion, with equal weights for all lists."""

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

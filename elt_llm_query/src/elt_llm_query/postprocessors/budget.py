"""Keep as many whole sources as fit into a prompt."""

from collections.abc import Callable, Sequence
from typing import Literal, Self

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from pydantic import Field, PrivateAttr, model_validator
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.errors import MissingModelError
from elt_llm_core.models import as_counting
from elt_llm_core.models.token_count import most_tokens
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.components import Postprocessor
from elt_llm_query.grounding.labels import header
from elt_llm_query.postprocessors.expansion import GROUP_KEYS

Sort = Literal["text", "table", "figure"]
Unit = list[int]  # positions of a source and of the nodes added to it

QUESTION_TOKENS = 500  # of a model's window, reserved for question and instructions
_SORTS: dict[str, Sort] = {"table_row": "table", "table": "table", "figure": "figure"}


class TokenBudget(Postprocessor):
    """Keeps the first sources that fit into `tokens`, whole, in the given order.

    A source and the neighbours added to it are kept or dropped together; the first is
    always kept. `shares` reserves part of the budget for a kind of source (text,
    tables, figures); the others share the rest. Each kind is filled until a source does
    not fit, and the remaining tokens then go to the first dropped sources. `count`
    counts tokens.
    """

    tokens: int = Field(default=6000, ge=1)
    shares: dict[Sort, float] = Field(default_factory=dict)

    _count: Callable[[str], int] = PrivateAttr()

    def __init__(
        self, count: Callable[[str], int] = most_tokens, **options: object
    ) -> None:
        super().__init__(**options)
        self._count = count

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        units = _units([n.node for n in nodes])
        costs = [sum(self._cost(nodes[i].node) for i in unit) for unit in units]
        sorts = [_sort(nodes[unit[0]].node) for unit in units]
        taken: set[int] = set()
        left = self.tokens
        for wanted, room in self._rooms(sorts):
            mine = [u for u, sort in enumerate(sorts) if sort in wanted]
            fits = _fill(mine, costs, room)
            taken.update(fits)
            left -= sum(costs[u] for u in fits)
        taken.update(
            _fill([u for u in range(len(units)) if u not in taken], costs, left)
        )
        taken.update(range(min(len(units), 1)))
        return [nodes[i] for u in sorted(taken) for i in units[u]]

    def _rooms(self, sorts: Sequence[Sort]) -> list[tuple[frozenset[Sort], int]]:
        """Return the token budget of each kind of source."""
        own = {sort: share for sort, share in self.shares.items() if sort in sorts}
        others = frozenset(sorts) - own.keys()
        rooms = [
            (frozenset({sort}), int(share * self.tokens)) for sort, share in own.items()
        ]
        rest = self.tokens - sum(room for _, room in rooms)
        return [*rooms, (others, rest)] if others else rooms

    def _cost(self, node: BaseNode) -> int:
        return self._count(f"{header('S00', node)}\n{provenance.reading(node)}")


def _fill(units: Sequence[int], costs: Sequence[int], room: int) -> list[int]:
    """Return the first units, up to the first that does not fit."""
    fitting = []
    for unit in units:
        room -= costs[unit]
        if room < 0:
            break
        fitting.append(unit)
    return fitting


def _units(nodes: Sequence[BaseNode]) -> list[Unit]:
    units: list[Unit] = []
    for place, node in enumerate(nodes):
        leads = {nodes[i].node_id for i in units[-1]} if units else set()
        if any(node.metadata.get(key) in leads for key in GROUP_KEYS):
            units[-1].append(place)
        else:
            units.append([place])
    return units


def _sort(node: BaseNode) -> Sort:
    return _SORTS.get(str(node.metadata.get("kind", "")), "text")


class TokenBudgetOptions(Strategy[BaseNodePostprocessor]):
    """Keep the best sources that fit a number of tokens."""

    tokens: int = Field(
        default=6000,
        ge=0,
        description="token budget; 0: what remains of the "
        "language model's context window",
    )
    shares: dict[Sort, float] = Field(
        default={},
        description="shares reserved for text, table and figure; at most 1 in total",
    )
    counted_by: Literal["estimate", "embedder"] = Field(
        default="estimate",
        description="estimate: an upper estimate for common tokenizers; "
        "embedder: its exact count",
    )

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        if sum(self.shares.values()) > 1 or min(self.shares.values(), default=0) < 0:
            msg = "shares must be 0 or more and at most 1 in total"
            raise ValueError(msg)
        return self

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        count = most_tokens
        if self.counted_by == "embedder":
            count = as_counting(models.embedder).count_tokens
        tokens = self.tokens or _window(models)
        return TokenBudget(count, tokens=tokens, shares=self.shares)


def _window(models: Models) -> int:
    if models.llm is None:
        raise MissingModelError(
            "token_budget with tokens: 0 needs a language model with a window",
            "set models.llm_strategy (for example ollama), or set tokens",
        )
    metadata = models.llm.metadata
    return max(metadata.context_window - metadata.num_output - QUESTION_TOKENS, 1)

"""Rounds of looking at what was found and searching for what it lacks.

A round asks a strategy for at most two further searches; what they find, and was not
seen before, is ordered together with the rest by the question itself. It ends where
nothing is lacking, nothing new is found, or the rounds are over.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import ModelError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Models, Stage, Strategy
from elt_llm_query.trace import TraceLog

MOST_QUERIES = 2  # of a round, as in the system that the step was taken from
Nodes = list[NodeWithScore]


@dataclass(frozen=True)
class SourceGap:
    """What a look at the passages says.

    Attributes:
        queries: Searches for what they lack; none where nothing is lacking.
        kept: Those that are of use.
        verdict: In one word, for the trace.
    """

    queries: tuple[str, ...]
    kept: Sequence[NodeWithScore]
    verdict: str


@dataclass(frozen=True)
class FoundSources:
    """The passages of a question, and the means to find more and to try them.

    Attributes:
        question: It as it can be understood alone.
        nodes: The passages, labelled, the best first.
        search: Finds candidates for another question.
        order: Orders passages by the question, and keeps the best.
        draft: Writes an answer from passages; returns statements that they do not bear.
        log: Records each look and each round.
    """

    question: str
    nodes: Nodes
    search: Callable[[str], Nodes]
    order: Callable[[Nodes], Nodes]
    draft: Callable[[Nodes], list[str]]
    log: TraceLog


class SufficiencyStep(ABC):
    """Completes the passages of a question."""

    @abstractmethod
    def complete(self, sources: FoundSources) -> Nodes:
        """Return the passages to answer from.

        Args:
            sources: What was found.

        Raises:
            ModelError: If the model fails; what was found before is lost then.
        """


class GapRounds(SufficiencyStep):
    """At most `most_rounds` looks, each with its searches."""

    def __init__(self, most_rounds: int) -> None:
        self._most_rounds = most_rounds

    @abstractmethod
    def look(self, sources: FoundSources, nodes: Nodes) -> SourceGap:
        """Return what passages lack. Raises ModelError."""

    @override
    def complete(self, sources: FoundSources) -> Nodes:
        nodes, log = sources.nodes, sources.log
        seen = {hit.node.node_id for hit in nodes}
        searched = {sources.question}
        for _ in range(self._most_rounds):
            gap = self._look(sources, nodes)
            if gap is None:
                return nodes
            queries = [q for q in gap.queries if q not in searched][:MOST_QUERIES]
            searched.update(queries)
            fresh: dict[str, NodeWithScore] = {}
            for query in queries:
                with log.stage("gap_search", 1) as note:
                    hits = sources.search(query)
                    new = {
                        h.node.node_id: h for h in hits if h.node.node_id not in seen
                    }
                    note.n_out = len(new)
                fresh |= new
            if not fresh:
                return nodes
            seen |= fresh.keys()
            nodes = sources.order([*gap.kept, *fresh.values()])
        return nodes

    def _look(self, sources: FoundSources, nodes: Nodes) -> SourceGap | None:
        """What the passages lack; None, and a degradation, where the model fails."""
        with sources.log.stage("sufficiency", len(nodes)) as note:
            try:
                gap = self.look(sources, nodes)
            except ModelError as error:
                sources.log.degrade(_left_out(error))
                return None
            note.n_out = len(gap.queries)
            note.top = tuple((query, 0.0) for query in gap.queries)
        return gap


class NoSufficiencyOptions(Strategy[SufficiencyStep | None]):
    """What was found first is what the answer is made from."""

    @override
    def build(self, models: Models) -> None:
        """None, always."""


class RoundsOptions(Strategy[SufficiencyStep | None]):
    """What strategies with rounds have."""

    most_rounds: int = Field(
        default=1, ge=1, le=3, description="maximum rounds, each with one model call"
    )
    context_tokens: int = Field(
        default=2000,
        ge=100,
        description="maximum characters of the passages in the prompt",
    )


SUFFICIENCY: Stage[SufficiencyStep | None] = Stage("sufficiency")


def complete_sources(step: SufficiencyStep | None, sources: FoundSources) -> Nodes:
    """Return the passages to answer from; those there were, where the step fails.

    Args:
        step: The strategy; None looks for nothing more.
        sources: What was found.
    """
    if step is None or not sources.nodes:
        return sources.nodes
    try:
        return step.complete(sources)
    except ModelError as error:
        sources.log.degrade(_left_out(error))
        return sources.nodes


def order_again(
    engine: RetrieverQueryEngine, bundle: QueryBundle, nodes: Nodes
) -> Nodes:
    """Put passages through the steps that follow a search: rerank, cut, label.

    Args:
        engine: The engine of the question.
        bundle: The question itself, not the one that found them.
        nodes: The passages.
    """
    return engine.with_retriever(_Given(nodes)).retrieve(bundle)


class _Given(BaseRetriever):
    """Passages that are there already, as candidates."""

    def __init__(self, nodes: Nodes) -> None:
        super().__init__()
        self._nodes = nodes

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> Nodes:
        return list(self._nodes)


def _left_out(error: ModelError) -> Degradation:
    detail = f"no further searches: {error}"
    return Degradation(kind=DegradationKind.STAGE_LEFT_OUT, detail=detail)

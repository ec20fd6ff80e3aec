"""Rounds of checking the retrieved passages and searching for missing information.

A round requests at most two further searches from a strategy; their new results are
ranked together with the others by the original question. The rounds end when nothing is
missing, nothing new is found, or their maximum is reached.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import ModelError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Stage, Strategy
from elt_llm_query.trace import TraceLog

MOST_QUERIES = 2  # searches per round, as in the original system
Nodes = list[NodeWithScore]


@dataclass(frozen=True)
class SourceGap:
    """The outcome of checking the passages.

    Attributes:
        queries: Searches for missing information; empty if nothing is missing.
        kept: The useful passages.
        verdict: One word, for the trace.
    """

    queries: tuple[str, ...]
    kept: Sequence[NodeWithScore]
    verdict: str


@dataclass(frozen=True)
class FoundSources:
    """The passages of a question, and functions to find more and to test them.

    Attributes:
        question: The question in a form that is complete without its context.
        nodes: The passages, labelled, the best first.
        search: Finds candidates for another question.
        order: Orders passages by the question, and keeps the best.
        draft: Writes an answer from passages and returns the unsupported statements.
        log: Records each check and each round.
        collections: The searched collections.
        where: Filters that every passage must match.
        ask_graph: Finds the passages that prove an answer of the enterprise model;
            None if there is no model.
    """

    question: str
    nodes: Nodes
    search: Callable[[str], Nodes]
    order: Callable[[Nodes], Nodes]
    draft: Callable[[Nodes], list[str]]
    log: TraceLog
    collections: Sequence[Collection] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    ask_graph: Callable[[str], Nodes] | None = None


class SufficiencyStep(ABC):
    """Completes the passages of a question."""

    @abstractmethod
    def complete(self, sources: FoundSources) -> Nodes:
        """Return the passages to answer from.

        Args:
            sources: The retrieved passages.

        Raises:
            ModelError: If the model fails; earlier results are then lost.
        """


class GapRounds(SufficiencyStep):
    """At most `most_rounds` checks, each with its searches."""

    def __init__(self, most_rounds: int) -> None:
        self._most_rounds = most_rounds

    @abstractmethod
    def look(self, sources: FoundSources, nodes: Nodes) -> SourceGap:
        """Return what the passages lack. Raises ModelError."""

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
        """Return what the passages lack; None and a degradation if the model fails."""
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
    """No further search: the answer is based on the first results."""

    @override
    def build(self, models: Models) -> None:
        """Return None."""


class RoundsOptions(Strategy[SufficiencyStep | None]):
    """Options of strategies with rounds."""

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
    """Return the passages to answer from; the original ones if the step fails.

    Args:
        step: The strategy; None makes no further search.
        sources: The retrieved passages.
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
    """Run passages through the steps after a search: rerank, cut, label.

    Args:
        engine: The engine of the question.
        bundle: The original question, not the query that found them.
        nodes: The passages.
    """
    return engine.with_retriever(_Given(nodes)).retrieve(bundle)


class _Given(BaseRetriever):
    """Returns given passages as candidates."""

    def __init__(self, nodes: Nodes) -> None:
        super().__init__()
        self._nodes = nodes

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> Nodes:
        return list(self._nodes)


def _left_out(error: ModelError) -> Degradation:
    detail = f"no further searches: {error}"
    return Degradation(kind=DegradationKind.STAGE_LEFT_OUT, detail=detail)

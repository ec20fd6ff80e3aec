"""Passages that earlier turns of a conversation cited, among the sources of a question.

They are read from the collections that are searched: what was deleted, purged or
filtered out since is absent, and so is what another collection holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle

from elt_llm_core.conversation import Message
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.plan import SearchPlan
from elt_llm_query.sufficiency.gap_rounds import order_again
from elt_llm_query.trace import TraceLog

Nodes = list[NodeWithScore]


@dataclass(frozen=True)
class EarlierPassages:
    """Chunks that were cited before.

    Attributes:
        ids: Their ids, those of the newest turn first.
        places: How many of the sources they may be, at most.
    """

    ids: tuple[str, ...] = ()
    places: int = 0

    @classmethod
    def of(
        cls, history: Sequence[Message], places: int, most: int
    ) -> "EarlierPassages":
        """Return what the answers of a conversation cite.

        Args:
            history: Its messages, the oldest first.
            places: How many of the sources they may be, at most.
            most: How many are considered.
        """
        cited = (chunk for message in reversed(history) for chunk in message.chunks)
        return cls(tuple(dict.fromkeys(cited))[:most], places)


NO_EARLIER = EarlierPassages()


def add_earlier(
    earlier: EarlierPassages,
    nodes: Nodes,
    plan: SearchPlan,
    engine: RetrieverQueryEngine,
    bundle: QueryBundle,
    log: TraceLog,
) -> Nodes:
    """Return the sources, the last of them replaced by the best earlier passages.

    There are as many as before, since a model may lose its citations where the number
    of passages changes from turn to turn; at least half of them are fresh.

    Args:
        earlier: What was cited before.
        nodes: The sources that the search found, labelled.
        plan: The collections and filters of the question.
        engine: Orders the earlier passages by the question.
        bundle: The question.
        log: Records the stage.
    """
    places = min(earlier.places, len(nodes) // 2)
    if not earlier.ids or places <= 0:
        return nodes
    with log.stage("earlier", len(earlier.ids)) as note:
        known = {hit.node.node_id for hit in nodes}
        candidates = _read(earlier.ids, known, plan)
        ids = {hit.node.node_id for hit in candidates}
        ordered = order_again(engine, bundle, candidates) if candidates else []
        best = [hit for hit in ordered if hit.node.node_id in ids][:places]
        note.nodes(best)
    return LabelSources().postprocess_nodes([*nodes[: len(nodes) - len(best)], *best])


def _read(ids: Sequence[str], known: set[str], plan: SearchPlan) -> Nodes:
    """The chunks of these ids that may be found and were not found already."""
    new = [item for item in ids if item not in known]
    chunks = {}
    for home in plan.collections:
        permitted = home.ids(home.own_filters(plan.where)) if plan.where else None
        wanted = [i for i in new if permitted is None or i in permitted]
        chunks.update(home.nodes(wanted))
    return [NodeWithScore(node=chunks[i], score=0.0) for i in new if i in chunks]

"""Limit the number of sources, not counting nodes that accompany a source."""

from collections.abc import Sequence

from llama_index.core.schema import NodeWithScore

NEIGHBOUR_KEY = "neighbour_of"
REFERRED_KEY = "referred_by"
PART_KEY = "part_of"
NAMESAKE_KEY = "namesake_of"
FIGURE_KEY = "figure_of"
WHOLE_KEY = "whole_with"
# Metadata keys whose value is the id of the source that a node accompanies.
COMPANION_KEYS = (
    *(NEIGHBOUR_KEY, REFERRED_KEY, PART_KEY),
    *(NAMESAKE_KEY, FIGURE_KEY, WHOLE_KEY),
)


def limit_sources(nodes: Sequence[NodeWithScore], most: int) -> list[NodeWithScore]:
    """Return the first `most` sources, in their order.

    A node that was added to a source, or cut from it, is not counted: it is kept or
    dropped with that source.
    """
    ids = {n.node.node_id for n in nodes}
    lead = {}
    for hit in nodes:
        leads = (hit.node.metadata.get(key) for key in COMPANION_KEYS)
        lead[hit.node.node_id] = next((item for item in leads if item in ids), "")
    kept = set([item for item, by in lead.items() if not by][:most])

    def head(item: str) -> str:
        while lead[item]:
            item = lead[item]
        return item

    return [n for n in nodes if head(n.node.node_id) in kept]

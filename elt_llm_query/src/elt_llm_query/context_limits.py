"""Sources that stand beside others, and how many there are without them."""

from collections.abc import Sequence

from llama_index.core.schema import NodeWithScore

NEIGHBOUR_KEY = "neighbour_of"
REFERRED_KEY = "referred_by"
PART_KEY = "part_of"
NAMESAKE_KEY = "namesake_of"
# Who stands beside which source.
BESIDE_KEYS = (NEIGHBOUR_KEY, REFERRED_KEY, PART_KEY, NAMESAKE_KEY)


def bounded(nodes: Sequence[NodeWithScore], most: int) -> list[NodeWithScore]:
    """The first `most` sources, in their order.

    What was brought beside a source, or was one with it, is not counted: it stays or
    goes with it.
    """
    ids = {n.node.node_id for n in nodes}
    lead = {}
    for found in nodes:
        named = (found.node.metadata.get(key) for key in BESIDE_KEYS)
        lead[found.node.node_id] = next((one for one in named if one in ids), "")
    kept = set([one for one, by in lead.items() if not by][:most])

    def head(item: str) -> str:
        while lead[item]:
            item = lead[item]
        return item

    return [n for n in nodes if head(n.node.node_id) in kept]

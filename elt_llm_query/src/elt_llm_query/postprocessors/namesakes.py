"""Every fact sheet of a name that the question asks about, wherever it ranks."""

from collections.abc import Iterator

from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.document import BlockKind
from elt_llm_core.store import Collection
from elt_llm_query.analysis.sentence import read
from elt_llm_query.context_limits import NAMESAKE_KEY
from elt_llm_query.postprocessors.base import CollectionStep, with_metadata

MOST = 50  # fact sheets of one name that are brought


class NamesakeLookUp(CollectionStep):
    """The other fact sheets of a name that the question holds, behind the first.

    An entity may belong to several domains, with a fact sheet in each. All of them
    answer, and how near each one's vector is to the question says nothing of that. They
    are looked up by name in every collection, and have the score of the first.
    """

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        asked = read(query_bundle.query_str).folded if query_bundle else ""
        taken = {n.node.node_id for n in nodes}
        names: set[str] = set()
        widened: list[NodeWithScore] = []
        for one in nodes:
            widened.append(one)
            name = _sheet_name(one.node)
            if not name or name in names or name not in asked:
                continue
            names.add(name)
            for node in self._sheets_named(name):
                if node.node_id not in taken:
                    taken.add(node.node_id)
                    extra = with_metadata(node, {NAMESAKE_KEY: one.node.node_id})
                    widened.append(NodeWithScore(node=extra, score=one.score))
        return widened

    def _sheets_named(self, name: str) -> list[BaseNode]:
        """The fact sheets of that name, collection by collection."""
        sheets = [n for home in self.collections.values() for n in self._in(home, name)]
        return sheets[:MOST]

    def _in(self, home: Collection, name: str) -> Iterator[BaseNode]:
        ids = self.filter_permitted(
            home, home.with_phrase(name.strip(), BlockKind.FACT_SHEET)
        )
        nodes = home.nodes(ids)
        return (nodes[i] for i in ids if i in nodes and _sheet_name(nodes[i]) == name)


def _sheet_name(node: BaseNode) -> str:
    """The name of a fact sheet, folded; empty for any other chunk."""
    if provenance.read(node).kind != BlockKind.FACT_SHEET:
        return ""
    return read(node.get_content().partition("\n")[0]).folded

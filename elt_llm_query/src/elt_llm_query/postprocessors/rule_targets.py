"""Look up the chunks of a rule number or identifier in the question."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.language.rule_numbers import is_within
from elt_llm_core.store import Collection
from elt_llm_query.analysis.marks import identifiers
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.rule_reference import Number
from elt_llm_query.components import PostprocessorOptions
from elt_llm_query.postprocessors.collection_step import CollectionStep, with_metadata

TARGET_KEY = "target"
DEPTH = 50  # keyword hits that are checked for an identifier
_LIFT = 0.01  # step between the scores of targets, relative to the best score


class RuleTargets(CollectionStep):
    """Puts the chunks of rule numbers and identifiers in the question first.

    Rule numbers are looked up as such (`3.2.1(a)`, `Art. 5`, `C12(a)`, `GEN 8.10.1`),
    and with `below` also the rules below them if the rule itself has no chunk; other
    identifiers (`BMS-986158`) are looked up as words. At most `most` chunks for each:
    first those already found, then those of found documents. A number without a chunk
    changes nothing.
    """

    most: int = Field(default=3, ge=1)
    below: bool = True

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            return list(nodes)
        question = query_bundle.query_str
        ranks = _Ranks([n.node for n in nodes])
        targets: dict[str, BaseNode] = {}
        for home in self.collections.values():
            for found in self._asked_chunks(home, question, ranks):
                targets.setdefault(found.node_id, found)
        given = {n.node.node_id: n.node for n in nodes}
        lifted = [
            with_metadata(given.get(i, node), {TARGET_KEY: True})
            for i, node in targets.items()
        ]
        rest = [n for n in nodes if n.node.node_id not in targets]
        return [*lift_above_others(lifted, nodes), *rest]

    def _asked_chunks(
        self, home: Collection, question: str, ranks: "_Ranks"
    ) -> Iterator[BaseNode]:
        """Return the chunks of one collection that are asked for, by number."""
        read: list[tuple[int, int]] = []
        numbers = analyse(question).rule_numbers
        for (span, _), chunks in zip(
            numbers, self._of_rules(home, numbers), strict=True
        ):
            if chunks:
                read.append(span)
            yield from self._best(chunks, ranks)
        for span, name in identifiers(question):
            if not any(low < span[1] and span[0] < high for low, high in read):
                yield from self._of_name(home, name, ranks)

    def _of_rules(
        self, home: Collection, numbers: Sequence[Number]
    ) -> list[list[BaseNode]]:
        """Return the chunks of each number, or those of the rules below it.

        All are looked up at once, because each lookup reads the whole collection.
        """
        exact = self.holding(home, [f for _, forms in numbers for f in forms], "")
        left = [fs for _, fs in numbers if not any(exact.get(f) for f in fs)]
        wanted = [form for forms in left for form in forms] if self.below else []
        lower = self.holding(home, wanted, "*")
        return [_first(forms, exact) or _first(forms, lower) for _, forms in numbers]

    def holding(
        self, home: Collection, forms: Sequence[str], star: str
    ) -> dict[str, list[BaseNode]]:
        """Return the chunks of each rule; with a star, of the rules below it too."""
        if not forms:
            return {}
        ids = home.ids({"rule": sorted({f"{form}{star}" for form in forms})})
        by_form: dict[str, list[BaseNode]] = {form: [] for form in forms}
        for node in home.nodes(self.filter_permitted(home, ids)).values():
            rules = provenance.read(node).rules
            for form, holders in by_form.items():
                if any(_is(rule, form, star) for rule in rules):
                    holders.append(node)
        return by_form

    def _best(self, nodes: Sequence[BaseNode], ranks: "_Ranks") -> list[BaseNode]:
        return sorted(nodes, key=ranks.order)[: self.most]

    def _of_name(self, home: Collection, name: str, ranks: "_Ranks") -> list[BaseNode]:
        hits = home.search_keyword(name, DEPTH, self.allowed_ids(home))
        nodes = home.nodes(item for item, _ in hits)
        whole = re.compile(rf"(?<![\w-]){re.escape(name)}(?!\w|-\d)", re.IGNORECASE)
        having = [
            item
            for item, _ in hits
            if item in nodes and whole.search(provenance.index_text(nodes[item]))
        ]
        having.sort(key=ranks.of)
        return [nodes[item] for item in having[: self.most]]


class _Ranks:
    """The rank of each node found so far, and their documents."""

    def __init__(self, nodes: Sequence[BaseNode]) -> None:
        self._nodes = {node.node_id: i for i, node in enumerate(nodes)}
        self._documents: dict[str, int] = {}
        for rank, node in enumerate(nodes):
            self._documents.setdefault(_document(node), rank)

    def of(self, node_id: str) -> int:
        """Return the rank, or the end of the list."""
        return self._nodes.get(node_id, len(self._nodes))

    def order(self, node: BaseNode) -> tuple[int, int, str, int]:
        """Return a sort key: found nodes by rank, others by document and position."""
        metadata = node.metadata
        document = self._documents.get(_document(node), len(self._nodes))
        place = (_document(node), int(metadata.get("ordinal", 0)))
        return self.of(node.node_id), document, *place


def _first(
    forms: Sequence[str], by_form: Mapping[str, list[BaseNode]]
) -> list[BaseNode]:
    return next((by_form[form] for form in forms if by_form.get(form)), [])


def _is(rule: str, form: str, star: str) -> bool:
    return is_within(rule, form) if star else rule.lower() == form.lower()


def _document(node: BaseNode) -> str:
    return str(node.metadata.get("document_id", ""))


def lift_above_others(
    lifted: Sequence[BaseNode], nodes: Sequence[NodeWithScore]
) -> list[NodeWithScore]:
    """Return the nodes with scores above all others, in decreasing order."""
    top = max((n.score or 0.0 for n in nodes), default=0.0)
    step = _LIFT * (abs(top) or 1.0)
    count = len(lifted)
    return [
        NodeWithScore(node=node, score=top + step * (count - place))
        for place, node in enumerate(lifted)
    ]


class RuleTargetsOptions(PostprocessorOptions):
    """Put the chunks of a rule number or identifier in the question first."""

    most: int = Field(default=3, ge=1, le=50, description="chunks per rule")
    below: bool = Field(
        default=True, description="include rules below it if it has no chunk itself"
    )

    component: ClassVar = RuleTargets

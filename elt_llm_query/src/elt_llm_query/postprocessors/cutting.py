"""What every question goes through: a rule asked for alone first, filters that cut."""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
from pydantic import Field
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.provenance import Provenance
from elt_llm_core.rules import canonical
from elt_llm_query.postprocessors.base import CollectionStep
from elt_llm_query.postprocessors.targets import TARGET_KEY, RuleTargets
from elt_llm_query.rule_texts import looked_up, merged, stretches


class RuleLookUp(CollectionStep):
    """The chunks of the rule that a question asks for alone come first, as they stand.

    No more come out than went in. Any other question, and a number that no chunk has,
    leaves the nodes as they are.
    """

    @classmethod
    @override
    def class_name(cls) -> str:
        return "RuleLookUp"

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None or not looked_up(query_bundle.query_str):
            return list(nodes)
        targets = RuleTargets().over(list(self.collections.values()), self.where)
        found = targets.postprocess_nodes(nodes, query_bundle)
        asked = [n for n in found if n.node.metadata.get(TARGET_KEY)]
        first = [*_as_they_stand(asked), *found[len(asked) :]]
        return first[: len(nodes) or len(asked)]


class RuleCut(BaseNodePostprocessor):
    """Of every chunk only the rules that the filter `rule` wants.

    A chunk with several stretches of them becomes several nodes of its id. Rows of
    tables, and chunks that do not tell where their rules stand, stay whole.
    """

    wanted: list[str] = Field(default_factory=list)

    @classmethod
    @override
    def class_name(cls) -> str:
        return "RuleCut"

    @classmethod
    def of(cls, where: Mapping[str, Any]) -> "RuleCut":
        """What the filters of a question want."""
        told = where.get("rule", [])
        several = told if isinstance(told, list | tuple | set | frozenset) else [told]
        return cls(wanted=sorted(map(str, several)))

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not self.wanted:
            return list(nodes)
        return [
            NodeWithScore(node=part, score=found.score)
            for found in nodes
            for part in self._parts(found.node)
        ]

    def _parts(self, node: BaseNode) -> list[BaseNode]:
        place = provenance.read(node)
        if not isinstance(node, TextNode) or place.index_text or not place.rule_spans:
            return [node]
        found = merged(
            span
            for rule in self.wanted
            for span in stretches(
                place.rule_spans,
                canonical(rule.removesuffix("*")),
                below=rule.endswith("*"),
            )
        )
        return [_part(node, place, start, end) for start, end in found]


def _part(node: TextNode, place: Provenance, start: int, end: int) -> TextNode:
    """The node with `document_text[start:end]`, without white space around it."""
    text = node.text[start - place.span_start : end - place.span_start]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    end = start + len(text)
    spans = [s for s in place.rule_spans if s.start < end and start < s.end]
    inside = place.model_copy(
        update={
            "span_start": start,
            "span_end": end,
            "rules": tuple(dict.fromkeys(s.rule for s in spans)),
            "rule_spans": tuple(spans),
        }
    )
    return provenance.write(node.model_copy(update={"text": text}), inside)


def _as_they_stand(nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """The nodes document by document, each from its beginning, with falling scores."""
    documents = list(dict.fromkeys(provenance.read(n.node).document_id for n in nodes))

    def order(found: NodeWithScore) -> tuple[int, int]:
        place = provenance.read(found.node)
        return documents.index(place.document_id), place.span_start

    scores = [n.score for n in nodes]
    ordered = sorted(nodes, key=order)
    return [
        NodeWithScore(node=found.node, score=score)
        for found, score in zip(ordered, scores, strict=True)
    ]

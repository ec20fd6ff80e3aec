"""Steps of every question: rules asked for by number, namesakes, the filter `rule`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeWithScore,
    QueryBundle,
    TextNode,
)
from pydantic import Field
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.document import BlockKind
from elt_llm_core.language.rule_numbers import canonical
from elt_llm_core.provenance import Provenance
from elt_llm_core.store import Collection
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.reference_marks import count_references, may_hold_marks
from elt_llm_query.analysis.rule_reference import (
    GOES_ON_KEY,
    is_contents,
    merge_spans,
    rule_stretches,
)
from elt_llm_query.components import Postprocessor
from elt_llm_query.context_limits import NAMESAKE_KEY
from elt_llm_query.grounding.labels import REFERENCES_KEY
from elt_llm_query.postprocessors.collection_step import CollectionStep, with_metadata
from elt_llm_query.postprocessors.rule_targets import (
    TARGET_KEY,
    RuleTargets,
    lift_above_others,
)

MOST = 8  # chunks of a rule if nothing else was found: the default number of sources


class RuleLookUp(RuleTargets):
    """Puts the chunks of the only rule that a question asks for first, in order.

    They include the rules below it, from the beginning of each document. The number of
    nodes does not increase; if the rule continues, the metadata of its last chunk says
    so. Any other question, and a number that no chunk has, leaves the nodes unchanged.
    """

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        forms = analyse(query_bundle.query_str).rule.whole if query_bundle else ()
        chunks = self._whole_rule(forms)
        if not chunks:
            return list(nodes)
        ordered = _in_reading_order(chunks, [n.node for n in nodes])
        most = len(nodes) or MOST
        lifted = [with_metadata(node, {TARGET_KEY: True}) for node in ordered[:most]]
        if len(ordered) > most:
            lifted[-1] = with_metadata(lifted[-1], {GOES_ON_KEY: True})
        ids = {node.node_id for node in lifted}
        rest = [n for n in nodes if n.node.node_id not in ids]
        return [*lift_above_others(lifted, nodes), *rest][:most]

    def _whole_rule(self, forms: Sequence[str]) -> list[BaseNode]:
        """Return the chunks of the first form that has any; contents come last."""
        for form in forms:
            chunks = [
                node
                for home in self.collections.values()
                for node in self.holding(home, [form], "*")[form]
            ]
            if chunks:
                return [n for n in chunks if not is_contents(_text(n))] or chunks
        return []


class ReferenceLists(CollectionStep):
    """Records on each node how many references its document lists.

    Only if the text has a number in brackets; the prompt then omits the marks that
    refer to that list.
    """

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        counts: dict[str, int] = {}
        noted: list[NodeWithScore] = []
        for hit in nodes:
            home = self.home(hit.node)
            if home is None or not may_hold_marks(_text(hit.node)):
                noted.append(hit)
                continue
            document = provenance.read(hit.node).document_id
            if document not in counts:
                counts[document] = count_references(home.document_text(document))
            known = {REFERENCES_KEY: counts[document]}
            node = with_metadata(hit.node, known) if counts[document] else hit.node
            noted.append(NodeWithScore(node=node, score=hit.score))
        return noted


class RuleCut(Postprocessor):
    """Reduces every chunk to the rules that the filter `rule` selects.

    A chunk with several matching spans becomes several nodes with its id. Table rows,
    and chunks without rule spans, stay whole.
    """

    wanted: list[str] = Field(default_factory=list)

    @classmethod
    def of(cls, where: Mapping[str, Any]) -> "RuleCut":
        """Return the step for the filters of a question."""
        given = where.get("rule", [])
        several = (
            given if isinstance(given, list | tuple | set | frozenset) else [given]
        )
        return cls(wanted=sorted(map(str, several)))

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not self.wanted:
            return list(nodes)
        return [
            NodeWithScore(node=part, score=hit.score)
            for hit in nodes
            for part in self._parts(hit.node)
        ]

    def _parts(self, node: BaseNode) -> list[BaseNode]:
        place = provenance.read(node)
        if not isinstance(node, TextNode) or place.index_text or not place.rule_spans:
            return [node]
        spans = merge_spans(
            span
            for rule in self.wanted
            for span in rule_stretches(
                place.rule_spans,
                canonical(rule.removesuffix("*")),
                below=rule.endswith("*"),
            )
        )
        return [_part(node, place, start, end) for start, end in spans]


def _part(node: TextNode, place: Provenance, start: int, end: int) -> TextNode:
    """Return the node with `document_text[start:end]`, stripped."""
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


def _in_reading_order(
    chunks: Sequence[BaseNode], nodes: Sequence[BaseNode]
) -> list[BaseNode]:
    """Return the chunks in reading order, documents of `nodes` first."""
    known = [provenance.read(node).document_id for node in (*nodes, *chunks)]
    rank = {document: place for place, document in reversed(list(enumerate(known)))}

    def order(node: BaseNode) -> tuple[int, int]:
        place = provenance.read(node)
        return rank[place.document_id], place.span_start

    return sorted(chunks, key=order)


def _text(node: BaseNode) -> str:
    return node.get_content(metadata_mode=MetadataMode.NONE)


MOST_SHEETS = 50  # maximum number of fact sheets of one name


class NamesakeLookUp(CollectionStep):
    """Adds the other fact sheets of a name in the question after the first one.

    An entity may belong to several domains, with a fact sheet in each. All of them are
    part of the answer, whatever the rank of their vectors, so they are looked up by
    name in every collection and get the score of the first.
    """

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        asked = read(query_bundle.query_str).folded_line if query_bundle else ""
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
        """Return the fact sheets of that name, collection by collection."""
        sheets = [n for home in self.collections.values() for n in self._in(home, name)]
        return sheets[:MOST_SHEETS]

    def _in(self, home: Collection, name: str) -> Iterator[BaseNode]:
        ids = self.filter_permitted(
            home, home.with_phrase(name.strip(), BlockKind.FACT_SHEET)
        )
        nodes = home.nodes(ids)
        return (nodes[i] for i in ids if i in nodes and _sheet_name(nodes[i]) == name)


def _sheet_name(node: BaseNode) -> str:
    """Return the case-folded name of a fact sheet; empty for any other chunk."""
    if node.metadata.get("kind") != BlockKind.FACT_SHEET:
        return ""
    return read(node.get_content().partition("\n")[0]).folded_line

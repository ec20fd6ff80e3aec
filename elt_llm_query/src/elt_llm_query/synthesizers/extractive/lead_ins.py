"""Lead-ins above a sentence that apply to it: of its list, or of its rule.

"10f4) Square-1: at most 45 degrees" answers how far a puzzle may be misaligned only
below "10f) Limits of acceptable misalignment:". The words of such a lead-in count as
words of a heading. If they name the subject of the sentence, they are quoted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.language.rule_numbers import parent
from elt_llm_core.provenance import Provenance
from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import Sentence, read, sentences
from elt_llm_query.analysis.stems import (
    begins_item,
    opens_with_group,
    refers_to_group,
)
from elt_llm_query.analysis.term_match import match
from elt_llm_query.postprocessors.collection_step import (
    CollectionStep,
    Outlines,
    with_metadata,
)
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Part, Passage
from elt_llm_query.synthesizers.extractive.list_stems import Items, read_items

# Chunks around a source that are searched for the rules above and below its own; a rule
# with more parts is a chapter.
NEAR = 12
BELOW_KEY = "below"  # key of a chunk that continues a source
LEVELS = 2  # rules above a sentence; higher ones are the subject of the section


class LeadIns(CollectionStep):
    """Appends to the nodes the chunks above and below that complete them.

    Above are the rule over the one that begins a node and, for a node that begins with
    a list item, the chunk before it. Below are the rules under the one that ends a node
    and, for a node that ends with a lead-in, the chunk after it; these are marked.
    """

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        outlines, taken = Outlines(), {n.node.node_id for n in nodes}
        added: list[NodeWithScore] = []
        for hit in nodes:
            for node in self._around(hit, outlines):
                if node.node_id not in taken:
                    taken.add(node.node_id)
                    added.append(NodeWithScore(node=node, score=hit.score))
        return [*nodes, *added]

    def _around(self, hit: NodeWithScore, outlines: Outlines) -> list[TextNode]:
        """Return the chunks of a node's section that are above it or continue it."""
        home, place = self.home(hit.node), provenance.read(hit.node)
        needs = _needs_of(hit.node.get_content(), place)
        if home is None or needs is None or not any(needs):
            return []
        outline, at = outlines.around(home, hit.node)
        if at < 0:
            return []
        near = outline[max(at - NEAR, 0) : at + NEAR + 1]
        near = [o for o in near if o.section == outline[at].section]
        nodes = home.nodes(self.filter_permitted(home, [o.node_id for o in near]))
        above = [
            node
            for one in near
            if one.ordinal < place.ordinal and (node := nodes.get(one.node_id))
            if needs.is_above(node, place.ordinal - one.ordinal)
        ]
        below = [
            with_metadata(node, {BELOW_KEY: True})
            for one in near
            if one.ordinal > place.ordinal and (node := nodes.get(one.node_id))
            if needs.is_below(node, one.ordinal - place.ordinal)
        ]
        return [*above, *below]


class _Needs(NamedTuple):
    """Which chunks of its section a chunk needs.

    `above` and `over` are the rules above its first one and its last one; `item` is
    whether it begins with an item or refers back, `leads` whether it ends with a
    lead-in.
    """

    above: frozenset[str]
    over: str
    item: bool
    leads: bool

    def is_above(self, node: TextNode, distance: int) -> bool:
        """Return whether it contains a rule above, or is the chunk referred to."""
        if not self.above.isdisjoint(_rules_of(node)):
            return True
        return self.item and distance == 1

    def is_below(self, node: TextNode, distance: int) -> bool:
        """Return whether it begins with a rule below, or an introduced item."""
        rules = _rules_of(node)
        if self.over and rules:
            return parent(rules[0]) == self.over
        return self.leads and distance == 1 and begins_item(node.text)


def _needs_of(text: str, place: Provenance) -> _Needs | None:
    """Return which chunks around a chunk of prose it needs; None for others."""
    if place.kind != "prose" or not place.document_id:
        return None
    rules = [span.rule.lower() for span in place.rule_spans]
    above = frozenset(_rules_above(rules[0])) if rules else frozenset[str]()
    leads = text.rstrip().endswith(":")
    marked = begins_item(text) and not above
    item = marked or any(map(_refers, sentences(text)[:1]))
    return _Needs(above, rules[-1] if rules else "", item, leads)


def _refers(sentence: Sentence) -> bool:
    return sentence.refers_back or sentence.refers_within


def _rules_of(node: TextNode) -> list[str]:
    return [span.rule.lower() for span in provenance.read(node).rule_spans]


def _rules_above(rule: str) -> list[str]:
    """Return the rules above one in lower case, the nearest first."""
    above: list[str] = []
    while len(above) < LEVELS and (rule := parent(rule)):
        above.append(rule.lower())
    return above


class LeadFinder:
    """Finds the lead-ins of sentences of given passages."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._items: Items = read_items(passages)
        self._rules: Mapping[tuple[str, str], Part] = _first_sentences(passages)

    def above(self, passage: int, sentence: Sentence) -> tuple[Part, ...]:
        """Return the lead-ins above a sentence, outermost first.

        Args:
            passage: The index of its passage.
            sentence: The sentence.
        """
        item = self._items.get((passage, sentence.start))
        parts = [(s.passage, s.start, s.end) for s in item.above] if item else []
        parts += self._rules_above(passage, sentence)
        here = (passage, sentence.start, sentence.end)
        return tuple(part for part in dict.fromkeys(parts) if part != here)

    def text(self, parts: Sequence[Part]) -> str:
        """Return the text of these parts, in order."""
        return " ".join(self._passages[i].text[start:end] for i, start, end in parts)

    def _rules_above(self, number: int, sentence: Sentence) -> list[Part]:
        passage = self._passages[number]
        inside = (s for s in passage.rules if s.start <= sentence.start < s.end)
        rule = next((span.rule for span in inside), "")
        document = passage.place[0] if passage.place else ""
        parts = (self._rules.get((document, r)) for r in _rules_above(rule))
        return [p for p in parts if p is not None and self._leads(p, passage)][::-1]

    def _leads(self, part: Part, passage: Passage) -> bool:
        """Return whether the opening of a rule above leads to a passage.

        A whole sentence of a chapter does not lead to its sections with headings.
        """
        number, _, end = part
        above = self._passages[number]
        return above.section == passage.section or above.text[end - 1] != "."


def _first_sentences(passages: Sequence[Passage]) -> dict[tuple[str, str], Part]:
    """Return the first sentence of each rule, by its document and its number."""
    first: dict[tuple[str, str], Part] = {}
    for number, passage in enumerate(passages):
        if passage.whole or passage.place is None:
            continue
        for span in passage.rules:
            inside = (
                s for s in sentences(passage.text) if span.start <= s.start < span.end
            )
            begin = next(inside, None)
            heading = read(passage.heading).folded_line
            if begin is not None and begin.folded_line not in heading:
                key = passage.place[0], span.rule.lower()
                first.setdefault(key, (number, begin.start, begin.end))
    return first


def with_leads(
    question: QuestionAnalysis,
    pieces: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the claims, each after the lead-ins that say more about its subject.

    These are lead-ins with a word of the question that the claim itself lacks, and for
    a claim with "these events" the nearest one, which names the events.
    """
    quoted: list[Candidate] = []
    for piece in pieces:
        text = piece.text_in(passages)
        stems = read(text).stems
        group = piece.lead[-1:] if refers_to_group(text) else ()
        for part in piece.lead:
            i, start, end = part
            above = read(passages[i].text[start:end]).stems
            names = any(
                match(t, above) and not match(t, stems) for t in question.weights
            )
            if names or part in group:
                quoted.append(_exact(piece, part))
        quoted.append(piece)
    return list(dict.fromkeys(quoted))


def _exact(piece: Candidate, part: Part) -> Candidate:
    passage, start, end = part
    return replace(piece, passage=passage, start=start, end=end, lead=(), exact=True)


def with_antecedents(
    pieces: Sequence[Candidate], passages: Sequence[Passage]
) -> list[Candidate]:
    """Return the claims, each sentence with "such gift" after its antecedent.

    That is the rule before it or, in text without numbers, the sentence before it. A
    sentence that begins with "In this population" is restricted by what is directly
    above it, also if that is a heading.
    """
    by_place = {p.place: i for i, p in enumerate(passages) if p.place and not p.parts}
    quoted: list[Candidate] = []
    for piece in pieces:
        passage = passages[piece.passage]
        text = piece.text_in(passages)
        opens = opens_with_group(text)
        if not passage.whole and (opens or read(text).refers_within):
            part = _before(piece, passages, by_place, headings=opens)
            if part is not None:
                quoted.append(_exact(piece, part))
        quoted.append(piece)
    return list(dict.fromkeys(quoted))


def _before(
    piece: Candidate,
    passages: Sequence[Passage],
    by_place: Mapping[tuple[str, int], int],
    *,
    headings: bool,
) -> Part | None:
    """Return the rule, or the sentence, before the sentence of a piece.

    Headings are passed over, unless `headings` asks for one directly above.
    """
    number, passage = piece.passage, passages[piece.passage]
    earlier = [s for s in sentences(passage.text) if s.end <= piece.start]
    if not earlier and passage.place is not None:
        document, ordinal = passage.place
        number = by_place.get((document, ordinal - 1), -1)
        if number < 0 or passages[number].section != passage.section:
            return None
        earlier = list(sentences(passages[number].text))
    heading = read(passages[number].heading).folded_line
    if headings and earlier and earlier[-1].folded_line in heading:
        return number, earlier[-1].start, earlier[-1].end
    earlier = [s for s in earlier if s.folded_line not in heading]
    if not earlier:
        return None
    last = earlier[-1]
    inside = (r for r in passages[number].rules if r.start <= last.start < r.end)
    rule = next(inside, None)
    same = [s for s in earlier if rule and rule.start <= s.start] or [last]
    return number, same[0].start, last.end

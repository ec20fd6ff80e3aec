"""Lists quoted whole: the lead-in with all items, also those of other chunks.

"No record shall be destroyed where:" with two of its six items would look like the
whole list. The rest is read from the document. Where items are missing from an answer,
their number is known, and the answer says so.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.document import BlockKind
from elt_llm_core.store import Collection
from elt_llm_query.analysis.counted_items import counts_items
from elt_llm_query.analysis.document_lists import Extent, ReadList, may_lead
from elt_llm_query.analysis.follow_up import Pointer, find_dependence
from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.quantities import negations
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read, sentences
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import coverage, match
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.form_fit import form_fit
from elt_llm_query.synthesizers.extractive.list_stretches import (
    Stretch,
    parts_of_document,
)
from elt_llm_query.synthesizers.extractive.listed_answers import names_item

LONGEST = 6000  # characters of a list that is quoted; three pages of text
# Items of a list that are quoted: twice the most of the 40 lists of
# `benchmarks/list_questions.tsv`, which has ten. More is a chapter that nobody reads.
MOST_ITEMS = 20
_WHAT_IS = re.compile(r"\W*what(?:['\u2019]s|\s+(?:is|are|was|were))\b", re.IGNORECASE)


class ListExtent(NamedTuple):
    """How much of a list an answer quotes.

    Attributes:
        last: The last claim of it.
        lead: Its lead-in, on one line.
        shown: The number of its quoted items.
        total: The number of its items.
    """

    last: Claim
    lead: str
    shown: int
    total: int


class WholeLists(NamedTuple):
    """Claims with whole lists, how much of each list they quote, and added chunks."""

    claims: list[Claim]
    extents: list[ListExtent]
    brought: list[TextNode]


class _Section(NamedTuple):
    """A section of a document: its path, its first chunk, and what is around it."""

    path: str
    node_id: str
    stretch: Stretch


class ListReader:
    """Reads the lists around quotes from the documents of collections.

    Args:
        collections: The collections that are searched; without any, no list is read.
        where: The filter of the question; chunks that it excludes are not quoted.
    """

    def __init__(
        self,
        collections: Sequence[Collection] = (),
        where: Mapping[str, Any] | None = None,
    ) -> None:
        self._collections = {c.name: c for c in collections}
        self._where = dict(where or {})
        self._stretches: dict[tuple[str, str, int], Stretch | None] = {}

    def with_lists(
        self,
        question: QuestionAnalysis,
        candidates: Sequence[Candidate],
        passages: Sequence[Passage],
        weights: Mapping[str, float],
    ) -> list[Candidate]:
        """Return the candidates, lead-ins with the text of the list below them.

        The words of the list count as words of its lead-in, and so does a number in it
        if one is asked for, unless the question names an item.

        Args:
            question: The question.
            candidates: Pieces of the passages.
            passages: The sources.
            weights: Weight of each stem of the question.
        """
        return [
            self._with_list(question, candidate, passages, weights)
            for candidate in candidates
        ]

    def _with_list(
        self,
        question: QuestionAnalysis,
        candidate: Candidate,
        passages: Sequence[Passage],
        weights: Mapping[str, float],
    ) -> Candidate:
        passage, text = passages[candidate.passage], candidate.text_in(passages)
        below = ""
        if may_lead(text) and not passage.whole:
            below = self._text_below(passage, candidate)
        if not below:
            return candidate
        own = coverage(weights, ((read(f"{text}\n{below}").stems, 1.0),))
        covered = max(candidate.coverage, own)
        adds = own > candidate.own
        fit = candidate.fit
        if not fit and question.form is Form.NUMBER:
            fit = _fit_of_list(question, text, below, names_item=adds)
        return replace(
            candidate,
            below=below,
            below_adds=adds or fit > candidate.fit,
            own=own,
            coverage=covered,
            fit=fit,
        )

    def _text_below(self, passage: Passage, candidate: Candidate) -> str:
        """Return the text of the list that a sentence leads in, or an empty string."""
        stretch, base = self._stretch(passage), passage.span_start
        if stretch is None:
            return ""
        led = stretch.find(base + candidate.start, base + candidate.end)
        if led is None or not all(map(stretch.holder, led.items[0])):
            return ""
        return "\n".join(stretch.text[s:e] for item in led.items for s, e in item)

    def complete(
        self,
        question: QuestionAnalysis,
        chosen: Iterable[Candidate],
        claims: Sequence[Claim],
        passages: Sequence[Passage],
    ) -> WholeLists:
        """Return the claims with the lists of the chosen sentences quoted whole.

        A list is quoted whole if a chosen sentence leads it in, or if the question asks
        for several things and a chosen sentence is an item of a list about them. Other
        lists of which the claims quote a lead-in are counted only.

        Args:
            question: The question.
            chosen: The sentences and rows that were chosen as the answer.
            claims: The quotes for them, with lead-ins and further sentences.
            passages: The sources.
        """
        whole = WholeLists([*claims], [], [])
        quoted: list[ReadList] = []
        for candidate in chosen:
            passage = passages[candidate.passage]
            led = self._list_of(question, candidate, passage)
            stretch = self._stretch(passage)
            if stretch is not None and led is not None and led not in quoted:
                quoted.append(led)
                _quote_whole(whole, led, stretch, passages)
        self._count_others(whole, passages)
        return whole

    def _list_of(
        self, question: QuestionAnalysis, candidate: Candidate, passage: Passage
    ) -> ReadList | None:
        stretch = self._stretch(passage)
        if stretch is None or passage.parts:
            return None
        start = passage.span_start + candidate.start
        led = stretch.find(start, passage.span_start + candidate.end)
        if led is not None or passage.whole:
            return led
        if question.several and (led := stretch.led_by_paragraph(start)):
            return led
        led = stretch.around(start)
        item = passage.text[candidate.start : candidate.end]
        if led is None or not _is_all_asked(question, led, stretch, item):
            return None
        lead = stretch.text[slice(*led.lead)]
        return led if _is_asked(question, lead, item, passage) else None

    def below_heading(
        self, question: QuestionAnalysis, passages: Sequence[Passage]
    ) -> WholeLists | None:
        """Return the list below the one heading that a question asks for, or None.

        "What are the contraindications of X?" is answered by the list under the heading
        "Contraindications" in the document about X, whether or not it was found.

        Args:
            question: The question.
            passages: The sources; lists of their documents are looked for.
        """
        if not question.several:
            return None
        return self._quote_only(
            [
                (led, one.stretch)
                for one in self._sections(question, passages)
                if (led := one.stretch.below_heading(one.path, one.node_id))
            ],
            passages,
        )

    def short_section(
        self, question: QuestionAnalysis, passages: Sequence[Passage]
    ) -> WholeLists | None:
        """Return the one short section that a question asks for, or None.

        "What is the dress code?" is answered by the text below "Dress code".

        Args:
            question: The question.
            passages: The sources; sections of their documents are looked for.
        """
        refers_back = find_dependence(question.text).kind is Pointer.PRONOUN
        if refers_back or not _WHAT_IS.match(question.text):
            return None
        # A section that no source is of was not found, or is excluded.
        near = {(*p.origin[:2], p.section) for p in passages}
        whole = self._quote_only(
            [
                (whole, one.stretch)
                for one in self._sections(question, passages)
                if (*one.stretch.document, one.path) in near
                and (whole := one.stretch.short_section(one.path, one.node_id))
            ],
            passages,
        )
        return whole and whole._replace(extents=[])

    @staticmethod
    def _quote_only(
        lists: Sequence[tuple[ReadList, Stretch]], passages: Sequence[Passage]
    ) -> WholeLists | None:
        if len(lists) != 1:
            return None
        whole = WholeLists([], [], [])
        _quote_whole(whole, *lists[0], passages)
        return whole if whole.claims else None

    def _sections(
        self, question: QuestionAnalysis, passages: Sequence[Passage]
    ) -> "Iterator[_Section]":
        """Yield the sections that a question names, of the documents of the sources."""
        documents = dict.fromkeys(p.origin[:2] for p in passages if p.origin[1])
        for name, document in documents:
            near = [p for p in passages if p.origin[:2] == (name, document)]
            home = self._collections.get(name)
            if home is not None:
                yield from self._sections_of(question, home, document, near)

    def _sections_of(
        self,
        question: QuestionAnalysis,
        home: Collection,
        document: str,
        near: Sequence[Passage],
    ) -> "Iterator[_Section]":
        asked = frozenset(question.weights)
        known = frozenset[str]().union(*(p.stems for p in near))
        named = question.names.union(*(_document_stems(p) for p in near))
        seen: set[str] = set()
        for one in parts_of_document(home, document).outline:
            if one.section in seen:
                continue
            seen.add(one.section)
            heading = one.section.rpartition(" > ")[2]
            stems = _content_stems(heading)
            rest = [term for term in asked if not match(term, stems)]
            names = named | read(one.section).stems
            if not stems or any(not match(term, asked) for term in stems):
                continue
            if negations(heading) != negations(question.text):
                continue  # "What is covered?" is not answered below "Not covered"
            if all(match(t, names) and match(t, known) for t in rest):
                stretch = self._around(home, document, one.ordinal)
                if stretch is not None:
                    yield _Section(one.section, one.node_id, stretch)

    def _count_others(self, whole: WholeLists, passages: Sequence[Passage]) -> None:
        """Note the lists of which the claims quote the lead-in and some items."""
        by_id = {p.node_id: p for p in passages}
        known = {extent.lead for extent in whole.extents}
        for claim in whole.claims:
            passage = by_id.get(claim.node_id)
            stretch = self._stretch(passage) if passage else None
            if passage is None or stretch is None or passage.whole:
                continue
            base = passage.span_start
            led = stretch.find(base + claim.start, base + claim.end)
            if led is None or led.rows:  # a row says with its headers what it is
                continue
            lead = " ".join(stretch.text[slice(*led.lead)].split())
            if lead in known:
                continue
            known.add(lead)
            shown, last = _count(led, whole.claims, passage, by_id)
            if last is not None:
                whole.extents.append(ListExtent(last, lead, shown, len(led.items)))

    def _stretch(self, passage: Passage) -> Stretch | None:
        """Return the document around a passage; None where it cannot be read."""
        name, document, ordinal = passage.origin
        key = name, document, ordinal
        if key not in self._stretches:
            home = self._collections.get(name)
            self._stretches[key] = (
                self._around(home, document, ordinal) if home and document else None
            )
        return self._stretches[key]

    def _around(self, home: Collection, document: str, ordinal: int) -> Stretch | None:
        parts = parts_of_document(home, document)
        return parts.around(home, document, ordinal, self._where)


def _quote_whole(
    whole: WholeLists,
    led: ReadList,
    stretch: Stretch,
    passages: Sequence[Passage],
) -> None:
    """Replace the claims inside a list by claims of all of it."""
    quotes, shown = _quote_list(stretch, led)
    if not quotes or not shown:
        return
    # A chosen item beyond it is kept, as is a sentence before the one that leads in.
    lead_in = _lead_sentence(stretch.text, led.lead)
    quoted = replace(led, lead=lead_in, items=led.items[:shown])
    inside = [c for c in whole.claims if _is_inside(c, quoted, stretch, passages)]
    place = whole.claims.index(inside[0]) if inside else len(whole.claims)
    known = {p.node_id for p in passages} | {n.node_id for n in whole.brought}
    for node, _ in quotes:
        if node.node_id not in known:
            known.add(node.node_id)
            whole.brought.append(node)
    labels = {p.node_id: p.label for p in passages}
    labels |= {
        n.node_id: f"S{len(passages) + i}" for i, n in enumerate(whole.brought, 1)
    }
    new = [
        Claim(labels[n.node_id], n.node_id, c.start, c.end, c.text) for n, c in quotes
    ]
    kept = [c for c in whole.claims if c not in inside]
    place = min(place, len(kept))
    whole.claims[:] = [*kept[:place], *new, *kept[place:]]
    lead = " ".join(stretch.text[slice(*led.lead)].split())
    for item in led.items[shown:]:
        one = replace(led, lead=item[0], items=(item,))
        shown += any(_is_inside(c, one, stretch, passages) for c in kept)
    whole.extents.append(ListExtent(new[-1], lead, shown, len(led.items)))


def _document_stems(passage: Passage) -> frozenset[str]:
    """Return the stems of its document's name, which is the document's subject."""
    name = passage.heading.removesuffix(passage.section)
    return read(name.replace(".", " ").replace("_", " ")).stems


def _content_stems(heading: str) -> frozenset[str]:
    words = (w for w in read(heading).words if w.isalpha())
    return frozenset(stem(w) for w in words if w.lower() not in STOP_WORDS)


def _is_asked(
    question: QuestionAnalysis, lead: str, item: str, passage: Passage
) -> bool:
    """Return whether a lead-in, with its heading, says what the question asks about.

    It has a content word of the question that the item lacks, or all of them.
    """
    above = read(f"{passage.heading}\n{lead}").stems
    own, opening = read(item).stems, read(lead).stems
    telling = [term for term, weight in question.weights.items() if weight == 1]
    if all(match(term, above) for term in telling):
        return True
    return any(match(term, opening) and not match(term, own) for term in telling)


def _is_all_asked(
    question: QuestionAnalysis, led: ReadList, stretch: Stretch, item: str
) -> bool:
    """Return whether a question asks for several things, or names no single item."""
    if question.several:
        return True
    lead = stretch.text[slice(*led.lead)]
    return not led.heading and not names_item(question, lead, item)


def _fit_of_list(
    question: QuestionAnalysis, lead: str, below: str, *, names_item: bool
) -> float:
    """Return how well a list has the number that a question asks for.

    The number of its items answers "How many courses are there?" below "the following
    courses:", where the counted noun ends the lead-in.
    """
    if counts_items(question.text, lead):
        return 1.0
    return 0.0 if names_item or question.counted else form_fit(question, below)


def _is_inside(
    claim: Claim,
    led: ReadList,
    stretch: Stretch,
    passages: Sequence[Passage],
) -> bool:
    """Return whether a claim quotes a part of a list of the document."""
    home = next((p for p in passages if p.node_id == claim.node_id), None)
    if home is None or home.origin[:2] != stretch.document:
        return False
    start, end = home.span_start + claim.start, home.span_start + claim.end
    return start < led.end and led.lead[0] < end


def _quote_list(
    stretch: Stretch, led: ReadList
) -> tuple[list[tuple[TextNode, Claim]], int]:
    """Return the quotes of a list by chunk, and the number of its quoted items.

    A list is cut after a whole item, where it is too long or a chunk is missing.
    """
    lead = _lead_sentence(stretch.text, led.lead)
    parts: list[Extent] = [lead]
    shown = 0
    length = 0
    for item in led.items:
        length += sum(end - start for start, end in item)
        long = shown == MOST_ITEMS or (shown and length > LONGEST)
        if long or not all(map(stretch.holder, item)):
            break
        parts += item
        shown += 1
    held = [(key, part) for part in parts if (key := stretch.holder(part))]
    nodes = stretch.nodes(key for key, _ in held)
    placed = [(nodes[key], part) for key, part in held if key in nodes]
    quotes = []
    for _, group in groupby(placed, key=lambda one: one[0].node_id):
        several = list(group)
        node = several[0][0]
        base = provenance.read(node).span_start
        start, end = several[0][1][0] - base, several[-1][1][1] - base
        text = _wording(node, [(s - base, e - base) for _, (s, e) in several])
        quotes.append((node, Claim("", node.node_id, start, end, text)))
    return quotes, shown if len(placed) == len(parts) else 0


def _lead_sentence(text: str, lead: Extent) -> Extent:
    """Return the last sentence of a lead-in, which introduces the list."""
    start, end = lead
    inside = sentences(text[start:end])
    return (start + inside[-1].start, start + inside[-1].end) if inside else lead


def _wording(node: TextNode, parts: Sequence[Extent]) -> str:
    """Return the parts of a chunk, each on a line; a table row with its headers."""
    place = provenance.read(node)
    if place.kind == BlockKind.TABLE_ROW and place.index_text:
        return " ".join(place.index_text.split())
    lines = (" ".join(node.text[start:end].split()) for start, end in parts)
    return "\n".join(line for line in lines if line)


def _count(
    led: ReadList,
    claims: Sequence[Claim],
    passage: Passage,
    by_id: Mapping[str, Passage],
) -> tuple[int, Claim | None]:
    """Return how many items the claims quote, and the last claim that quotes one."""
    shown = 0
    last: Claim | None = None
    for item in led.items:
        start, end = item[0]
        for claim in claims:
            home = by_id.get(claim.node_id)
            if home is None or home.origin[:2] != passage.origin[:2]:
                continue
            begin = home.span_start + claim.start
            if begin <= start and end <= home.span_start + claim.end + 1:
                shown, last = shown + 1, claim
                break
    return shown, last

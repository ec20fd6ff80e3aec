"""Answers from a query over a table of the sources: highest, count, sum, a cell.

If a source is a table row and the question has such a form, the whole table is queried,
not only the retrieved rows. In case of doubt the other synthesizer answers.
"""

import re
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.store import Collection
from elt_llm_core.tables import Field, Kind, Relation
from elt_llm_query.analysis.explained_term import asks_for_a_kind, begins_with_amount
from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.person_names import asked_role
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.analysis.superlatives import rephrase
from elt_llm_query.analysis.table_question import Ask, parse_bare_cell
from elt_llm_query.analysis.term_match import match, vocabulary
from elt_llm_query.grounding.claim import (
    CLAIMS_KEY,
    REFUSED_KEY,
    RIVALS_KEY,
    WRITTEN_BY_KEY,
    Claim,
    RivalAnswer,
)
from elt_llm_query.grounding.labels import LabelSources, label_of
from elt_llm_query.grounding.quote_match import check_quote
from elt_llm_query.prompts import NO_SURE_ANSWER
from elt_llm_query.synthesizers.base_synthesizers import WrappingSynthesizer
from elt_llm_query.synthesizers.foreign_words import lacks_a_word
from elt_llm_query.synthesizers.table_qa.answer import ComputedAnswer, compute_answer
from elt_llm_query.synthesizers.table_qa.cell_rivals import find_cell_rival
from elt_llm_query.synthesizers.table_qa.planner import (
    TablePlan,
    TableWords,
    header_stems,
    plan_sum,
    plan_table,
)
from elt_llm_query.synthesizers.table_qa.row_units import different_units, money_columns
from elt_llm_query.synthesizers.table_qa.selected_answer import compute_selection
from elt_llm_query.synthesizers.table_qa.selection import RowSelection, plan_selection
from elt_llm_query.trace import TraceLog

Plan = TablePlan | RowSelection
_COMPARE = frozenset([Ask.MOST, Ask.LEAST, Ask.SUM, Ask.AVERAGE])
_SHORTENED = 3  # letters of a word that is cut short, as "app" or "doc"
_ANYTHING = frozenset(map(stem, words("category item kind type entry one")))
_WIDER = frozenset(["table", "prose"])
_TIMES = {
    "year": re.compile(r"\W*(?:1[89]|20)\d\d\b"),
    "quarter": re.compile(r"\W*(?:Q\s?[1-4]\b|\w+ quarter\b)", re.IGNORECASE),
}


class TableSynthesizer(WrappingSynthesizer):
    """Queries the tables among the sources; if none answers, `inner` does.

    Chunks with cells that were not among the sources are added. The metadata of the
    response is that of the extractive synthesizer: each cell is a claim.
    """

    def __init__(
        self,
        inner: BaseSynthesizer,
        collections: Sequence[Collection],
        embedder: BaseEmbedding | None = None,
        log: TraceLog | None = None,
    ) -> None:
        super().__init__(inner)
        self._collections = {c.name: c for c in collections}
        self._embedder = embedder
        self._log = log or TraceLog()

    @override
    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        asked = query if isinstance(query, str) else query.query_str
        response = self._answer(asked, nodes)
        if response is None:
            return self._inner.synthesize(
                query, nodes, additional_source_nodes, **response_kwargs
            )
        return response

    def _answer(self, question: str, nodes: list[NodeWithScore]) -> Response | None:
        """Return the answer of the best matching table, with its cells as claims."""
        rows = [n for n in nodes if _has_rows(n)]
        with self._log.stage("tables", len(rows)) as note:
            answer = self._compute_answer(question, rows) if rows else None
            response = _response(*answer[:2], nodes) if answer else None
            if answer and response:
                tables = self._tables(rows)
                response = _with_rivals(question, response, answer[2], tables)
            note.n_out = int(response is not None)
        return response

    def _compute_answer(
        self, asked: str, nodes: Sequence[NodeWithScore]
    ) -> tuple[ComputedAnswer, list[TextNode], Plan] | None:
        plans = [
            (planned, chunks)
            for relation, chunks in self._tables(nodes)
            if relation.clean and (planned := _plan(asked, relation)) is not None
        ]
        best = max((len(p.inside) for p, _ in plans), default=0)
        answers = [
            (best_answer, chunks, p)
            for p, chunks in plans
            if len(p.inside) == best
            and (best_answer := _compute(p)) is not None
            and self._is_subject(p, chunks)
        ]
        # Two tables with different answers: it is unknown which one is meant.
        if len({_values(p, best_answer) for best_answer, _, p in answers}) != 1:
            return None
        best_answer, chunks, plan = answers[0]
        return best_answer, chunks, plan

    def _tables(
        self, nodes: Sequence[NodeWithScore]
    ) -> list[tuple[Relation, list[TextNode]]]:
        """Return the tables of the sources, best source first, with their chunks."""
        tables: dict[str, tuple[Relation, list[TextNode]]] = {}
        read: dict[str, tuple[list[Relation], list[TextNode]]] = {}
        for one in nodes:
            place = provenance.read(one.node)
            collection = self._collections.get(place.collection)
            if collection is None:
                continue
            if place.document_id not in read:
                read[place.document_id] = collection.tables(place.document_id)
            relations, chunks = read[place.document_id]
            for relation in relations:
                first, last = relation.span
                if first < place.span_end and place.span_start < last:
                    tables.setdefault(relation.id, (relation, chunks))
        return list(tables.values())

    def _is_subject(self, chosen: Plan, chunks: Sequence[TextNode]) -> bool:
        """Return True if the rows can be what "which country" asks for.

        The table contains the word, or its document does and a word of the table is
        similar to it in meaning.
        """
        relation = chosen.relation
        kind = (
            chosen.subject
            if isinstance(chosen, RowSelection)
            else chosen.wanted.subject
        )
        asked = [stem(w) for w in words(kind) if w.lower() not in STOP_WORDS]
        asked = [word for word in asked if word not in _ANYTHING]
        headers = [c.header for c in relation.columns]
        labels = [row.label for row in relation.rows]
        if isinstance(chosen, TablePlan) and chosen.across:
            labels = [headers[c] for c in chosen.columns]
        texts = " ".join([relation.title, relation.section, *headers, *labels])
        times = [_TIMES[word] for word in asked if word in _TIMES]
        if any(all(map(shape.match, labels)) for shape in times):
            return True
        if all(match(word, vocabulary(texts)) for word in asked):
            return True
        if _is_of_other_table(kind, relation, self._tables_beside(chunks)):
            return False
        known = _is_cut_short(kind, headers[relation.labels])
        if self._embedder is None or not (known or self._speaks_of(asked, chunks)):
            return False
        return not lacks_a_word(analyse(kind), texts, self._embedder)

    def _tables_beside(self, chunks: Sequence[TextNode]) -> list[Relation]:
        """Return all tables of the document of a table."""
        place = provenance.read(chunks[0])
        relations, _ = self._collections[place.collection].tables(place.document_id)
        return relations

    def _speaks_of(self, asked: Sequence[str], chunks: Sequence[TextNode]) -> bool:
        """Return True if the document of the table contains all these stems."""
        place = provenance.read(chunks[0])
        text = self._collections[place.collection].document_text(place.document_id)
        return {*asked} <= {stem(w) for w in set(words(text.lower()))}


def _is_of_other_table(
    kind: str, relation: Relation, beside: Sequence[Relation]
) -> bool:
    """Return True if another table of the document has rows of just this kind.

    "Which interface has the highest cost" is not answered by a sheet of applications
    beside one of interfaces.
    """
    asked = {stem(w) for w in words(kind) if w.lower() not in STOP_WORDS}
    if not asked or asked == header_stems(TableWords(relation), relation.labels):
        return False
    tables = [TableWords(one) for one in beside if one.id != relation.id]
    return any(asked == header_stems(t, t.relation.labels) for t in tables)


def _is_cut_short(kind: str, header: str) -> bool:
    """Return True for one word that the header of the labels begins with: "app"."""
    short = kind.casefold().strip()
    return len(short) >= _SHORTENED and header.casefold().startswith(short)


def _has_rows(hit: NodeWithScore) -> bool:
    """Return True for a row, or for a table or section that was read in its place."""
    place = provenance.read(hit.node)
    rows = place.kind == "table_row" or (place.kind in _WIDER and bool(place.cells))
    return rows and not place.generated


def _plan(question: str, relation: Relation) -> Plan | None:
    """Return how a table answers: by its columns alone, or by a selection of rows."""
    if asked_role(question):
        return None  # a cell with the role itself is no name
    text, dated, costly = rephrase(question)
    asked = analyse(text).table or parse_bare_cell(text)
    planned = plan_table(asked, relation) if asked else None
    plan = planned or plan_selection(text, relation) or plan_sum(asked, relation)
    if planned and _is_amount_of_a_kind(question, planned):
        return None
    if plan is None or not (dated or costly):
        return plan
    columns = plan.columns if isinstance(plan, TablePlan) else (plan.column,)
    kinds = [relation.columns[c].kind for c in columns if c is not None]
    compares = not costly or [*columns] == money_columns(relation)
    return plan if compares and (not dated or kinds == [Kind.DATE]) else None


def _is_amount_of_a_kind(question: str, plan: TablePlan) -> bool:
    """Return True for an amount beside a thing that a question asks to explain.

    "What is measles?" is not answered by the days after which isolation ends. A name
    in the definite form, as in "What is the power supply?", may ask for its value, and
    so may one that the table's header speaks of.
    """
    asked = analyse(question)
    if plan.wanted.ask is not Ask.CELL or not asks_for_a_kind(asked):
        return False
    field = plan.relation.field(plan.rows[0], plan.columns[0])
    headers = TableWords(plan.relation).headers[plan.columns[0]]
    if field is None or any(match(one, headers) for one in asked.weights):
        return False
    return begins_with_amount(field.text)


def _compute(plan: Plan) -> ComputedAnswer | None:
    """Return the answer of a plan, or None; without cells it is a refusal."""
    if units := _units_compared(plan):
        title = plan.relation.title or "the table"
        return ComputedAnswer(
            f"{NO_SURE_ANSWER} The rows of {title} are in different units "
            f"({'; '.join(units)}); ask for one of them.",
            (),
        )
    if isinstance(plan, RowSelection):
        return compute_selection(plan)
    return compute_answer(plan)


def _units_compared(plan: Plan) -> tuple[str, ...]:
    """Return the units if a plan would compare or add up numbers in several."""
    if isinstance(plan, RowSelection):
        compares = plan.ask in _COMPARE and plan.column is not None
        column = plan.column or 0
    else:
        compares = plan.wanted.limit is not None or plan.wanted.ask in _COMPARE
        compares &= not plan.across
        column = plan.columns[0]
    return different_units(plan.relation, plan.rows, column) if compares else ()


def _values(chosen: Plan, computed: ComputedAnswer) -> tuple[str, ...]:
    """Return the key that two equivalent answers share."""
    ask = chosen.ask if isinstance(chosen, RowSelection) else chosen.wanted.ask
    return (ask, *(cell.text for cell in computed.cells))


def _response(
    computed: ComputedAnswer, chunks: Sequence[TextNode], nodes: list[NodeWithScore]
) -> Response | None:
    """Return the answer with its sources and additional chunks.

    None if a cell is in no chunk or cannot be quoted.
    """
    if not computed.cells:
        metadata = {CLAIMS_KEY: [], REFUSED_KEY: True, WRITTEN_BY_KEY: False}
        return Response(computed.text, source_nodes=nodes, metadata=metadata)
    have = {n.node.node_id for n in nodes}
    document = provenance.read(chunks[0]).document_id
    # A source may be longer than the chunk with its id; the source is quoted.
    shown = [n.node for n in nodes if isinstance(n.node, TextNode)]
    known = [n for n in shown if provenance.read(n).document_id == document]
    known += [chunk for chunk in chunks if chunk.node_id not in have]
    places = [_chunk_of(cell, known) for cell in computed.cells]
    if any(place is None for place in places):
        return None
    more = {p.node_id: p for p in places if p is not None and p.node_id not in have}
    added = [NodeWithScore(node=node, score=0.0) for node in more.values()]
    sources = LabelSources().postprocess_nodes([*nodes, *added])
    labels = {n.node.node_id: label_of(n.node) for n in sources}
    claims = [
        _claim(cell, place, labels[place.node_id], computed.text)
        for cell, place in zip(computed.cells, places, strict=True)
        if place is not None
    ]
    told_labels = dict.fromkeys(claim.label for claim in claims)
    text = f"{computed.text} {''.join(f'[{label}]' for label in told_labels)}"
    metadata = {CLAIMS_KEY: claims, REFUSED_KEY: False, WRITTEN_BY_KEY: False}
    return Response(text, source_nodes=sources, metadata=metadata)


def _with_rivals(
    question: str,
    response: Response,
    plan: Plan,
    tables: Sequence[tuple[Relation, list[TextNode]]],
) -> Response:
    """Return an answer of one cell with other values that other documents give it."""
    claims: list[Claim] = response.metadata[CLAIMS_KEY] if response.metadata else []
    if not claims:
        return response
    sources = {n.node.node_id: n.node for n in response.source_nodes}
    shown = [node for node in sources.values() if isinstance(node, TextNode)]
    home = {provenance.read(sources[c.node_id]).document_id for c in claims}
    rivals = []
    for relation, chunks in tables:
        own = provenance.read(chunks[0]).document_id
        cells = () if own in home else find_cell_rival(question, plan, relation)
        known = [n for n in shown if provenance.read(n).document_id == own]
        place = _chunk_of(cells[1], known) if cells else None
        if cells and place is not None:
            other = _claim(cells[1], place, label_of(place), cells[1].text)
            reason = f"{cells[0].text} or {cells[1].text}"
            rivals.append(RivalAnswer(claims[-1], other, reason))
    if rivals and response.metadata is not None:
        response.metadata[RIVALS_KEY] = rivals
    return response


def _chunk_of(cell: Field, chunks: Sequence[TextNode]) -> TextNode | None:
    """Return the first chunk that contains the whole cell at its place."""
    for chunk in chunks:
        start, end = chunk.start_char_idx or 0, chunk.end_char_idx or 0
        if start <= cell.start and cell.end <= end:
            quote = chunk.text[cell.start - start : cell.end - start]
            same = " ".join(quote.split()) == cell.text
            if same and check_quote(quote, chunk.text).stands:
                return chunk
    return None


def _claim(cell: Field, chunk: TextNode, label: str, text: str) -> Claim:
    first = chunk.start_char_idx or 0
    start, end = cell.start - first, cell.end - first
    return Claim(label, chunk.node_id, start, end, text, derived=True)

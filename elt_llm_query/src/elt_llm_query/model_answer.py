"""Questions about an enterprise model, answered from its graph with quotes as proof.

The graph answers only questions that it parses completely. Its answer is used only if
chunks of the collection state every part of it verbatim: the sentence of each relation,
the domain on a fact sheet, the fact sheet of each element, and for a relation of an
inventory the row with both names. All other questions are
searched for as usual. That a model has nothing of what is asked for never ends the
search: other sources may have it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

from llama_index.core.base.response.schema import Response
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from elt_llm_core import provenance
from elt_llm_core.document import BlockKind
from elt_llm_core.enterprise.model import FLOW, SIDECAR_KIND
from elt_llm_core.graph.graph_questions import GraphQuestions
from elt_llm_core.graph.graph_records import ElementRef, GraphAnswer, RelationRef
from elt_llm_core.graph.model_graph import open_graph
from elt_llm_core.graph.question_reader import CAMEL
from elt_llm_core.graph.question_words import COUNT_WORDS, FUNCTION_WORDS, LIST_WORDS
from elt_llm_core.results import QueryResult, Status
from elt_llm_core.store import Store
from elt_llm_query.analysis.noun_phrases import stems_of, telling_stems
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import match
from elt_llm_query.grounding.claim import CLAIMS_KEY, WRITTEN_BY_KEY, Claim
from elt_llm_query.grounding.labels import LabelSources, escape_labels, label_of
from elt_llm_query.grounding.nearest import REFUSED

MOST = 100  # chunks of one answer; use `elt-llm graph ask` for longer lists
_ROWS = re.compile(r"\d+ rows? \((?P<title>[^()]+)\)")  # of a whole table
# What the titles of tables and questions for lists say beside what is listed.
_LISTS = frozenset(["catalogue", "inventory", "list", "overview", "register", "table"])
_ASKING = _LISTS | COUNT_WORDS | LIST_WORDS | FUNCTION_WORDS
NOTHING = re.compile("(?!)")
# Other answers of the graph cannot be proved by single chunks: which diagrams show an
# element, elements two steps away, indirect dependents.
PROVABLE = frozenset(
    {
        "cardinality", "contents", "count", "dependencies", "dependents", "flows",
        "list", "path", "place", "relations", "type", "verb",
    }
)  # fmt: skip
_SEPARATORS = re.compile(r"[;,\n]")
KINDS = (BlockKind.FACT_SHEET.value, BlockKind.RELATIONSHIP.value)

# One graph for each open data root, until one of its collections changes.
_graphs: WeakKeyDictionary[Store, tuple[tuple[str, ...], GraphQuestions]] = (
    WeakKeyDictionary()
)


@dataclass(frozen=True)
class Quote:
    """`[start, end)` of the text of a chunk that states a part of the answer."""

    node: BaseNode
    start: int
    end: int


@dataclass(frozen=True)
class ModelAnswer:
    """What a model states on a question.

    Attributes:
        response: The answer with its claims; None if single chunks do not prove it, or
            the model has nothing of what is asked for.
        nodes: The labelled sources of the response.
        text: What the model states, for a refusal.
        is_listing: Whether all elements of a type are asked for, but not expressly
            those of the model, so that a table may list more of them.
    """

    response: Response | None
    nodes: tuple[NodeWithScore, ...]
    text: str
    is_listing: bool = False

    def with_refusal(self, result: QueryResult) -> QueryResult:
        """Return a result; if it is a refusal, with what the model states.

        Args:
            result: The result of the search.
        """
        if result.status not in REFUSED or self.response is not None:
            return result
        answer = f"{result.answer} {escape_labels(self.text)}"
        return result.model_copy(update={"answer": answer})

    def is_in_table(self, result: QueryResult) -> bool:
        """Return whether a result lists rows of a table by the name asked for.

        "Components" is no list of application components, nor the reverse.

        Args:
            result: The result of the tables in scope.
        """
        counted = _ROWS.match(result.answer)
        named = counted["title"] if counted else result.answer.partition(":")[0]
        name = stems_of(named) - {*map(stem, _LISTS)}
        rows = {c.kind for c in result.citations} == {BlockKind.TABLE_ROW.value}
        asked = telling_stems(result.question) - {*map(stem, _ASKING)}
        is_named = bool(name) and all(
            match(one, others)
            for several, others in ((name, asked), (asked, name))
            for one in several
        )
        return result.status is Status.ANSWERED and rows and is_named


def answer_from_model(
    names: Sequence[str], question: str, store: Store
) -> ModelAnswer | None:
    """Return what a model states on a question, with labelled sources if proved.

    Args:
        names: The collections to search.
        question: The question.
        store: The data root.

    Returns:
        None if no collection contains a model, or the model does not understand the
        question.
    """
    holding = [name for name in names if store.sidecars(name, SIDECAR_KIND)]
    if not holding:
        return None
    answer = _questions(store, holding).answer(question)
    if not answer.kind:
        return None
    if answer.status == "refused" or answer.has_nothing:
        return ModelAnswer(None, (), answer.text)
    return _state(question, answer, _Chunks(store, holding))


class _Chunks:
    """The chunks of models, and the rows of their tables, each read when needed."""

    def __init__(self, store: Store, names: Sequence[str]) -> None:
        self._store, self._names = store, names

    @cached_property
    def sheets(self) -> list[BaseNode]:
        """Return the fact sheets and relations."""
        return self._of(KINDS)

    @cached_property
    def rows(self) -> dict[str, list[BaseNode]]:
        """Return the rows of tables, of workbooks and other documents, by document."""
        rows: dict[str, list[BaseNode]] = {}
        for node in self._of([BlockKind.TABLE_ROW.value]):
            rows.setdefault(str(node.metadata.get("document")), []).append(node)
        return rows

    def _of(self, kinds: Sequence[str]) -> list[BaseNode]:
        return [n for name in self._names for n in self._store.nodes(name, kinds)]


def _state(question: str, answer: GraphAnswer, chunks: _Chunks) -> ModelAnswer:
    """Return an answer with its proof, or as a statement if chunks do not prove it."""
    is_provable = answer.kind in PROVABLE and bool(answer.proof)
    few = len(answer.relations) + len(answer.elements) <= MOST
    quotes = _prove(question, answer, chunks) if is_provable and few else []
    if not quotes or len(quotes) > MOST:
        return ModelAnswer(None, (), f"The model states: {answer.text}")
    response, nodes = _respond(answer.text, quotes)
    is_listing = not answer.subjects and "model" not in read(question).lower_words
    return ModelAnswer(response, tuple(nodes), answer.text, is_listing)


def _questions(store: Store, names: Sequence[str]) -> GraphQuestions:
    state = tuple(part for name in names for part in (name, store.state(name)))
    kept = _graphs.get(store)
    if kept is None or kept[0] != state:
        kept = state, GraphQuestions(open_graph(store, names))
        _graphs[store] = kept
    return kept[1]


def _prove(question: str, answer: GraphAnswer, chunks: _Chunks) -> list[Quote]:
    """Return a quote for every part of the answer; empty if a part has no quote."""
    quotes: list[Quote] = []
    for relation in answer.relations:
        # With the counts, which are on the same line.
        begin = re.compile(rf"{re.escape(relation.text)}[^\n]*")
        quote = next(_quotes((relation.location.file, begin), chunks.sheets), None)
        quote = quote or _find_row(relation, chunks)
        if quote is None:
            return []
        quotes.append(quote)
    for part in _parts(question, answer):
        quote = next(_quotes(part, chunks.sheets), None)
        if quote is None:
            return []
        quotes.append(quote)
    return quotes


def _find_row(relation: RelationRef, chunks: _Chunks) -> Quote | None:
    """Return the row of an inventory that a relation is read from.

    It is on the sheet of the relation, has one end as a cell, and the other one in the
    column of the relation; a flow has columns of other names.
    """
    ends = {relation.source, relation.target}
    for node in chunks.rows.get(relation.location.file, ()):
        text = _text(node)
        if not all(end in text for end in ends):
            continue
        place = provenance.read(node)
        cells = [
            (c.header, text[c.start - place.span_start : c.end - place.span_start])
            for c in place.cells
        ]
        whole = ends & {value.strip() for _, value in cells}
        stated = any(
            header.casefold() == relation.type.casefold() or relation.type == FLOW
            for header, value in cells
            if ends & _names_in(value)
        )
        everything = frozenset().union(*(_names_in(value) for _, value in cells))
        here = place.page == relation.location.page and ends <= everything
        if here and whole and stated:
            return Quote(node, 0, len(text))
    return None


def _names_in(cell: str) -> frozenset[str]:
    """Return the whole text of a cell, and the names that it lists."""
    return frozenset(part.strip() for part in (cell, *_SEPARATORS.split(cell)))


def _parts(question: str, answer: GraphAnswer) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The file of each element that no relation names, and how its sheet begins."""
    ends = {end for r in answer.relations for end in (r.source_id, r.target_id)}
    groups = {ref.name for ref in answer.subjects if ref.role != "entity"}
    if answer.kind in {"place", "path", "relations"}:
        groups |= {ref.name for ref in answer.elements}
        groups |= {name for r in answer.relations for name in (r.source, r.target)}
    refs: Iterable[ElementRef] = (
        *(ref for ref in answer.subjects if ref.role == "entity"),
        *(() if answer.kind == "place" else answer.elements),
    )
    for ref in {ref.id: ref for ref in refs if ref.id not in ends}.values():
        is_entity = ref.role == "entity"
        begin = _fact_sheet(question, ref, groups) if is_entity else _member(ref)
        yield ref.location.file, begin


def _member(group: ElementRef) -> re.Pattern[str]:
    """Return the beginning of a fact sheet in a group."""
    name = re.escape(group.name)
    return re.compile(
        rf"(?:(?!Type: )[^\n]*\n)+?{group.role.title()}: {name}$", re.MULTILINE
    )


def _fact_sheet(question: str, ref: ElementRef, groups: set[str]) -> re.Pattern[str]:
    """Return the beginning of a fact sheet: its name, its group and its type.

    `groups` are those that the answer mentions; if there are any, the fact sheet must
    name one of them. A type that the question does not name may be one that only an
    inventory has: then the element is drawn as a shape.
    """
    if groups and not groups & {ref.domain, ref.subtype}:
        return NOTHING
    kind = " ?".join(map(re.escape, ref.type))  # written in words on some fact sheets
    if not stems_of(CAMEL.sub(" ", ref.type)) <= telling_stems(question):
        kind = f"(?:{kind}|Shape)"
    return re.compile(
        rf"{re.escape(ref.name)}\n(?:(?!Type: )[^\n]*\n)*Type: {kind}$", re.MULTILINE
    )


def _quotes(
    part: tuple[str, re.Pattern[str]], chunks: Sequence[BaseNode]
) -> Iterator[Quote]:
    file, begin = part
    for node in chunks:
        if node.metadata.get("document") == file and (
            match := begin.match(_text(node))
        ):
            yield Quote(node, match.start(), match.end())


def _respond(
    text: str, quotes: Sequence[Quote]
) -> tuple[Response, list[NodeWithScore]]:
    nodes = {quote.node.node_id: quote.node for quote in quotes}
    given = [NodeWithScore(node=node, score=1.0) for node in nodes.values()]
    labelled = LabelSources().postprocess_nodes(given)
    labels = {one.node.node_id: label_of(one.node) for one in labelled}
    claims = [
        Claim(
            labels[quote.node.node_id],
            quote.node.node_id,
            quote.start,
            quote.end,
            _text(quote.node)[quote.start : quote.end],
            derived=True,
        )
        for quote in quotes
    ]
    marks = "".join(f"[{label}]" for label in labels.values())
    metadata = {WRITTEN_BY_KEY: False, CLAIMS_KEY: claims}
    return Response(
        f"{escape_labels(text)} {marks}", source_nodes=labelled, metadata=metadata
    ), labelled


def _text(node: BaseNode) -> str:
    return node.get_content(metadata_mode=MetadataMode.NONE)

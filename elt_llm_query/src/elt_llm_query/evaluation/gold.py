"""Which chunks hold what a labelled question's gold names, however text is cut."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from llama_index.core.schema import TextNode

from elt_llm_core.provenance import Provenance, read
from elt_llm_core.results import Degradation
from elt_llm_core.store import DocumentRow, Store
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.evaluation.beir import Question, told
from elt_llm_query.evaluation.labelled import Gold, Labelled

SHOWN = 60
SHARE = 0.5  # of a quote or of a chunk that makes the chunk hold the quote


@dataclass(frozen=True)
class Place:
    """Where gold stands: characters of a document, or a page, or all of it."""

    document_id: str
    start: int = 0
    end: int = 0
    page: int | None = None

    def held(self, chunk: Provenance) -> bool:
        """Whether a chunk of the document holds it, or enough of it."""
        if self.end:
            common = min(self.end, chunk.span_end) - max(self.start, chunk.span_start)
            least = min(self.end - self.start, chunk.span_end - chunk.span_start)
            return common > 0 and common >= SHARE * least
        return self.page is None or self.page in chunk.pages


class Finder:
    """Looks gold up in collections of one store."""

    def __init__(self, store: Store, collections: Sequence[str]) -> None:
        self._store = store
        self._collections = collections

    def question(self, line: Labelled, problems: list[Degradation]) -> Question | None:
        """The question with what is judged for it; None where no gold is found.

        Every gold is one judged item, and a chunk may hold several.
        """
        targets: dict[str, list[str]] = defaultdict(list)
        gold: dict[str, int] = {}
        for number, one in enumerate(line.gold, start=1):
            chunks = self._chunks(one)
            if not chunks:
                problems.append(
                    told(f"{line.question[:SHOWN]!r}: {_described(one)} is not there")
                )
                continue
            item = f"gold-{number}"
            gold[item] = 1
            for chunk in chunks:
                targets[chunk].append(item)
        if not gold:
            return None
        held = {chunk: tuple(items) for chunk, items in targets.items()}
        # A chunk's id changes with how text is cut; beside a place it says nothing.
        judged = tuple(
            one.model_dump_json(exclude={"chunk"} if one.document else None)
            for one in line.gold
        )
        return Question(line.key, line.question, gold, held, judged)

    def places(self, one: Gold) -> list[Place]:
        """Where gold stands; several where several documents have the name."""
        if one.chunk:
            node = self._nodes.get(one.chunk)
            if node is not None:
                place = read(node)
                return [Place(place.document_id, place.span_start, place.span_end)]
            if not one.document:
                return []
        found = []
        for row in self._named(one.document):
            if one.quote:
                span = self._span(row.document_id, one.quote)
                found += [Place(row.document_id, *span)] if span else []
            else:
                found.append(Place(row.document_id, page=one.page))
        return found

    def _chunks(self, one: Gold) -> list[str]:
        return [
            node.node_id
            for place in self.places(one)
            for node in self._of_document.get(place.document_id, [])
            if place.held(read(node))
        ]

    def _named(self, name: str) -> list[DocumentRow]:
        """Documents of that file name, title, address, or end of the address."""
        wanted = name.casefold()
        return [row for row in self._documents if wanted in _names(row)]

    def _span(self, document_id: str, quote: str) -> tuple[int, int] | None:
        whole, part = normalise(self._text(document_id)), normalise(quote).text
        at = whole.text.find(part) if part else -1
        return whole.original(at, at + len(part)) if at >= 0 else None

    def _text(self, document_id: str) -> str:
        return self._store.document_text(document_id)

    @cached_property
    def _documents(self) -> list[DocumentRow]:
        return [d for name in self._collections for d in self._store.documents(name)]

    @cached_property
    def _nodes(self) -> Mapping[str, TextNode]:
        return {
            node.node_id: node
            for name in self._collections
            for node in self._store.nodes(name)
        }

    @cached_property
    def _of_document(self) -> Mapping[str, list[TextNode]]:
        found: dict[str, list[TextNode]] = defaultdict(list)
        for node in self._nodes.values():
            found[str(node.metadata["document_id"])].append(node)
        return found

    @property
    def chunks(self) -> Iterable[str]:
        """Every chunk's id."""
        return self._nodes.keys()


def _names(row: DocumentRow) -> set[str]:
    last = PurePosixPath(row.uri.replace("\\", "/")).name
    return {x.casefold() for x in (row.name, row.title, row.uri, last, row.document_id)}


def _described(one: Gold) -> str:
    if one.chunk and not one.document:
        return f"the chunk {one.chunk}"
    if one.quote:
        return f"{one.quote[:SHOWN]!r} in {one.document!r}"
    return f"page {one.page} of {one.document!r}" if one.page else repr(one.document)

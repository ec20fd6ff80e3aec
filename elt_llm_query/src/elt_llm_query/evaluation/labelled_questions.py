"""A user's labelled questions, one JSON object per line, and the chunks of their gold.

    {"question": "...", "gold": [{"document": "rules.pdf", "quote": "..."}]}
    {"question": "...", "gold": [{"document": "rules.pdf", "page": 4}]}
    {"question": "...", "gold": [{"chunk": "8f1e..."}]}
    {"question": "...", "answerable": false}

`answer` may list words that a correct answer contains. `status` is `accepted` (the
default), `candidate` or `rejected`; only accepted lines are asked. Lines with the same
question are merged.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from llama_index.core.schema import TextNode
from pydantic import Field, ValidationError, model_validator

from elt_llm_core.config.loader import plain_reason
from elt_llm_core.errors import UsageError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.identifiers import digest
from elt_llm_core.provenance import Provenance, read
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation
from elt_llm_core.store import DocumentRow, Store
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.evaluation.beir import JudgedQuestion, data_problem, json_lines

_KEY = 12  # hex digits that identify a question: 48 bits
_MOST_PROBLEMS = 5  # listed in the error if no line can be used
_MOST_CHARACTERS = 60  # of a question or a quote in a message
# Chunkers cut quotes anywhere. A chunk with half of the quote, or a quote with half of
# the chunk, counts as a hit; with less, both neighbours of a cut would count.
_SHARE = 0.5


class Gold(Record):
    """The location of an answer: a quote, else a page, else a whole document.

    `chunk` is a chunk id and needs no other field.
    """

    document: str = Field(default="", description="file name, title or address")
    page: int | None = Field(default=None, ge=1)
    quote: str = ""
    chunk: str = ""

    @model_validator(mode="after")
    def _check_location(self) -> "Gold":
        if not self.document and not self.chunk:
            msg = "`gold` needs a document or a chunk"
            raise ValueError(msg)
        return self


class LabelledQuestion(Record):
    """One line. `wrong` lists chunks that a user marked as not answering."""

    question: str = Field(min_length=1)
    gold: tuple[Gold, ...] = ()
    wrong: tuple[Gold, ...] = ()
    answer: tuple[str, ...] = ()
    answerable: bool = True
    status: Literal["accepted", "candidate", "rejected"] = "accepted"

    @property
    def key(self) -> str:
        """An id derived from the question's text."""
        return digest(self.question)[:_KEY]


def read_labelled(
    path: Path,
) -> tuple[tuple[LabelledQuestion, ...], tuple[Degradation, ...]]:
    """Read the accepted questions in file order, and a problem per skipped line.

    Raises UsageError if the file cannot be read or holds no accepted question.
    """
    problems: list[Degradation] = []
    labelled: dict[str, LabelledQuestion] = {}
    for place, row in json_lines(path, problems):
        try:
            line = LabelledQuestion.model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "line"
            reason = plain_reason(first["msg"])
            problems.append(data_problem(f"{place}: {where}: {reason}"))
            continue
        if not any(character.isalnum() for character in line.question):
            problems.append(data_problem(f"{place}: the question is empty"))
        elif line.status == "accepted":
            labelled[line.key] = _merge(labelled.get(line.key), line)
    if not labelled:
        raise UsageError(
            f"{path} holds no accepted question",
            "a line is {'question': ..., 'gold': [{'document': ..., 'quote': ...}]}",
            [problem.detail for problem in problems[:_MOST_PROBLEMS]],
        )
    return tuple(labelled.values()), tuple(problems)


def append_questions(path: Path, labelled: Sequence[LabelledQuestion]) -> None:
    """Append lines to a file; create the file if it does not exist.

    Raises StoreWriteError, and UsageError if the file cannot be read.
    """
    try:
        before = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    if before and not before.endswith(b"\n"):
        before += b"\n"
    rows: list[dict[str, Any]] = [
        one.model_dump(mode="json", exclude_defaults=True) for one in labelled
    ]
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    write_atomic(path, before + lines.encode("utf-8"))


def _merge(
    first: LabelledQuestion | None, second: LabelledQuestion
) -> LabelledQuestion:
    if first is None:
        return second
    return first.model_copy(
        update={
            "gold": tuple(dict.fromkeys((*first.gold, *second.gold))),
            "wrong": tuple(dict.fromkeys((*first.wrong, *second.wrong))),
            "answer": tuple(dict.fromkeys((*first.answer, *second.answer))),
            "answerable": first.answerable and second.answerable,
        }
    )


@dataclass(frozen=True)
class GoldLocation:
    """Gold in a document: characters `[start, end)`, else a page, else all of it."""

    document_id: str
    start: int = 0
    end: int = 0
    page: int | None = None

    def overlaps(self, chunk: Provenance) -> bool:
        """Return True if a chunk of the document holds enough of the gold."""
        if self.end:
            common = min(self.end, chunk.span_end) - max(self.start, chunk.span_start)
            least = min(self.end - self.start, chunk.span_end - chunk.span_start)
            return common > 0 and common >= _SHARE * least
        return self.page is None or self.page in chunk.pages


class GoldLocator:
    """Locates gold in collections of one store, however their text is chunked."""

    def __init__(self, store: Store, collections: Sequence[str]) -> None:
        self._store = store
        self._collections = collections

    def judge(
        self, labelled: LabelledQuestion, problems: list[Degradation]
    ) -> JudgedQuestion | None:
        """Return the question with its judged chunks; None if no gold was located.

        Every gold is one judged item, and a chunk may hold several. Gold that cannot be
        located is added to `problems`.
        """
        targets: dict[str, list[str]] = defaultdict(list)
        grades: dict[str, int] = {}
        for number, gold in enumerate(labelled.gold, start=1):
            chunks = self._chunks_of(gold)
            if not chunks:
                question = labelled.question[:_MOST_CHARACTERS]
                problems.append(
                    data_problem(f"{question!r}: {_describe(gold)} was not found")
                )
                continue
            item = f"gold-{number}"
            grades[item] = 1
            for chunk in chunks:
                targets[chunk].append(item)
        if not grades:
            return None
        # Chunk ids change with the chunking; with a document given they are redundant.
        judged = tuple(
            gold.model_dump_json(exclude={"chunk"} if gold.document else None)
            for gold in labelled.gold
        )
        items = {chunk: tuple(names) for chunk, names in targets.items()}
        return JudgedQuestion(labelled.key, labelled.question, grades, items, judged)

    def locate(self, gold: Gold) -> list[GoldLocation]:
        """Return the locations of gold: one per document that has the given name."""
        if gold.chunk:
            node = self._nodes.get(gold.chunk)
            if node is not None:
                place = read(node)
                return [
                    GoldLocation(place.document_id, place.span_start, place.span_end)
                ]
            if not gold.document:
                return []
        locations = []
        for row in self._documents_named(gold.document):
            if gold.quote:
                span = self._find_quote(row.document_id, gold.quote)
                locations += [GoldLocation(row.document_id, *span)] if span else []
            else:
                locations.append(GoldLocation(row.document_id, page=gold.page))
        return locations

    def _chunks_of(self, gold: Gold) -> list[str]:
        return [
            node.node_id
            for location in self.locate(gold)
            for node in self._nodes_by_document.get(location.document_id, [])
            if location.overlaps(read(node))
        ]

    def _documents_named(self, name: str) -> list[DocumentRow]:
        """Documents with that file name, title, address, or end of the address."""
        folded = name.casefold()
        return [row for row in self._documents if folded in _names(row)]

    def _find_quote(self, document_id: str, quote: str) -> tuple[int, int] | None:
        text = normalise(self._store.document_text(document_id))
        part = normalise(quote).text
        start = text.text.find(part) if part else -1
        return text.original(start, start + len(part)) if start >= 0 else None

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
    def _nodes_by_document(self) -> Mapping[str, list[TextNode]]:
        nodes: dict[str, list[TextNode]] = defaultdict(list)
        for node in self._nodes.values():
            nodes[str(node.metadata["document_id"])].append(node)
        return nodes

    @property
    def chunks(self) -> Iterable[str]:
        """Every chunk's id."""
        return self._nodes.keys()


def _names(row: DocumentRow) -> set[str]:
    last = PurePosixPath(row.uri.replace("\\", "/")).name
    return {x.casefold() for x in (row.name, row.title, row.uri, last, row.document_id)}


def _describe(gold: Gold) -> str:
    if gold.chunk and not gold.document:
        return f"the chunk {gold.chunk}"
    if gold.quote:
        return f"{gold.quote[:_MOST_CHARACTERS]!r} in {gold.document!r}"
    if gold.page:
        return f"page {gold.page} of {gold.document!r}"
    return repr(gold.document)

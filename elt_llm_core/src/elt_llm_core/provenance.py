"""The provenance of a chunk, and its representation on a LlamaIndex node.

Metadata is flat (Chroma and other stores accept scalars only) and excluded from
embedding and from prompts.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field

from elt_llm_core.document import Cell, Page
from elt_llm_core.records import Record
from elt_llm_core.results import Box, Scalar, Span
from elt_llm_core.suspicion import Suspicion

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode, TextNode

KEYS = (
    "collection",
    "document_id",
    "document",
    "ordinal",
    "kind",
    "section",
    "page",
    "end_page",
    "span_start",
    "span_end",
    "boxes",
    "cells",
    "index_text",
    "table",
    "rules",
    "rule_spans",
    "references",
    "figure_number",
    "figure_references",
    "parents",
    "window_start",
    "window_end",
    "date",
    "index_before",
    "index_instead",
    "index_after",
    "problem",
    "generated",
    "text_language",
    "reading_order",
    "suspicious",
    "attributes",
)
# Written only if not empty, and as JSON, because stores accept scalars only.
_LISTS = (
    "boxes",
    "cells",
    "rules",
    "rule_spans",
    "references",
    "figure_references",
    "parents",
    "suspicious",
    "attributes",
)
INDEX_GAP = "\n\n"
_SELDOM = frozenset({"rule", *KEYS[KEYS.index("rules") :]})
ALWAYS = frozenset(KEYS) - _SELDOM  # written by `write` on every node
STATED_TITLE = "stated_title"
"""The attribute with the title that a document states about itself."""
# Keys of a chunk's place; only `date` may also come from a document.
RESERVED = frozenset({*KEYS, "rule"}) - {"date"}
# Keys that loaders and chunkers write for LlamaIndex.
_OTHERS = frozenset(
    ("date", "file_name", "original_text", "part", "parser", "title", "window")
)


class Parent(Record):
    """A span of the document that contains a chunk and its neighbours.

    Its text is `document_text[start:end]`; it is not stored or indexed itself. `leaves`
    is its number of chunks.
    """

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    leaves: int = Field(ge=1)


class RuleSpan(Record):
    """The part of a chunk that belongs to one rule: `document_text[start:end]`."""

    rule: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Provenance(Record):
    """The place of one chunk. `document_text[start:end]` equals the node's text."""

    collection: str = ""
    document_id: str = ""
    document: str = ""
    ordinal: int = Field(default=0, ge=0)
    kind: str = "prose"
    section: str = ""
    page: int | None = None
    end_page: int | None = None
    span_start: int = Field(ge=0)
    span_end: int = Field(ge=0)
    boxes: tuple[Box, ...] = ()
    cells: tuple[Cell, ...] = ()
    index_text: str = Field(
        default="",
        description="text that is embedded and indexed, if it differs from `text`",
    )
    table: str = ""
    rules: tuple[str, ...] = Field(
        default=(), description="canonical numbers of the rules it contains, in order"
    )
    rule_spans: tuple[RuleSpan, ...] = Field(
        default=(), description="offset of each of them, in order"
    )
    references: tuple[str, ...] = Field(
        default=(), description="rules of the same document it refers to, in order"
    )
    figure_number: str = Field(
        default="", description="number of the figure whose caption it holds"
    )
    figure_references: tuple[str, ...] = Field(
        default=(), description="numbers of figures of the document that it mentions"
    )
    parents: tuple[Parent, ...] = Field(
        default=(), description="enclosing sections, nearest first"
    )
    window_start: int | None = Field(default=None, ge=0)
    window_end: int | None = Field(default=None, ge=0)
    date: str = Field(
        default="", description="date of the content or document, ISO 8601"
    )
    index_before: str = Field(
        default="",
        description="indexed before the text; never sent to a model or quoted",
    )
    index_instead: str = Field(
        default="",
        description="indexed instead of the text; never sent to a model or quoted",
    )
    index_after: str = Field(
        default="",
        description="indexed after the text; never sent to a model or quoted",
    )
    problem: str = Field(default="", description="enrichments that failed")
    generated: bool | None = Field(
        default=None,
        description="true if a model wrote it, for example the "
        "description of a picture",
    )
    text_language: str = Field(
        default="", description="ISO 639-1 code of its language; empty for English"
    )
    reading_order: str = Field(
        default="", description="doubtful if the reading order of its page is uncertain"
    )
    suspicious: tuple[Suspicion, ...] = Field(
        default=(), description="reason if the text may be written to mislead a model"
    )
    attributes: tuple[str, ...] = Field(
        default=(), description="metadata keys that describe it or its document"
    )

    @property
    def rule(self) -> str:
        """Return the canonical rule in which or with which it starts, or ""."""
        return self.rules[0] if self.rules else ""

    @property
    def window(self) -> tuple[int, int] | None:
        """Return the span to read instead, for a sentence with a window."""
        if self.window_start is None or self.window_end is None:
            return None
        return self.window_start, self.window_end

    @property
    def span(self) -> Span:
        """Return the characters and the first page."""
        return Span(start=self.span_start, end=self.span_end, page=self.page)

    @property
    def pages(self) -> tuple[int, ...]:
        """Return every page of the chunk, in order."""
        if self.page is None:
            return ()
        return tuple(range(self.page, (self.end_page or self.page) + 1))


def write(node: "TextNode", provenance: Provenance) -> "TextNode":
    """A copy of `node` that carries `provenance`; its other metadata is kept."""
    flat = provenance.model_dump(mode="json")
    for key in _LISTS:
        flat[key] = json.dumps(flat[key], separators=(",", ":"), ensure_ascii=False)
    nothing = ("", "[]", None)
    flat["rule"] = provenance.rule  # a scalar, for the filters of other stores
    flat = {k: v for k, v in flat.items() if k not in _SELDOM or v not in nothing}
    kept = {k: v for k, v in node.metadata.items() if k not in _SELDOM}
    return node.model_copy(
        update={
            "metadata": {**kept, **flat},
            "start_char_idx": provenance.span_start,
            "end_char_idx": provenance.span_end,
            "excluded_embed_metadata_keys": sorted({*node.metadata, *flat}),
            "excluded_llm_metadata_keys": sorted({*node.metadata, *flat}),
        }
    )


def read(node: "BaseNode") -> Provenance:
    """Return a node's provenance; of a foreign node, from LlamaIndex's fields."""
    fields = {key: node.metadata[key] for key in KEYS if key in node.metadata}
    start = getattr(node, "start_char_idx", None) or 0
    fields.setdefault("span_start", start)
    if "span_end" not in fields:
        end = getattr(node, "end_char_idx", None)
        fields["span_end"] = end or start + len(node.get_content())
    for key in _LISTS:
        value = fields.get(key)
        if isinstance(value, str):  # most lists are empty, and reading them takes long
            fields[key] = [] if value == "[]" else json.loads(value)
    return Provenance.model_validate(fields)


def attribute_names(metadata: Mapping[str, Any]) -> list[str]:
    """Return the sorted keys from documents, ingest files and enrichers.

    Without `date`, which every chunk may have.
    """
    return sorted(
        key
        for key, value in metadata.items()
        if key not in RESERVED
        and key not in _OTHERS
        and '"' not in key
        and isinstance(value, str | int | float)
    )


def attributes(node: "BaseNode") -> dict[str, Scalar]:
    """Return a chunk's attributes from document, ingest file and enrichers."""
    metadata = node.metadata
    names = metadata.get("attributes") or "[]"
    keys = json.loads(names) if isinstance(names, str) else names
    if metadata.get("date"):
        keys = [*keys, "date"]
    return {key: metadata[key] for key in sorted(keys) if key in metadata}


def is_generated(node: "BaseNode") -> bool:
    """Return whether a model wrote the text of a node, such as a description."""
    return bool(node.metadata.get("generated"))


def reading(node: "BaseNode") -> str:
    """Return the text to show: a table row with its headers, or the text itself."""
    return str(node.metadata.get("index_text") or node.get_content())


def index_text(node: "BaseNode") -> str:
    """Return the text to embed and index for this node.

    It is the shown text with the additions of enrichers, or a chunker's replacement.
    """
    metadata = node.metadata
    middle = metadata.get("index_instead") or reading(node)
    parts = (metadata.get("index_before"), middle, metadata.get("index_after"))
    return INDEX_GAP.join(str(part) for part in parts if part)


def boxes_of_span(pages: Sequence[Page], start: int, end: int) -> tuple[Box, ...]:
    """Return one box per line for the words that overlap `[start, end)`.

    Words belong to one line while they overlap vertically by half their height and
    continue to the right.
    """
    boxes: list[Box] = []
    for page in pages:
        line: list[float] = []
        for word_start, word_end, left, top, right, bottom in page.words:
            if word_end <= start or word_start >= end or start == end:
                continue
            if line and _same_line(line, left, top, bottom):
                line = [
                    line[0],
                    min(line[1], top),
                    max(line[2], right),
                    max(line[3], bottom),
                ]
                continue
            if line:
                boxes.append(_box(page.number, line))
            line = [left, top, right, bottom]
        if line:
            boxes.append(_box(page.number, line))
    return tuple(boxes)


def _same_line(line: list[float], left: float, top: float, bottom: float) -> bool:
    overlap = min(line[3], bottom) - max(line[1], top)
    return overlap >= 0.5 * (bottom - top) and left >= line[0]


def _box(page: int, line: list[float]) -> Box:
    left, top, right, bottom = (round(min(max(v, 0.0), 1.0), 5) for v in line)
    return Box(page=page, left=left, top=top, right=right, bottom=bottom)

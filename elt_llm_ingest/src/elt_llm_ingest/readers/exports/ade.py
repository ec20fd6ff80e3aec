"""Import the output of LandingAI's document extraction (ADE).

Both forms are read: the current one (chunks with `markdown`, one map `grounding` with
every element's location) and the older one (`chunk_type`, `text`, a list of locations
in each chunk). Every chunk and every table cell keeps its id, page and box.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elt_llm_core.document import Block, BlockKind, Page, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.records import replace_fields
from elt_llm_core.results import Box
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.exports.ade_tables import (
    BLANK_LINE,
    title_above,
    write_tables,
)
from elt_llm_ingest.readers.exports.json_file import json_error, load_json
from elt_llm_ingest.readers.pdf.boilerplate import (
    remove_boilerplate,
    remove_running_titles,
)
from elt_llm_ingest.readers.text_builder import (
    TextBuilder,
    title_of,
    with_sections,
)
from elt_llm_ingest.readers.text_file import heading_level

PARSER = "ade 2"
FURNITURE = frozenset(
    ("marginalia", "logo", "page_header", "page_footer", "page_number", "scan_code")
)
TEXTS = frozenset(("text", "title", "form", "key_value", "card", "attestation"))
ANCHOR = re.compile(r"<a\s+id=['\"][^'\"]*['\"]\s*>\s*</a>")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# Descriptions are enclosed in <:: and ::>, their kind before or after a colon.
DESCRIBED = re.compile(r"<::(.*?)::>", re.DOTALL)
KIND_BEFORE = re.compile(
    r"\A\s*(?:transcription of the content\s*:\s*)?(logo|figure|chart|flowchart|photo|"
    r"image|diagram|forest plot|scan_code|attestation|card)\s*(?::|\Z)\s*",
    re.IGNORECASE,
)
# On a line of its own, or right behind a sentence: "Two arrows point left.: figure".
KIND_AFTER = re.compile(r"(?:\n|(?<=[.!?])|(?<=[.!?] ))\s*:\s*([\w ]{1,40})\s*\Z")
NUMBERED_TITLE = re.compile(r"[0-9]{1,2}[.)]\s+[A-Z](?:[^\n.;:,!?]|[.,:](?=\S)){1,78}")
MARKED_HEADING = re.compile(r"\A(#{1,6})\s+(.+?)\s*#*\Z")
SIDES = (("left", "l"), ("top", "t"), ("right", "r"), ("bottom", "b"))
PORTRAIT = (612.0, 792.0)  # the file does not contain page sizes
LOW = 0.6  # the same confidence as for flagging OCR passages
# A declared page count above this is ignored.
MAX_PAGES = 100_000


@dataclass(frozen=True)
class Chunk:
    """A chunk in either form."""

    id: str
    kind: str
    text: str
    boxes: tuple[Box, ...]
    confidence: float | None = None


@dataclass
class _Places:
    """The location of every element, and errors in the file's locations."""

    grounding: Mapping[str, Any]
    problems: Counter[str] = field(default_factory=Counter)

    def box(self, place: Any) -> Box | None:
        """Return the box of `{page, box}`, pages from 1; None if it is invalid."""
        try:
            sides = [_side(place["box"], names) for names in SIDES]
            page = int(place["page"]) + 1
        except (KeyError, TypeError, ValueError, StopIteration, OverflowError):
            self.problems["place cannot be read"] += 1
            return None
        kept = [min(max(side, 0.0), 1.0) for side in sides]
        if kept != sides or page < 1:
            self.problems["place lies outside its page"] += 1
        left, top, right, bottom = kept
        return Box(page=max(page, 1), left=left, top=top, right=right, bottom=bottom)

    def of(self, key: str) -> Box | None:
        """Return the box of an element by its id."""
        place = self.grounding.get(key)
        return self.box(place) if place is not None else None


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document. Raises LoadError for JSON of another shape and one without text."""
    export, warnings = load_json(path, data)
    content = export.get("data", export) if isinstance(export, dict) else None
    if not isinstance(content, dict) or not isinstance(content.get("chunks"), list):
        raise json_error(path, "it holds no chunks of a parsed document")
    grounding = content.get("grounding")
    places = _Places(grounding if isinstance(grounding, dict) else {})
    chunks = [chunk for raw in content["chunks"] for chunk in _chunk(raw, places)]
    builder = TextBuilder()
    unknown: Counter[str] = Counter()
    for number, chunk in enumerate(chunks):
        _write(builder, chunk, number, places, unknown)
    if not builder.text.strip():
        raise LoadError(path.name, "no text: its chunks are empty", "export it again")
    text = builder.text
    pages = _with_words(_pages(content, builder.blocks), builder.blocks)
    quieted = remove_boilerplate(
        text, remove_running_titles(text, builder.blocks, pages), pages
    )
    blocks = with_sections(text, _with_sections_opened(text, quieted))
    return [
        ParsedDocument(
            title=_title(path, content, text, blocks),
            text=text,
            blocks=blocks,
            pages=pages,
            parser=f"{PARSER}{_version(content)}",
            warnings=(*warnings, *_warnings(content, places, unknown, blocks)),
        )
    ]


def _side(box: Mapping[str, Any], names: Sequence[str]) -> float:
    value = float(next(box[name] for name in names if name in box))
    if not math.isfinite(value):
        raise ValueError(names)
    return value


def _chunk(raw: Any, places: _Places) -> Iterator[Chunk]:
    """Return the chunk in either form, or None."""
    if not isinstance(raw, dict):
        places.problems["chunk cannot be read"] += 1
        return
    groundings = raw.get("grounding") or []
    listed = groundings if isinstance(groundings, list) else [groundings]
    boxes = tuple(box for place in listed if (box := places.box(place)) is not None)
    key = str(raw.get("id") or raw.get("chunk_id") or "")
    entry = places.grounding.get(key)
    sure = entry.get("confidence") if isinstance(entry, dict) else None
    yield Chunk(
        id=key,
        kind=str(raw.get("type") or raw.get("chunk_type") or "text").lower(),
        text=_plain(str(raw.get("markdown") or raw.get("text") or "")),
        boxes=boxes,
        confidence=float(sure)
        if isinstance(sure, int | float) and 0 <= sure <= 1
        else None,
    )


def _plain(markdown: str) -> str:
    return COMMENT.sub("", ANCHOR.sub("", markdown)).strip()


def _write(
    builder: TextBuilder,
    chunk: Chunk,
    number: int,
    places: _Places,
    unknown: Counter[str],
) -> None:
    pages = [box.page for box in chunk.boxes]
    fields: dict[str, Any] = {
        "boxes": chunk.boxes,
        "page": min(pages, default=None),
        "end_page": max(pages, default=None),
        "confidence": chunk.confidence,
        "attributes": {"id": chunk.id, "type": chunk.kind},
    }
    if not chunk.text:
        _write_empty(builder, fields)
    elif "<table" in chunk.text:
        before = title_above(builder) if chunk.kind == "table" else ""
        write_tables(builder, chunk.text, places.of, f"{number}", before, fields)
    elif chunk.kind in FURNITURE:
        _write_furniture(builder, chunk, fields)
    elif chunk.kind == "figure" or "<::" in chunk.text:
        _write_figure(builder, chunk.text, fields)
    else:
        if chunk.kind not in TEXTS and chunk.kind != "table":
            unknown[chunk.kind] += 1
        _write_text(builder, chunk, fields)


def _write_empty(builder: TextBuilder, fields: dict[str, Any]) -> None:
    """Write a chunk without text, which keeps its location but is not searched."""
    at = builder.length
    builder.blocks.append(Block(kind=BlockKind.FURNITURE, start=at, end=at, **fields))


def _write_furniture(
    builder: TextBuilder, chunk: Chunk, fields: dict[str, Any]
) -> None:
    """Write text at the page edge, and a model's description of it, separately.

    The text of a scanned code (an address, a number) is text of the document.
    """
    described, _ = _split_description(chunk.text)
    if not DESCRIBED.search(chunk.text):
        builder.add(BlockKind.FURNITURE, chunk.text, **fields)
        return
    builder.add(BlockKind.FURNITURE, described, **_model_fields(fields))
    is_code = chunk.kind == "scan_code"
    kind = BlockKind.PARAGRAPH if is_code else BlockKind.FURNITURE
    builder.add(kind, DESCRIBED.sub("\n", chunk.text), **fields)


def _model_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a block that a model wrote."""
    return {**fields, "attributes": {**fields["attributes"], "generated": "true"}}


def _write_text(builder: TextBuilder, chunk: Chunk, fields: dict[str, Any]) -> None:
    paragraphs = [p.strip() for p in BLANK_LINE.split(chunk.text) if p.strip()]
    for text, own in zip(paragraphs, _places(paragraphs, fields), strict=True):
        marked = MARKED_HEADING.match(text)
        level = len(marked[1]) if marked else heading_level(text)
        if chunk.kind == "title" or level:
            plain = marked[2] if marked else text
            builder.add(BlockKind.HEADING, plain, level=level or 1, **own)
        else:
            builder.add(BlockKind.PARAGRAPH, text, **own)


def _places(
    paragraphs: Sequence[str], fields: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Return the fields of each paragraph, with its own location if each has one."""
    boxes: Sequence[Box] = fields["boxes"]
    one_each = len(boxes) == len(paragraphs)
    for at in range(len(paragraphs)):
        page = {"page": boxes[at].page, "end_page": boxes[at].page} if one_each else {}
        own = {"boxes": (boxes[at],)} if one_each else {}
        yield {**fields, **own, **page}


def _with_sections_opened(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """Return the blocks; a single numbered title before text is a heading.

    Two adjacent lines of this form are items of a list.
    """
    shown = [b for b in blocks if b.kind is not BlockKind.FURNITURE]
    opens = [_is_numbered_title(text, block) for block in shown]
    before, after = [False, *opens], [*opens[1:], False]
    titles = {
        block.start
        for block, own, last, following in zip(
            shown, opens, before, after, strict=False
        )
        if own and not last and not following
    }
    for block in blocks:
        is_title = block.kind is BlockKind.PARAGRAPH and block.start in titles
        kind = {"kind": BlockKind.HEADING, "level": 1} if is_title else {}
        yield replace_fields(block, **kind) if kind else block


def _is_numbered_title(text: str, block: Block) -> bool:
    title = text[block.start : block.end]
    return block.kind is BlockKind.PARAGRAPH and bool(NUMBERED_TITLE.fullmatch(title))


def _with_words(pages: Sequence[Page], blocks: Sequence[Block]) -> list[Page]:
    """Return the pages with blocks and cells in the place of words.

    A quotation is then shown at its own block or cell.
    """
    rows: dict[int, dict[tuple[int, int], list[Box]]] = defaultdict(dict)
    for block in blocks:
        for start, end, boxes in _place_text(block):
            for box in boxes:
                word_boxes = rows[box.page].setdefault((start, end), [])
                word_boxes += [box] if box not in word_boxes else []
    return [
        page.model_copy(
            update={
                "words": [
                    (start, end, box.left, box.top, box.right, box.bottom)
                    for (start, end), boxes in sorted(rows[page.number].items())
                    for box in boxes
                ]
            }
        )
        for page in pages
    ]


def _place_text(block: Block) -> Iterator[tuple[int, int, Sequence[Box]]]:
    if block.end > block.start and not block.cells:
        yield block.start, block.end, block.boxes
    for cell in block.cells:
        if cell.end > cell.start >= block.start:
            yield cell.start, cell.end, cell.boxes


def _write_figure(builder: TextBuilder, text: str, fields: dict[str, Any]) -> None:
    """Write a model's description of a picture as a separate, marked block."""
    described, kind = _split_description(text)
    around = DESCRIBED.sub("\n\n", text)
    if not DESCRIBED.search(text):
        described, around = text, ""
    attributes = (
        {**fields["attributes"], "figure": kind} if kind else fields["attributes"]
    )
    picture = _model_fields({**fields, "attributes": attributes})
    builder.add(BlockKind.FIGURE, described, **picture)
    for paragraph in BLANK_LINE.split(around):
        builder.add(BlockKind.CAPTION, paragraph, **fields)


def _split_description(text: str) -> tuple[str, str]:
    """Return the descriptions without markers, and the kind of picture."""
    descriptions = DESCRIBED.findall(text)
    if not descriptions:
        return text, ""
    texts, kinds = [], []
    for inner in descriptions:
        kind = KIND_BEFORE.match(inner)
        after = KIND_AFTER.search(inner)
        words = inner[kind.end() :] if kind else inner
        kinds += [match[1].strip().lower() for match in (kind, after) if match]
        texts.append(KIND_AFTER.sub("", words).strip())
    return "\n".join(part for part in texts if part), kinds[0] if kinds else ""


def _title(
    path: Path, content: Mapping[str, Any], text: str, blocks: Sequence[Block]
) -> str:
    """Return the title chunk, a heading at the top, or the file's name."""
    named = [b for b in blocks if b.attributes.get("type") == "title"][:1]
    metadata = content.get("metadata")
    file = metadata.get("filename") if isinstance(metadata, dict) else None
    stem = Path(file).stem if isinstance(file, str) and file else path.stem
    return title_of(text, named or blocks[:3], stem)


def _pages(content: Mapping[str, Any], blocks: Sequence[Block]) -> list[Page]:
    metadata = content.get("metadata")
    count = metadata.get("page_count") if isinstance(metadata, dict) else None
    last = max((b.end_page or 0 for b in blocks), default=0)
    if isinstance(count, int) and last <= count <= MAX_PAGES:
        last = count
    width, height = PORTRAIT
    return [Page(number=n, width=width, height=height) for n in range(1, last + 1)]


def _version(content: Mapping[str, Any]) -> str:
    metadata = content.get("metadata")
    version = metadata.get("version") if isinstance(metadata, dict) else None
    return f" ({version[:40]})" if isinstance(version, str) else ""


def _warnings(
    content: Mapping[str, Any],
    places: _Places,
    unknown: Counter[str],
    blocks: Sequence[Block],
) -> Iterator[str]:
    for problem, count in sorted(places.problems.items()):
        yield f"{count} times: a {problem}"
    for kind, count in sorted(unknown.items()):
        yield f"{count} chunks are of the unknown kind {kind[:40]!r}, read as text"
    metadata = content.get("metadata")
    failed = metadata.get("failed_pages") if isinstance(metadata, dict) else None
    if failed:
        yield f"pages that failed when the file was made: {str(failed)[:200]}"
    low = sum(1 for b in blocks if b.confidence is not None and b.confidence < LOW)
    if low:
        yield f"{low} passages were recognised with little confidence (below {LOW})"

"""Import Docling's JSON: whole documents, and chunks of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from elt_llm_core.document import BlockKind, Page, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.results import Box
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.exports.json_file import json_error, load_json
from elt_llm_ingest.readers.office.docling import to_document
from elt_llm_ingest.readers.text_builder import TextBuilder, with_sections

PARSER = "docling json 1"
# A4 is narrower and higher than Letter; other pages get the size that they need.
SIZES = ((612.0, 792.0), (595.3, 841.9), (792.0, 612.0), (841.9, 595.3))
NO_SIZES = (
    "the file has no page sizes: the smallest standard size that contains all "
    "boxes was used"
)
FURNITURE = frozenset(("page_header", "page_footer"))
BROKEN = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document. Raises LoadError for JSON of another shape or with broken links."""
    content, warnings = load_json(path, data)
    try:
        if isinstance(content, list):
            documents = [_of_chunks(path, content)]
        else:
            documents = _of_document(path, content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))[:80]
        reason = (
            f"it is not a Docling document of a known version ({place}: {first['msg']})"
        )
        raise json_error(path, reason) from error
    except BROKEN as error:
        reason = f"its parts are inconsistent ({type(error).__name__})"
        raise json_error(path, reason) from error
    changed = {"parser": PARSER, "warnings": (*warnings, *documents[0].warnings)}
    return [documents[0].model_copy(update=changed)]


def _of_document(path: Path, content: Any) -> list[ParsedDocument]:
    from docling_core.types.doc.document import (  # noqa: PLC0415 - takes seconds
        DoclingDocument,
    )

    document = DoclingDocument.model_validate(content)
    return to_document(Path(document.name or path.name), document, {})


def _of_chunks(path: Path, chunks: Sequence[Any]) -> ParsedDocument:
    """Return the chunks in order, each a block with the boxes of all its items."""
    sizes = dict(_sizes(chunks))
    builder = TextBuilder()
    above: list[str] = []
    for chunk in chunks:
        metadata = chunk["metadata"]
        headings = [str(title) for title in metadata.get("headings") or ()]
        for level, title in enumerate(headings, start=1):
            if headings[:level] != above[:level]:
                builder.add(BlockKind.HEADING, title, level=level)
        above = headings
        items = metadata["doc_items"]
        boxes = tuple(box for item in items for box in _boxes(item, sizes))
        pages = [box.page for box in boxes]
        labels = {item["label"] for item in items}
        builder.add(
            BlockKind.FURNITURE if labels <= FURNITURE else _kind(labels),
            str(chunk["text"]),
            boxes=boxes,
            page=min(pages, default=None),
            end_page=max(pages, default=None),
            attributes={"id": str(chunk.get("id", ""))},
        )
    if not builder.blocks:
        raise LoadError(path.name, "no text: its chunks are empty", "export it again")
    return ParsedDocument(
        title=_file_name(chunks) or path.stem,
        text=builder.text,
        blocks=with_sections(builder.text, builder.blocks),
        pages=[
            Page(number=number, width=width, height=height)
            for number, (width, height) in sorted(sizes.items())
        ],
        parser=PARSER,
        warnings=(NO_SIZES,),
    )


def _kind(labels: set[str]) -> BlockKind:
    if labels == {"caption"}:
        return BlockKind.CAPTION
    return BlockKind.LIST_ITEM if labels == {"list_item"} else BlockKind.PARAGRAPH


def _file_name(chunks: Sequence[Any]) -> str:
    origin = chunks[0]["metadata"].get("origin") or {}
    return Path(str(origin.get("filename", ""))).stem


def _sizes(chunks: Sequence[Any]) -> Iterator[tuple[int, tuple[float, float]]]:
    """Return every page with the common assumed size."""
    places = [
        place
        for chunk in chunks
        for item in chunk["metadata"]["doc_items"]
        for place in item.get("prov") or ()
    ]
    right = max((float(p["bbox"]["r"]) for p in places), default=0.0)
    top = max((max(float(p["bbox"][s]) for s in "tb") for p in places), default=0.0)
    fitting = [(w, h) for w, h in SIZES if right <= w and top <= h]
    size = fitting[0] if fitting else (max(right, 1.0), max(top, 1.0))
    for number in sorted({int(p["page_no"]) for p in places}):
        yield number, size


def _boxes(item: Any, sizes: dict[int, tuple[float, float]]) -> Iterator[Box]:
    for place in item.get("prov") or ():
        number, bbox = int(place["page_no"]), place["bbox"]
        width, height = sizes[number]
        top, bottom = float(bbox["t"]), float(bbox["b"])
        if bbox.get("coord_origin", "BOTTOMLEFT") == "BOTTOMLEFT":
            top, bottom = height - top, height - bottom
        yield Box(
            page=number,
            left=_fraction(float(bbox["l"]), width),
            top=_fraction(min(top, bottom), height),
            right=_fraction(float(bbox["r"]), width),
            bottom=_fraction(max(top, bottom), height),
        )


def _fraction(value: float, whole: float) -> float:
    return round(min(max(value / whole, 0.0), 1.0), 5)

"""Which collection a document goes to, where a prefix spreads them over several."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from elt_llm_core.document import Block, BlockKind, ParsedDocument, Sidecar
from elt_llm_ingest.formats.build import TextBuilder


@dataclass(frozen=True)
class Target:
    """A document and the collection it goes to."""

    collection: str
    document: ParsedDocument


def by_prefix(prefix: str, documents: Sequence[ParsedDocument]) -> list[Target]:
    """The documents with their collections.

    A model: `<prefix>_entities` and `<prefix>_relationships`. An inventory: one
    `<prefix>_<type>` for each type of fact sheet. Anything else: `<prefix>_documents`.
    """
    targets: list[Target] = []
    for document in documents:
        kinds = {sidecar.kind for sidecar in document.sidecars}
        if "inventory" in kinds and _is_by_fact_sheet(document):
            targets.extend(_by_type(prefix, document))
        elif "model" in kinds:
            targets.append(Target(f"{prefix}_entities", document))
        else:
            targets.append(Target(f"{prefix}_{document.part or 'documents'}", document))
    return targets


def _is_by_fact_sheet(document: ParsedDocument) -> bool:
    """Whether its text is fact sheets; a CSV's is the rows of a table."""
    return all(block.kind is BlockKind.FACT_SHEET for block in document.blocks)


def _by_type(prefix: str, document: ParsedDocument) -> list[Target]:
    by_type: dict[str, list[Block]] = {}
    for block in document.blocks:
        by_type.setdefault(block.attributes.get("type", ""), []).append(block)
    return [
        Target(f"{prefix}_{_slug(kind)}", _part(document, kind, blocks, index == 0))
        for index, (kind, blocks) in enumerate(sorted(by_type.items()))
    ]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_") or "other"


def _part(
    document: ParsedDocument, kind: str, blocks: Sequence[Block], is_first: bool
) -> ParsedDocument:
    """The fact sheets of one type as a document, with their share of the sidecar."""
    builder = TextBuilder()
    for block in blocks:
        kept = block.model_dump(exclude={"kind", "start", "end"})
        text = document.text[block.start : block.end]
        builder.add(BlockKind.FACT_SHEET, text, **kept)
    return document.model_copy(
        update={
            "title": f"{document.title}: {kind}" if kind else document.title,
            "text": builder.text,
            "blocks": builder.blocks,
            "part": _slug(kind),
            "warnings": document.warnings if is_first else (),
            "sidecars": tuple(_share(s, kind) for s in document.sidecars),
        }
    )


def _share(sidecar: Sidecar, kind: str) -> Sidecar:
    sheets = {
        key: sheet
        for key, sheet in sidecar.content["fact_sheets"].items()
        if sheet["type"] == kind
    }
    metadata = {**sidecar.content["metadata"], "total_fact_sheets": len(sheets)}
    content = {**sidecar.content, "metadata": metadata, "fact_sheets": sheets}
    return sidecar.model_copy(update={"content": content})

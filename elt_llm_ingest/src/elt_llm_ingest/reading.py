"""Read a file in the child process, route its documents, and chunk them."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.document import Block, BlockKind, ParsedDocument, Sidecar
from elt_llm_core.enterprise.model import ORGANISATION, SIDECAR_KIND
from elt_llm_core.errors import LoadError
from elt_llm_core.jobs import never
from elt_llm_core.models.gateway.kept_answers import Answers
from elt_llm_core.provenance import RESERVED
from elt_llm_core.results import Scalar
from elt_llm_core.strategy import Models
from elt_llm_ingest.change_detection import FileChange, ScannedFile
from elt_llm_ingest.chunking import Chunking, fragment_warning
from elt_llm_ingest.discovery import InputFile, read_bytes
from elt_llm_ingest.enrichers.document_enricher import SourceFile
from elt_llm_ingest.loaders import LOADERS
from elt_llm_ingest.options import IngestOptions
from elt_llm_ingest.page_warnings import merge_page_warnings
from elt_llm_ingest.readers.detection import SUFFIXES
from elt_llm_ingest.readers.registry import MODULES
from elt_llm_ingest.readers.text_builder import TextBuilder
from elt_llm_ingest.sandbox.client import ReadingProcess


@dataclass(frozen=True)
class RoutedDocument:
    """A document and its target collection."""

    collection: str
    document: ParsedDocument


def route_by_prefix(
    prefix: str, documents: Sequence[ParsedDocument]
) -> list[RoutedDocument]:
    """Return the documents with their collections.

    A model goes to `<prefix>_entities` and `<prefix>_relationships`, an inventory to
    one `<prefix>_<type>` for each type of fact sheet, anything else to
    `<prefix>_documents`.
    """
    targets: list[RoutedDocument] = []
    for document in documents:
        kinds = {sidecar.kind for sidecar in document.sidecars}
        if "inventory" in kinds and _is_by_fact_sheet(document):
            targets.extend(_by_type(prefix, document))
        elif "model" in kinds:
            targets.append(RoutedDocument(f"{prefix}_entities", document))
        else:
            targets.append(
                RoutedDocument(f"{prefix}_{document.part or 'documents'}", document)
            )
    return targets


def _is_by_fact_sheet(document: ParsedDocument) -> bool:
    """Return whether its text consists of fact sheets, not of a CSV's rows."""
    return all(block.kind is BlockKind.FACT_SHEET for block in document.blocks)


def _by_type(prefix: str, document: ParsedDocument) -> list[RoutedDocument]:
    by_type: dict[str, list[Block]] = {}
    for block in document.blocks:
        by_type.setdefault(block.attributes.get("type", ""), []).append(block)
    return [
        RoutedDocument(
            f"{prefix}_{_slug(kind)}", _part(document, kind, blocks, index == 0)
        )
        for index, (kind, blocks) in enumerate(sorted(by_type.items()))
    ]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_") or "other"


def _part(
    document: ParsedDocument, kind: str, blocks: Sequence[Block], is_first: bool
) -> ParsedDocument:
    """Return the fact sheets of one type as a document with its sidecar."""
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
            "sidecars": tuple(_share(s, kind, is_first) for s in document.sidecars),
        }
    )


def _share(sidecar: Sidecar, kind: str, is_first: bool) -> Sidecar:
    """Return the fact sheets of one type; relations stay with their source."""
    if sidecar.kind == SIDECAR_KIND:
        elements = [e for e in sidecar.content["elements"] if e["type"] == kind]
        ids = {element["id"] for element in elements}
        relations = [
            r for r in sidecar.content["relations"] if r["source"]["element_id"] in ids
        ]
        skips = sidecar.content["skips"] if is_first else []
        share = {"elements": elements, "relations": relations, "skips": skips}
        return sidecar.model_copy(update={"content": {**sidecar.content, **share}})
    sheets = {
        key: sheet
        for key, sheet in sidecar.content["fact_sheets"].items()
        if sheet["type"] == kind
    }
    metadata = {**sidecar.content["metadata"], "total_fact_sheets": len(sheets)}
    content = {**sidecar.content, "metadata": metadata, "fact_sheets": sheets}
    return sidecar.model_copy(update={"content": content})


SMALL = 256  # pixels, of a picture whose proportions are wanted
REASONS = 3  # warnings that explain why there are no chunks


@dataclass
class DocumentPart:
    """A document of a file, its collection, and its chunks."""

    target: RoutedDocument
    nodes: list[TextNode] = field(repr=False)

    @property
    def texts(self) -> list[str]:
        """Return the texts to embed, in order."""
        return [provenance.index_text(node) for node in self.nodes]


@dataclass
class PreparedFile:
    """One file on its way into the store; `waiting` are texts without a vector.

    `complete` is whether nothing is left for another ingest of the same file to add.
    """

    scanned: ScannedFile
    change: FileChange
    loader: str
    data: bytes = field(repr=False)
    parts: list[DocumentPart] = field(repr=False)
    complete: bool = True
    waiting: set[str] = field(default_factory=set, repr=False)
    missing: int = 0

    @property
    def chunks(self) -> int:
        """Return the chunks of all parts."""
        return sum(len(part.nodes) for part in self.parts)

    @property
    def texts(self) -> list[str]:
        """Return the texts to embed of all parts, in order."""
        return [text for part in self.parts for text in part.texts]

    @property
    def done_bytes(self) -> float:
        """Return the processed share of the file in bytes, for the time estimate."""
        left = len(self.waiting) / self.missing if self.missing else 0.0
        return self.scanned.size * (1 - left)


class FileReader:
    """Reads and chunks files, one after the other."""

    def __init__(
        self,
        config: RagConfig,
        models: Models,
        process: ReadingProcess,
        options: IngestOptions,
        answers: Answers | None = None,
        stopped: Callable[[], bool] = never,
    ) -> None:
        self._config = config
        self._stopped = stopped
        self._process = process
        self._metadata = options.metadata
        self._organisation = options.organisation
        self._chunking = Chunking(config, models, answers)
        # A run that does not keep answers, such as a dry run, asks for none.
        self._enriches = answers is not None and self._chunking.enriches_documents
        self.chunker_name = self._chunking.name

    def read(
        self, file: ScannedFile, change: FileChange, collection: str, prefix: str
    ) -> PreparedFile:
        """Return the file, read and chunked. Raises LoadError."""
        item = file.item
        data = read_bytes(item.path)
        # The file may have changed since it was hashed; the stored content counts.
        file = ScannedFile(item, hashlib.sha256(data).hexdigest(), len(data))
        loader, documents = self._parse(item, data)
        crash_point(CrashPoint.PARSED)
        documents, complete = self._enrich(item, data, documents)
        documents = [self._complete(document) for document in documents]
        if item.title:
            documents[0] = documents[0].model_copy(update={"title": item.title})
        targets = (
            [RoutedDocument(collection, document) for document in documents]
            if collection
            else route_by_prefix(prefix, documents)
        )
        parts = [
            _with_warning(
                DocumentPart(target, self._chunks(target.document, item.metadata))
            )
            for target in targets
        ]
        if not any(part.nodes for part in parts):
            raise _without_chunks(item.path.name, documents)
        crash_point(CrashPoint.CHUNKED)
        return PreparedFile(file, change, loader, data, parts, complete)

    def _parse(self, item: InputFile, data: bytes) -> tuple[str, list[ParsedDocument]]:
        """Return the loader and the documents of a file.

        A picture without text is an empty document if pictures are described.
        """
        try:
            return self._process.read(item.path, data, self._loader(item))
        except LoadError as error:
            document = self._read_picture(item.path, data, error.reason)
            if document is None:
                raise
            return "image", [document]

    def _read_picture(
        self, path: Path, data: bytes, reason: str
    ) -> ParsedDocument | None:
        """Return a picture file as an empty document, if pictures are described."""
        if not self._enriches:
            return None
        # Pillow is needed for pictures only.
        from elt_llm_ingest.enrichers.pictures import picture_document  # noqa: PLC0415
        from elt_llm_ingest.inspecting.picture import (  # noqa: PLC0415
            draw_page,
            is_picture,
        )

        image = draw_page(path, data, 1, (), SMALL) if is_picture(data) else None
        return None if image is None else picture_document(path, image, reason)

    def _enrich(
        self, item: InputFile, data: bytes, documents: Sequence[ParsedDocument]
    ) -> tuple[list[ParsedDocument], bool]:
        """Return the documents with their additions, and whether none is missing."""
        if not self._enriches:
            return list(documents), True
        file = SourceFile(item.path, data, self._process.passwords_of(item.path))
        enriched = [self._chunking.enrich(d, file, self._stopped) for d in documents]
        return [one.document for one in enriched], all(e.complete for e in enriched)

    def _complete(self, document: ParsedDocument) -> ParsedDocument:
        """Return the document with the ingest file's metadata and short warnings."""
        named = [_with_organisation(s, self._organisation) for s in document.sidecars]
        warnings = merge_page_warnings(document.warnings)
        return document.model_copy(
            update={"warnings": warnings, "sidecars": tuple(named)}
        )

    def _loader(self, item: InputFile) -> str:
        """Return a trusted third-party loader for the file's extension, if any."""
        suffix = item.path.suffix.lower()
        name = suffix.removeprefix(".")
        if suffix in SUFFIXES or name in MODULES or name not in LOADERS.known():
            return ""
        LOADERS.strategy_class(name, self._config.allowed_plugins())
        return name

    def _chunks(
        self, parsed: ParsedDocument, given: Mapping[str, Scalar]
    ) -> list[TextNode]:
        own = {k: v for k, v in parsed.attributes.items() if k not in RESERVED}
        # What a person says takes precedence, of one file over that of all.
        shared = {**own, **self._metadata, **given}
        return [
            _mark(provenance.write(node, _complete(node, ordinal)), shared)
            for ordinal, node in enumerate(self._chunking.cut(parsed))
        ]


def _with_organisation(sidecar: Sidecar, organisation: str) -> Sidecar:
    """Return the sidecar of a model or inventory with its organisation."""
    keys = {
        "inventory": ("metadata", "org_name"),
        SIDECAR_KIND: ("properties", ORGANISATION),
    }
    if not organisation or sidecar.kind not in keys:
        return sidecar
    section, key = keys[sidecar.kind]
    changed = {**sidecar.content.get(section, {}), key: organisation}
    content = {**sidecar.content, section: changed}
    return sidecar.model_copy(update={"content": content})


def _with_warning(part: DocumentPart) -> DocumentPart:
    """The part; its document warns if it was cut into crumbs."""
    warning = fragment_warning(part.nodes)
    if not warning:
        return part
    document = part.target.document
    warnings = (*document.warnings, warning)
    document = document.model_copy(update={"warnings": warnings})
    return DocumentPart(RoutedDocument(part.target.collection, document), part.nodes)


def _mark(node: TextNode, shared: dict[str, Scalar]) -> TextNode:
    """Return the node with the document's attributes after its own."""
    if shared:
        node.metadata = {**shared, **node.metadata}
    return node


def _without_chunks(name: str, documents: Sequence[ParsedDocument]) -> LoadError:
    """Return the error for a file without anything to search."""
    shown = [warning for document in documents for warning in document.warnings]
    more = len(shown) - REASONS
    reasons = "; ".join(shown[:REASONS]) + (f"; and {more} more" * (more > 0))
    return LoadError(
        name,
        "it contains no text to chunk" + (f": {reasons}" if reasons else ""),
        f"see what is extracted: elt-llm inspect {name}",
    )


def _complete(node: TextNode, ordinal: int) -> provenance.Provenance:
    """Return the node with its location; third-party chunkers may only set spans."""
    return provenance.read(node).model_copy(update={"ordinal": ordinal})


def part_keys(targets: Sequence[RoutedDocument]) -> set[tuple[str, str]]:
    """Return collection and part of each target."""
    return {(target.collection, target.document.part) for target in targets}

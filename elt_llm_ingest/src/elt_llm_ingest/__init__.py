"""Ingestion: files are read, split into chunks and stored with their locations."""

from pathlib import Path
from typing import TYPE_CHECKING

from elt_llm_core.lazy import lazy_names

if TYPE_CHECKING:
    from elt_llm_core.document import ParsedDocument
    from elt_llm_ingest.chunkers.hierarchical import HierarchicalChunker
    from elt_llm_ingest.chunkers.proposition import PropositionChunker
    from elt_llm_ingest.chunkers.section_aware import SectionAwareChunker
    from elt_llm_ingest.chunkers.semantic import SemanticChunker
    from elt_llm_ingest.chunkers.sentence import SentenceChunker, SentenceChunkerOptions
    from elt_llm_ingest.chunkers.sentence_window import SentenceWindowChunker
    from elt_llm_ingest.chunkers.source_document import CHUNKERS, SourceDocument
    from elt_llm_ingest.chunkers.table_aware import TableAwareChunker
    from elt_llm_ingest.chunking import Chunking
    from elt_llm_ingest.enrichers.enricher import ENRICHERS, Enricher
    from elt_llm_ingest.ingest import IngestJob
    from elt_llm_ingest.limits import Limits
    from elt_llm_ingest.loaders import LOADERS, Loader
    from elt_llm_ingest.readers.detection import SUFFIXES
    from elt_llm_ingest.sandbox.client import ReadingProcess

__all__ = [
    "CHUNKERS",
    "ENRICHERS",
    "LOADERS",
    "SUFFIXES",
    "Chunking",
    "Enricher",
    "HierarchicalChunker",
    "IngestJob",
    "Limits",
    "Loader",
    "PropositionChunker",
    "ReadingProcess",
    "SectionAwareChunker",
    "SemanticChunker",
    "SentenceChunker",
    "SentenceChunkerOptions",
    "SentenceWindowChunker",
    "SourceDocument",
    "TableAwareChunker",
    "load",
]

__getattr__ = lazy_names(
    __name__,
    {
        "chunkers.source_document": ["CHUNKERS", "SourceDocument"],
        "chunkers.hierarchical": ["HierarchicalChunker"],
        "chunkers.proposition": ["PropositionChunker"],
        "chunkers.section_aware": ["SectionAwareChunker"],
        "chunkers.semantic": ["SemanticChunker"],
        "chunkers.sentence": ["SentenceChunker", "SentenceChunkerOptions"],
        "chunkers.sentence_window": ["SentenceWindowChunker"],
        "chunkers.table_aware": ["TableAwareChunker"],
        "chunking": ["Chunking"],
        "enrichers.enricher": ["ENRICHERS", "Enricher"],
        "ingest": ["IngestJob"],
        "limits": ["Limits"],
        "loaders": ["LOADERS", "Loader"],
        "readers.detection": ["SUFFIXES"],
        "sandbox.client": ["ReadingProcess"],
    },
)


def load(
    path: Path | str, limits: "Limits | None" = None, loader: str = ""
) -> "list[ParsedDocument]":
    """Return the documents of one file, read in a process with limits.

    Args:
        path: The file.
        limits: Limits on time, memory, size and pages.
        loader: Name of a loader; by default it is detected from the file's bytes.

    Returns:
        One document for most files; a draw.io model has two.

    Raises:
        LoadError: If the file cannot be read, with the reason and a hint.
    """
    from elt_llm_core.errors import LoadError  # noqa: PLC0415 - quick --help
    from elt_llm_ingest.sandbox.client import ReadingProcess  # noqa: PLC0415

    path = Path(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise LoadError(
            str(path), "there is no such file", "check the path's spelling"
        ) from error
    except OSError as error:
        raise LoadError(str(path), error.strerror or str(error)) from error
    with ReadingProcess(limits) as reading:
        return reading.parse(path, data, loader)

"""Documents in: files are read, cut into chunks and stored with their places."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elt_llm_core.document import ParsedDocument
    from elt_llm_ingest.chunkers.base import CHUNKERS, SourceDocument
    from elt_llm_ingest.chunkers.hierarchical import HierarchicalChunker
    from elt_llm_ingest.chunkers.proposition import PropositionChunker
    from elt_llm_ingest.chunkers.section_aware import SectionAwareChunker
    from elt_llm_ingest.chunkers.semantic import SemanticChunker
    from elt_llm_ingest.chunkers.sentence import SentenceChunker, SentenceChunks
    from elt_llm_ingest.chunkers.sentence_window import SentenceWindowChunker
    from elt_llm_ingest.chunkers.table_aware import TableAwareChunker
    from elt_llm_ingest.chunking import Chunking
    from elt_llm_ingest.enrichers.base import ENRICHERS, Enricher
    from elt_llm_ingest.ingest import IngestJob
    from elt_llm_ingest.limits import Limits
    from elt_llm_ingest.loaders import LOADERS, Loader
    from elt_llm_ingest.readers.detect import SUFFIXES
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
    "SentenceChunks",
    "SentenceWindowChunker",
    "SourceDocument",
    "TableAwareChunker",
    "load",
]

_HOMES = {
    "CHUNKERS": "elt_llm_ingest.chunkers.base",
    "ENRICHERS": "elt_llm_ingest.enrichers.base",
    "LOADERS": "elt_llm_ingest.loaders",
    "SUFFIXES": "elt_llm_ingest.readers.detect",
    "Chunking": "elt_llm_ingest.chunking",
    "Enricher": "elt_llm_ingest.enrichers.base",
    "HierarchicalChunker": "elt_llm_ingest.chunkers.hierarchical",
    "IngestJob": "elt_llm_ingest.ingest",
    "Limits": "elt_llm_ingest.limits",
    "Loader": "elt_llm_ingest.loaders",
    "PropositionChunker": "elt_llm_ingest.chunkers.proposition",
    "ReadingProcess": "elt_llm_ingest.sandbox.client",
    "SectionAwareChunker": "elt_llm_ingest.chunkers.section_aware",
    "SemanticChunker": "elt_llm_ingest.chunkers.semantic",
    "SentenceChunker": "elt_llm_ingest.chunkers.sentence",
    "SentenceChunks": "elt_llm_ingest.chunkers.sentence",
    "SentenceWindowChunker": "elt_llm_ingest.chunkers.sentence_window",
    "SourceDocument": "elt_llm_ingest.chunkers.base",
    "TableAwareChunker": "elt_llm_ingest.chunkers.table_aware",
}


def __getattr__(name: str) -> Any:
    # LlamaIndex takes two seconds to import, which `elt-llm --help` need not wait for.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def load(
    path: Path | str, limits: "Limits | None" = None, loader: str = ""
) -> "list[ParsedDocument]":
    """The documents of one file, read in a limited process.

    Args:
        path: The file.
        limits: Seconds, memory, size and pages it may cost.
        loader: Name of a loader; without it the file's bytes decide.

    Returns:
        One document for most files; a draw.io model has two.

    Raises:
        LoadError: With the reason and the cure in one sentence.
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

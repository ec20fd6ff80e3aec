"""The base class of loaders, their use in LlamaIndex, and the built-in loaders."""

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.strategy import Models, Stage, Strategy
from elt_llm_ingest.discovery import read_bytes
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.registry import parser_of
from elt_llm_ingest.sandbox.client import ReadingProcess


class Loader(BaseReader):
    """Reads one format. Subclass it and implement `parse`.

    `parse` runs in a process with limits, without network. As a LlamaIndex reader,
    `load_data(path)` returns one `Document` for each parsed document.
    """

    name: str = ""

    @abstractmethod
    def parse(self, path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
        """Return the documents of a file's bytes; `path` is used for its name only.

        Raises LoadError with the reason and a hint.
        """

    @override
    def lazy_load_data(
        self, path: Path | str, limits: Limits | None = None, **_: Any
    ) -> Iterator[Document]:
        """Yield LlamaIndex documents of one file, read in a process with limits."""
        path = Path(path)
        with ReadingProcess(limits) as reading:
            for parsed in reading.parse(path, read_bytes(path), self.name):
                yield as_llama_document(path, parsed)


LOADERS: Stage[Loader] = Stage("loaders")


class BuiltIn(Loader):
    """A built-in loader, which delegates to the function with its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    @override
    def parse(self, path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
        return parser_of(self.name)(path, data, limits)


def as_llama_document(path: Path, parsed: ParsedDocument) -> Document:
    """Convert a parsed document to a LlamaIndex document without embedded metadata."""
    metadata = {
        "file_name": path.name,
        "title": parsed.title,
        "part": parsed.part,
        "parser": parsed.parser,
    }
    return Document(
        text=parsed.text,
        metadata=metadata,
        excluded_embed_metadata_keys=sorted(metadata),
        excluded_llm_metadata_keys=sorted(metadata),
    )


class AdeLoader(Strategy[Loader]):
    """documents that LandingAI ADE has parsed, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("ade")


class ArchimateLoader(Strategy[Loader]):
    """ArchiMate models (Open Exchange, Archi), by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("archimate")


class CsvLoader(Strategy[Loader]):
    """CSV tables, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("csv")


class DoclingJsonLoader(Strategy[Loader]):
    """documents and chunks in Docling's JSON, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("docling_json")


class EpubLoader(Strategy[Loader]):
    """EPUB books, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("epub")


class HtmlLoader(Strategy[Loader]):
    """web pages, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("html")


class ImageLoader(Strategy[Loader]):
    """pictures of pages, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("image")


class JatsLoader(Strategy[Loader]):
    """articles in JATS XML, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("jats")


class LeanixDrawioLoader(Strategy[Loader]):
    """LeanIX models drawn in draw.io, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("leanix_drawio")


class LeanixInventoryLoader(Strategy[Loader]):
    """LeanIX inventories in Excel, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("leanix_inventory")


class MailLoader(Strategy[Loader]):
    """e-mail with its attachments, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("mail")


class MarkdownLoader(Strategy[Loader]):
    """Markdown files, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("markdown")


class OfficeLoader(Strategy[Loader]):
    """Word and PowerPoint files, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("office")


class PdfLoader(Strategy[Loader]):
    """PDF files, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("pdf")


class SpreadsheetLoader(Strategy[Loader]):
    """Excel workbooks, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("spreadsheet")


class TextLoader(Strategy[Loader]):
    """plain text, by `elt_llm_ingest.readers`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("text")

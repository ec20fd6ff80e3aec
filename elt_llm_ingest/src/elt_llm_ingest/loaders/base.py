"""What a loader is, and how LlamaIndex uses one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.strategy import Models, Stage
from elt_llm_ingest.client import ReadingProcess
from elt_llm_ingest.files import read_bytes
from elt_llm_ingest.formats.registry import Parse, parser_of
from elt_llm_ingest.safety import Limits


class Loader(BaseReader):
    """Reads one format. Subclass it and write `parse`.

    `parse` runs in a process with limits, without network. For LlamaIndex it is a
    reader: `load_data(path)` gives one `Document` for each parsed document.
    """

    name: str = ""

    def parse(self, path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
        """The documents of a file's bytes; `path` is for its name only.

        Raises LoadError with the reason and the cure.
        """
        raise NotImplementedError

    @override
    def lazy_load_data(
        self, path: Path | str, limits: Limits | None = None, **_: Any
    ) -> Iterator[Document]:
        """LlamaIndex documents of one file, read in a limited process."""
        path = Path(path)
        with ReadingProcess(limits) as reading:
            for parsed in reading.parse(path, read_bytes(path), self.name):
                yield as_llama_document(path, parsed)


LOADERS: Stage[Loader] = Stage("loaders")


class BuiltIn(Loader):
    """A loader of ours: the function behind its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    @override
    def parse(self, path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
        return parser_of(self.name)(path, data, limits)


def as_llama_document(path: Path, parsed: ParsedDocument) -> Document:
    """The parsed document as LlamaIndex knows documents; metadata is not embedded."""
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


def foreign_parser(name: str) -> Parse:
    """The `parse` of a stranger's loader, for use in the reading process."""
    point = LOADERS.known()[name]
    package = point.dist.name if point.dist else ""
    embedder: BaseEmbedding = MockEmbedding(embed_dim=1)
    strategy = LOADERS.load(name, allow=frozenset({package}))
    return strategy.build(Models(embedder=embedder)).parse

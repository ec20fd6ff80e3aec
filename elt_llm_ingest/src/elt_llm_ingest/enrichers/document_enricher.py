"""The base of enrichers that add to a document before it is split into chunks."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from llama_index.core.schema import BaseNode, TransformComponent
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.jobs import never
from elt_llm_ingest.chunkers.source_document import SourceDocument


class SourceFile(NamedTuple):
    """The file that a document was read from.

    Attributes:
        path: Its path, for messages.
        data: Its bytes.
        passwords: Passwords to try on a protected PDF.
    """

    path: Path
    data: bytes
    passwords: Sequence[str] = ()


class Enriched(NamedTuple):
    """A document with additions; `complete` unless another attempt could add more."""

    document: ParsedDocument
    complete: bool = True


class DocumentEnricher(TransformComponent):
    """Adds blocks to documents, each marked with who wrote it.

    As a LlamaIndex transform it is called with `SourceDocument` nodes and their `file`.
    """

    @abstractmethod
    def enrich(
        self,
        parsed: ParsedDocument,
        file: SourceFile,
        stopped: Callable[[], bool] = never,
    ) -> Enriched:
        """Return the document with additions.

        Args:
            parsed: The document.
            file: The file that it was read from.
            stopped: Whether the run shall end.
        """

    @override
    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        file = kwargs.get("file")
        if not isinstance(file, SourceFile):
            return list(nodes)
        return [self._with(node, file) for node in nodes]

    def _with(self, node: BaseNode, file: SourceFile) -> BaseNode:
        if not isinstance(node, SourceDocument) or node.parsed is None:
            return node
        return SourceDocument.of(self.enrich(node.parsed, file).document, id_=node.id_)

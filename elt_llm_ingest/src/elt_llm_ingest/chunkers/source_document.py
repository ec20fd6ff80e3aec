"""The document type that passes a parsed document to node parsers."""

from typing import Any

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import Document
from pydantic import PrivateAttr

from elt_llm_core.document import ParsedDocument
from elt_llm_core.strategy import Stage

CHUNKERS: Stage[NodeParser] = Stage("chunkers")


class SourceDocument(Document):
    """A LlamaIndex document with its blocks and pages.

    Other node parsers use only its text.
    """

    _parsed: ParsedDocument | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, parsed: ParsedDocument, **fields: Any) -> "SourceDocument":
        """Return the LlamaIndex document of a parsed document."""
        made = cls(text=parsed.text, **fields)
        made._parsed = parsed
        return made

    @property
    def parsed(self) -> ParsedDocument | None:
        """Return the parsed document."""
        return self._parsed

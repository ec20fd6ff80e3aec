"""The stage, and how a parsed document is handed to a node parser."""

from typing import Any

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import Document
from pydantic import PrivateAttr

from elt_llm_core.document import ParsedDocument
from elt_llm_core.strategy import Stage

CHUNKERS: Stage[NodeParser] = Stage("chunkers")


class SourceDocument(Document):
    """A LlamaIndex document that remembers its blocks and pages.

    A node parser that does not know them sees the text like any other.
    """

    _parsed: ParsedDocument | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, parsed: ParsedDocument, **fields: Any) -> "SourceDocument":
        """The document of what a loader returned."""
        made = cls(text=parsed.text, **fields)
        made._parsed = parsed
        return made

    @property
    def parsed(self) -> ParsedDocument | None:
        """What the loader returned."""
        return self._parsed

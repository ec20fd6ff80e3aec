"""Names that become folders and keys, and the identifiers made from content."""

import hashlib
import re

from elt_llm_core.errors import InvalidNameError

_COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]")


def collection_name(name: str) -> str:
    """`name` itself, if it is safe as a folder and in Chroma; else InvalidNameError."""
    if not _COLLECTION.fullmatch(name):
        raise InvalidNameError(name)
    return name


def digest(*parts: str) -> str:
    """64 hex digits that change with any part; parts cannot run into each other."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()


def document_id(collection: str, uri: str, part: str = "") -> str:
    """The id of a document: 32 hex digits from its collection, source and part."""
    return digest(collection, uri, part)[:32]


def node_id(document: str, chunker: str, ordinal: int, text: str) -> str:
    """The id of a chunk: 32 hex digits from document, chunker, ordinal and text."""
    return digest(document, chunker, str(ordinal), text)[:32]


def item_key(*parts: str) -> str:
    """The key of one item of a batch: change any part and the item is done anew."""
    return digest(*parts)

"""Names that become folders and keys, and identifiers derived from content."""

import hashlib
import re
import unicodedata

from elt_llm_core.errors import InvalidNameError

_COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{0,61}[a-z0-9]")
_LONGEST_ID = 63  # accepted by Chroma and every file system
LONGEST_NAME = 200  # maximum length of a given name
_MARK_DIGITS = 8  # hex digits of the digest for shortened or foreign names


def collection_name(name: str) -> str:
    """Return the collection id `name` unchanged; it is safe as a folder name.

    Raises:
        InvalidNameError: If it is not an id: 2 to 63 lower-case letters, digits, `_` or
            `-`, with a letter or digit first and last.
    """
    if not _COLLECTION.fullmatch(name):
        raise InvalidNameError(name)
    return name


def collection_id(name: str) -> str:
    """Return the collection id for a display name.

    An id is returned unchanged. Other names are converted: "My Finance Files" is
    `my-finance-files`, "Übersee" is `ubersee`. A name without letters from a to z gets
    a digest, so that the same name always has the same id.

    Args:
        name: A display name or an id; case and surrounding spaces are ignored.

    Raises:
        InvalidNameError: If fewer than two letters or digits are left, or if the name
            has a path separator or a control character.
    """
    if _COLLECTION.fullmatch(name):
        return name
    text = unicodedata.normalize("NFKD", name.strip())
    plain = "".join(c for c in text if not unicodedata.combining(c)).casefold()
    ordinary = all(c.isprintable() and c not in "/\\" for c in text)
    if len(name) > LONGEST_NAME or not ordinary or sum(map(str.isalnum, plain)) < 2:  # noqa: PLR2004 - as above
        raise InvalidNameError(name)
    slug = re.sub(r"[^a-z0-9_]+", "-", plain).strip("-_")
    lost = any(c.isalnum() and not c.isascii() for c in plain)
    if lost or len(slug) > _LONGEST_ID or not _COLLECTION.fullmatch(slug):
        mark = digest(plain)[:_MARK_DIGITS]
        head = slug[: _LONGEST_ID - _MARK_DIGITS - 1].strip("-_")
        slug = f"{head or 'c'}-{mark}"
    return collection_name(slug)


def digest(*parts: str) -> str:
    """Return 64 hex digits over all parts; the boundaries of parts count."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()


def document_id(collection: str, uri: str, part: str = "") -> str:
    """Return a document's id: 32 hex digits from collection, source and part."""
    return digest(collection, uri, part)[:32]


def node_id(document: str, chunker: str, ordinal: int, text: str) -> str:
    """Return a chunk's id: 32 hex digits from document, chunker, ordinal and text."""
    return digest(document, chunker, str(ordinal), text)[:32]


def item_key(*parts: str) -> str:
    """Return the key of a batch item; any changed part makes it a new item."""
    return digest(*parts)

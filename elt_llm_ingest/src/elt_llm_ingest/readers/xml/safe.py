"""XML that is safe to look at: no entities, nothing fetched, nothing declared."""

import re
from collections.abc import Iterator
from typing import Any

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from elt_llm_core.errors import LoadError

# A document type that only names itself is harmless; one that declares things is not.
DECLARES = re.compile(rb"<!DOCTYPE[^>\[]*\[|<!ENTITY", re.IGNORECASE)


def parse_xml(name: str, data: bytes) -> Any:
    """The root element. Raises LoadError for damaged and hostile XML."""
    if DECLARES.search(data.replace(b"\x00", b"")):
        raise hostile(name)
    try:
        return fromstring(data, forbid_dtd=False)
    except DefusedXmlException as error:
        raise hostile(name) from error
    except (ParseError, ValueError, LookupError) as error:
        raise LoadError(
            name,
            f"its XML is damaged ({str(error)[:80]})",
            "export or download it again",
        ) from error


def hostile(name: str) -> LoadError:
    """The error for XML that declares entities or a document type of its own."""
    return LoadError(
        name,
        "its XML declares a document type or entities, which can hide other files",
        "export it again without them",
    )


def tag(element: Any) -> str:
    """The name without its namespace; empty for comments."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def child_elements(element: Any, *names: str) -> Iterator[Any]:
    """The child elements of these names, all if none is given, in order."""
    return (child for child in element if not names or tag(child) in names)


def first(element: Any, *path: str) -> Any:
    """The first element down a path of names, or None."""
    for name in path:
        element = next(child_elements(element, name), None)
        if element is None:
            return None
    return element
